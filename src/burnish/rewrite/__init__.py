"""A model in, a better model out."""
