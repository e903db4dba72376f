"""A model's graph as a drawing: which boxes, where they stand, how they look."""
