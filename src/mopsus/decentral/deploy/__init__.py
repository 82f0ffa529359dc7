"""Decentralized monitoring as it is used: components and monitors in processes of their own, on several hosts.

A *client* sets an algorithm up, gives each host its monitors and peripheries, and waits for a verdict. Hosts step their
monitors whenever their components observe something or messages come: there are no rounds.
"""
