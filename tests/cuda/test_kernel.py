"""Which cards run a kernel, and texts that say how they are compiled."""

from __future__ import annotations

import pytest

from burnish.cuda.kernel import TritonSource, capability_of, runs_on, settings_line, source_of


@pytest.mark.parametrize(
    ("architecture", "capability", "runs"),
    [
        ("sm_80", (8, 0), True), ("sm_80", (8, 9), True), ("sm_80", (9, 0), False),
        ("sm_86", (8, 0), False), ("sm_90a", (9, 0), True), ("sm_90", (9, 0), True),
        ("sm_100a", (10, 0), True), ("sm_100a", (10, 3), False), ("sm_90a", (10, 0), False),
    ],
)  # fmt: skip
def test_a_kernel_runs_on_its_own_family_only(
    architecture: str, capability: tuple[int, int], runs: bool
) -> None:
    assert runs_on(architecture, capability) == runs


def test_an_architecture_names_a_capability() -> None:
    assert [capability_of(each) for each in ("sm_80", "sm_90a", "sm_100a")] == [
        (8, 0), (9, 0), (10, 0),
    ]  # fmt: skip


def test_a_text_says_how_it_is_compiled() -> None:
    text = f"import triton\n{settings_line(('f16', 'f32'), 8, 3)}\ndef k(a, b): ...\n"
    assert source_of("k", text) == TritonSource("k", text, ("f16", "f32"), 8, 3)


def test_a_text_that_does_not_say_it_is_refused() -> None:
    with pytest.raises(ValueError, match="k: has 0 lines that begin with '# burnish: ', not one"):
        source_of("k", "def k(): ...")
