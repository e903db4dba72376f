"""One chart per file, each a function that returns SVG text."""
