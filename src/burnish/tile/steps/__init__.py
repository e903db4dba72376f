"""Steps that make a tile-graph simpler and keep what it computes; `simplify` has their order."""
