"""Kernels for CPUs: LLVM IR, made and compiled in this process."""
