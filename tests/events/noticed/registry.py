"""What the observer looks at: functions by name, of which the program sees the same or something different."""

OBSERVATIONS = {}
DIFFERENT = {}


def observation(function):
    OBSERVATIONS[function.__name__] = function
    return function


def different(function):
    DIFFERENT[function.__name__] = function
    return function
