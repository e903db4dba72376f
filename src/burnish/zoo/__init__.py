"""Models that burnish can build and export by itself."""
