"""Planted errors and traps, one file for each kind."""
