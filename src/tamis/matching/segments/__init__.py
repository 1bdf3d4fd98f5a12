"""Immutable columns of subscriptions in memory-mapped files, and the folder that holds their versions."""
