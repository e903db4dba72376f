from __future__ import annotations

from burnish.bench import malloc


def test_the_first_tuned_allocator_that_is_installed_is_preloaded() -> None:
    installed = {"tcmalloc": "libtcmalloc.so.4"}
    found = malloc.for_torch({}, installed.get)
    assert found.environment == {"LD_PRELOAD": "libtcmalloc.so.4"}
    assert found.note == "malloc: libtcmalloc.so.4"


def test_without_one_the_row_says_so_and_how_to_mend_it() -> None:
    found = malloc.for_torch({}, lambda _: None)
    assert found.environment == {}
    assert found.note == (
        "malloc: the system's, which slows PyTorch down; apt install libjemalloc2 mends it"
    )


def test_what_the_user_preloads_is_left_alone() -> None:
    found = malloc.for_torch({"LD_PRELOAD": "mine.so"}, lambda _: "libjemalloc.so.2")
    assert found.environment == {}
    assert found.note == "LD_PRELOAD=mine.so, as the environment says"
