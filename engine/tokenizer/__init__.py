"""Text to token ids and back, and chat templates. No torch here: the server imports this."""
