from __future__ import annotations

import numpy as np

from burnish.core.arrays import Array, Arrays
from burnish.zoo.generation import follow, greedy

WORDS = 7
EMPTY = {"past_key_0": np.zeros((1, 1, 0, 1), np.float32)}


def counting(feeds: dict[str, Array]) -> Arrays:
    """Stand in for a decoder that prefers the word after the sum of all it has read."""
    ids = feeds["input_ids"]
    past = feeds["past_key_0"]
    assert feeds["attention_mask"].shape[1] == past.shape[2] + ids.shape[1]
    assert feeds["position_ids"][0, 0] == past.shape[2]
    present = np.concatenate([past, ids[:, None, :, None].astype(np.float32)], axis=2)
    logits = np.zeros((1, ids.shape[1], WORDS), np.float32)
    logits[0, -1, int(present.sum() + 1) % WORDS] = 1
    return {"logits": logits, "present_key_0": present}


def test_greedy_feeds_every_token_and_its_past_back() -> None:
    assert greedy(counting, (1, 2), EMPTY, tokens=4).tokens == (4, 1, 2, 4)


def test_following_gives_the_logits_along_a_given_text() -> None:
    own = greedy(counting, (1, 2), EMPTY, tokens=4)
    followed = follow(counting, (1, 2), EMPTY, own.tokens)
    assert followed.tokens == own.tokens
    assert (followed.logits == own.logits).all()
    other = follow(counting, (1, 2), EMPTY, (0, 0, 0, 0))
    assert other.logits.argmax(axis=1).tolist() == [4, 4, 4, 4]
