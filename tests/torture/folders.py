"""Compiled folders whose plan was changed and whose sums were made again: refused or run, no more.

`main` tries so many mutants and returns which ended a process, hung, or gave a traceback.
"""

from __future__ import annotations

import json
import random
import select
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import numpy as np

from torture.finding import Finding, Progress
from torture.hands import Hands, Outcome

Json = Any
EXAMPLE = Path(__file__).parents[2] / "examples" / "bert-mini" / "torchscript"
_WORKER = Path(__file__).with_name("folder_worker.py")
LIMIT_S = 30.0
"""A mutant that takes longer hangs: a sound one takes some milliseconds."""
SHARD = 30
"""How many mutants make one piece of work."""
SHARD_S = 1200.0
LARGE = 1000
"""From so many on, a whole network is among the folders."""

EDGES = (
    0, 1, -1, 2, 63, 64, 65, 255, 256, 4096, 2**31 - 1, 2**31, 2**32, 2**40, 2**46, 2**62,
    2**63 - 1, 2**63, 2**64, -(2**31), -(2**63), 10**30, 10**400,
)  # fmt: skip
WORDS = (
    "", "../plan.json", "/etc/passwd", "\ud800", "x" * 70_000, "f32", "f64", "i8", "str",
    "nonsense", "arena", "constant", "input", "output", "value", "nan", "avx512", "portable",
    "part_0.onnx",
)  # fmt: skip
ODD: tuple[Json, ...] = (None, True, False, 0.5, -1.5, "nan", [], {}, [[]], [None], {"": {}})


@dataclass
class Tally:
    """What became of the mutants."""

    counts: Counter[str] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)

    def add(self, outcome: str, what: str) -> None:
        """Count one mutant."""
        kind = outcome.partition(":")[0]
        self.counts[kind] += 1
        if kind not in ("refused", "ran"):
            kinds = {"hung": "hang", "killed": "crash", "ended": "crash"}
            self.findings.append(Finding(kinds.get(kind, kind), what, outcome))

    def __str__(self) -> str:
        return ", ".join(f"{number:,} {kind}" for kind, number in sorted(self.counts.items()))


def attack(samples: list[Path], count: int, seed: int, first: int = 0) -> Tally:
    """Try mutants of compiled folders by number, each with inputs for its plans beside it."""
    tally = Tally()
    with Worker() as worker:
        for number in range(first, first + count):
            place = random.Random(f"{seed}.{number}")
            folder = samples[number % len(samples)]
            original = (folder / "plan.json").read_text()
            text = mutant(original, place)
            write_plan(folder, text)
            tally.add(worker.outcome(folder), f"seed {seed}, mutant {number} of {folder.name}")
            write_plan(folder, original)
    return tally


def write_plan(folder: Path, text: str) -> None:
    """Replace the plan of a folder, and make its sums again."""
    from burnish.codegen.write import write_sums

    (folder / "plan.json").write_text(text, errors="surrogatepass")
    write_sums(folder)


def mutant(text: str, place: random.Random) -> str:
    """Return a plan with some things changed."""
    if place.random() < 0.05:
        return _torn(text, place)
    data = json.loads(text)
    for _ in range(place.choice((1, 1, 1, 2, 3, 6))):
        place.choice((_anything, _anything, _tensors, _steps))(data, place)
    return json.dumps(data)


def _torn(text: str, place: random.Random) -> str:
    at = place.randrange(len(text))
    return place.choice((
        text[:at],
        text[:at] + chr(place.randrange(32, 127)) + text[at + 1 :],
        text[:at] + text[at + place.randrange(40) :],
        "[" * 100_000,
        text.replace('"steps": [', '"steps": [' + "[" * 100_000, 1),
        text.replace(": 0,", ": NaN,", 1),
        "",
    ))  # fmt: skip


def _spots(data: Json, keys: tuple[Any, ...] = ()) -> Iterator[tuple[Json, Any]]:
    """Yield everything in a document as what holds it and its key there."""
    pairs = data.items() if isinstance(data, dict) else enumerate(data)
    for key, value in pairs:
        yield data, key
        if isinstance(value, (dict, list)):
            yield from _spots(value, (*keys, key))


def _anything(data: Json, place: random.Random) -> None:
    holder, key = place.choice(list(_spots(data)))
    value = holder[key]
    if place.random() < 0.1:
        holder[key] = place.choice(ODD)
    elif isinstance(value, bool) or value is None or isinstance(value, float):
        holder[key] = place.choice((*ODD, 1e308, -1e308))
    elif isinstance(value, int):
        holder[key] = place.choice((*EDGES, value + 1, value - 1, value * 2, value // 2, -value))
    elif isinstance(value, str):
        others = [held[k] for held, k in _spots(data) if isinstance(held[k], str)]
        holder[key] = place.choice((place.choice(WORDS), place.choice(others)))
    elif isinstance(value, list):
        _reorder(value, place)
    else:
        _rename(value, place)


def _reorder(items: list[Json], place: random.Random) -> None:
    if not items or place.random() < 0.1:
        items.append(place.choice((*ODD, *EDGES)))
        return
    at, other = place.randrange(len(items)), place.randrange(len(items))
    place.choice((
        lambda: items.pop(at),
        lambda: items.insert(other, items[at]),
        items.reverse,
        lambda: items.extend(items * 200),
        items.clear,
        lambda: items.__setitem__(slice(None), [*items[at:], *items[:at]]),
    ))()  # fmt: skip


def _rename(table: dict[str, Json], place: random.Random) -> None:
    if not table:
        table["more"] = place.choice(ODD)
        return
    one, other = place.choice(list(table)), place.choice(list(table))
    if place.random() < 0.5:
        table[one], table[other] = table[other], table[one]
    elif place.random() < 0.5:
        table[place.choice(WORDS)] = table.pop(one)
    else:
        del table[one]


def _plan(data: Json, place: random.Random) -> Json:
    plans = data.get("plans") if isinstance(data, dict) else None
    found = [p for p in plans or () if isinstance(p, dict)] if isinstance(plans, list) else []
    return place.choice(found) if found else {}


def _tensors(data: Json, place: random.Random) -> None:
    """Change where tensors lie, and what they are."""
    tensors = _plan(data, place).get("tensors")
    if not isinstance(tensors, dict) or not tensors:
        return
    one, other = (tensors[place.choice(list(tensors))] for _ in "ab")
    if not isinstance(one, dict) or not isinstance(other, dict):
        return
    match place.randrange(5):
        case 0:
            one["offset"] = other.get("offset")
        case 1:
            one["home"] = place.choice(("arena", "constant", "input", "output", "value"))
        case 2:
            one["dtype"] = place.choice(("f32", "f64", "i64", "i8", "bool", "u64", "str", "f16"))
        case 3 if isinstance(one.get("shape"), list):
            one["shape"] = place.choice((
                [*one["shape"], 1], one["shape"][::-1], one["shape"][1:], [2**20, 2**20],
                [n * 2 for n in one["shape"] if type(n) is int], [-1, -8], None,
            ))  # fmt: skip
        case _:
            one["offset"] = place.choice((64, -64, 2**40, 2**63, one.get("offset")))


def _steps(data: Json, place: random.Random) -> None:
    """Change what is run, on what, and how often."""
    plan = _plan(data, place)
    steps = plan.get("steps")
    if not isinstance(steps, list) or not steps:
        return
    step = place.choice(steps)
    if not isinstance(step, dict):
        return
    names = list(plan["tensors"]) if isinstance(plan.get("tensors"), dict) else ["x"]
    lists = [key for key in ("arguments", "inputs", "outputs") if isinstance(step.get(key), list)]
    match place.randrange(5):
        case 0:
            step["launch"] = {**step.get("launch", {}), "tiles": place.choice(EDGES)}
        case 1:
            step["launch"] = {"tiles": 1, "scratch_bytes": place.choice(EDGES)}
        case 2 if lists and names:
            given = step[place.choice(lists)]
            at = place.randrange(len(given) + 1)
            place.choice((
                given.reverse,
                lambda: given.insert(at, place.choice(names)),
                lambda: given.__setitem__(slice(at, at + 1), [place.choice(names)]),
            ))()  # fmt: skip
        case 3:
            other = place.choice(steps)
            if isinstance(other, dict) and "kernel" in other:
                step["kernel"] = other["kernel"]
        case _:
            steps.insert(place.randrange(len(steps) + 1), json.loads(json.dumps(step)))


class Worker:
    """A process that loads and runs folders, one after the other; a dead one is replaced."""

    def __enter__(self) -> Self:
        self._start()
        return self

    def __exit__(self, *_: object) -> None:
        self._end()

    def outcome(self, folder: Path) -> str:
        """Return what became of a folder: `refused`, `ran`, or what went wrong."""
        assert self._process.stdin is not None
        self._process.stdin.write(f"{folder}\n".encode())
        self._process.stdin.flush()
        said = self._line()
        if said is None:
            code = self._process.poll()
            self._end()
            self._start()
            if code is None:
                return f"hung: no answer within {LIMIT_S:g} s"
            return f"killed: {signal.Signals(-code).name}" if code < 0 else f"ended: {code}"
        return said

    def _line(self) -> str | None:
        assert self._process.stdout is not None
        ready, _, _ = select.select([self._process.stdout], [], [], LIMIT_S)
        line = self._process.stdout.readline().decode() if ready else ""
        if not line and ready:
            self._process.wait()
        return line.rstrip("\n") or None

    def _start(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-P", str(_WORKER)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )  # fmt: skip

    def _end(self) -> None:
        self._process.kill()
        self._process.communicate()


def samples(place: Path, *, large: bool = False) -> list[Path]:
    """Write compiled folders of several kinds, with inputs for each of their plans beside them."""
    made: dict[str, Callable[[Path], None]] = {
        "mlp": _mlp, "mixed": _mixed, "gather": _gather, "chain": _chain, "text": _text,
        **({"bert-mini": _bert_mini} if large else {}),
    }  # fmt: skip
    for name, make in made.items():
        make(place / name)
    return [place / name for name in made]


def _mlp(folder: Path) -> None:
    from codegen.models import mlp

    _compiled(folder, [(mlp(), {"batch": n}, {"x": _random(n, 8)}) for n in (3, 5)])


def _mixed(folder: Path) -> None:
    from codegen.models import MIXED, model

    _compiled(folder, [(model(MIXED), {"batch": 3}, {"x": _random(3, 1100)})])


def _gather(folder: Path) -> None:
    from codegen.models import model, weights

    text = """embed (int64[batch, 5] ids, float[batch, 5, 16] x) => (float[batch, 5, 16] y)
    { [look] e = Gather(table, ids) [sum] s = Add(e, x) [even] y = LayerNormalization(s, g, b) }"""
    tables = weights(("table", (11, 16)), ("g", (16,)), ("b", (16,)))
    ids = np.arange(20).reshape(4, 5) % 11
    _compiled(folder, [(model(text, tables), {"batch": 4}, {"ids": ids, "x": _random(4, 5, 16)})])


def _chain(folder: Path) -> None:
    from codegen.models import model, weights

    text = """chain (float[n, 32] x) => (float[n, 32] y, float[n, 32] z)
    { [a] p = MatMul(x, u) [b] q = Softmax(p) [c] r = MatMul(q, v) [d] z = Tanh(r)
      [e] s = MatMul(z, u) [f] y = Softmax(s) }"""
    both = weights(("u", (32, 32)), ("v", (32, 32)))
    _compiled(folder, [(model(text, both), {"n": 7}, {"x": _random(7, 32)})])


def _text(folder: Path) -> None:
    from codegen.models import model

    text = """text (float[n, 4] x) => (float[n, 4] y, float[k, 2] found)
    <int64[2] shape = {-1, 2}> { [a] d = Mul(x, x) [b] c = NonZero(d) [c] f = Cast <to = 1> (c)
      [d] found = Reshape(f, shape) [e] y = Exp(d) }"""
    _compiled(folder, [(model(text), {"n": 4}, {"x": _random(4, 4)})])


def _bert_mini(folder: Path) -> None:
    """Write a whole network, as the command line compiles it."""
    from burnish.feeds.choose import choose
    from burnish.store import layout
    from burnish.study.compile import CompileRequest, compile_model

    model = layout.resolve(str(EXAMPLE), Path())
    sizes = {"batch": 1, "sequence": 16}
    compile_model(CompileRequest(model, folder, (sizes,), threads=1, samples=1))
    np.savez(folder.parent / f"{folder.name}.0.npz", **choose(model, bindings=sizes)[0].arrays)


def _random(*shape: int) -> np.ndarray:
    return np.random.default_rng(0).standard_normal(shape).astype(np.float32)


def _compiled(folder: Path, cases: list[tuple[Any, dict[str, int], dict[str, Any]]]) -> None:
    from burnish.codegen.write import write
    from burnish.rewrite.static import static
    from burnish.runtime.folder import About
    from burnish.store import onnx_files
    from codegen.models import PORTABLE, built

    interface = onnx_files.interface(cases[0][0])
    about = About("m", "m.onnx", "0", interface.inputs, interface.outputs, "f32", "a CPU", "today")
    plans = [built(static(model, sizes)) for model, sizes, _ in cases]
    write(folder, about, plans, PORTABLE)
    for number, (_, _, feeds) in enumerate(cases):
        np.savez(folder.parent / f"{folder.name}.{number}.npz", **feeds)


def main(count: int, seed: int, hands: Hands) -> list[Finding]:
    """Try `count` mutants, say what became of them, and return what none may do."""
    progress, tally = Progress("folders", count), Tally()

    def told(outcome: Outcome[Tally]) -> None:
        shard = outcome.result or Tally()
        tally.counts += shard.counts
        tally.findings += (found := shard.findings + outcome.trouble("folders"))
        progress.tell(outcome.arguments[1], found)

    pieces = [
        (first, min(SHARD, count - first), seed, count >= LARGE) for first in range(0, count, SHARD)
    ]
    hands.spread(attacked, pieces, limit_s=SHARD_S, told=told)
    print(f"compiled folders: {count:,} mutants: {tally}")
    return tally.findings


def attacked(first: int, count: int, seed: int, large: bool) -> Tally:
    """Return what became of so many mutants of folders of their own, from the `first` on."""
    with tempfile.TemporaryDirectory(prefix="burnish-torture-") as place:
        return attack(samples(Path(place), large=large), count, seed, first)
