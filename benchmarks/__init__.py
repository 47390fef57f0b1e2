"""Measurements beside what a user would pick instead, one JSON line each."""
