"""Blocks are nested."""

import warnings

with warnings.catch_warnings():
    with warnings.catch_warnings(record=True):
        pass
    with warnings.catch_warnings():
        pass
