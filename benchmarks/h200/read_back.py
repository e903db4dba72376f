"""Tables of the docs, made of what came back from rounds on a lent machine.

    python benchmarks/h200/read_back.py RESULTS.tgz… -o FOLDER [--only study,race]

Unpacks what `round.py` packed, in the order given (of a job that ran twice the last counts), and
writes FOLDER/tables/JOB.md for every job that has figures; the study's drawings lie beside its
table, and its ledger in FOLDER/jobs/study, to go on with (`pack.sh LEDGER`). Jobs without figures
are named, with the end of what they said. Needs no card.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import sys
import tarfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
STUDY = HERE.parents[1] / "examples" / "studies" / "h200.toml"
SAID = 800
"""How many of the last characters of a job without figures are told."""


def kernels(folder: Path, _: Path) -> Iterator[str]:
    """Yield the tables of `gpu_kernels.py`."""
    from gpu_kernels import HEAD, baselines, row

    results = _json(folder / "gpu_kernels.json")
    yield from (HEAD, *map(row, results), "", *baselines(results))


def race(folder: Path, _: Path) -> Iterator[str]:
    """Yield the tables of `compile.py`."""
    import compile as script

    if not any(script.measured(case, folder).is_file() for case in script.CASES):
        raise FileNotFoundError("no model was raced")
    yield _printed(lambda: script.main(["--told", "--folder", str(folder)]))


def study(folder: Path, tables: Path) -> Iterator[str]:
    """Yield the table of the study; its drawings are written beside it."""
    import study_table

    told = [str(STUDY), str(folder / "ledger.sqlite"), "-o", str(tables / "study")]
    if not (folder / "ledger.sqlite").is_file():
        raise FileNotFoundError("there is no ledger")
    yield _printed(lambda: study_table.main([*told, "--own", "burnish-cuda", "--names", "h200"]))


def torch(folder: Path, _: Path) -> Iterator[str]:
    """Yield the table of `gpu_torch.py`."""
    from gpu_torch import HEAD, told

    yield from (HEAD, *map(told, _json(folder / "gpu_torch.json")))


def cuda_graph(folder: Path, _: Path) -> Iterator[str]:
    """Yield the table of `cuda_graph.py`, and what it said."""
    from cuda_graph import HEAD, told

    rows = _json(folder / "cuda_graph.json")
    yield from (HEAD, *map(told, rows), "", *(row["diagnosis"]["sentence"] for row in rows))


def traffic(folder: Path, _: Path) -> Iterator[str]:
    """Yield the table of `gpu_traffic.py`."""
    from gpu_traffic import HEAD, row

    yield from (HEAD, *map(row, _json(folder / "gpu_traffic.json")))


def refused(folder: Path, _: Path) -> Iterator[str]:
    """Yield what was found of kernels that are refused."""
    yield from (folder / "gpu_refused.jsonl").read_text().splitlines()


def tf32(folder: Path, _: Path) -> Iterator[str]:
    """Yield what the judge said."""
    yield (folder / "verify.txt").read_text()


def tests(folder: Path, _: Path) -> Iterator[str]:
    """Yield how many tests there were, and what is said of those that failed."""
    for suite in ET.parse(folder / "tests.xml").getroot().iter("testsuite"):
        names = ("tests", "failures", "errors", "skipped", "time")
        yield ", ".join(f"{name} {suite.get(name)}" for name in names)
        for case in suite.iter("testcase"):
            for kind in ("failure", "error"):
                for found in case.findall(kind):
                    yield f"{kind}: {case.get('classname')}::{case.get('name')}\n{found.text}"


def unread(folder: Path, _: Path) -> Iterator[str]:
    """Say that a job is of no plan."""
    raise LookupError(f"nothing here reads the job {folder.name}")


READERS: dict[str, Callable[[Path, Path], Iterator[str]]] = {
    "tests": tests, "node-tests": tests, "study": study,
    "breadth": kernels, "table": kernels, "again": kernels,
    "unseen": kernels, "ablation": kernels, "tuned": kernels, "race": race,
    "torch": torch, "cuda-graph": cuda_graph, "traffic": traffic, "refused": refused, "tf32": tf32,
}  # fmt: skip
"""By the names that jobs have in the plans."""
WITHOUT = frozenset({"torch-fill"})
"""Jobs whose figures another job tells."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the tables that there are; return 1 if a job has none."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", type=Path, nargs="+")
    parser.add_argument("-o", "--output", type=Path, required=True)
    parser.add_argument("--only", default="", help="jobs, separated by commas")
    asked = parser.parse_args(arguments)
    jobs, tables = asked.output / "jobs", asked.output / "tables"
    tables.mkdir(parents=True, exist_ok=True)
    for archive in asked.results:
        with tarfile.open(archive) as given:
            given.extractall(jobs, filter="data")
    only = [name for name in asked.only.split(",") if name]
    there = sorted(path.name for path in jobs.iterdir() if path.is_dir())
    wanted = [name for name in there if name not in WITHOUT and (not only or name in only)]
    missing = [name for name in wanted if not written(name, jobs / name, tables)]
    return int(bool(missing))


def written(name: str, folder: Path, tables: Path) -> bool:
    """Write the table of a job; say where it is, or why there is none."""
    try:
        text = "\n".join(READERS.get(name, unread)(folder, tables)).strip() + "\n"
    except (Exception, SystemExit) as error:  # one job's damage costs no other's table
        said = folder / "output.txt"
        last = said.read_text(errors="replace")[-SAID:] if said.is_file() else ""
        print(f"{name}: no table: {type(error).__name__}: {error}\n{last}")
        return False
    (tables / f"{name}.md").write_text(text)
    print(f"{name}: {tables / name}.md, {text.count(chr(10))} lines")
    return True


def _json(path: Path) -> Any:  # noqa: ANN401  (whatever a script wrote)
    return json.loads(path.read_text())


def _printed(act: Callable[[], None]) -> str:
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        act()
    return said.getvalue()


if __name__ == "__main__":
    sys.exit(main())
