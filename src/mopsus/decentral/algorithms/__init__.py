"""Algorithms of decentralized monitoring: how monitors are set up, and what they do in each round."""
