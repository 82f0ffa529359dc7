"""Templates that were compiled before know nothing of the extension."""

import jinja2

environment = jinja2.Environment()
environment.from_string("hello").render()
environment.add_extension("jinja2.ext.do")  # violation
