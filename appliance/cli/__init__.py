"""Commands for a terminal: one module per command, listed in commands.py, imported when chosen."""
