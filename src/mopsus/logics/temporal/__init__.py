"""Stage 2: what the temporal logics share: their formulas, and explanations of what became true when."""
