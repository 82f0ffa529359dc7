"""Only plain data."""

import yaml

yaml.safe_load("a: 1")
yaml.load("a: 1", Loader=yaml.SafeLoader)
