"""Text in and out: treebanks, brackets, plain text, generated corpora."""
