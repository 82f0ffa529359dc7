"""The synthetic benchmark: random formulas that speak of all components, random traces of four distributions.

`experiment.toml` is an experiment like any other; here its formulas are drawn, and what it measures is summed up.
"""
