"""Rank space: what all engines for conjunctions share."""
