"""Stage 4: events of running Python programs, woven in."""
