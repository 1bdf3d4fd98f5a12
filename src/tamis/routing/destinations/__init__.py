"""How does an event reach a list of brokers? What `ddbr` and `merc` have in common (specs/002 §3.2 to §3.4)."""
