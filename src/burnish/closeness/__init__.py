"""One comparator for everybody: how far two arrays are apart, and how far they may be."""
