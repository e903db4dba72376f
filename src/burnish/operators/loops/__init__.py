"""What the loops of several families are made of: windows, heads, products, places."""
