"""A copy is gone over while the list changes, or the loop ends with the change; what is appended comes in its turn."""

words = ["a", "an", "and"]
for word in list(words):
    if len(word) < 3:
        words.remove(word)
for word in words:
    if word == "and":
        words.remove(word)
        break
for word in words:
    if len(words) < 5:
        words.append(word)
