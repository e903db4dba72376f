"""Subgraphs as loops: their meaning, cost and schedule; no target language lives here."""
