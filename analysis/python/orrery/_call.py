"""Calls the program: a line of words, a scenario on standard input, a document back."""
from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import tty
import warnings
from typing import Any, Dict, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

from . import _errors
from ._document import Document

PathLike = Union[str, os.PathLike[str]]  # no text inside: get_type_hints of other modules reads it
#: A scenario: its keys as a dict (relative paths in it are seen from the working folder), or the
#: path of a file.
Scenario = Union[Mapping[str, Any], PathLike]
Count = Union[int, str]  # 64, "15T"
Size = Union[int, float, str]  # bytes, or "8GiB"
Ratio = Union[float, str]  # 0.05, "5%"
Settings = Union[Mapping[str, Any], Sequence[str]]  # {"layout.tp": 4}, {"layout": {"tp": 4}}, ["layout.tp=4"]


class Option(NamedTuple):
    """A row of `orrery schema --commands`."""

    name: str  # "--global-batch"
    type: str  # "count"; "variable": a set whose values are no YAML
    repeats: bool


class Command(NamedTuple):
    name: str
    options: Mapping[str, Option]  # by the name of the keyword
    json: bool  # it prints a document with --json
    spares: bool  # it writes a database unless told --no-db
    needs_db: Tuple[str, ...]  # keywords that --no-db contradicts


def binary() -> str:
    """The program that is called: the one of this package, or what ORRERY_BINARY names."""
    named = os.environ.get("ORRERY_BINARY")
    path = named or os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "orrery")
    found = shutil.which(path)
    if found is None:
        why = "may not be executed" if os.path.isfile(path) else "there is no such program"
        raise _cannot_start([f"{path} (ORRERY_BINARY)" if named else path], why)
    return found


def _cannot_start(words: Sequence[str], why: str) -> _errors.Error:
    """Exit code 1, as of any file that is missing."""
    return _errors.Error(1, f"orrery: {words[0]}: {why}", words, None)


class _Line:
    """Words of a command line; mappings among its values become files that it can read."""

    def __init__(self, folder: contextlib.ExitStack) -> None:
        self.stdin: Optional[str] = None
        self._folder = folder

    def file(self, value: Any) -> str:
        """A path; the first scenario that is a dict goes to standard input, others to files."""
        if not isinstance(value, Mapping):
            return os.fspath(value)
        text = as_json(value)
        if self.stdin is None:
            self.stdin = text
            return "-"
        folder = self._folder.enter_context(tempfile.TemporaryDirectory(prefix="orrery-"))
        path = os.path.join(folder, "scenario.json")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def option(self, keyword: str, option: Option, value: Any) -> List[str]:
        if option.type == "flag":
            if not isinstance(value, bool):
                raise TypeError(f"{keyword}: True or False, not {value!r}")
            return [option.name] if value else []
        if option.type == "maybe" and value is True:
            return [option.name]
        if value is False and option.type == "maybe":
            return []
        return [f"{option.name}={word}" for word in self._values(keyword, option, value)]

    def _values(self, keyword: str, option: Option, value: Any) -> List[str]:
        if option.type in ("set", "variable", "vary") and isinstance(value, Mapping):
            return [f"{key}={_setting(option.type, key, v)}" for key, v in _flat(value)]
        if option.repeats and not isinstance(value, (str, bytes)):
            return [_word(keyword, v) for v in value]
        if option.type == "input" and isinstance(value, Mapping):
            return [self.file(value)]
        if isinstance(value, Mapping):  # why={"tp": 4, "pp": 4}
            return [",".join(f"{k}={_word(keyword, v)}" for k, v in value.items())]
        if isinstance(value, (list, tuple)):  # hold=["tp", "recompute"]
            return [",".join(_word(keyword, v) for v in value)]
        return [_word(keyword, value)]


def as_json(scenario: Mapping[str, Any]) -> str:
    """The text of a scenario: JSON, which YAML contains. One key a line, so that a message about
    it shows the key. What is not finite has no text (ValueError)."""
    return json.dumps(scenario, indent=2, ensure_ascii=False, allow_nan=False, default=_plain) + "\n"


def _plain(value: Any) -> Any:
    """Numbers of NumPy, paths, mappings and sequences of other kinds."""
    if hasattr(value, "item"):
        return value.item()
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(f"a scenario cannot hold {value!r}")


def _flat(settings: Mapping[str, Any], before: str = "") -> Iterator[Tuple[str, Any]]:
    for key, value in settings.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{before}{key}.")
        else:
            yield f"{before}{key}", value


def _setting(kind: str, key: str, value: Any) -> str:
    """A text is itself, whatever it holds: it goes quoted to --set. The values of --vary are named
    by what is typed, so that they are quoted only where YAML would read something else."""
    if kind == "vary" and not isinstance(value, str):
        return ",".join(_varied(key, v) for v in value)
    if isinstance(value, (list, tuple)):
        return _quoted([os.fspath(v) if isinstance(v, os.PathLike) else v for v in value])
    if kind == "set" and isinstance(value, (str, os.PathLike)):
        return _quoted(os.fspath(value))
    return _word(key, value)


#: What YAML reads as the same text without quotes: words of letters, digits and a few signs.
_SAME_IN_YAML = re.compile(r"(?!(?:null|true|false)$)[\w.+/](?:[\w.+/%()<>=-]| (?! |$))*", re.I)


def _varied(key: str, value: Any) -> str:
    word = _word(key, value)
    if not isinstance(value, (str, os.PathLike)):
        return word
    if "," in word or ".." in word:
        sign = "','" if "," in word else "'..'"
        raise ValueError(f"vary {key}: {word!r}: {sign} stands between values there: call orrery.run for each such "
                         "value with set=, or give the values as one text, as in \"1min..4h:log:25\"")
    return word if _SAME_IN_YAML.fullmatch(word) else _quoted(word)


#: Characters that JSON has as they are, and a scenario refuses unless they are escaped.
_UNREADABLE = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


def _quoted(value: Any) -> str:
    """JSON, whose strings are double-quoted ones of YAML."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, default=_plain)
    return _UNREADABLE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _word(key: str, value: Any) -> str:
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else repr(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, (str, os.PathLike)):
        return os.fspath(value)
    raise TypeError(f"{key}: a number, a text or a path, not {value!r}")


class _Done(NamedTuple):
    words: List[str]
    code: int
    out: bytes
    said: str
    interrupted: bool


def document(command: Command, positional: Sequence[Any], options: Dict[str, Any]) -> Any:
    """The document that the command prints with --json; None where it has none and writes a file."""
    if _has_no_document(command, positional, options):
        if options.get("output") is None:
            words = ["orrery", command.name]
            raise _errors.UsageError(2, f"orrery {command.name}: this prints no JSON document: give output= to write a "
                                        f"file, or call orrery.text({command.name!r}, ...) for its text", words, None)
        text(command, positional, options)
        return None
    done = _call(command, positional, options, ["--json"])
    result = _parsed(done)
    if done.code not in (0, 3, 4) or result is None:
        _fail(done, result)
    problems, messages = _errors.split(done.said)
    result.exit_code, result.messages = done.code, tuple(messages)
    _warn(problems)
    return result


def _has_no_document(command: Command, positional: Sequence[Any], options: Mapping[str, Any]) -> bool:
    """Of commands whose --json goes with some of their uses alone."""
    if command.name == "export":
        return options.get("launch") is None
    return command.name == "profile" and positional[0] in ("compare", "model", "shapes", "from")


#: Bytes that no text of a command holds; each message of a Chakra trace has some.
_BINARY = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")


def text(command: Command, positional: Sequence[Any], options: Dict[str, Any]) -> str:
    """What the command prints for people, or for other programs."""
    done = _call(command, positional, options, [])
    if done.interrupted or (done.code != 0 and not (done.code == 4 and done.out)):
        _fail(done, None)
    _warn(_errors.split(done.said)[0])
    try:
        if _BINARY.search(done.out) is None:
            return done.out.decode("utf-8")
    except UnicodeDecodeError:
        pass
    raise _errors.UsageError(2, f"orrery {command.name}: what this prints is binary, not text: give output= to write "
                                "a file", done.words, None)


def _parsed(done: _Done) -> Optional[Document]:
    if done.interrupted and not done.out:
        return None
    try:
        result = json.loads(done.out, object_hook=Document)
    except ValueError:
        if done.code == 0 and not done.interrupted:
            raise _no_document(done) from None
        return None
    return result if isinstance(result, Document) else None


def _no_document(done: _Done) -> _errors.Error:
    name, other = done.words[1], os.environ.get("ORRERY_BINARY")
    if not done.out.strip():
        why = f"printed nothing where `orrery {name} --json` prints a document"
        return _errors.Error(done.code, f"orrery: {binary()}: {why}: it is no program of Orrery", done.words, None)
    doubt = f" (if {other}, named by ORRERY_BINARY, is a program of Orrery)" if other else ""
    return _errors.UsageError(2, f"with these options `orrery {name}` prints no JSON document: call "
                                 f"orrery.text({name!r}, ...){doubt}", done.words, None)


def _fail(done: _Done, result: Optional[Document]) -> None:
    if done.interrupted:
        raise _errors.Interrupted(done.said, result)
    raise _errors.BY_CODE.get(done.code, _errors.Error)(done.code, done.said, done.words, result)


def _warn(problems: Sequence[_errors.Problem]) -> None:
    """At the line that called the package."""
    depth, frame = 1, sys._getframe(0)
    here = os.path.dirname(__file__)
    while frame.f_back is not None and os.path.dirname(frame.f_code.co_filename) == here:
        depth, frame = depth + 1, frame.f_back
    for problem in problems:
        if problem.severity == "warning":
            warnings.warn(problem.shown, _errors.OrreryWarning, stacklevel=depth)


def _call(command: Command, positional: Sequence[Any], options: Dict[str, Any], more: List[str]) -> _Done:
    given = {k: v for k, v in options.items() if v is not None}
    unknown = [k for k in given if k not in command.options]
    if unknown:
        raise TypeError(f"orrery {command.name} has no option {unknown[0]!r}; "
                        f"it has {', '.join(command.options)}")
    if command.spares and not any(given.get(k) for k in command.needs_db):
        more = [*more, "--no-db"]
    with contextlib.ExitStack() as folder:
        line = _Line(folder)
        files = [line.file(value) for value in positional if value is not None]
        words = [word for k, v in given.items() for word in line.option(k, command.options[k], v)]
        more = [word for word in more if word not in words]
        return _run([binary(), command.name, *words, *more, "--", *files], line.stdin or "")


def _run(words: List[str], stdin: str) -> _Done:
    """Standard input and output are files, so that nothing waits for anything; standard error is
    read while it is written, for progress."""
    with tempfile.TemporaryFile() as given, tempfile.TemporaryFile() as out, _Interrupts() as interrupts:
        given.write(stdin.encode())
        given.seek(0)
        listener = _Listener()
        try:
            process = subprocess.Popen(words, stdin=given, stdout=out, stderr=listener.end,
                                       env={**os.environ, "NO_COLOR": "1"}, start_new_session=interrupts.mine)
        except OSError as error:  # not in the format of a program, arguments too long
            listener.close()
            raise _cannot_start(words, f"cannot be started: {error.strerror}") from error
        except BaseException:
            listener.close()
            raise
        listener.begin()
        try:
            interrupts.process_is(process)
            code = process.wait()
        except BaseException:  # of a signal handler of the caller's, as of a time limit
            _end(process)
            raise
        finally:
            said = listener.finish()
        out.seek(0)
        return _Done(["orrery", *words[1:]], code, out.read(), said,
                     interrupts.count > 0 or code == INTERRUPTED)


INTERRUPTED = 130  # exit code of a command that Ctrl-C ended


class _Interrupts:
    """Ctrl-C while a command runs. In the main thread it is handed on to the command, which has a
    session of its own so that the terminal does not send it too: the first one has it stop in good
    order, the second one at once, the third one kills it. In other threads, and where the caller has
    a handler of SIGINT, the command stays with the terminal, which tells it."""

    def __init__(self) -> None:
        self.count = 0
        self.mine = (threading.current_thread() is threading.main_thread()
                     and signal.getsignal(signal.SIGINT) is signal.default_int_handler)
        self._process: Optional["subprocess.Popen[bytes]"] = None

    def __enter__(self) -> "_Interrupts":
        if self.mine:
            signal.signal(signal.SIGINT, self._on_signal)
        return self

    def __exit__(self, *_: object) -> None:
        if self.mine:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def process_is(self, process: "subprocess.Popen[bytes]") -> None:
        self._process = process
        if self.count:  # it came before there was a process
            process.send_signal(signal.SIGINT)

    def _on_signal(self, number: int, frame: object) -> None:
        self.count += 1
        if self._process is not None:
            self._process.send_signal(signal.SIGINT if self.count < 3 else signal.SIGKILL)
        if self.count == 1:
            tell("\norrery is stopping; interrupt again to stop at once\n")


def _end(process: "subprocess.Popen[bytes]") -> None:
    """The first SIGTERM has it stop in good order, the second one at once."""
    for seconds in (1.0, 5.0):
        process.terminate()
        try:
            process.wait(seconds)
            return
        except subprocess.TimeoutExpired:
            pass
    process.kill()
    process.wait()


#: What renews itself on a terminal, and the same as a line elsewhere (progress.h, streams.c).
_WORDS = r"[^\r\n\x1b]*: (?:[^\r\n\x1b]* left|at work for [0-9]+ s)"
_ON_TERMINAL = re.compile(rf"\r\x1b\[K({_WORDS})?")
_AS_LINE = re.compile(rf"^{_WORDS}\n", re.M)


class _Listener:
    """Standard error of a command. On a terminal the command is given one (a pseudo-terminal), and
    its progress is passed on as it comes."""

    def __init__(self) -> None:
        try:
            self._terminal = sys.stderr is not None and sys.stderr.isatty()
        except (AttributeError, ValueError):
            self._terminal = False
        try:
            self._mine, self.end = os.openpty() if self._terminal else os.pipe()
        except OSError:  # no pseudo-terminal is to be had: progress comes as lines
            self._terminal = False
            self._mine, self.end = os.pipe()
        if self._terminal:
            tty.setraw(self.end)
        self._bytes = b""
        self._passed = 0
        self._on_screen = False
        self._thread = threading.Thread(target=self._listen, name="orrery", daemon=True)

    def begin(self) -> None:
        os.close(self.end)
        self._thread.start()

    def close(self) -> None:
        os.close(self.end)
        os.close(self._mine)

    def finish(self) -> str:
        self._thread.join()
        os.close(self._mine)
        if self._on_screen:
            tell("\r\x1b[K")
        text = self._bytes.decode("utf-8", "replace")
        return _AS_LINE.sub("", _ON_TERMINAL.sub("", text))

    def _listen(self) -> None:
        while True:
            try:
                more = os.read(self._mine, 1 << 16)
            except OSError:  # the other end of a pseudo-terminal has gone
                return
            if not more:
                return
            self._bytes += more
            self._pass_on()

    def _pass_on(self) -> None:
        """The last state of what renews itself; lines of progress as they are complete."""
        if self._terminal:
            last = None
            for last in _ON_TERMINAL.finditer(self._bytes[-4096:].decode("utf-8", "replace")):
                pass
            if last is not None and (last[1] or self._on_screen):
                tell("\r\x1b[K" + (last[1] or ""))
                self._on_screen = bool(last[1])
            return
        complete = self._bytes.rfind(b"\n") + 1
        fresh, self._passed = self._bytes[self._passed:complete], complete
        for line in _AS_LINE.findall(fresh.decode("utf-8", "replace")):
            tell(line)


def tell(text: str) -> None:
    with contextlib.suppress(AttributeError, OSError, ValueError):  # nobody listens
        sys.stderr.write(text)
        sys.stderr.flush()
