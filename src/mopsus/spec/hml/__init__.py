"""Stage 1: `.hml` texts: properties of components in the language of detectEr."""
