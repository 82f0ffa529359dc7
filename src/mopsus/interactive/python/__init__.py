"""A debugger for Python programs that monitors can drive: points, values, checkpoints, and the prompt of `pdb`.

It lives in the process of the program, because only there events cost little, and objects are themselves. The
interpreter tells what happens (`sensor.py` and the two files behind it), `atlas.py` knows which code a place names,
`arrivals.py` makes hits of the two, and `adapter.py` is the debugger.
"""
