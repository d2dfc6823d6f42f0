"""Follows the profile in a git repository: agent.py here, and main.py in a process of its own for every look."""
