#!/usr/bin/env python3
"""docs/queries.md: its sh blocks write databases, each line of its sql blocks is a query of one.
Laws: a query answers with rows; every table and view has a query on the page. With pandas and
DuckDB, where Python has them, the answers have as many rows.

usage: queries.py ORRERY SOURCES     in an empty folder"""
import os
import pathlib
import re
import sqlite3
import subprocess
import sys

#: Read by views of the same name; string by all of them.
INNER = re.compile(r".*_raw|string")


def write(page, orrery):
    """The databases of the page."""
    for block in re.findall(r"^```sh\n(.*?)^```$", page, re.M | re.S):
        for line in block.splitlines():
            wanted = re.search(r"# exit code (\d)", line)
            path = os.path.dirname(os.path.abspath(orrery)) + os.pathsep + os.environ["PATH"]
            done = subprocess.run(["sh", "-c", line], env={**os.environ, "PATH": path}, capture_output=True, text=True)
            if done.returncode != int(wanted.group(1) if wanted else 0):
                sys.exit(f"queries: exit code {done.returncode}: {line}\n{done.stderr}")


def queries(page):
    """(database, query)."""
    for db, block in re.findall(r"^```sql (\S+)\n(.*?)^```$", page, re.M | re.S):
        for line in block.splitlines():
            yield db, line.partition(";")[0]


def readers():
    """(name, function(db, query) -> number of rows) of what else is there."""
    try:
        import pandas
        yield "pandas", lambda db, sql: len(pandas.read_sql(sql, sqlite3.connect(db)))
    except ImportError:
        print("queries: no pandas here: not tried with it")
    try:
        import duckdb
    except ImportError:
        print("queries: no DuckDB here: not tried with it")
        return
    try:
        duckdb.sql("install sqlite; load sqlite")

        def rows(db, sql):
            with duckdb.connect() as connection:
                connection.sql(f"load sqlite; attach '{db}' as run_of (type sqlite); use run_of")
                return len(connection.sql(sql).fetchall())
        yield "DuckDB", rows
    except duckdb.Error as error:
        print(f"queries: DuckDB has no extension sqlite here: not tried with it: {error}")


def main():
    orrery, sources = sys.argv[1], pathlib.Path(sys.argv[2])
    page = (sources / "docs/queries.md").read_text()
    for folder in ("scenarios", "tests"):
        os.symlink(sources / folder, folder)
    write(page, orrery)
    faults, count, asked, known = [], 0, set(), set()
    others = list(readers())
    for db, sql in queries(page):
        count += 1
        connection = sqlite3.connect(f"file:{db}?mode=ro", uri=True)
        known |= {name for name, in connection.execute("select name from sqlite_master where type in ('table', 'view')")}
        try:
            rows = len(connection.execute(sql).fetchall())
        except sqlite3.Error as error:
            faults.append(f"{db}: {sql}: {error}")
            continue
        if not rows:
            faults.append(f"{db}: no rows: {sql}")
        asked |= set(re.findall(r"\bfrom (\w+)", sql))
        faults += [f"{name}: not {rows} rows: {db}: {sql}" for name, read in others if read(db, sql) != rows]
    lacking = {name for name in known if not INNER.fullmatch(name) and not name.startswith("sqlite_")} - asked
    faults += [f"no query of {name}" for name in sorted(lacking)]
    print(*faults, sep="\n")
    print(f"queries: {count} queries of {len(asked)} tables and views, {len(faults)} faults")
    sys.exit(1 if faults or not count else 0)


if __name__ == "__main__":
    main()
