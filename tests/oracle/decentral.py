"""What monitors say, straight from the definitions: the oracle of the test kit, which algorithms of others use too."""

from mopsus.decentral.testing.semantics import Trace, run_centralized, run_decentralized, whole

__all__ = ["Trace", "run_centralized", "run_decentralized", "whole"]
