"""From a summary dict to JSON, HTML and SVG."""
