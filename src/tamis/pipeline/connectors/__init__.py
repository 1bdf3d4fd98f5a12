"""Where events come from and where answers go: Kafka, a Tamis broker, PostgreSQL, and texts that become columns."""
