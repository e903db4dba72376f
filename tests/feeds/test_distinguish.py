from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx
import onnx_ir as ir
import pytest

from burnish.feeds.distinguish import Suspicions, Variant, Varied
from burnish.feeds.far_values import INDICES, INTEGERS, MASKS, NUMBERS
from burnish.feeds.feed import Feeds
from burnish.feeds.make import Maker

HEAD = '<ir_version: 10, opset_import: ["" : 20]>'
TEXT = """g (int64[batch, sequence] input_ids, int64[batch, sequence] attention_mask)
    => (float[batch, sequence, 4] y) { e = Gather(table, input_ids) m = Cast<to = 1>(attention_mask)
    u = Unsqueeze(m, last) y = Mul(e, u) }"""


def model(text: str, **weights: np.ndarray) -> ir.Model:
    proto = onnx.parser.parse_model(f"{HEAD} {text}")
    proto.graph.initializer.extend(
        onnx.numpy_helper.from_array(array, name) for name, array in weights.items()
    )
    return ir.serde.deserialize_model(proto)


def varied(
    text: str = TEXT,
    suspicions: Suspicions = Suspicions(),  # noqa: B008
    works: Callable[[Feeds], bool] = lambda _: True,
    **asked: int,
) -> Varied:
    table = np.zeros((1000, 4), np.float32)
    weights = {"table": table, "last": np.array([-1])} if text == TEXT else {}
    return Varied(Maker(model(text, **weights)), suspicions, asked, works)


def all_of(varied: Varied, random: int = 0) -> list[Variant]:
    return list(varied.variants(seed=0, random=random))


def test_every_row_of_a_table_is_picked() -> None:
    many = varied()
    picked = [many.feeds(v).arrays["input_ids"] for v in all_of(many) if "sweep" in v.ids]
    assert set(np.concatenate([array.reshape(-1) for array in picked])) == set(range(1000))


def test_rows_that_are_suspected_are_picked_first() -> None:
    many = varied(suspicions=Suspicions(rows=(7, 33)))
    chosen = next(variant for variant in all_of(many) if variant.ids == "changed rows")
    assert set(many.feeds(chosen).arrays["input_ids"].reshape(-1)) <= {7, 33}


def test_suspected_sizes_and_their_neighbours_are_tried() -> None:
    sizes = {v.bindings["sequence"] for v in all_of(varied(suspicions=Suspicions((50,))))}
    assert {49, 50, 51, 100, 1, 64, 8} <= sizes


def test_sizes_that_were_asked_for_stay() -> None:
    many = varied(sequence=11)
    for variant in all_of(many, random=5):
        assert many.feeds(variant).arrays["input_ids"].shape[1] == 11


def test_a_base_that_the_model_refuses_is_replaced_by_one_that_it_takes() -> None:
    def works(feeds: Feeds) -> bool:
        return feeds.bindings["sequence"] >= 16

    sizes = [v.bindings["sequence"] for v in all_of(varied(works=works)) if "mask" in v.kind]
    assert set(sizes) == {16}


def test_masks_of_every_kind_are_made() -> None:
    many = varied()
    masks = {
        v.mask: many.feeds(v).arrays["attention_mask"] for v in all_of(many) if "mask" in v.kind
    }
    assert set(masks) == set(MASKS)
    assert masks["full"].all()
    assert (masks["with an empty row"].sum(axis=1) == 0).sum() == 1
    assert (masks["of one key"].sum(axis=1) == 1).all()
    steps = np.diff(masks["with holes"], axis=1)
    assert ((steps > 0).any(axis=1) & (steps < 0).any(axis=1)).any()


def test_far_numbers_fit_their_type() -> None:
    many = varied("g (float16[n, 4] x) => (float16[n, 4] y) { y = Neg(x) }")
    kinds = [variant for variant in all_of(many) if variant.kind.startswith("numbers")]
    assert len(kinds) == len(NUMBERS)
    for variant in kinds:
        array = many.feeds(variant).arrays["x"]
        assert array.dtype == np.float16
        assert np.isfinite(array).all()


def test_numbers_near_a_suspected_one_lie_on_both_sides_of_it() -> None:
    text = "g (float[n, 64] x) => (float[n, 64] y) { y = Neg(x) }"
    many = varied(text, Suspicions(reals=(6.0,)))
    near = next(variant for variant in all_of(many) if variant.numbers == "near 6.0")
    array = many.feeds(near).arrays["x"]
    assert ((array > 6) & (array < 6.001)).any()
    assert ((array < 6) & (array > 5.999)).any()
    assert (array == 6).any()


def test_integers_that_index_nothing_have_both_signs_and_all_sizes() -> None:
    many = varied("g (int64[n] x) => (int64[n] y) { y = Neg(x) }")
    arrays = [many.feeds(variant).arrays["x"] for variant in all_of(many)]
    assert min(array.min(initial=0) for array in arrays) < -(2**31)
    assert max(array.max(initial=0) for array in arrays) > 2**31


def test_pictures_are_varied_around_a_size_and_are_not_square() -> None:
    text = (
        "g (float[batch, 3, height, width] x) => (float[batch, 3, height, width] y) { y = Neg(x) }"
    )
    pairs = {(v.bindings["height"], v.bindings["width"]) for v in all_of(varied(text))}
    assert any(height % 2 for height, _ in pairs)
    assert any(width > height for height, width in pairs)
    assert any(width < height for height, width in pairs)


def test_equal_arguments_give_equal_inputs() -> None:
    first, second = varied(), varied()
    for one, two in zip(all_of(first, random=8), all_of(second, random=8), strict=True):
        assert one == two
        for name, array in first.feeds(one).arrays.items():
            np.testing.assert_array_equal(array, second.feeds(two).arrays[name])


@pytest.mark.parametrize("kinds", [MASKS, NUMBERS, INTEGERS, INDICES])
def test_the_first_of_every_kind_is_the_usual_one(kinds: dict[str, object]) -> None:
    assert next(iter(kinds)) in ("right", "plain")


def test_inputs_that_are_too_large_are_left_out() -> None:
    text = "g (float[batch, 200000] x) => (float[batch, 200000] y) { y = Neg(x) }"
    assert max(v.bindings["batch"] for v in all_of(varied(text))) <= 5


def test_sizes_just_beyond_large_numbers_are_tried() -> None:
    text = "g (float[batch, rows, 4] x) => (float[batch, rows, 4] y) { y = Neg(x) }"
    tried = [v.bindings for v in all_of(varied(text, Suspicions((1024, 1 << 19))))]
    assert {"batch": 2, "rows": 1025} in tried
    assert {"batch": 1025, "rows": 2} in tried
    assert max(max(sizes.values()) for sizes in tried) == 1025


def test_no_sequence_is_longer_than_the_positions_of_a_model() -> None:
    text = """g (int64[batch, sequence] input_ids) => (float[batch, sequence, 4] y)
        { s = Shape(input_ids)  n = Gather(s, one)  r = Range(zero, n, one)
          e = Gather(words, input_ids)  p = Gather(places, r)  y = Add(e, p) }"""
    tables = {name: np.zeros((700, 4), np.float32) for name in ("words", "places")}
    known = model(text, one=np.array(1), zero=np.array(0), **tables)
    many = Varied(Maker(known), Suspicions((900,)), {}, lambda _: True)
    assert max(variant.bindings["sequence"] for variant in all_of(many)) <= 700


def test_pictures_of_few_pixels_are_tried_after_others() -> None:
    text = "g (float[1, 3, height, width] x) => (float[1, 3, height, width] y) { y = Neg(x) }"
    heights = [variant.bindings["height"] for variant in all_of(varied(text))]
    assert heights[0] > 8
    assert {1, 2, 4} <= set(heights)


def test_an_empty_batch_comes_last() -> None:
    *others, last = all_of(varied(), random=3)
    assert last.bindings["batch"] == 0
    assert all(variant.bindings["batch"] for variant in others)
