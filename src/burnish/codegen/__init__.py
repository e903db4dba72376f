"""Kernels from tile-graphs and schedules, and the plan that runs them."""
