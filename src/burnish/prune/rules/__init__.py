"""How axes pass through operators: one file for each kind, found by the registry."""
