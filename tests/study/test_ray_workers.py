from __future__ import annotations

import dataclasses
import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import onnx
import onnx.parser
import pytest

from burnish.bench.ledger import Ledger
from burnish.core.errors import MissingCapabilityError, UsageError
from burnish.store import layout, onnx_files
from burnish.study import bench, ray_workers
from burnish.study.matrix import groups
from burnish.study.measuring import here, planned
from burnish.study.ray_workers import connected, shipped, unpacked
from burnish.study.requests.judging import BenchCommand

MODEL = """
<ir_version: 8, opset_import: ["": 18]>
g (float[batch, 4] x) => (float[batch, 4] y) { y = Neg(x) }
"""
CPU = "onnxruntime-cpu"
KILLED = """
import json, sys, threading, time, warnings
from pathlib import Path
from ray.cluster_utils import Cluster
from burnish.bench.ledger import Ledger
from burnish.study import bench
from burnish.study.requests.judging import BenchCommand

model, book = sys.argv[1], Ledger(Path(sys.argv[2]))

def patiently(start):
    # Ray gives a node 30 s to start, which a busy machine may need more than once
    for _ in range(3):
        try:
            return start()
        except Exception as error:
            last = error
    raise last

small = {"object_store_memory": 100 << 20}
head = {"num_cpus": 0, "include_dashboard": False, **small}
cluster = patiently(lambda: Cluster(initialize_head=True, head_node_args=head))
patiently(lambda: cluster.add_node(num_cpus=1, **small))
victim = patiently(lambda: cluster.add_node(num_cpus=1, **small))

def kill_one_in_the_middle():
    while not book.rows():
        time.sleep(0.05)
    cluster.remove_node(victim, allow_graceful=False)

threading.Thread(target=kill_one_in_the_middle, daemon=True).start()
asked = BenchCommand(model, engine="onnxruntime-cpu", batch=tuple(range(1, 7)), rounds=1, blocks=1,
                     ledger=book.path, workers=cluster.address)
report = bench.answer(asked)
print(json.dumps({one.subject: one.status for one in report.measurements}))
cluster.shutdown()
"""


@pytest.fixture
def model(tmp_path: Path) -> str:
    place = layout.place(tmp_path / "store", "plain", "dynamo")
    place.parent.mkdir(parents=True)
    onnx.save(onnx.parser.parse_model(MODEL), place)
    return str(place)


def test_a_node_that_has_not_the_files_gets_them(model: str, tmp_path: Path) -> None:
    asked = BenchCommand(model, engine=CPU)
    (group,), _ = groups(asked, [layout.stored(Path(model))])
    plan = planned(asked, group, here())
    work = shipped(asked, plan, tuple(plan.subjects), 10.0)
    assert unpacked(work, tmp_path / "home") == plan, "where they are, nothing is unpacked"
    key = onnx_files.content_key(Path(model))
    Path(model).unlink()
    there = unpacked(work, tmp_path / "home")
    (found,) = there.group.models
    assert onnx_files.content_key(found.onnx) == key
    assert layout.stored(found.onnx).label == "plain/dynamo"
    assert [one.model for one in there.subjects.values()] == [found]
    assert dataclasses.replace(there, group=group, subjects=plan.subjects) == plan


def test_what_is_no_cluster_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="--workers 'many' names no cluster") as error:
        connected("many").__enter__()
    assert error.value.hint == "write --workers ray, or ray://HOST:PORT"
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingCapabilityError, match="ray is not installed") as missing:
        connected("ray").__enter__()
    assert missing.value.hint == "pip install 'burnish[ray]'"


def test_who_is_left_alone_is_told() -> None:
    error = ray_workers._nobody_left(3)
    assert "no node of the Ray cluster is left, and 3 groups" in error.problem
    assert "the same command goes on" in error.hint


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="needs the extra [ray]")
def test_a_node_killed_in_the_middle_costs_no_row(model: str, tmp_path: Path) -> None:
    book, own = Ledger(tmp_path / "ledger.sqlite"), Ledger(tmp_path / "own.sqlite")
    words = [sys.executable, "-c", KILLED, model, str(book.path)]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=560)
    assert done.returncode == 0, done.stderr[-2000:]
    assert json.loads(done.stdout.splitlines()[-1]) == {
        f"plain/dynamo@{CPU} batch={batch}": "ok" for batch in range(1, 7)
    }
    assert sorted(row.bindings["batch"] for row in book.rows()) == [1, 2, 3, 4, 5, 6]
    assert len({row.machine for row in book.rows()}) == 1
    bench.answer(BenchCommand(model, engine=CPU, batch=tuple(range(1, 7)), rounds=1, blocks=1,
                              ledger=own.path))  # fmt: skip
    assert _told(book) == _told(own)
    assert len(_told(book)) == 6


def _told(book: Ledger) -> dict[str, tuple[str, str]]:
    """Return what rows say besides their figures, by all that these depend on."""
    return {row.task: (row.status, row.parity.word if row.parity else "") for row in book.rows()}
