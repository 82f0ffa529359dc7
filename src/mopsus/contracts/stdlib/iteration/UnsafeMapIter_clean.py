"""The names are copied first; values may change at any time."""

stock = {"apple": 0, "pear": 3, "plum": 2}
for name, count in list(stock.items()):
    if count == 0:
        del stock[name]
for name in stock:
    stock[name] += 1
