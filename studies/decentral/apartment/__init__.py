"""The smart apartment: a home whose sensors are recorded, and specifications that detect what its occupant does.

`home` describes sensors, activities and days, `recordings` makes and reads their files, `detection` compares what
monitors say with what the occupant wrote down; `aras` is another home.
"""
