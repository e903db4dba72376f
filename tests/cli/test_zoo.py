from __future__ import annotations

import json

import pytest

from burnish.cli.main import run
from burnish.zoo.entry import MODELS


def test_the_list_has_every_model(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["zoo", "list", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["kind"], document["schema"]) == ("zoo-listing", 1)
    assert sorted(model["name"] for model in document["models"]) == list(MODELS.names())


def test_the_list_shows_parameters_and_the_next_command(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["zoo", "list"]) == 0
    shown = capsys.readouterr().out
    assert "124,439,808" in shown
    assert shown.splitlines()[-1].startswith("next: burnish export ")


def test_one_model_says_what_it_follows(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["zoo", "show", "gpt2"]) == 0
    shown = capsys.readouterr().out
    assert "--attention, --layers, --past, --sequence" in shown
    assert "Radford et al. 2019; MIT" in shown


def test_an_unknown_model_gets_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["zoo", "show", "gpt3"]) == 2
    assert "did you mean 'gpt2'?" in capsys.readouterr().err
