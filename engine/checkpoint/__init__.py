"""What a checkpoint says about itself, read from headers alone. No torch here: the planner imports this."""
