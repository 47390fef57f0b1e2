"""What a user fits: one file per model, scikit-learn style, thin."""
