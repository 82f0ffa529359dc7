"""Runs of algorithms in one process: rounds, a network with faults, measures, recordings."""
