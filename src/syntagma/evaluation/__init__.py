"""Scores of predictions against gold, with intervals."""
