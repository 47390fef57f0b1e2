"""Ways of learning: objectives, optimisers, checkpoints."""
