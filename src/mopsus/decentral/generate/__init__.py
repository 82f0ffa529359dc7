"""Random traces and formulas for experiments: from a seed, always the same."""
