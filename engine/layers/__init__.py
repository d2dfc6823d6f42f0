"""Building blocks of the model files."""
