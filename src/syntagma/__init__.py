"""Learn linguistic structure from little or no annotation."""

__version__ = "0.1.0"
