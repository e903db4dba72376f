"""Kernels on NVIDIA cards: built without a card, run without what built them."""
