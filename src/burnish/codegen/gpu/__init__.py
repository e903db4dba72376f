"""Triton kernels for groups of the tile-graph."""
