"""Trying kernels on this CPU: what the measuring process proves and times them with."""
