"""Tables, given and taken."""

from __future__ import annotations

from typing import Any

import pytest

import rtflash

pa = pytest.importorskip("pyarrow")
pl = pytest.importorskip("polars")
pd = pytest.importorskip("pandas")

TASKS: list[dict[str, Any]] = [
    {
        "name": "camera",
        "read": {"pages": 40, "period": "36ms"},
        "write": {"pages": 24, "period": "30ms"},
    },
    {"name": "map", "read": {"pages": 80, "period": "36ms", "deadline": "30ms"}, "data_pages": 100},
]
FLAT = [
    {
        "name": "camera",
        "read_pages": 40,
        "read_period": "36ms",
        "write_pages": 24,
        "write_period": "30ms",
    },
    {
        "name": "map",
        "read_pages": 80,
        "read_period": "36ms",
        "read_deadline": "30ms",
        "data_pages": 100,
    },
]


@pytest.mark.parametrize("rows", [TASKS, FLAT], ids=["structs", "columns"])
@pytest.mark.parametrize("frame", [pa.Table.from_pylist, pl.DataFrame, pd.DataFrame, list])
def test_task_sets_of_tables(rows: list[dict[str, Any]], frame: Any) -> None:
    every = {name: None for row in rows for name in row}
    table = frame([{**every, **row} for row in rows])
    made = rtflash.TaskSet(table, device="dgist-2021")
    assert made == rtflash.TaskSet({"device": "dgist-2021", "tasks": TASKS})


def test_wrong_cells_are_told() -> None:
    table = pl.DataFrame(FLAT).with_columns(read_pages=pl.lit(-1))
    with pytest.raises(rtflash.InputError) as raised:
        rtflash.TaskSet(table, device="dgist-2021")
    assert raised.value.path == "tasks[0].read.pages"
    table = pa.table({"name": [b"x"]})
    with pytest.raises(TypeError, match="Binary"):
        rtflash.TaskSet(table, device="dgist-2021")


def test_answers_as_tables() -> None:
    answer = rtflash.alloc("tasksets/case-study.json")
    frame = pl.DataFrame(answer)
    assert frame["utilization"].to_list() == [of.utilization for of in answer.clusters]
    assert frame["chips"].to_list() == [[0, 1], [2], [3]]
    assert frame.schema["utilization"] == pl.Float64 and frame.schema["chips"] == pl.List(pl.UInt64)
    assert pa.table(answer.table()).num_rows == 3
    run = rtflash.exec("tasksets/case-study.json", duration="50ms")
    table = run.table("requests")
    # Before pandas 3 there is no other way than by pyarrow.
    from_arrow = getattr(pd.DataFrame, "from_arrow", lambda table: pa.table(table).to_pandas())
    requests = from_arrow(table)
    assert len(requests) == len(run.requests) and (requests["misses"] == 0).all()
    with pytest.raises(ValueError, match="there are"):
        run.table("no-such")


def test_streams_and_experiments_as_tables() -> None:
    sets = rtflash.gen(util=2, sets=20)
    answers = rtflash.alloc([*sets, "{}"])
    frame = pl.DataFrame(answers)
    assert frame.height == 21 and frame["line"].to_list() == list(range(1, 22))
    assert frame["schedulable"].to_list()[:20] == [of.schedulable for of in answers[:20]]
    assert frame["error"].null_count() == 20
    found = rtflash.experiment(sets=3, util="1..2", step=0.5)
    table = pl.DataFrame(found)
    assert table.height == 3 * 4 and table.schema["sets"] == pl.Int64
    assert table["schedulable"].sum() == sum(of.schedulable for of in found.contenders)
    assert found.results.column_names[:3] == ["utilization", "algorithm", "analysis"]
    assert found.results.to_pylist()[0]["utilization"] == 1.0
