"""Small valid traces, scenarios, groups, devices and data: what mutants are made of."""

from __future__ import annotations

import gzip
import io
import json
import sqlite3
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper

from torture.seed_models import ROOT, small

MODEL = "m.onnx"
PROFILE = "base.json"
"""A valid recording of the model, for documents that need one beside them."""
_SHARED = ROOT.parent / "shared" / "data" / "traces"
_RUN_US = 1000

Json = Any
Tables = dict[str, list[dict[str, Any]]]


@cache
def model() -> bytes:
    """Return the model that all documents are about; its nodes have names."""
    found = small()["attention"]
    for number, node in enumerate(found.graph.node):
        node.name = f"{node.op_type}_{number}"
    return found.SerializeToString()


def onnxruntime_profile() -> Json:
    """Return two runs as ONNX Runtime records them."""
    events = [_ort("Session", "session_initialization", 0, 50)]
    nodes = onnx.ModelProto.FromString(model()).graph.node
    for run in range(2):
        begin = 100 + run * 2 * _RUN_US
        events.append(_ort("Session", "model_run", begin, _RUN_US))
        for number, node in enumerate(nodes):
            facts = {"op_name": node.op_type, "provider": "CPUExecutionProvider"}
            name = f"{node.name}_kernel_time"
            events.append(_ort("Node", name, begin + 5 + 40 * number, 30, **facts))
    return events


def _ort(kind: str, name: str, begin: int, length: int, **facts: str) -> Json:
    return {"cat": kind, "pid": 1, "tid": 1, "dur": length, "ts": begin, "ph": "X", "name": name,
            "args": facts}  # fmt: skip


def kineto() -> Json:
    """Return an inference as PyTorch's profiler records it, with work of a device."""
    events = [_event("user_annotation", "burnish.run", 0, 900)]
    for number in range(4):
        begin = 10 + 200 * number
        shapes = {"Input Dims": [[2, 8], [8, 8], []]}
        events += [
            _event("python_function", f"nn.Module: layer.{number}", begin, 150),
            _event("cpu_op", "aten::mm", begin + 1, 100, **shapes),
            _event("cuda_runtime", "cudaLaunchKernel", begin + 5, 2, correlation=number),
            _event("kernel", "gemm", begin + 20, 40.5, pid=0, tid=7, device=0, stream=7,
                   correlation=number),
            _event("gpu_memcpy", "Memcpy HtoD", begin + 70, 9, pid=0, tid=7, device=0, stream=7,
                   bytes=4096, correlation=number),
        ]  # fmt: skip
    devices = [{"id": 0, "name": "NVIDIA H200", "totalGlobalMem": 2**37}]
    return {"schemaVersion": 1, "deviceProperties": devices, "traceEvents": events}


def _event(kind: str, name: str, begin: float, length: float, **more: Any) -> Json:  # noqa: ANN401
    place = {"pid": more.pop("pid", 9), "tid": more.pop("tid", 9)}
    return {"ph": "X", "cat": kind, "name": name, **place, "ts": begin, "dur": length, "args": more}


def tensorrt() -> Json:
    """Return times per layer as trtexec writes them."""
    layers = [{"name": f"Conv_{n} + Relu_{n}", "timeMs": 0.1, "averageMs": 0.1, "medianMs": 0.1,
               "percentage": 25.0} for n in range(4)]  # fmt: skip
    return [{"count": 1}, *layers]


def tensorrt_layers() -> Json:
    """Return the layers' description that lies beside their times."""
    layers = [
        {"Name": f"Conv_{n} + Relu_{n}", "LayerType": "CaskConvolution", "TacticName": f"k{n}",
         "Metadata": f"[ONNX Layer: Conv_{n}]", "Outputs": [{"Name": f"t{n}"}]}
        for n in range(4)
    ]  # fmt: skip
    return {"Layers": layers, "Bindings": []}


def nsys() -> Tables:
    """Return the tables of an export of Nsight Systems."""
    thread, process = 0x1000123000456, 0x1000123000000
    spans = range(3)
    return {
        "StringIds": [{"id": 1, "value": "gemm"}, {"id": 2, "value": "cudaLaunchKernel_v7000"}],
        "META_DATA_EXPORT": [{"name": "EXPORT_SCHEMA_VERSION", "value": "3.1.7"}],
        "CUPTI_ACTIVITY_KIND_RUNTIME": [
            {"start": 100 * n, "end": 100 * n + 20, "nameId": 2, "globalTid": thread,
             "correlationId": n} for n in spans
        ],
        "CUPTI_ACTIVITY_KIND_KERNEL": [
            {"start": 100 * n + 30, "end": 100 * n + 70, "deviceId": 0, "streamId": 7,
             "correlationId": n, "globalPid": process, "demangledName": 1, "shortName": 1}
            for n in spans
        ],
        "CUPTI_ACTIVITY_KIND_MEMCPY": [
            {"start": 300, "end": 310, "deviceId": 0, "streamId": 7, "correlationId": 9,
             "globalPid": process, "copyKind": 1, "bytes": 4096}
        ],
        "CUPTI_ACTIVITY_KIND_GRAPH_TRACE": [
            {"start": 400, "end": 410, "deviceId": 0, "streamId": 7, "correlationId": 10,
             "globalPid": process}
        ],
        "NVTX_EVENTS": [
            {"start": 0, "end": 320, "eventType": 59, "text": "inference", "globalTid": thread}
        ],
    }  # fmt: skip


def sqlite_bytes(tables: Mapping[str, list[dict[str, Any]]]) -> bytes:
    """Return a database file with these tables; a table's columns are those of all its rows."""
    with sqlite3.connect(":memory:") as database:
        for name, rows in tables.items():
            columns = list(dict.fromkeys(key for row in rows for key in row)) or ["nothing"]
            listed = ", ".join(f'"{column}"' for column in columns)
            database.execute(f'CREATE TABLE "{name}" ({listed})')
            places = ", ".join("?" * len(columns))
            values = [[row.get(column) for column in columns] for row in rows]
            database.executemany(f'INSERT INTO "{name}" VALUES ({places})', values)
        database.execute("CREATE TABLE marker (x)")  # a database without tables is no file
        database.commit()
        return database.serialize()


SCENARIO = """
[[scenario]]
name = "faster products"
[[scenario.action]]
do = "scale"
select = ["op:MatMul", "top:3"]
by = 2
[[scenario.action]]
do = "set"
select = "Softmax*"
by = "20us"
[[scenario]]
name = "less"
[[scenario.action]]
do = "remove"
select = ["pattern:MatMul>Add", "re:Mul.*"]
[[scenario.action]]
do = "roofline"
select = ["id:3"]
by = "80%"
"""
SPEEDUPS: Json = {"speedups": [{"op_id": "2", "speedup": 2}, {"op_type": "add", "speedup": 1.5}]}
GROUPS = """
[[group]]
name = "attention"
nodes = ["MatMul", "Mul:constant", "Softmax", "MatMul?"]
torch = ["aten::scaled_dot_product_attention"]
kernel = "fmha.*"
anywhere = true
[operators]
"aten::mm" = "matmul|gemm"
[follows]
torch = ["aten::view"]
[views]
nodes = ["Reshape", "Transpose"]
"""
GROUPS_XML = """<?xml version="1.0"?>
<operations><OperationGroup><name>linear</name><kernelNameRegex>gemm.*</kernelNameRegex>
<nodes><node>MatMul</node><node>Add</node><miscellaneousNodes/></nodes></OperationGroup>
<singleOperation name="softmax" nodeName="Softmax" kernelNameRegex="soft.*"/>
<miscNode name="Cast"/></operations>
"""


def device() -> str:
    """Return a device as the catalog describes them."""
    catalog = ROOT / "src" / "burnish" / "hw" / "catalog"
    return sorted(catalog.glob("*.toml"))[0].read_text()


def feeds() -> dict[str, Any]:
    """Return inputs that the model takes."""
    return {
        "x": np.linspace(-1, 1, 32, dtype=np.float32).reshape(2, 2, 8),
        "attention_mask": np.ones((2, 2), np.int64),
    }


def npz_bytes(arrays: Mapping[str, Any]) -> bytes:
    """Return an .npz file."""
    stream = io.BytesIO()
    np.savez(stream, **dict(arrays))
    return stream.getvalue()


def data_set() -> dict[str, onnx.TensorProto]:
    """Return the files of a `test_data_set_0` folder as tensors."""
    arrays = feeds()
    tensors = [numpy_helper.from_array(array, name) for name, array in arrays.items()]
    return {f"input_{n}.pb": tensor for n, tensor in enumerate(tensors)} | {
        "output_0.pb": numpy_helper.from_array(np.zeros((2, 2, 8), np.float32), "y")
    }


SOURCE: Json = {
    "kind": "torch-source", "schema": 1, "burnish": "0", "factory": "my_model.py:make",
    "arguments": {"seed": 0},
}  # fmt: skip


def found_traces() -> Iterator[tuple[str, bytes]]:
    """Yield recordings that others made, as far as they lie here, unpacked."""
    for path in sorted(_SHARED.glob("*.json*")) if _SHARED.is_dir() else ():
        data = path.read_bytes()
        yield path.name.removesuffix(".gz"), gzip.decompress(data) if data[:1] == b"\x1f" else data


def ort_text(events: Json) -> str:
    """Return events as ONNX Runtime writes them, one a line, with its spaces."""
    if not isinstance(events, list):
        return json.dumps(events)
    lines = (json.dumps(event, separators=(",", " : ")) for event in events)
    return "[\n" + ",\n".join(lines) + "\n]\n"
