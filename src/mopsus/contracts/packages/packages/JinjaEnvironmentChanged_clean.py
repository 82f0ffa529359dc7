"""First the environment, then the templates."""

import jinja2

environment = jinja2.Environment()
environment.add_extension("jinja2.ext.do")
environment.from_string("hello").render()
