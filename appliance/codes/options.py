"""Codes about options of the engine: the pages of migrations/pages.py, which also hold every rule."""

from appliance.migrations.pages import pages

CODES = pages()
