"""Pages in the browser, served to this machine only. They need the extra `ui`.

`server` starts and guards, `theme` gives all pages one look, `automaton` draws; each page has a package of its own, in
which what is shown is computed apart from the elements that show it.
"""
