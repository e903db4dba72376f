"""Hardware as data."""
