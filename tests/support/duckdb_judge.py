"""DuckDB's answers, from a process of its own: in a test runner's worker it complains about leaks at the end."""

import multiprocessing
from concurrent.futures import ProcessPoolExecutor

import pyarrow as pa


def judged(questions: list[tuple[pa.Table, list[str]]]) -> list[list[list[bool | None]]]:
    """Return for each table of events a row of answers per event, with one answer per condition."""
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as process:
        return process.submit(_judged, questions).result()


def _judged(questions: list[tuple[pa.Table, list[str]]]) -> list[list[list[bool | None]]]:
    import duckdb

    answers = []
    with duckdb.connect(config={"threads": 1}) as database:
        database.execute("set timezone = 'UTC'")
        for events, conditions in questions:
            database.register("events", events)
            # TIMESTAMP as in the text, not TIMESTAMP WITH TIME ZONE.
            typed = "select * replace (t::timestamp as t) from events" if "t" in events.column_names else "from events"
            columns = ", ".join(f"({condition})" for condition in conditions)
            rows = database.execute(f"select {columns} from ({typed})").fetchall()  # noqa: S608 - our own conditions
            answers.append([list(row) for row in rows])
    return answers
