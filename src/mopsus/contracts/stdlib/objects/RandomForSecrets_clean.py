"""Chance for games, secrets for passwords."""

import random
import secrets


def make_password():
    return "".join(secrets.choice("abcdef") for _ in range(8))


make_password()
random.choice("abcdef")
