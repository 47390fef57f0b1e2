"""Constraints and projections; nothing about any one model."""
