"""A shop for a day: a ticket holds goods for a while, then it is paid for, given back, or lapses.

In the evening there is more on the shelf than was ever delivered.
"""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Ticket:
    """Goods that are put aside for somebody."""

    number: int
    goods: str
    amount: int
    until: int
    paid: bool = False


@dataclass(slots=True)
class Shop:
    """What is on the shelf, and what is put aside."""

    shelf: dict[str, int]
    tickets: dict[int, Ticket] = field(default_factory=dict)
    hour: int = 8
    given: int = 0

    def reserve(self, goods: str, amount: int, hours: int) -> Ticket | None:
        if self.shelf[goods] < amount:
            return None
        self.shelf[goods] -= amount
        self.given += 1
        ticket = Ticket(self.given, goods, amount, self.hour + hours)
        self.tickets[ticket.number] = ticket
        return ticket

    def release(self, ticket: Ticket) -> None:
        self.shelf[ticket.goods] += ticket.amount

    def pay(self, ticket: Ticket) -> None:
        ticket.paid = True
        del self.tickets[ticket.number]

    def cancel(self, ticket: Ticket) -> None:
        self.tickets.pop(ticket.number, None)
        if not ticket.paid:
            self.release(ticket)

    def pass_an_hour(self) -> None:
        self.hour += 1
        for ticket in list(self.tickets.values()):
            if ticket.until <= self.hour:
                del self.tickets[ticket.number]
                self.release(ticket)


def day() -> Shop:
    shop = Shop({"oars": 50, "sails": 5})
    patient = [shop.reserve("oars", amount, hours=12) for amount in (4, 6)]
    hasty = [shop.reserve("oars", amount, hours=2) for amount in (10, 5)]
    sail = shop.reserve("sails", 1, hours=3)
    shop.pass_an_hour()
    for ticket in filter(None, patient):
        shop.pay(ticket)
    shop.pass_an_hour()
    shop.pass_an_hour()
    for late in (*hasty, sail):
        if late is not None:
            shop.cancel(late)
    return shop


if __name__ == "__main__":
    shop = day()
    print(f"oars: {shop.shelf['oars']} on the shelf, 10 sold, 50 delivered")
