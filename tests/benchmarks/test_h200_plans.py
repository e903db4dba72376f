"""Plans for a lent machine: scripts and options that there are, and time that is enough."""

from __future__ import annotations

import ast
import itertools
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from gpu_kernels import SETS
from h200.round import Job, Plan, read
from side_by_side import groups_of

from burnish.cli.commands import COMMANDS
from burnish.study.study_file import read as read_study
from burnish.zoo.entry import MODELS
from command_options import known

ROOT = Path(__file__).parents[2]
KIT = ROOT / "benchmarks" / "h200"
PLANS = sorted(KIT.glob("round*.toml"))
PROCESSORS, CALL_S, STAGING_S = 16, 600, 45
JOBS = [(path.stem, job) for path in PLANS for job in read(path).jobs]
COMMAND_LINES = [
    pytest.param(text, id=f"{stem}-{job.name}-{kind}")
    for stem, job in JOBS
    for kind, text in (("there", job.command), ("dry", job.dry))
]


def options_of(script: Path) -> set[str]:
    """Return the options that a script's parser has, by reading it."""
    return {
        argument.value
        for node in ast.walk(ast.parse(script.read_text()))
        if isinstance(node, ast.Call) and getattr(node.func, "attr", "") == "add_argument"
        for argument in node.args
        if isinstance(argument, ast.Constant) and isinstance(argument.value, str)
    } | {"--help"}


def started(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield each script or command that a line of bash starts, and the options behind it."""
    make = "make bench-gpu"
    if make in text:
        yield "benchmarks/gpu_kernels.py", _options(shlex.split(text)[-1].split("=", 1)[1].split())
        return
    for part in text.replace("&&", ";").split(";"):
        words = part.split()
        if "burnish" in words:
            place = words.index("burnish")
            yield words[place + 1], _options(words[place + 2 :])
        if "pytest" in words:
            yield from ((word, []) for word in words if word.startswith("tests/"))
            continue
        for place, word in enumerate(words):
            if word.endswith((".py", ".sh")):
                yield word, _options(words[place + 1 :])


def _options(words: list[str]) -> list[str]:
    return [word for word in words if word.startswith("-") and word != "-"]


@pytest.mark.parametrize("text", COMMAND_LINES)
def test_every_line_starts_what_there_is_with_options_that_it_has(text: str) -> None:
    found = list(started(text))
    assert found, "something is started"
    for what, options in found:
        if what in COMMANDS:
            assert set(options) <= known(what)
        else:
            assert (ROOT / what).exists()
            accepted = options_of(ROOT / what) if what.endswith(".py") else set()
            assert set(options) <= accepted
    assert subprocess.run(["bash", "-n", "-c", text], check=False).returncode == 0


def test_the_table_is_that_of_make_bench_gpu() -> None:
    recipe = (ROOT / "Makefile").read_text().partition("\nbench-gpu:")[2].partition("\n\n")[0]
    made = recipe.partition("benchmarks/gpu_kernels.py")[2].replace("\\\n", " ").split()
    made = [word.replace("$(ORT_SITE)", "$ORT_SITE") for word in made[:-1]]
    (job,) = [job for stem, job in JOBS if (stem, job.name) == ("round2", "table")]
    assert made[0] == "--tune"
    assert " ".join(made) in " ".join(job.command.split())


def test_an_option_that_a_script_lacks_is_seen() -> None:
    assert "--whole" in options_of(ROOT / "benchmarks" / "side_by_side.py")
    assert "--whole" not in options_of(ROOT / "benchmarks" / "gpu_kernels.py")
    line = 'make bench-gpu GPU_OPTIONS="--out $RESULTS --whole"'
    assert list(started(line)) == [("benchmarks/gpu_kernels.py", ["--out", "--whole"])]
    assert list(started("A=1 python3 a.py --x; python3 -m burnish verify y --z")) == [
        ("a.py", ["--x"]),
        ("verify", ["--z"]),
    ]


@pytest.mark.parametrize("path", PLANS, ids=lambda path: path.stem)
def test_a_plan_fits_its_machine_and_its_call(path: Path) -> None:
    plan = read(path)
    assert plan.seconds + STAGING_S < CALL_S
    for job in plan.jobs:
        assert job.processors <= PROCESSORS
        assert job.least <= job.seconds <= plan.seconds
    wanted = [job.name for job in plan.jobs if not job.optional]
    assert set(wanted) <= began_by_the_end(plan), "if all take all they may"


def began_by_the_end(plan: Plan) -> set[str]:
    """Return the jobs that are begun in time if each takes all of its seconds, as `round` deals."""
    free, now, waiting = PROCESSORS, 0.0, list(plan.jobs)
    running: list[tuple[float, Job]] = []
    begun: set[str] = set()
    while waiting and now < plan.seconds:
        for job in list(waiting):
            over = {other.name for other in plan.jobs} - {one.name for one in waiting}
            over -= {one.name for _, one in running}
            if job.processors <= free and set(job.after) <= over:
                waiting.remove(job)
                free -= job.processors
                if plan.seconds - now >= job.least:
                    begun.add(job.name)
                    running.append((now + job.seconds, job))
                else:
                    free += job.processors
        if not running:
            break
        running.sort(key=lambda one: one[0])
        now, ended = running.pop(0)
        free += ended.processors
    return begun


@pytest.mark.parametrize(("stem", "job"), JOBS, ids=lambda one: getattr(one, "name", one))
def test_cases_are_models_that_there_are(stem: str, job: Job) -> None:
    gpu_plan, unseen = (pytest.importorskip(name) for name in ("gpu_plan", "gpu_unseen"))
    for text in (job.command, job.dry):
        words = text.replace("; ", " ").replace("A=", "--cases ").split()
        for option, cases in itertools.pairwise(words):
            named = SETS.get(cases, cases)
            for case in named.split(",") if option == "--cases" and cases != "$A" else ():
                name = gpu_plan.parse_case(case).name
                assert name in MODELS or unseen.is_unseen(name), f"{stem}: {case}"


def test_groups_of_the_study_are_called_as_they_are() -> None:
    study = read_study(ROOT / "examples" / "studies" / "h200.toml", small=False)
    groups = {group.name for group in groups_of(study, ROOT / "none")}
    words = [word for _, job in JOBS if job.name == "study" for word in job.command.split()]
    told = [word.split("=", 1) for word in words if "=" in word]
    wide = {each.partition("=")[0] for name, text in told for each in text.split(",")
            if name == "WIDE"}  # fmt: skip
    named = {each for name, text in told for each in text.split(",") if name in ("FIRST", "LATER")}
    assert named
    assert named < groups
    assert wide < groups | {model.name for model in study.models}


def test_what_no_lease_has_had_comes_first() -> None:
    (job,) = (job for stem, job in JOBS if (stem, job.name) == ("round1", "study"))
    first = next(word for word in job.command.split() if word.startswith("FIRST="))
    assert set(first.removeprefix("FIRST=").split(",")) == {
        f"{model}-batch64" for model in ("mobilenet-v2", "conformer", "bsrn")
    }
    assert job.again, "a second call goes on behind the rounds that the first kept"


@pytest.mark.parametrize("script", sorted(KIT.glob("*.sh")), ids=lambda path: path.name)
def test_shell_scripts_are_read_without_fault(script: Path) -> None:
    assert subprocess.run(["bash", "-n", str(script)], check=False).returncode == 0
