"""Whole workflows: the only package that composes what stands side by side below it."""
