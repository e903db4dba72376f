"""Errors in a model's weights: one number, one channel, one bias."""

from __future__ import annotations

import numpy as np

from burnish.core.arrays import Array
from torture.bases.decoders import GPT2, LLAMA
from torture.bases.text import BERT, BERT_SCRIPT, rewritten
from torture.bases.vision import CONV, VIT
from torture.case import Family
from torture.draft import Draft

WEIGHTS = Family("weights")


@WEIGHTS.planted(VIT, least=1e-6)
def one_element_by_a_thousandth(draft: Draft) -> None:
    """The largest element of a matrix of 16 × 32 is off by a thousandth of itself."""

    def nudge(w: Array) -> None:
        w.flat[np.abs(w).argmax()] *= 1.001

    draft.change("layer.1.up.weight", nudge)


@WEIGHTS.planted(BERT, sequence=32, least=2e-6)
def one_element_of_thousands_by_a_hundredth(draft: Draft) -> None:
    """The largest of 16,384 elements is off by a hundredth of itself."""

    def nudge(w: Array) -> None:
        w.flat[np.abs(w).argmax()] *= 1.01

    draft.change(draft.find("MatMul", -3).input[1], nudge)


@WEIGHTS.planted(BERT, sequence=32, least=1e-5)
def sign_of_one_element(draft: Draft) -> None:
    """The largest of 65,536 elements has the wrong sign."""

    def flip(w: Array) -> None:
        w.flat[np.abs(w).argmax()] *= -1

    draft.change("val_143", flip)


@WEIGHTS.planted(BERT_SCRIPT, sequence=32, least=1e-4)
def one_bias_dropped(draft: Draft) -> None:
    """The bias of the first layer's values is missing."""
    draft.change("model.bert.encoder.layer.0.attention.self.value.bias", np.zeros_like)


@WEIGHTS.planted(BERT, start=rewritten, sequence=32)
def bias_dropped_in_fusing(draft: Draft) -> None:
    """In the rewritten model, the classifier has no bias."""
    draft.change("model.classifier.bias", np.zeros_like)


@WEIGHTS.planted(BERT, sequence=32)
def query_bias_scaled(draft: Draft) -> None:
    """The bias of the queries is eight times as large as it should be."""
    draft.change("model.bert.encoder.layer.1.attention.self.query.bias", lambda b: 8 * b)


@WEIGHTS.planted(BERT, sequence=32)
def two_output_channels_swapped(draft: Draft) -> None:
    """Classes 3 and 4 have each other's weights, but keep their biases."""

    def swap(w: Array) -> None:
        w[:, [3, 4]] = w[:, [4, 3]]

    draft.change("val_213", swap)


@WEIGHTS.planted(BERT, sequence=32)
def square_weight_transposed(draft: Draft) -> None:
    """A square matrix was transposed once too often."""
    draft.change("val_139", lambda w: w.T)


@WEIGHTS.planted(BERT, sequence=32)
def hidden_units_permuted_on_one_side(draft: Draft) -> None:
    """Two hidden units swap what goes into them, but not what comes out."""

    def swap(w: Array) -> None:
        w[:, [10, 11]] = w[:, [11, 10]]

    draft.change("val_143", swap)


@WEIGHTS.planted(BERT, sequence=32)
def a_row_of_zeros(draft: Draft) -> None:
    """The last of 512 rows of a matrix was lost: a block of 511."""

    def zero(w: Array) -> None:
        w[-1] = 0

    draft.change("val_209", zero)


@WEIGHTS.planted(GPT2)
def tied_weights_untied(draft: Draft) -> None:
    """The head lost the tie to the embedding: two of its words are swapped."""
    node = next(n for n in draft.graph.node if n.op_type == "Transpose" and n.input[0] == "wte")
    table = draft.array("wte")
    table[[5, 6]] = table[[6, 5]]
    draft.before(node, 0, lambda _was: draft.constant(table))


@WEIGHTS.planted(LLAMA, least=1e-4)
def one_scale_of_a_norm_is_zero(draft: Draft) -> None:
    """One element of a norm's scale is zero, as if pruned."""

    def zero(w: Array) -> None:
        w[7] = 0

    draft.change("layer.0.norm2.weight", zero)


@WEIGHTS.planted(CONV)
def filters_flipped(draft: Draft) -> None:
    """The filters of the second convolution are mirrored."""
    draft.change("wide.weight", lambda w: w[:, :, ::-1, ::-1])


@WEIGHTS.planted(CONV)
def colours_reversed(draft: Draft) -> None:
    """Red and blue are swapped in the first convolution."""
    draft.change("stem.weight", lambda w: w[:, ::-1])


@WEIGHTS.planted(CONV)
def two_means_swapped(draft: Draft) -> None:
    """Two channels of a batch norm have each other's means."""

    def swap(mean: Array) -> None:
        mean[[0, 1]] = mean[[1, 0]]

    draft.change("bn2.mean", swap)


@WEIGHTS.planted(CONV, least=1e-5)
def epsilon_of_a_batch_norm(draft: Draft) -> None:
    """A batch norm has an epsilon of 1e-3 instead of 1e-5."""
    node = draft.find("BatchNormalization")
    draft.set(node, epsilon=1e-3)


@WEIGHTS.planted(CONV)
def batch_norm_folded_without_the_bias(draft: Draft) -> None:
    """A batch norm is folded into a convolution whose own bias is forgotten."""
    scale = draft.array("bn1.weight") / np.sqrt(draft.array("bn1.var") + 1e-5)
    draft.change("stem.weight", lambda w: w * scale[:, None, None, None])
    draft.change("stem.bias", lambda _b: draft.array("bn1.bias") - draft.array("bn1.mean") * scale)
    draft.bypass(draft.find("BatchNormalization"))


@WEIGHTS.planted(VIT)
def patches_read_across(draft: Draft) -> None:
    """The filters that read patches have rows and columns swapped."""
    draft.change("patch.weight", lambda w: np.swapaxes(w, 2, 3))


@WEIGHTS.planted(VIT)
def positions_shifted(draft: Draft) -> None:
    """Positions are shifted by one: the class token has that of the first patch."""
    draft.change("position", lambda table: np.roll(table, -1, axis=0))
