"""Orrery, the simulator of GPU clusters that train large models, from Python.

Each command of the program is a function; options are keywords. A scenario is a dict or the path
of a file. The answer is the command's JSON document, a dict whose keys are attributes, too:

    import orrery
    plan = orrery.plan(model="llama3-8b", gpu="h100-80gb-sxm", gpus=64, global_batch=512)
    plan.layouts[0].step_time_s

Commands that write a database unless told not to (`run`, `study`) write none here unless `db`
names one. The program is called as a process: calls may run in threads side by side.
"""
from __future__ import annotations

import difflib
from typing import Any

from . import _call, _commands
from ._call import Scenario, Settings, binary
from ._commands import *
from ._commands import COMMANDS, VERSION as __version__
from ._document import Document
from ._errors import (DoesNotFit, Error, ExpectationFailed, Interrupted, LimitReached, OrreryWarning, Problem,
                      ScenarioRejected, UsageError)
from ._frame import frame

__all__ = ["COMMANDS", "Document", "DoesNotFit", "Error", "ExpectationFailed", "Interrupted", "LimitReached",
           "OrreryWarning", "Problem", "Scenario", "ScenarioRejected", "Settings", "UsageError", "binary", "frame", "text"]
__all__ += _commands.__all__
__all__.remove("list")  # a star import leaves the builtin alone: orrery.list


def text(command: str, *words: Any, **options: Any) -> str:
    """What a command prints for people, or for other programs: text("export", "x.db",
    format="csv"), text("run", "x.yaml"), text("study", "x.yaml", vary=..., emit="slurm")."""
    if command not in COMMANDS:
        near = difflib.get_close_matches(command, COMMANDS, 1)
        raise ValueError(f"orrery has no command {command!r}" + (f"; did you mean {near[0]!r}?" if near else ""))
    return _call.text(COMMANDS[command], words, options)
