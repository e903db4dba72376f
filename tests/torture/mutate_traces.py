"""Mutants of traces, scenarios, groups, devices and data: named ones, then random ones by seed."""

from __future__ import annotations

import gzip
import io
import json
import random
import zipfile
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from torture import json_mutations as changes
from torture import protobuf_mutations
from torture import seed_documents as seeds
from torture.mutate_models import Mutant, turns

Files = Mapping[str, bytes]
"""What is written beside the model, by name."""


def mutants(seed: int, first: int = 0) -> Iterator[Mutant]:
    """Yield mutants of documents without end, from the `first` on: equal seeds give equal ones.

    The catalogue comes in an order of its own for each seed, with a random one after each.
    """
    catalogue = [Mutant(name, _writer(files)) for name, files in named().items()]
    random.Random(seed).shuffle(catalogue)
    for number, is_named in turns(len(catalogue), first):
        yield catalogue[number] if is_named else _mutant(seed, number)


def _mutant(seed: int, number: int) -> Mutant:
    chance = random.Random(f"{seed}/document/{number}")
    kind = chance.choice(sorted(_KINDS))
    word, files = _KINDS[kind](chance)
    return Mutant(f"{seed}/{number} {kind}: {word}", _writer(files))


def _writer(files: Files) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        beside = {seeds.MODEL: seeds.model(), seeds.PROFILE: _base()}
        for name, data in {**beside, **files}.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(data)

    return write


@cache
def _base() -> bytes:
    return seeds.ort_text(seeds.onnxruntime_profile()).encode()


def named() -> dict[str, Files]:
    """Return the catalogue: documents that broke something once, or that others ship."""
    return {**_named_traces(), **_named_documents(), **_named_data()}


def _named_traces() -> dict[str, Files]:
    deep = changes.deep(100_000)
    event = '{"ph": "X", "cat": "kernel", "name": "k", "ts": %s, "dur": %s}'
    kineto = '{"schemaVersion": 1, "traceEvents": [%s]}'
    ort = '[\n{"cat" : "Session","ts" : 0,"dur" : 9,"name" : "model_run"},\n%s\n]\n'
    tables = seeds.nsys()
    traces = {
        "valid profile": {"trace.json": _base()},
        "valid kineto": {"trace.json": _json(seeds.kineto())},
        "valid nsys": {"trace.sqlite": seeds.sqlite_bytes(tables)},
        "valid tensorrt": _tensorrt(seeds.tensorrt(), seeds.tensorrt_layers()),
        "empty": {"trace.json": b""},
        "kineto: deep": {"trace.json": (kineto % deep).encode()},
        "kineto: deep fact": {"trace.json": f'{{"schemaVersion": {deep}}}'.encode()},
        "kineto: times are text": {"trace.json": (kineto % (event % ('"a"', '"b"'))).encode()},
        "kineto: times are NaN": {"trace.json": (kineto % (event % ("NaN", "NaN"))).encode()},
        "kineto: times are infinite": {
            "trace.json": (kineto % (event % ("Infinity", "1"))).encode()
        },
        "kineto: times are null": {"trace.json": (kineto % (event % ("null", "null"))).encode()},
        "kineto: times are lists": {"trace.json": (kineto % (event % ("[]", "{}"))).encode()},
        "kineto: 1e400": {"trace.json": (kineto % (event % ("1e400", "1e400"))).encode()},
        "kineto: 1e999999999": {"trace.json": (kineto % (event % ("1e999999999", "1"))).encode()},
        "kineto: 5,000 digits": {"trace.json": (kineto % (event % ("9" * 5000, "1"))).encode()},
        "kineto: negative": {"trace.json": (kineto % (event % ("5", "-3"))).encode()},
        "kineto: list of numbers": {"trace.json": (kineto % "1, 2, 3").encode()},
        "kineto: events is an object": {"trace.json": b'{"schemaVersion": 1, "traceEvents": {}}'},
        "kineto: args is a list": {
            "trace.json": (kineto % '{"ph": "X", "cat": "kernel", "ts": 1, "args": [1]}').encode()
        },
        "kineto: gzip cut": {"trace.json.gz": gzip.compress(_json(seeds.kineto()))[:100]},
        "kineto: gzip bomb": {"trace.json.gz": gzip.compress(b'{"traceEvents": "' + b"a" * 10**8)},
        "profile: deep": {"trace.json": (ort % deep).encode()},
        "profile: args deep": {
            "trace.json": (ort % f'{{"cat" : "Node","args" : {deep}}}').encode()
        },
        "profile: times are text": {
            "trace.json": (ort % '{"cat" : "Node","ts" : "a","dur" : "b"}').encode()
        },
        "profile: times are lists": {
            "trace.json": (ort % '{"cat" : "Node","ts" : [],"dur" : {}}').encode()
        },
        "profile: times are NaN": {
            "trace.json": (ort % '{"cat" : "Node","ts" : NaN,"dur" : NaN}').encode()
        },
        "profile: args is text": {
            "trace.json": (ort % '{"cat" : "Node","ts" : 1,"dur" : 1,"args" : "x"}').encode()
        },
        "profile: 5,000 digits": {
            "trace.json": (ort % f'{{"cat" : "Node","ts" : {"9" * 5000}}}').encode()
        },
        "profile: not UTF-8": {"trace.json": _base().replace(b"Softmax", b"\xff\xfemax")},
        "profile: negative": {"trace.json": _base().replace(b'"dur" : 30', b'"dur" : -30')},
        "tensorrt: numbers": {"trace.json": b'[{"count": 1}, 1, 2, "x"]'},
        "tensorrt: text times": {"trace.json": b'[{"count": 1}, {"name": 1, "medianMs": "x"}]'},
        "tensorrt: deep": {"trace.json": f'[{{"count": 1}}, {deep}]'.encode()},
        "tensorrt: a list of layers": _tensorrt(seeds.tensorrt(), [1, 2]),
        "tensorrt: layers is a number": _tensorrt(seeds.tensorrt(), {"Layers": 3}),
        "tensorrt: not UTF-8": {"trace.json": b'[{"count": 1}, {"name": "\xff\xfe"}]'},
        "nsys: no tables": {"trace.sqlite": seeds.sqlite_bytes({})},
        "nsys: cut": {"trace.sqlite": seeds.sqlite_bytes(tables)[:5000]},
        "nsys: header only": {"trace.sqlite": b"SQLite format 3\x00" + b"\x00" * 84},
    }
    return traces | {
        f"nsys: no {table}.{column}": {"trace.sqlite": seeds.sqlite_bytes(_without(table, column))}
        for table, rows in tables.items()
        for column in rows[0]
    }


def _without(table: str, column: str) -> seeds.Tables:
    tables = seeds.nsys()
    for row in tables[table]:
        del row[column]
    return tables


def _tensorrt(times: Any, layers: Any) -> Files:  # noqa: ANN401  (JSON)
    return {"trace_profile.json": _json(times), "trace_graph.json": _json(layers)}


def _json(data: Any) -> bytes:  # noqa: ANN401  (JSON)
    return changes.text_of(data).encode()


def _named_documents() -> dict[str, Files]:
    deep = changes.deep(100_000)
    return {
        "scenario: valid": {"scenario.toml": seeds.SCENARIO.encode()},
        "scenario: speedups": {"scenario.json": _json(seeds.SPEEDUPS)},
        "scenario: deep": {"scenario.json": deep.encode()},
        "scenario: deep TOML": {"scenario.toml": f"a = {deep}".encode()},
        "scenario: a list": {"scenario.json": b"[1, 2]"},
        "scenario: not UTF-8": {"scenario.toml": b'name = "\xff"'},
        "scenario: speedups of numbers": {"scenario.json": b'{"speedups": [1, null, "x"]}'},
        "scenario: speedups of text": {"scenario.json": b'{"speedups": [{"name": 1}]}'},
        "scenario: actions of numbers": {"scenario.json": b'{"scenario": [{"action": [1]}]}'},
        "scenario: scenarios of numbers": {"scenario.json": b'{"scenario": [1]}'},
        "scenario: select a number": {
            "scenario.json": b'{"action": [{"do": "scale", "select": 1.5, "by": 2}]}'
        },
        "scenario: by NaN": {
            "scenario.json": b'{"action": [{"do": "scale", "select": "MatMul", "by": NaN}]}'
        },
        "scenario: by 1e400": {
            "scenario.json": b'{"action": [{"do": "set", "select": "MatMul", "by": "1e400s"}]}'
        },
        "scenario: by 400 digits": {
            "scenario.json": b'{"action": [{"do": "scale", "select": "MatMul", "by": %s}]}'
            % (b"9" * 400)
        },
        "scenario: by a list": {
            "scenario.json": b'{"action": [{"do": "scale", "select": "MatMul", "by": [2]}]}'
        },
        "scenario: a bad expression": {
            "scenario.json": b'{"action": [{"do": "remove", "select": "re:(((("}]}'
        },
        "scenario: a slow expression": {
            "scenario.json": b'{"action": [{"do": "remove", "select": "re:(M*)*(a*)*(t*)*$x"}]}'
        },
        "groups: valid": {"groups.toml": seeds.GROUPS.encode()},
        "groups: XML": {"groups.xml": seeds.GROUPS_XML.encode()},
        "groups: a billion laughs": {"groups.xml": _laughs().encode()},
        "groups: deep XML": {"groups.xml": ("<a>" * 50_000).encode()},
        "groups: not UTF-8": {"groups.toml": b'[[group]]\nname = "\xff"'},
        "groups: numbers": {"groups.toml": b"group = [1, 2]"},
        "groups: no nodes": {"groups.toml": b'[[group]]\nname = "x"\nnodes = []'},
        "groups: nodes are numbers": {"groups.toml": b'[[group]]\nname = 3\nnodes = [1]'},
        "device: valid": {"hw.toml": seeds.device().encode()},
        "device: empty": {"hw.toml": b""},
        "device: not UTF-8": {"hw.toml": b'name = "\xff"'},
        "device: deep": {"hw.toml": f"a = {deep}".encode()},
        "source: valid": {"source.json": _json(seeds.SOURCE)},
        "source: deep": {"source.json": deep.encode()},
        "source: a list": {"source.json": b"[1]"},
        "source: not UTF-8": {"source.json": b'{"kind": "\xff"}'},
        "source: 5,000 digits": {"source.json": b'{"schema": %s}' % (b"9" * 5000)},
    }  # fmt: skip


def _laughs() -> str:
    entities = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 10))
    return f'<!DOCTYPE x [<!ENTITY l0 "ha">{entities}]><operations>&l9;</operations>'


def _named_data() -> dict[str, Files]:
    feeds = seeds.feeds()
    objects = {**feeds, "x": np.array([{}, []], dtype=object)}
    files = {
        f"test_data_set_0/{name}": t.SerializeToString() for name, t in seeds.data_set().items()
    }
    return {
        "data: valid": {"data.npz": seeds.npz_bytes(feeds)},
        "data: objects": {"data.npz": seeds.npz_bytes(objects)},
        "data: empty archive": {"data.npz": seeds.npz_bytes({})},
        "data: no array": {"data.npz": _archive({"x.npy": b"hello", "attention_mask.npy": b""})},
        "data: claims 2**40": {"data.npz": _archive({"x.npy": _npy("(1099511627776,)"),
                                                     "attention_mask.npy": _npy("(2, 2)")})},
        "data: claims -1": {"data.npz": _archive({"x.npy": _npy("(-1,)")})},
        "data: deep header": {"data.npz": _archive({"x.npy": _npy("(" * 500)})},
        "data: rank 72": {"data.npz": _archive({"x.npy": _npy("(" + "1, " * 72 + ")")})},
        "data: a name twice": {"data.npz": _archive({"x.npy": _npy("(2,)"), "x": b"1"})},
        "data: odd names": {"data.npz": _archive({"../x.npy": _npy("(2,)"), "\x1b[31m": b""})},
        "data set: valid": files,
        "data set: empty": {"test_data_set_0/input_0.pb": b""},
        "data set: no inputs": {
            "test_data_set_0/output_0.pb": files["test_data_set_0/output_0.pb"]
        },
        "data set: many digits": {f"test_data_set_0/input_{'9' * 200}.pb": b"\x08\x01"},
        "data set: number of 5,000": {"test_data_set_0/input_\u0663.pb": b"\x08\x01"},
    }  # fmt: skip


def _npy(shape: str) -> bytes:
    header = f"{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}".encode()
    header += b" " * (-(len(header) + 11) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(64)


def _archive(entries: Mapping[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
    return stream.getvalue()


Made = tuple[str, Files]


def _times(data: Any, chance: random.Random) -> tuple[str, Any]:  # noqa: ANN401  (JSON)
    words = []
    for _ in range(chance.choice((1, 1, 2, 3, 6))):
        word, data = changes.mutate(data, chance)
        words.append(word)
    return ", ".join(words), data


def _profile(chance: random.Random) -> Made:
    word, data = _times(seeds.onnxruntime_profile(), chance)
    return _packed(word, seeds.ort_text(data).encode("utf-8", "surrogatepass"), chance)


def _kineto(chance: random.Random) -> Made:
    word, data = _times(seeds.kineto(), chance)
    return _packed(word, _json(data), chance)


def _packed(word: str, data: bytes, chance: random.Random) -> Made:
    """Return a trace as it is, damaged, or packed and perhaps cut."""
    if chance.random() < 0.15 and data:
        how, data = protobuf_mutations.damaged(data, chance)
        word = f"{word}, {how}"
    if chance.random() < 0.15:
        packed = gzip.compress(data)
        end = chance.choice((len(packed), chance.randrange(1, len(packed))))
        return f"{word}, packed", {"trace.json.gz": packed[:end]}
    return word, {"trace.json": data}


def _found(chance: random.Random) -> Made:
    """Return a recording of others with a change; their size makes them dear, so one change."""
    known = _recordings()
    if not known:
        return _kineto(chance)
    name, data = chance.choice(known)
    if chance.random() < 0.5:
        word, damaged = protobuf_mutations.damaged(data, chance)
        return f"{name} {word}", {"trace.json": damaged}
    try:
        word, changed = changes.mutate(json.loads(data), chance)
    except ValueError:
        return f"{name} as it is", {"trace.json": data}
    if name.startswith("ort"):
        return f"{name} {word}", {"trace.json": seeds.ort_text(changed).encode()}
    return f"{name} {word}", {"trace.json": _json(changed)}


@cache
def _recordings() -> list[tuple[str, bytes]]:
    return list(seeds.found_traces())


def _layers(chance: random.Random) -> Made:
    word, times = _times(seeds.tensorrt(), chance)
    other, layers = _times(seeds.tensorrt_layers(), chance)
    return f"{word}; {other}", _tensorrt(times, layers)


def _database(chance: random.Random) -> Made:
    word, tables = changes.mutate_tables(seeds.nsys(), chance)
    data = seeds.sqlite_bytes(tables)
    if chance.random() < 0.2:
        how, data = protobuf_mutations.damaged(data, chance)
        word = f"{word}, {how}"
    return word, {"trace.sqlite": data}


def _text(name: str, text: Callable[[], str]) -> Callable[[random.Random], Made]:
    def make(chance: random.Random) -> Made:
        words, changed = [], text()
        for _ in range(chance.choice((1, 1, 2, 4))):
            word, changed = changes.mutate_text(changed, chance)
            words.append(word)
        return ", ".join(words), {name: changed.encode("utf-8", "surrogatepass")}

    return make


def _document(name: str, data: Callable[[], Any]) -> Callable[[random.Random], Made]:
    def make(chance: random.Random) -> Made:
        word, changed = _times(data(), chance)
        return word, {name: _json(changed)}

    return make


def _arrays(chance: random.Random) -> Made:
    arrays = dict(seeds.feeds())
    name = chance.choice(sorted(arrays))
    odd = (
        np.float64(1), np.zeros((2, 2, 8), np.float16), np.zeros((0, 2, 8), np.float32),
        np.array(["a", "b"]), np.array([b"a"]), np.zeros((1,) * 30, np.int64), np.array(1 + 2j),
        np.array(["2020-01-01"], "M8[D]"), np.zeros(3, [("a", "i4")]), np.full((2, 2, 8), np.nan),
        np.full((2, 2), -(2**62)), np.full((2, 2), 2**62), np.zeros((2, 2, 8), ">f4"),
    )  # fmt: skip
    arrays[name] = chance.choice(odd)
    data = seeds.npz_bytes(arrays)
    if chance.random() < 0.3:
        how, data = protobuf_mutations.damaged(data, chance)
        return f"{name} odd, {how}", {"data.npz": data}
    return f"{name} odd", {"data.npz": data}


def _recorded(chance: random.Random) -> Made:
    tensors = seeds.data_set()
    name = chance.choice(sorted(tensors))
    changed = onnx.TensorProto()
    changed.CopyFrom(tensors[name])
    words = [protobuf_mutations.mutate(changed, chance) for _ in range(chance.choice((1, 1, 3)))]
    files = {f"test_data_set_0/{n}": t.SerializeToString() for n, t in tensors.items()}
    data = protobuf_mutations.bytes_of(changed)
    if chance.random() < 0.2 and data:
        how, data = protobuf_mutations.damaged(data, chance)
        words.append(how)
    return f"{name} {', '.join(words)}", {**files, f"test_data_set_0/{name}": data}


_KINDS: Mapping[str, Callable[[random.Random], Made]] = {
    "profile": _profile,
    "kineto": _kineto,
    "found": _found,
    "tensorrt": _layers,
    "nsys": _database,
    "scenario": _text("scenario.toml", lambda: seeds.SCENARIO),
    "speedups": _document("scenario.json", lambda: seeds.SPEEDUPS),
    "groups": _text("groups.toml", lambda: seeds.GROUPS),
    "groups XML": _text("groups.xml", lambda: seeds.GROUPS_XML),
    "device": _text("hw.toml", seeds.device),
    "source": _document("source.json", lambda: seeds.SOURCE),
    "data": _arrays,
    "data set": _recorded,
}
