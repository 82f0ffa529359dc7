"""What is added comes before or after."""

names = ["mary", "ada"]
names.append("grace")
names.sort(key=len)
names.append("emmy")
names.sort()
