"""Sold goods are taken out of the stock, and others come in, while the stock is gone over."""

stock = {"apple": 0, "pear": 3, "plum": 2}
for name, count in stock.items():  # violation
    if count == 0:
        del stock[name]
        stock["fig"] = 5
