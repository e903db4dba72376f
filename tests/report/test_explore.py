from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import replace

from burnish.report.explore import facts, page
from burnish.report.graph.picture import Picture, overlay
from burnish.store.graph import GraphNode
from sample_picture import changed_picture, diamond, sample_picture

HOSTILE = '</script><script>alert(1)</script><img src=x onerror=alert(2)>"'


def test_the_page_runs_its_own_script_and_no_other() -> None:
    text = page(sample_picture())
    (script,) = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src 'sha256-{digest}'" in text
    assert "default-src 'none'" in text


def test_names_cannot_break_out_of_the_page() -> None:
    record = diamond()
    nodes = tuple(
        GraphNode(f"{HOSTILE}{n.name}", HOSTILE, "", n.inputs, n.outputs, {}, (HOSTILE,))
        for n in record.nodes
    )
    text = page(Picture(HOSTILE, replace(record, nodes=nodes), None, (HOSTILE,)))
    assert text.count("<script") == 2
    assert "<img" not in text


def test_nothing_is_fetched() -> None:
    assert not re.findall(r"(?:src|href)=[\"'](?!data:)", page(sample_picture()))
    assert "@import" not in page(sample_picture())


def test_a_page_without_times_says_how_to_get_them() -> None:
    text = page(Picture("sample", diamond()))
    assert "burnish graph MODEL --engine onnxruntime-cpu -o graph.html" in text
    assert 'data-tab="ranked"' not in text


def test_the_facts_say_coverage_and_what_is_left() -> None:
    picture = changed_picture()
    assert facts(picture, overlay(picture)) == [
        "7 nodes", "onnxruntime-cpu", "75.0 µs an inference", "70.0 µs after query=2",
        "94.2 % of the work led back to nodes", "4.00 µs unattributed",
    ]  # fmt: skip
    assert facts(Picture("sample", diamond()), None) == ["7 nodes", "no trace"]
