"""Whoever knows the state of the generator knows the password."""

import random


def make_password():
    return "".join(random.choice("abcdef") for _ in range(8))  # violation


make_password()
