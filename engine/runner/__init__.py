"""From scheduled requests to tensors, through the model, to sampled tokens."""
