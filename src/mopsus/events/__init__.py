"""Stage 4: where events come from. `trace` reads recorded ones."""
