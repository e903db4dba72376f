from __future__ import annotations

from pathlib import Path

import pytest

from burnish.core.errors import UsageError
from burnish.engines.modes import name_and_mode
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
