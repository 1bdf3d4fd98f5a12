"""One Spark for all tests of the pipeline: a local one, or what `TAMIS_SPARK` says, `cluster` or `connect`."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import cast, get_args

import pytest
from pyspark.sql import SparkSession

from support.spark import Kind, spark_session

KIND = cast(Kind, os.environ.get("TAMIS_SPARK", "local"))

_PATCHED = "a sink is replaced in this process, but with Connect it runs in another"
_KEPT = "a sink keeps what it gets in this process, but with Connect it runs in another"
_JAVA = "a plan is looked at through Java, which a client of Connect has not"
_WARNED = "a warning is expected here, but with Connect it is given in the process of the sink"
_EMBEDDED = "Derby is a database within one Java, and executors have their own"
#: What cannot run on a kind of session, and why.
ELSEWHERE: dict[Kind, dict[str, str]] = {
    "local": {},
    "cluster": {"test_where_spark_has_a_driver_it_reads": _EMBEDDED},
    "connect": {
        "test_a_batch_that_fails_is_repeated_with_the_same_version_and_ends_as_one": _PATCHED,
        "test_a_query_that_is_restarted_neither_loses_nor_repeats": _PATCHED,
        "test_a_stream_passes_files_that_cannot_be_read_and_names_them": _WARNED,
        "test_from_topic_to_topic_with_bad_records_and_a_restart": _PATCHED,
        "test_it_is_matched_by_the_same_task_unless_something_was_done_in_between": _JAVA,
        "test_versions_of_a_stream_and_a_repeated_batch": _KEPT,
    },
}


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        reason = ELSEWHERE[KIND].get(item.name.partition("[")[0])
        if reason is not None and item.path.is_relative_to(here):
            item.add_marker(pytest.mark.skip(reason=f"TAMIS_SPARK={KIND}: {reason}"))


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    assert KIND in get_args(Kind), f"TAMIS_SPARK is {' or '.join(get_args(Kind))}, not {KIND}"
    with spark_session(tmp_path_factory.mktemp("spark"), KIND) as session:
        yield session
