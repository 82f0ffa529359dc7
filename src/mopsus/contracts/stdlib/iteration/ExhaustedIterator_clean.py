"""A loop goes on where another one has stopped; what is needed twice is kept in a list."""

words = (word.strip() for word in [" a", "b "])
for word in words:
    break
for word in words:
    pass
kept = [word.strip() for word in [" a", "b "]]
for word in kept:
    pass
for word in kept:
    pass
