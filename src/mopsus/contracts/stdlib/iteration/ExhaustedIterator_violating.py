"""The second loop has nothing to do."""

words = (word.strip() for word in [" a", "b "])
for word in words:
    pass
for word in words:  # violation
    pass
