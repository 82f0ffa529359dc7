"""Stage 4: logs of components: text, JSON lines, `logging` output; whole ones and growing ones."""
