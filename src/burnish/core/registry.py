"""A name → thing table that is filled by adding files to a package."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

from burnish.core.errors import UsageError
from burnish.core.nearest import suggestion

T = TypeVar("T")


class Registry(Generic[T]):
    """Things of one kind by name; an unknown name has every module of `package` imported first."""

    def __init__(self, kind: str, *, package: str) -> None:
        self._kind = kind
        self._package = package
        self._things: dict[str, T] = {}
        self._loaded = False

    def register(self, name: str) -> Callable[[T], T]:
        """Return a decorator that files a thing under `name`; a name is taken once."""

        def file_under_name(thing: T) -> T:
            if name in self._things:
                raise ValueError(f"{self._kind} {name!r} is registered twice")
            self._things[name] = thing
            return thing

        return file_under_name

    def __getitem__(self, name: str) -> T:
        if name not in self._things:
            self._load()
        try:
            return self._things[name]
        except KeyError:
            raise UsageError(
                f"unknown {self._kind} {name!r}", hint=suggestion(name, self._things)
            ) from None

    def __contains__(self, name: str) -> bool:
        self._load()
        return name in self._things

    def __iter__(self) -> Iterator[str]:
        return iter(self.names())

    def names(self) -> tuple[str, ...]:
        """Return all names, sorted."""
        self._load()
        return tuple(sorted(self._things))

    def _load(self) -> None:
        if self._loaded:
            return
        self._loaded = True
        package = importlib.import_module(self._package)
        for module in pkgutil.iter_modules(package.__path__):
            importlib.import_module(f"{self._package}.{module.name}")
