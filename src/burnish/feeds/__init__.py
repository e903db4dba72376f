"""Inputs for any model: made from names, types and shapes, or read from disk."""
