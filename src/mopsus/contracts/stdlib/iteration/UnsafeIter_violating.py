"""Of two words that are to go, the second stays; and a function changes the list that it was given."""

words = ["a", "an", "and"]
for word in words:  # violation
    if len(word) < 3:
        words.remove(word)


def drop(unwanted, names):
    names.remove(unwanted)


guests = ["ada", "emmy", "grace"]
for guest in guests:  # violation
    drop(guest, guests)
