from __future__ import annotations

import subprocess
import sys

import pytest

from burnish.core.errors import UsageError
from burnish.zoo.entry import DECODER, MODELS, BuiltModel


def test_listing_the_zoo_imports_no_framework() -> None:
    code = (
        "import sys\n"
        "from burnish.zoo.entry import MODELS\n"
        "assert len(MODELS.names()) > 20\n"
        "print(*sorted({'torch', 'transformers', 'diffusers', 'timm'} & set(sys.modules)))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=600
    )
    assert done.stdout.strip() == ""


@pytest.mark.parametrize("name", MODELS.names())
def test_entry_tells_what_it_is(name: str) -> None:
    entry = MODELS[name]
    assert entry.name == name
    assert entry.parameters > 0
    assert entry.summary
    assert not entry.summary.endswith(".")
    assert "[" in entry.inputs
    assert ";" in entry.idea, "who; licence"


def test_unknown_model_names_the_nearest() -> None:
    with pytest.raises(UsageError, match="unknown model 'gpt-2'") as raised:
        MODELS["gpt-2"]
    assert raised.value.hint.startswith("did you mean 'gpt2'? known: ")


def test_all_decoders_and_only_they_have_a_past() -> None:
    for name in MODELS:
        entry = MODELS[name]
        assert entry.has_past == (entry.family == "decoder") == (entry.understands == DECODER)


def test_input_names_follow_the_order_of_the_inputs() -> None:
    built = BuiltModel(None, {"b": 0, "a": 1}, {}, ("y",), {})
    assert built.input_names == ("b", "a")
