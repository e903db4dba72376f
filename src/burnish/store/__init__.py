"""Models and their recorded data on disk."""
