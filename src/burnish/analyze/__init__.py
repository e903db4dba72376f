"""Decisions from records: pure arithmetic."""
