"""What is in a set is renamed, and cannot be taken out any more."""


class Guest:
    def __init__(self, name):
        self.name = name

    def __eq__(self, other):
        return self.name == other.name

    def __hash__(self):
        return hash(self.name)


guest = Guest("Ada")
present = {guest}
guest.name = "Countess"
try:
    present.remove(guest)  # violation
except KeyError:
    pass
