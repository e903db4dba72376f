"""Kernels on the CPU: machine code in memory, and the threads that run it."""
