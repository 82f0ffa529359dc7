"""The key function puts something into the list."""

names = ["mary", "ada"]


def key(name):
    names.append(name)
    return name


try:
    names.sort(key=key)  # violation
except ValueError:
    pass
