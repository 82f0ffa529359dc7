"""Stage 4: components watched from another process, so that the program never waits for its monitors."""
