"""What the observer sees of the process around its code."""

import asyncio
import contextvars
import logging
import os
import sys

from registry import different, observation


@observation
def contexts():
    logging.getLogger("observed")

    async def inside():
        logging.getLogger("observed")
        return list(contextvars.copy_context())

    return list(contextvars.copy_context()), asyncio.run(inside())


@different
def finders_of_modules():
    return [getattr(each, "__name__", type(each).__name__) for each in sys.meta_path]


@different
def command_line():
    return sys.orig_argv


@different
def environment():
    return sorted(os.environ), os.environ.get("PYTHONPATH")


@different
def hooks_of_the_interpreter():
    return sys.unraisablehook is sys.__unraisablehook__


@different
def loggers():
    return [name for name in logging.root.manager.loggerDict if "." not in name]


@different
def modules_that_others_use():
    return "msgspec" in sys.modules


@different
def subclasses():
    return sorted(each.__name__ for each in Exception.__subclasses__())
