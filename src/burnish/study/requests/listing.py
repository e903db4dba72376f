"""What may be asked of commands that show what is there: models, engines, inputs."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Annotated, Literal

from burnish.study.requests import vocabulary as v
from burnish.study.requests.option import Option, Positional, Saying


@dataclass(frozen=True, slots=True)
class ZooListCommand:
    """List the zoo: names, parameters, inputs and what each model is good for."""


@dataclass(frozen=True, slots=True)
class ZooShowCommand:
    """Show one model of the zoo, and which options of `burnish export` it follows."""

    name: Annotated[str, Positional("NAME")]


@dataclass(frozen=True, slots=True)
class ModelListCommand:
    """List the models in the store: <store>/<model>/<variant>/<model>_<variant>.onnx."""

    _: KW_ONLY
    store: v.Store = None


@dataclass(frozen=True, slots=True)
class ModelShowCommand:
    """Show what MODEL takes and gives, its operators and weights, and its history."""

    model: v.Model
    _: KW_ONLY
    store: v.Store = None


@dataclass(frozen=True, slots=True)
class InputsCommand:
    """Write inputs for MODEL, made from its names, types and shapes.

    Equal arguments give equal inputs. Integers stay inside the tables that they index, masks
    have rows of different lengths, and whatever had to be guessed is said.
    """

    model: v.Model
    _: KW_ONLY
    output: Annotated[
        v.Output, Saying("An .npz file, or a folder for test_data_set_0, test_data_set_1 …")
    ]
    shape: Annotated[v.Shapes, Saying("Samples are made for each.")] = ()
    seed: v.Seed = 0
    padding: v.Padding = "right"
    samples: v.Samples = 1
    store: v.Store = None


@dataclass(frozen=True, slots=True)
class DoctorCommand:
    """Say what works on this machine, by trying it, and how to mend the rest.

    With --engine only those engines are tried, and one that does not work is an error. With
    --probe [cpu|gpu], what the machine can compute and move per second is measured and written
    as a device file, which whatif and advise then judge by.
    """

    _: KW_ONLY
    engine: v.Engines = ()
    probe: Annotated[Literal["cpu", "gpu"] | None, Option(
        "Measure the rates of this machine instead.", unless="cpu"
    )] = None  # fmt: skip
    output: Annotated[
        v.OutputFile, Saying("With --probe: its file (default: in the cache, for all commands).")
    ] = None
