"""Programs to compare with in the same run: how fast can exact matching of conjunctions be on this machine?"""
