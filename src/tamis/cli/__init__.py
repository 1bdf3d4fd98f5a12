"""The `tamis` command: thin modules, one per command."""
