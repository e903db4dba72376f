"""Say what is there: models of the zoo and of a store, and what works on this machine."""

from __future__ import annotations

from burnish.bench.probe import ProbeReport, probed
from burnish.core import settings
from burnish.core.errors import MissingCapabilityError, UsageError
from burnish.core.progress import SILENT, Progress
from burnish.engines.base import ENGINES
from burnish.engines.probes import examine
from burnish.engines.probes.findings import DoctorReport
from burnish.store import summarize
from burnish.store.summary import ModelSummary, StoreListing
from burnish.study.given import model_of, store_of
from burnish.study.requests.listing import (
    DoctorCommand,
    ModelListCommand,
    ModelShowCommand,
    ZooListCommand,
    ZooShowCommand,
)
from burnish.study.requests.vocabulary import names, path
from burnish.zoo.listing import ZooListing, ZooModel, describe, list_zoo


def zoo_list(_asked: ZooListCommand, *, progress: Progress = SILENT) -> ZooListing:
    """Return all models that can be exported without any download."""
    return list_zoo()


def zoo_show(asked: ZooShowCommand, *, progress: Progress = SILENT) -> ZooModel:
    """Return what one model of the zoo is."""
    return describe(asked.name)


def model_list(asked: ModelListCommand, *, progress: Progress = SILENT) -> StoreListing:
    """Return the models of a store."""
    return summarize.list_store(store_of(asked.store))


def model_show(asked: ModelShowCommand, *, progress: Progress = SILENT) -> ModelSummary:
    """Return what a model takes and gives, and what it is made of."""
    return summarize.summarize(model_of(asked.model, asked.store))


def doctor(asked: DoctorCommand, *, progress: Progress = SILENT) -> DoctorReport | ProbeReport:
    """Return what works on this machine; with a probe, how fast it is."""
    if asked.probe is not None:
        cache = settings.read().cache
        return probed(asked.probe, path(asked.output), cache, progress=progress)
    if asked.output is not None:
        raise UsageError("-o says where a probe goes", hint="add --probe")
    engines = tuple(ENGINES[name].name for name in names(asked.engine))
    return examine.examine(engines, progress=progress)


def require_engines(asked: DoctorCommand, report: DoctorReport | ProbeReport) -> None:
    """Raise if an engine that was asked for does not work."""
    if isinstance(report, DoctorReport) and names(asked.engine):
        for engine in report.broken_engines:
            raise MissingCapabilityError(
                f"engine {engine.name} is {engine.status.value}: {engine.detail}",
                hint=engine.remedy,
            )
