"""One file per paper: its tables and figures, re-made on any data."""
