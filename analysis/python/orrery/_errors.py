"""What goes wrong, as exceptions: one class for each exit code of the program."""
from __future__ import annotations

import re
from typing import Any, List, NamedTuple, Optional, Sequence, Tuple

from ._document import Document


class Problem(NamedTuple):
    """An error or a warning with its place in the scenario (or in `--set`)."""

    severity: str  # "error" or "warning"
    file: str  # "<stdin>": the scenario given as a dict, as JSON of two blanks a level
    line: int
    column: int
    text: str
    shown: str  # as the command prints it: with the line and a caret


class Error(Exception):
    """A command failed. Its text is what the command said, with places and carets."""

    def __init__(self, code: int, text: str, command: Sequence[str], result: Optional[Document]):
        super().__init__(text)
        #: Exit code of the command.
        self.code = code
        #: All that it said on standard error.
        self.text = text
        #: The command line, to be tried in a shell.
        self.command = list(command)
        #: The document that it printed all the same, or None.
        self.result = result
        self.problems = problems_in(text)
        errors = [p for p in self.problems if p.severity == "error"]
        #: The first error in one line.
        self.message = errors[0].text if errors else text.strip().split("\n")[0]

    def __str__(self) -> str:
        return self.text.strip() or f"{' '.join(self.command)}: exit code {self.code}"

    def __reduce__(self) -> Any:
        return type(self), (self.code, self.text, self.command, self.result)


class UsageError(Error):
    """Exit code 2: an option or a value that the command does not take."""


class ScenarioRejected(Error):
    """Exit code 3: the scenario has errors; `problems` lists them all with their places."""


class DoesNotFit(Error):
    """Exit code 4 of a command that has no answer then. `run`, `memory`, `check`, `plan` and
    `study` have one: a document whose `fits` is False, or that holds no layout."""


class LimitReached(Error):
    """Exit code 5: `max_db` was reached; what has been written stays."""


class ExpectationFailed(Error):
    """Exit code 6: what the scenario says under `expect` does not hold; `problems` lists what, and
    `result` is the document of the run."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C. The command has ended; `text` holds the line that goes on with what it kept."""

    def __init__(self, text: str, result: Optional[Document]):
        super().__init__(text.strip())
        self.text = text
        #: The document of what was done until then, or None.
        self.result = result


class OrreryWarning(UserWarning):
    """A warning of a command, with its place and a caret."""


BY_CODE = {2: UsageError, 3: ScenarioRejected, 4: DoesNotFit, 5: LimitReached, 6: ExpectationFailed}

_HEAD = re.compile(r"^(?P<file>.+?):(?P<line>\d+):(?P<column>\d+): (?P<severity>error|warning): (?P<text>.*)$")
#: The source below a head: "    8 | layout: {tp: 1}" and "      |         ^".
_BELOW = re.compile(r"^ *\d* \| ?")


def problems_in(text: str) -> List[Problem]:
    return split(text)[0]


def split(text: str) -> Tuple[List[Problem], List[str]]:
    """The problems in what a command said, and its other lines."""
    problems: List[Problem] = []
    rest: List[str] = []
    inside = False
    for line in text.split("\n"):
        head = _HEAD.match(line)
        if head:
            problems.append(Problem(head["severity"], head["file"], int(head["line"]), int(head["column"]),
                                    head["text"], line))
        elif inside and _BELOW.match(line):
            problems[-1] = problems[-1]._replace(shown=f"{problems[-1].shown}\n{line}")
        elif line.strip():
            rest.append(line)
        inside = bool(head) or (inside and bool(_BELOW.match(line)))
    return problems, rest
