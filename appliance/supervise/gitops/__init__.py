"""Follows the profile in a git repository."""
