from __future__ import annotations

import dataclasses
import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from burnish.analyze.diagnosis import Diagnosis
from burnish.parity.report import Bisection, Change, Culprit
from burnish.report.drawings import drawings
from burnish.report.html import page
from burnish.report.record import RunReport
from burnish.rewrite.result import Fusion, Miss
from sample_picture import sample_picture
from sample_run import diff, rewrite, sample_run

HOSTILE = '"><script>alert(1)</script><img src=x onerror=alert(2)>'
VOID = {"meta", "link", "br", "img", "wbr", "line", "rect"}


class Elements(HTMLParser):
    """All start tags of a page, and whether each is closed."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def hostile(report: RunReport) -> RunReport:
    culprit = Culprit(
        HOSTILE, HOSTILE, HOSTILE, diff(HOSTILE, passed=False), (), (), (),
        (Change("initializer", HOSTILE, HOSTILE),), HOSTILE,
    )  # fmt: skip
    made = replace(
        rewrite(),
        fusions=(Fusion(HOSTILE, HOSTILE, HOSTILE, (HOSTILE,)),),
        misses=(Miss(HOSTILE, HOSTILE, HOSTILE, HOSTILE),),
        operators_after={HOSTILE: 3},
        notes=(HOSTILE,),
    )
    machine = replace(report.bench.machine, cpu=HOSTILE, warnings=(HOSTILE,))
    return replace(
        report,
        model=HOSTILE,
        original=HOSTILE,
        command=HOSTILE,
        rewrite=made,
        parity=replace(
            report.parity, bisection=Bisection(HOSTILE, culprit, 1, 0), notes=(HOSTILE,)
        ),
        bench=replace(report.bench, machine=machine, notes=(HOSTILE,)),
        profile=tuple(replace(one, label=HOSTILE, notes=(HOSTILE,)) for one in report.profile),
        files={HOSTILE: HOSTILE},
    )


@pytest.mark.parametrize("same", [True, False])
def test_the_page_is_well_formed(same: bool) -> None:
    assert Elements(page(sample_run(same=same))).open == []


def test_hostile_names_are_shown_and_never_run() -> None:
    text = page(hostile(sample_run()))
    found = Elements(text)
    assert "&lt;script&gt;alert(1)" in text
    assert not {"script", "img", "iframe", "object"} & {tag for tag, _ in found.tags}
    assert not [a for _, attrs in found.tags for a in attrs if a.startswith("on")]


def test_names_do_not_turn_our_words_around() -> None:
    run = sample_run()
    text = page(dataclasses.replace(run, model="bert\u202e\u2067"))
    assert "bert\ufffd\ufffd" in text
    assert "\u202e" not in text


def test_the_page_refers_to_nothing_outside_itself() -> None:
    text = page(sample_run())
    assert set(re.findall(r"https?://[^\"' ]+", text)) == {"http://www.w3.org/2000/svg"}
    assert "url(" not in text
    assert "@import" not in text
    for tag, attributes in Elements(text).tags:
        assert "src" not in attributes
        if tag == "link":
            assert attributes["href"] == "data:,"


def test_a_browser_is_told_to_load_and_run_nothing() -> None:
    (policy,) = (
        attributes["content"]
        for tag, attributes in Elements(page(sample_run())).tags
        if attributes.get("http-equiv") == "Content-Security-Policy"
    )
    assert policy == "default-src 'none'; style-src 'unsafe-inline'; img-src data:"


def test_links_stay_beside_the_page() -> None:
    linked = replace(sample_run(), files={"numbers": "javascript:alert(1)", "model": "a b/c.onnx"})
    targets = [attrs["href"] for tag, attrs in Elements(page(linked)).tags if tag == "a"]
    assert targets == ["javascript%3Aalert%281%29", "a%20b/c.onnx"]


def test_verdicts_carry_a_sign_and_words_not_only_a_colour() -> None:
    text = page(sample_run(same=False))
    assert re.search(r'class="verdict bad"><span class="mark"[^>]*>✗</span>Do not use it', text)


def test_every_near_miss_and_every_command_is_on_the_page() -> None:
    text = page(sample_run())
    assert "normalise over the last axes in the model&#39;s source" in text
    assert "burnish profile bert-mini/torchscript_optimized --engine onnxruntime-cpu" in text


def test_where_the_time_goes_begins_with_what_holds_the_last_model_back() -> None:
    report = sample_run()
    found = Diagnosis("compute", "it <computes>", 1.0, 1.0, 0.0, None, None, (), {}, ())
    last = replace(report.profile[-1], diagnosis=found)
    text = page(replace(report, profile=(*report.profile[:-1], last)))
    _, section = text.split("<h2>Where the time goes</h2>")
    assert section.lstrip().startswith('<p class="sentence">It &lt;computes&gt;.</p>')
    assert "<dt>an inference</dt><dd>1.00 s" in section


def test_the_drawings_of_an_inference_stand_on_the_page() -> None:
    report = replace(sample_run(), files={"explore": "explore.html"})
    found = Diagnosis("compute", "it computes", 1.0, 1.0, 0.0, None, None, (), {}, ())
    last = replace(report.profile[-1], diagnosis=found)
    drawn = drawings(sample_picture())
    text = page(replace(report, profile=(*report.profile[:-1], last)), drawn)
    assert Elements(text).open == []
    assert text.count("<svg") == 2 * 4 + 1  # each wide and narrow, and the graph
    assert "Graph of sample: 8 boxes" in text
    assert 'href="explore.html"' in text
    assert set(re.findall(r"url\(([^)]*)\)", text)) == {"#tip-plain", "#tip-critical"}


def test_a_change_that_is_not_told_apart_is_marked_and_drawn_so() -> None:
    text = page(sample_run())
    assert "~ −5.00 µs" in text
    assert 'class="bar accent alike"' in text
    assert "(not told apart)" in text


def test_a_run_without_a_profile_says_so() -> None:
    assert "Nothing was profiled." in page(replace(sample_run(), profile=()))
