"""Generates schemas/engine-options.json from released wheels: `python -m appliance.migrations.build --release X`."""
