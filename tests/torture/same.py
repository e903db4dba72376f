"""A/A: one model run in another right way, which must never be called different.

The ways are other orders, names, thread counts and levels of one engine. Another engine is another
program, whose own deviations verify is there to show: those are asked for with `--engines`.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path

import onnx

from torture.bases import decoders, found, narrow, text, vision
from torture.bases.rewriters import renamed, shuffled
from torture.finding import Finding
from torture.hands import Hands
from torture.judging import Answer, Question, answers
from torture.running import installed

BASES = (
    text.BERT, text.BERT_SCRIPT, decoders.GPT2, decoders.LLAMA, vision.VIT, vision.CONV,
    vision.WINDOWS, vision.RESTORED, narrow.DYNAMIC, narrow.CALIBRATED, narrow.QCONV, narrow.HALF,
    found.DETECTOR, found.LSTM,
)  # fmt: skip
"""What there is without PyTorch."""
ZOO = (
    "albert", "bert-tiny", "clip-text", "clip-vision", "conformer", "convnext-t", "distilbert",
    "electra", "gpt-neox", "gpt2", "llama", "mistral", "mobilenet-v2", "nerf", "opt", "phi3",
    "qwen2", "resnet18", "roberta", "swin-t", "unet", "vit-s32",
)  # fmt: skip
"""Models of the zoo that are exported in their small form."""
EXPORT_S = 240.0
_NARROW = ("int8-dynamic", "int8-qdq", "int8-conv", "f16")


def run(
    count: int, seed: int, hands: Hands, *, zoo: bool = True, engines: bool = False
) -> list[Finding]:
    """Return every comparison that was not called equal, printing a row for each comparison."""
    with tempfile.TemporaryDirectory(prefix="torture-same-") as folder:
        models = [
            *_plain(Path(folder)),
            *(_of_zoo(Path(folder), count, seed, hands) if zoo else ()),
        ]
        questions = list(_questions(models, count, random.Random(seed), engines=engines))
        said = answers(questions, hands, told=lambda answer: print(_row(answer), flush=True))
    return [Finding(_kind(each), each.name, each.why) for each in said if each.said != "equal"]


def _kind(answer: Answer) -> str:
    return {"differs": "wrongly different", "hung": "hang", "error": "refused"}.get(
        answer.said, answer.said
    )


def _plain(folder: Path) -> Iterator[Path]:
    """Yield the models that need no PyTorch."""
    for base in BASES:
        onnx.save(base.model, path := folder / f"{base.name}.onnx")
        yield path


def _of_zoo(folder: Path, count: int, seed: int, hands: Hands) -> Iterator[Path]:
    """Yield models of the zoo, one for five comparisons; what cannot be exported here is told."""
    if not installed("torch"):
        print("same: no models of the zoo, because torch is not installed", flush=True)
        return
    names = random.Random(seed).sample(ZOO, min(len(ZOO), max(count // 5, 1)))
    pieces = [(name, folder / f"zoo-{name}.onnx") for name in names]
    for outcome in hands.spread(exported, pieces, limit_s=EXPORT_S):
        if outcome.ending == "done":
            yield outcome.arguments[1]
        else:
            print(f"same: without {outcome.arguments[0]}: {outcome.what[:160]}", flush=True)


def exported(name: str, path: Path) -> None:
    """Write a model of the zoo in its small form."""
    from burnish.zoo.entry import MODELS, NetworkOptions
    from network_checks import export

    with warnings.catch_warnings():
        # what exporters say of models that the zoo's own tests hold to their promises
        warnings.simplefilter("ignore")
        built = MODELS[name].build(NetworkOptions(small=True))
        export(
            built.module, built.inputs, axes=built.dynamic_axes, exporter="torchscript", path=path
        )


def _questions(
    models: Sequence[Path], count: int, chance: random.Random, *, engines: bool
) -> Iterator[Question]:
    """Yield `count` questions, going round the models, each time in another way."""
    order = chance.sample(models, len(models))
    for number in range(count):
        path = order[number % len(order)]
        ways = [_other_order, _other_names, _other_threads, _other_level]
        if engines and installed("openvino") and path.stem not in _NARROW:
            ways.append(_other_engine)
        yield chance.choice(ways)(path, number, chance)


def _other_order(path: Path, number: int, chance: random.Random) -> Question:
    other = path.with_name(f"{path.stem}-order-{number}.onnx")
    onnx.save(shuffled(chance.getrandbits(32))(onnx.load(path)), other)
    return Question(f"{path.stem} in another order", str(path), str(other))


def _other_names(path: Path, number: int, chance: random.Random) -> Question:
    del chance
    other = path.with_name(f"{path.stem}-names-{number}.onnx")
    onnx.save(renamed(onnx.load(path)), other)
    return Question(f"{path.stem} with other names", str(path), str(other))


def _other_threads(path: Path, number: int, chance: random.Random) -> Question:
    del number
    threads = chance.randint(1, 4)
    return Question(f"{path.stem} on {threads} threads", str(path), threads=threads)


def _other_level(path: Path, number: int, chance: random.Random) -> Question:
    del number
    level = chance.choice(["off", "basic", "extended"])
    return Question(f"{path.stem} at level {level}", str(path), level=level)


def _other_engine(path: Path, number: int, chance: random.Random) -> Question:
    del number, chance
    return Question(f"{path.stem} on openvino", str(path), engine="openvino")


def _row(answer: Answer) -> str:
    why = "" if answer.said == "equal" else answer.why
    return f"{answer.name:<44} {answer.said:<12} {answer.seconds:6.1f} s  {why[:160]}"


def command_line() -> int:
    """Do what the command line asks; return 1 if a comparison was not called equal."""
    parser = argparse.ArgumentParser(prog="python -m tests.torture.same", description=__doc__)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--engines", action="store_true", help="on OpenVINO too")
    given = parser.parse_args()
    with Hands(given.jobs) as hands:
        found_here = run(given.count, given.seed, hands, engines=given.engines)
    print(f"{given.count} comparisons, {len(found_here)} not called equal")
    return 1 if found_here else 0


if __name__ == "__main__":
    from torture import same  # by this name hands find what they are to do

    sys.exit(same.command_line())
