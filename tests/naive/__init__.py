"""Slow, obvious twins of the compiled kernels: what the tests hold the fast ones to.

One module for each; nothing here imports the code under test.
"""
