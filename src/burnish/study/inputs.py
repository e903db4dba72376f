"""What a model is fed, and its graph at those sizes: one way for all that run it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from burnish.core.progress import SILENT, Progress
from burnish.core.remembered import Remembered
from burnish.engines.sizes import fitting
from burnish.feeds.feed import Feeds, Padding
from burnish.feeds.report import InputsReport
from burnish.feeds.write import write
from burnish.infer.graph_of import graph_of
from burnish.store import onnx_files
from burnish.store.graph import GraphRecord
from burnish.store.stored import StoredModel
from burnish.study.given import model_of
from burnish.study.requests.listing import InputsCommand
from burnish.study.requests.vocabulary import Place, Sizes, path, positive, shapes

_GRAPHS: Remembered[GraphRecord] = Remembered(4)


class FeedingRequest(Protocol):
    """Any request that says with which inputs a model is run."""

    @property
    def shape(self) -> Sizes:
        """Return the sizes of the axes that the user binds."""

    @property
    def data(self) -> Place | None:
        """Return where recorded inputs are; None: they are made."""

    @property
    def seed(self) -> int:
        """Return the seed of made inputs."""

    @property
    def padding(self) -> Padding:
        """Return where their masks are padded."""


@dataclass(frozen=True, slots=True)
class FedModel:
    """A model with inputs, and its graph with the shapes that they give it."""

    model: StoredModel
    feeds: Feeds
    graph: GraphRecord


def feeds_of(model: StoredModel, asked: FeedingRequest) -> Feeds:
    """Return the inputs that a request asks for; where it leaves sizes open, some that work."""
    return fitting(
        model,
        data=path(asked.data),
        bindings=positive(asked.shape),
        seed=asked.seed,
        padding=asked.padding,
    )[0]


def fed(model: StoredModel, feeds: Feeds) -> FedModel:
    """Return a model with its graph at the sizes of its inputs, inferred once in this process."""
    sizes = {name: tuple(array.shape) for name, array in feeds.arrays.items()}

    def make() -> tuple[GraphRecord, tuple[Path, ...]]:
        graph = graph_of(onnx_files.look(model.onnx), feeds.bindings, shapes=sizes)
        return graph, onnx_files.files(model.onnx)

    place = (model.onnx.absolute(), frozenset(feeds.bindings.items()), frozenset(sizes.items()))
    return FedModel(model, feeds, _GRAPHS.of(place, make))


def answer(asked: InputsCommand, *, progress: Progress = SILENT) -> InputsReport:
    """Write made inputs, and return what they are and what had to be guessed."""
    model = model_of(asked.model, asked.store)
    made = tuple(
        feeds
        for shape in shapes(asked.shape) or ({},)
        for feeds in fitting(
            model, bindings=shape, seed=asked.seed, padding=asked.padding, samples=asked.samples
        )
    )
    interface = onnx_files.interface(onnx_files.look(model.onnx))
    return write(made, Path(asked.output), interface=interface, model=model.label)
