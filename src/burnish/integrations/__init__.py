"""Burnish inside of other tools."""
