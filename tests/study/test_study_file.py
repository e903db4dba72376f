from __future__ import annotations

from pathlib import Path

import onnx
import onnx.parser
import pytest

from burnish.core.errors import UsageError
from burnish.core.progress import SILENT
from burnish.engines.modes import name_and_mode
from burnish.store import layout
from burnish.store.stored import StoredModel, TorchSource
from burnish.study import studying
from burnish.study.requests.judging import BenchCommand
from burnish.study.requests.studying import StudyCommand
from burnish.study.study_file import read
from burnish.zoo.entry import MODELS

STUDIES = sorted((Path(__file__).parents[2] / "examples" / "studies").glob("*.toml"))
LEAST = 'title = "t"\nengines = ["onnxruntime-cpu"]\nmodels = [{ zoo = "bert-base" }]\n'


@pytest.mark.parametrize("path", STUDIES, ids=lambda path: path.stem)
@pytest.mark.parametrize("small", [False, True])
def test_every_study_of_ours_names_what_there_is(path: Path, small: bool) -> None:
    study = read(path, small=small)
    assert study.missing, "the original's columns that cannot be had are named"
    for model in study.models:
        assert model.zoo in MODELS if model.zoo else model.path and model.path.exists()
    for engine in study.engines:
        name_and_mode(engine)


def test_there_are_the_five_experiments() -> None:
    assert [path.stem for path in STUDIES] == [
        "engines", "gpt2-past", "h200", "onnxruntime-transformers", "welder",
    ]  # fmt: skip


def test_what_small_says_goes_first_and_only_if_asked(tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    path.write_text(f"batch = [64]\n{LEAST}\n[small]\nbatch = [1]\nbudget = '2m'\n")
    assert (read(path, small=False).batch, read(path, small=False).budget_s) == ((64,), None)
    assert (read(path, small=True).batch, read(path, small=True).budget_s) == ((1,), 120)


@pytest.mark.parametrize(("said", "blocks"), [("", BenchCommand(()).blocks), ("blocks = 8\n", 8)])
def test_a_study_says_how_many_blocks_a_process_has(tmp_path: Path, said: str, blocks: int) -> None:
    path = tmp_path / "s.toml"
    path.write_text(said + LEAST)
    asked = StudyCommand(path, output=tmp_path)
    assert studying._bench(asked, read(path, small=False), []).blocks == blocks


def test_a_model_may_have_sizes_and_a_type_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "s.toml"
    own = ', precision = "fp16", shapes = [{ batch = 1, sequence = 16 }, { batch = 8 }] }'
    path.write_text(f"batch = [64]\n{LEAST.replace('}', own)}")
    (model,) = read(path, small=False).models
    assert (model.precision, model.sizes) == ("fp16", ({"batch": 1, "sequence": 16}, {"batch": 8}))


EXPORTED = """
<ir_version: 8, opset_import: ["": 18]>
g (float[batch, 4] x) => (float[batch, 4] y) { y = Neg(x) }
"""


@pytest.mark.parametrize(
    ("said", "again"),
    [
        ('zoo = "bert-base"', False),
        ('zoo = "gpt2", name = "bert-base"', True),
        ('zoo = "bert-base", precision = "fp16"', True),
        ('zoo = "bert-base", precision = "int8"', True),
    ],
)
def test_what_was_exported_for_another_study_is_not_taken_for_what_is_asked(
    said: str, again: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = layout.place(tmp_path / "models", "bert-base", "dynamo")
    place.parent.mkdir(parents=True)
    onnx.save(onnx.parser.parse_model(EXPORTED), place)
    layout.write_source(place, TorchSource("zoo", "bert-base", {"attention": "eager"}))
    exported: list[object] = []
    monkeypatch.setattr(
        studying.exporting, "answer", lambda asked, **_: exported.append(asked.source)
    )
    path = tmp_path / "s.toml"
    path.write_text(LEAST.replace('zoo = "bert-base"', said))
    (model,) = read(path, small=False).models
    (found,) = studying._models(model, tmp_path, False, SILENT)
    assert found.onnx == place
    assert bool(exported) is again


def test_what_is_made_of_files_of_one_name_has_names_of_its_own() -> None:
    models = [StoredModel(Path(folder, "model.onnx"), "model") for folder in ("a", "b", "c")]
    other = StoredModel(Path("a/other.onnx"), "other")
    assert studying.stems([*models, other]) == ["model", "model-2", "model-3", "other"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"onnxruntime-cpu"', '"onnxruntime-cpp"'),
        ('zoo = "bert-base"', 'zoo = "bert-bse"'),
        ("title", 'precision = ["fp7"]\ntitle'),
    ],
)
def test_a_study_names_what_there_is_before_anything_is_exported(
    old: str, new: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(studying.exporting, "answer", lambda *_, **__: pytest.fail("exported"))
    path = tmp_path / "s.toml"
    path.write_text(LEAST.replace(old, new))
    with pytest.raises(UsageError):
        studying.answer(StudyCommand(path, output=tmp_path / "out"))


@pytest.mark.parametrize(
    ("text", "problem", "hint"),
    [
        (f"batches = [1]\n{LEAST}", "knows no 'batches'", "did you mean 'batch'?"),
        (f"batch = 1\n{LEAST}", "batch is a int, not a list", "examples/studies"),
        ('title = "t"\n', "says nothing of models", "examples/studies"),
        (f'draw = ["colour"]\n{LEAST}', "draw knows no 'colour'", "batch"),
        (LEAST.replace("zoo", "zoos"), "a model has a path or is of the zoo", "zoo = "),
        (LEAST.replace("}", ", sice = 1 }"), "a model has no 'sice'", "path"),
        (f"{LEAST}\n[small]\nbatc = [1]\n", "knows no 'batc'", "did you mean 'batch'?"),
        (f"{LEAST}\n[small]\nrounds = -1\n", "rounds is -1", "from 1 on"),
        (f'small = "x"\n{LEAST}', "small is a str, not a dict", "a table"),
        (f"rounds = 0\n{LEAST}", "rounds is 0", "from 1 on"),
        (f"rounds = true\n{LEAST}", "rounds is a bool, not a int", "a whole number"),
        (f"blocks = -1\n{LEAST}", "blocks is -1", "from 1 on"),
        (f"batch = [1, -1]\n{LEAST}", "a part of batch is -1", "from 1 on"),
        (f"batch = [1.5]\n{LEAST}", "a part of batch is a float", "a whole number"),
        (f"past-length = [-1]\n{LEAST}", "a part of past-length is -1", "from 0 on"),
        (f"pruned = 1.5\n{LEAST}", "pruned is 1.5", "from 0 to 1"),
        (f"pruned = nan\n{LEAST}", "pruned is nan", "from 0 to 1"),
        (LEAST.replace('"onnxruntime-cpu"', "3"), "a part of engines is a int", "text"),
        (LEAST.replace('{ zoo = "bert-base" }', '"m.onnx"'), "a part of models is a str", "table"),
        (LEAST.replace("}", ', past = "no" }'), "past is a str, not a bool", "true or false"),
        (LEAST.replace("}", ', shapes = ["batch=2"] }'), "a part of shapes is a str", "a table"),
        (LEAST.replace("}", ', shapes = [{ batch = "2" }] }'), "batch is a str", "whole number"),
        (
            LEAST.replace('zoo = "bert-base"', 'path = "m.onnx", precision = "fp16"'),
            "'precision' is for models of the zoo, and m.onnx is a file",
            "leave precision away",
        ),
        (
            LEAST.replace("}", '}, { zoo = "gpt2", name = "bert-base" }'),
            "two models are called 'bert-base'",
            "name = ",
        ),
    ],
)
def test_what_is_wrong_in_a_file_is_said(
    text: str, problem: str, hint: str, tmp_path: Path
) -> None:
    path = tmp_path / "s.toml"
    path.write_text(text)
    with pytest.raises(UsageError) as error:
        read(path, small=False)
    assert problem in error.value.problem
    assert str(path) in error.value.problem
    assert hint in error.value.hint
