"""What is to be renamed is taken out before; and what is not there is not found."""


class Guest:
    def __init__(self, name):
        self.name = name

    def __eq__(self, other):
        return self.name == other.name

    def __hash__(self):
        return hash(self.name)


guest = Guest("Ada")
present, seats = {guest}, {guest: 1}
present.remove(guest)
seats.pop(guest)
guest.name = "Countess"
present.add(guest)
try:
    present.remove(Guest("Emmy"))
except KeyError:
    pass
