"""A pipeline as a file: `pipeline.toml` says where events and subscriptions are and where answers go."""
