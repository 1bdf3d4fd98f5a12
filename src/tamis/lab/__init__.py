"""Is it true? The papers' experiments, run on this machine and set beside the papers' numbers."""
