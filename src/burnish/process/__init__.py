"""Processes of our own, started and ended in one way, and their short-lived files."""
