"""What a command answers: its JSON document as a dict, with keys as attributes."""
from __future__ import annotations

import difflib
import html
import keyword
import math
from typing import Any, Callable, List, NamedTuple, Optional, Tuple


class Document(dict):
    """A JSON document of orrery, or an object inside one.

    A dict; `document.step_time_s` is `document["step_time_s"]`. A key that is a word of Python's
    has an underscore as an attribute (`is_` is `["is"]`); one that is also a method of dict
    (`items`) is reached by `[...]` alone. Numbers are in SI units, which end their names.
    """

    #: Of the command: 0, or 3 and 4 where it answered that a scenario is wrong or does not fit.
    exit_code: int = 0
    #: What the command said on standard error, warnings and progress aside, line by line.
    messages: Tuple[str, ...] = ()

    def __getattr__(self, name: str) -> Any:
        try:
            return self[name]
        except KeyError:
            pass
        if name.endswith("_") and keyword.iskeyword(name[:-1]) and name[:-1] in self:
            return self[name[:-1]]
        near = difflib.get_close_matches(name, [k for k in self if isinstance(k, str)], 1)
        advice = f"; did you mean {near[0]!r}?" if near else ""
        raise AttributeError(f"the document has no key {name!r}{advice}")

    def __dir__(self) -> List[str]:
        keys = (k + "_" if keyword.iskeyword(k) else k for k in self if isinstance(k, str))
        return sorted({*super().__dir__(), *keys})

    def __repr__(self) -> str:
        title, rows, table = main_figures(self)
        if title is None:
            return dict.__repr__(self)
        lines = [title]
        width = max((len(name) for name, _ in rows), default=0)
        lines += [f"  {name:<{width}}  {value}" for name, value in rows]
        if table is not None:
            lines += _aligned(table)
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        title, rows, table = main_figures(self)
        if title is None:
            return f"<pre>{html.escape(dict.__repr__(self))}</pre>"
        parts = [f"<p><b>{html.escape(title)}</b></p>"]
        if rows:
            parts.append(_table(None, [[name, value] for name, value in rows]))
        if table is not None:
            parts.append(_table(table.heads, table.rows))
            if table.left_out:
                parts.append(f"<p>{table.left_out} more rows</p>")
        return "".join(parts)


class Table(NamedTuple):
    heads: List[str]
    rows: List[List[str]]
    left_out: int


ROWS_SHOWN = 20

#: By document: the keys that stand first where a document is shown. Those that it lacks, or that
#: are not known (null), are passed over.
FIGURES = {
    "run": "step_time_s tokens_per_s tokens_per_s_per_gpu mfu bubble_ratio fits peak_reserved_bytes "
           "usable_hbm_bytes cost_usd_per_step cost_usd_per_1e9_tokens wall_s goodput ettr failures cost_usd",
    "memory": "fits parameters static_bytes_model rule_of_thumb_bytes usable_hbm_bytes minimum_gpus",
    "check": "valid fits errors warnings refusal",
    "plan": "searched timed played seconds",
    "study": "objective seconds",
    "walls": "fits binding balance_flop_per_byte",
    "explain": "fits step_time_s tokens_per_day",
    "compare": "timed",
    "launch": "framework framework_version refused",
    "lesson": "shows",
    "validate": "kind refused",
}
#: By document: the list that is shown as a table, and its columns.
TABLES = {
    "check": ("problems", "severity file line column text"),
    "plan": ("layouts", "rank tp pp dp cp ep microbatch sharding recompute step_time_s p10 p90 mfu "
                        "peak_reserved_bytes cost_usd_per_1e9_tokens"),
    "plan-machines": ("machines", "values gpus layout.step_time_s layout.mfu layout.peak_reserved_bytes "
                                  "layout.cost_usd_per_1e9_tokens training_days training_usd best"),
    "collective": ("rows", "op ranks bytes algorithm protocol time_s busbw_bytes_per_s"),
    "walls": ("walls", "key envelope simulated unit formula"),
    "explain": ("waterfall", "term seconds tokens_per_day what"),
    "compare": ("terms", "term a_s b_s difference_s what"),
    "list": ("rows", "family name doc"),
    "doctor": ("rows", "what good text"),
    "lesson": ("questions", "ask text"),
    "validate": ("rows", "row_id metric predicted measured error"),
}


def main_figures(document: Document) -> Tuple[Optional[str], List[Tuple[str, str]], Optional[Table]]:
    """Title, rows (name, value) and table of a whole document; (None, [], None) of a part."""
    schema = document.get("schema")
    if not isinstance(schema, str) or not schema.startswith("orrery."):
        return None, [], None
    kind = schema[len("orrery."):].split("/")[0]
    scenario = document.get("scenario")
    title = f"{schema}: {scenario}" if scenario else schema
    rows = [(key, shown(key, document[key])) for key in FIGURES.get(kind, "").split()
            if document.get(key) is not None]
    if kind == "study":
        return title, rows, _study_table(document)
    if kind not in TABLES:
        return title, rows, None
    key, columns = TABLES[kind]
    return title, rows, _table_of(document.get(key) or [], columns.split())


def _study_table(document: Document) -> Optional[Table]:
    """The varied keys, whether it fits, and the mean of the objective with its interval."""
    points = document.get("points") or []
    objective = document.get("objective")
    flat = []
    for point in points:
        result = point.get(objective) or {}
        low, high = (list(result.get("ci95") or ()) + [None, None])[:2]
        flat.append({**point.get("vary", {}), "fits": point.get("fits"), objective: result.get("mean"),
                     f"{objective} from": low, f"{objective} to": high})
    return _table_of(flat, list(dict.fromkeys(key for row in flat for key in row)))


def _table_of(items: List[Any], columns: List[str]) -> Optional[Table]:
    """Columns that no item knows are left out."""
    kept = [c for c in columns if any(_at(i, c) is not None for i in items)]
    if not kept:
        return None
    rows = [[shown(c, _at(i, c)) for c in kept] for i in items[:ROWS_SHOWN]]
    return Table(kept, rows, max(0, len(items) - ROWS_SHOWN))


def _at(item: Any, column: str) -> Any:
    """item["layout"]["mfu"] for "layout.mfu"; keys that hold a dot themselves go first."""
    head, _, rest = column.partition(".")
    if column in item or not rest:
        return item.get(column)
    return _at(item.get(head) or {}, rest)


def _table(heads: Optional[List[str]], rows: List[List[str]]) -> str:
    row = lambda cells, tag: "<tr>" + "".join(f"<{tag}>{html.escape(c)}</{tag}>" for c in cells) + "</tr>"
    head = f"<thead>{row(heads, 'th')}</thead>" if heads else ""
    return f"<table>{head}<tbody>{''.join(row(cells, 'td') for cells in rows)}</tbody></table>"


def _aligned(table: Table) -> List[str]:
    lines = [table.heads, *table.rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(table.heads))]
    text = ["  " + "  ".join(f"{c:<{w}}" for c, w in zip(line, widths)).rstrip() for line in lines]
    return text + ([f"  {table.left_out} more rows"] if table.left_out else [])


_RATIOS = ("_ratio", "mfu", "hfu", "goodput", "ettr", "probability")


def shown(key: str, value: Any) -> str:
    """A value for people, by the unit that its key ends with."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    if not isinstance(value, (int, float)):
        return ", ".join(map(str, value)) if isinstance(value, list) else str(dict(value))
    name = key.split(" ")[0]
    for ends, form in _FORMS:
        if name.endswith(ends):
            return form(float(value))
    return _digits(float(value))


def _digits(value: float) -> str:
    """Counts whole; other numbers with four digits."""
    if not math.isfinite(value):
        return str(value)
    if value == int(value) and abs(value) < 1e9:
        return f"{int(value):,}"
    return f"{value:.4g}"


def _scaled(steps: List[Tuple[float, str]]) -> Callable[[float], str]:
    def form(value: float) -> str:
        scale, unit = next((s for s in steps if abs(value) >= s[0]), steps[-1])
        return f"{value / scale:.4g} {unit}" if abs(value) > steps[-1][0] * 1e-3 else "0"
    return form


_time = _scaled([(86400, "d"), (3600, "h"), (60, "min"), (1, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns")])
_memory = _scaled([(2.0**40, "TiB"), (2.0**30, "GiB"), (2.0**20, "MiB"), (2.0**10, "KiB"), (1, "B")])
_rate = _scaled([(1e12, "TB/s"), (1e9, "GB/s"), (1e6, "MB/s"), (1e3, "kB/s"), (1, "B/s")])
_count = _scaled([(1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"), (1, "")])

#: The first that fits: longer ends before those that end them.
_FORMS: List[Tuple[Any, Callable[[float], str]]] = [
    ("_bytes_per_s", _rate),
    (("tokens_per_s", "tokens_per_s_per_gpu"), lambda v: _count(v).strip()),
    (("_bytes", "_bytes_model"), _memory),
    ("bytes", _memory),
    ("_per_s", lambda v: _count(v).strip()),
    (("_s", "seconds"), _time),
    (("p10", "p90"), _time),
    (_RATIOS, lambda v: f"{100 * v:.1f} %"),
    (("_usd", "_usd_per_1e9_tokens", "_usd_per_step"), lambda v: f"{v:,.2f} USD" if abs(v) >= 1 else f"{v:.4g} USD"),
    (("parameters", "tokens_per_day"), lambda v: _count(v).strip()),
]
