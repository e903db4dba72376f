"""A graph and its time for other tools, one format per file."""
