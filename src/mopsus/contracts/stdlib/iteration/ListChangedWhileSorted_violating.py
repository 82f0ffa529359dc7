"""The key function puts something into the list."""

names = ["mary", "ada"]


def key(name):
    names.append(name)  # violation
    return name


try:
    names.sort(key=key)
except ValueError:
    pass
