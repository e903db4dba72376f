from __future__ import annotations

from pathlib import Path

import pytest
import torch

import network_checks as checks
from burnish.zoo.networks.conformer import Conformer, RelativeAttention, RelativePositions, shifted

pytestmark = pytest.mark.torch


def _speech(time: int, *lengths: int) -> checks.Inputs:
    frames = checks.images(len(lengths), time, 32, seed=time)
    return {"frames": frames, "lengths": torch.tensor(lengths)}


INPUTS = _speech(11, 11, 6)


def test_parameters_are_those_that_were_published() -> None:
    # Conformer (L): 118.8 M with 17 layers, of which the LSTM decoder, the subsampling and the
    # output layer have about a tenth
    assert checks.parameter_count(lambda: Conformer(layers=17)) == 107_503_104
    assert checks.parameter_count(Conformer) == 75_884_544
    assert checks.parameter_count(lambda: Conformer(feed_forward=512)) == 38_098_944


def test_frames_keep_their_shape_and_scale() -> None:
    network = checks.prepared(Conformer.small(), INPUTS)
    assert checks.outputs_of(network, INPUTS)[0].shape == INPUTS["frames"].shape
    checks.assert_order_one(network, INPUTS)


def test_every_parameter_matters() -> None:
    checks.assert_every_parameter_matters(checks.prepared(Conformer.small(), INPUTS), INPUTS)


def test_padding_changes_nothing_before_it() -> None:
    network = checks.prepared(Conformer.small(), INPUTS)
    (padded,) = checks.outputs_of(network, INPUTS)
    alone = {"frames": INPUTS["frames"][1:, :6], "lengths": torch.tensor([6])}
    (short,) = checks.outputs_of(network, alone)
    torch.testing.assert_close(padded[1:, :6], short, rtol=1e-4, atol=1e-4)


def test_lengths_matter() -> None:
    network = checks.prepared(Conformer.small(), INPUTS)
    (short,) = checks.outputs_of(network, INPUTS)
    (full,) = checks.outputs_of(network, INPUTS | {"lengths": torch.tensor([11, 11])})
    assert (short - full)[1, :6].abs().max() > 0.01


def test_shift_aligns_each_row_with_its_own_position() -> None:
    scores = checks.images(2, 3, 5, 9)
    for row in range(5):
        torch.testing.assert_close(shifted(scores)[:, :, row], scores[:, :, row, 4 - row : 9 - row])


def test_attention_scores_are_those_of_transformer_xl() -> None:
    frames = checks.images(1, 5, 8)
    attention = checks.prepared(RelativeAttention(8, heads=1), {})
    positions = RelativePositions(8)(frames)
    with torch.no_grad():
        actual = attention(frames, positions, torch.zeros(1, 5, dtype=torch.bool))
        query, key = attention.query(frames)[0], attention.key(frames)[0]
        distance = attention.position(positions)
        scores = torch.stack(
            [
                (query[i] + attention.content_bias[0, 0]) @ key[j]
                + (query[i] + attention.position_bias[0, 0]) @ distance[4 - (i - j)]
                for i in range(5)
                for j in range(5)
            ]
        ).reshape(5, 5)
        weights = torch.softmax(scores / 8**0.5, dim=1)
        reference = attention.output(weights @ attention.value(frames)[0])
    torch.testing.assert_close(actual[0], reference)


def test_positions_run_from_the_farthest_past_to_the_farthest_future() -> None:
    positions = RelativePositions(4)(torch.zeros(1, 3, 4))
    distances = torch.tensor([2.0, 1.0, 0.0, -1.0, -2.0])
    torch.testing.assert_close(positions[:, 0], torch.sin(distances))
    torch.testing.assert_close(positions[:, 3], torch.cos(distances / 100))


@pytest.mark.parametrize(
    "exporter", ["torchscript", pytest.param("dynamo", marks=pytest.mark.slow)]
)
def test_exports_with_dynamic_batch_and_time(exporter: checks.Exporter, tmp_path: Path) -> None:
    network = checks.prepared(Conformer.small(), INPUTS)
    axes = {"frames": {0: "batch", 1: "time"}, "lengths": {0: "batch"}}
    samples = [INPUTS, _speech(17, 3, 17, 9), _speech(5, 5)]
    checks.assert_exports(network, samples, axes=axes, exporter=exporter, folder=tmp_path)
