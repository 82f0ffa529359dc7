"""Of two words that are to go, the second stays."""

words = ["a", "an", "and"]
for word in words:  # violation
    if len(word) < 3:
        words.remove(word)
