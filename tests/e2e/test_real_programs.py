"""The files for other programs, opened in these programs, where they are on the PATH.

They are not needed for anything else, so they are in no list of packages:
`pip install netron ai-edge-model-explorer` somewhere, and put its `bin` on the PATH.
"""

from __future__ import annotations

import json
import math
import shutil
import socket
import subprocess
import time
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import onnx
import pytest

from burnish.report.exports.by_suffix import Look, writer_for
from chromium import Browser, browser, executable
from sample_picture import diamond, sample_picture

pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(executable() is None, reason="chromium is not installed"),
]
SOFTWARE_DRAWING = (
    "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
    "--ignore-gpu-blocklist",
)  # fmt: skip


def needs(program: str, package: str) -> pytest.MarkDecorator:
    reason = f"{program} is not on the PATH: pip install {package}"
    return pytest.mark.skipif(shutil.which(program) is None, reason=reason)


def written(folder: Path, name: str) -> Path:
    path = folder / name
    path.write_text(writer_for(path)(sample_picture(), Look()))
    return path


def sample_model(folder: Path) -> Path:
    """Return the sample's graph as a model, so that nodes have the names of the attachment."""
    nodes = [
        onnx.helper.make_node(n.op_type, n.inputs, n.outputs, name=n.name, **n.attributes)
        for n in diamond().nodes
    ]
    inputs, outputs = (
        [onnx.helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, [8, 8])]
        for name in ("x", "soft_out")
    )
    constants = [
        onnx.helper.make_tensor(name, onnx.TensorProto.FLOAT, shape, [0.0] * math.prod(shape))
        for name, shape in {"w": [8, 8], "b": [8]}.items()
    ]
    graph = onnx.helper.make_graph(nodes, "main", inputs, outputs, constants)
    path = folder / "sample.onnx"
    onnx.save(onnx.helper.make_model(graph), path)
    return path


@contextmanager
def served(command: list[str], port: int) -> Iterator[str]:
    """Start a program that serves pages, and give its address once it answers."""
    address = f"http://127.0.0.1:{port}/"
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        for _ in range(300):
            try:
                with urllib.request.urlopen(address, timeout=5):
                    break
            except OSError:
                time.sleep(0.2)
        yield address
    finally:
        process.terminate()
        process.wait(timeout=600)


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port: int = found.getsockname()[1]
        return port


@needs("netron", "netron")
def test_netron_shows_the_time_of_a_node(tmp_path: Path) -> None:
    model, attachment = sample_model(tmp_path), written(tmp_path, "sample.netron.json")
    port = free_port()
    command = ["netron", "--host", "127.0.0.1", "--port", str(port)]
    # a program that opened a file by itself takes no attachment: both are chosen in its dialog
    with served(command, port) as address, browser() as tab:
        tab.visit(address)
        accepted = "document.querySelector('body.notification #message-button')?.click()"
        ready = "document.body.className === 'welcome'"
        tab.until(f"({accepted}, {ready})")
        choose(tab, "#open-file-dialog", model)
        tab.until(
            "document.body.className === 'default' && Boolean(document.querySelector('.node'))"
        )
        choose(tab, "#open-file-dialog", attachment)
        tab.until("window.__view__.model.attachment.metrics._entries.size > 0")
        tab.value(
            "document.querySelector('#node-name-soft .node-item path')"
            ".dispatchEvent(new MouseEvent('click', {bubbles: true}))"
        )
        said = "document.querySelector('#sidebar').innerText"
        tab.until(f"{said}.includes('METRICS')")
        tab.picture(tmp_path / "netron.png")
        shown = "[...document.querySelectorAll('#sidebar input')].map(i => i.value)"
        assert {"time_us", "share_percent"} <= set(tab.value(shown))
        assert "5" in tab.value(said).split("METRICS")[1].split()


def choose(tab: Browser, dialog: str, file: Path) -> None:
    """Choose a file in a dialog of the page."""
    root = tab.ask("DOM.getDocument")["root"]["nodeId"]
    found = tab.ask("DOM.querySelector", nodeId=root, selector=dialog)["nodeId"]
    tab.ask("DOM.setFileInputFiles", nodeId=found, files=[str(file)])


@needs("model-explorer", "ai-edge-model-explorer")
def test_model_explorer_shows_the_graph_and_the_time(tmp_path: Path) -> None:
    graph = written(tmp_path, "sample.model-explorer.json")
    times = written(tmp_path, "sample.node-data.json")
    port = free_port()
    command = [
        "model-explorer", str(graph), "--node_data_paths", str(times), "--host", "127.0.0.1",
        "--port", str(port), "--no_open_in_browser", "--skip_health_check",
    ]  # fmt: skip
    with served(command, port) as address, browser(*SOFTWARE_DRAWING) as tab:
        data = {"models": [{"url": str(graph)}], "nodeData": [str(times)]}
        tab.visit(f"{address}?data={urllib.parse.quote(json.dumps(data))}")
        said = "document.body.innerText"
        tab.until(f"{said}.includes('time (µs) on onnxruntime-cpu')", limit_s=120)
        tab.picture(tmp_path / "model_explorer.png")
        assert "Failed" not in tab.value(said)
