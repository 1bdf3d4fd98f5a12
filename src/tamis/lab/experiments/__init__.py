"""One module per experiment; each declares `EXPERIMENT`."""
