"""Structured decisions: question types, prompts, labels, answers. No torch here: the server imports this."""
