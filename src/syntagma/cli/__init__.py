"""The command line: one file per command; models are imported only when a command runs."""
