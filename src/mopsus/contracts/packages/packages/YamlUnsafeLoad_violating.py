"""A document may make any object."""

import yaml

yaml.load("a: 1", Loader=yaml.UnsafeLoader)  # violation
yaml.load("b: 2", Loader=yaml.UnsafeLoader)  # violation
