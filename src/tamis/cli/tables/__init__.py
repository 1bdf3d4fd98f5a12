"""Tables in files: events and subscriptions read batch by batch, pairs written all or not at all."""
