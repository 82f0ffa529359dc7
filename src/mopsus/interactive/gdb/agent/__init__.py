"""The fast path of GDB: events of hot functions are stepped inside of the program; GDB is called if somebody reacts.

A trap costs a hundred thousand times as much as the call that it sees. So a function whose events only have to be told
to monitors gets a *hook* instead, a jump to the *agent*, a small library that is loaded into the program (`cpp/agent`).
The agent steps the machines of the monitors, which it has as tables, and notes what a witness will need. When a step is
one that somebody reacts to, it steps nothing: it calls its gate, where GDB has its only trap. The hook is taken out,
the function goes on to the ordinary trap at the ordinary place, and all that follows is as if there had never been a
hook.
"""
