"""Rows of a results database."""
from __future__ import annotations

import os
import pathlib
import re
import sqlite3
from typing import Any, Sequence, Union


def frame(db: Union[str, "os.PathLike[str]"], sql: str, parameters: Sequence[Any] = ()) -> Any:
    """The rows of a query on a database of `run`, `study` or `plan`; `sql` may be the name of a
    table or view alone ("breakdown", "slice", "pareto").

    A pandas DataFrame where pandas is installed, else a list of dicts. The file is opened for
    reading only. Its table `doc` says what each column is, and its unit.
    """
    path = pathlib.Path(db).resolve()
    if not path.is_file():
        raise FileNotFoundError(f"{db}: no such database")
    if sqlite3.sqlite_version_info < (3, 37):  # strict tables
        raise RuntimeError(f"this Python has SQLite {sqlite3.sqlite_version}; the databases need 3.37 or later")
    if re.fullmatch(r"\w+", sql):
        sql = f'select * from "{sql}"'
    connection = sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)
    try:
        cursor = connection.execute(sql, parameters)
        names = [column[0] for column in cursor.description or ()]
        rows = cursor.fetchall()
    finally:
        connection.close()
    try:
        import pandas
    except ImportError:
        return [dict(zip(names, row)) for row in rows]
    return pandas.DataFrame(rows, columns=names)
