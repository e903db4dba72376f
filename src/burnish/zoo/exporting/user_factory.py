"""A user's own module: loaded from a package or a file, and called with flat tensors by name."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from burnish.core.errors import ModelError, UsageError
from burnish.zoo.entry import BuiltModel, Module, Tensors
from burnish.zoo.exporting.last_lines import first_cause, raised_at
from burnish.zoo.exporting.name import placed
from burnish.zoo.flat import flat

SHAPE = "return (module, inputs) or (module, inputs, {input: {axis: name}})"
Axes = Mapping[str, Mapping[int, str]]


def build_from_factory(factory: str, *, seed: int = 0) -> BuiltModel:
    """Call a user's function and return what it gives, with named inputs and flat outputs.

    PyTorch's random numbers are seeded for it, so that calling it again, as engines do that run
    the module itself, gives the same weights.
    """
    import torch

    function = function_named(factory)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        made = function()
    if not isinstance(made, tuple) or len(made) not in (2, 3):
        found = f"{len(made)} things" if isinstance(made, tuple) else type(made).__name__
        raise ModelError(
            f"{factory} returned {found}, not a module and its inputs",
            hint=f"let the function {SHAPE}",
        )
    module, inputs, axes = (*made, {}) if len(made) == 2 else made
    return build_from_module(module, inputs, axes)


def absolute(factory: str) -> str:
    """Return how to find a factory from any folder."""
    place, _, name = factory.rpartition(":")
    return f"{Path(place).absolute()}:{name}" if place.endswith(".py") else factory


def build_from_module(
    module: Module,
    inputs: Mapping[str, Any] | Sequence[Any],
    axes: Axes,
    *,
    second_inputs: Tensors | None = None,
) -> BuiltModel:
    """Return a module with flat outputs, and second inputs made by resizing the first."""
    if not callable(getattr(module, "forward", None)):
        raise ModelError(
            f"the factory's first value is a {type(module).__name__}, not a torch.nn.Module",
            hint=f"let the function {SHAPE}",
        )
    named = isinstance(inputs, Mapping)
    tensors = dict(inputs) if isinstance(inputs, Mapping) else _numbered(module, inputs)
    _check(tensors, axes)

    def call(inner: Module, given: Tensors) -> tuple[Any, ...]:
        result = inner(**given) if named else inner(*given.values())
        return tuple(tensor for _, tensor in flat_tensors(result))

    first = sizes(tensors, axes)
    return BuiltModel(
        module=flat(module.eval(), tuple(tensors), call),
        inputs=tensors,
        second_inputs=second_inputs or resized(tensors, axes, larger(first)),
        output_names=_output_names(module, tensors, named),
        dynamic_axes=axes,
    )


def flat_tensors(result: Any, name: str = "") -> list[tuple[str, Any]]:  # noqa: ANN401
    """Return the tensors that a module gave back, in order, each with a name where it has one."""
    import torch

    if isinstance(result, torch.Tensor):
        return [(name, result)]
    if isinstance(result, Mapping):
        parts = [(f"{name}_{key}".lstrip("_"), value) for key, value in result.items()]
    elif isinstance(result, (tuple, list)):
        names = getattr(result, "_fields", range(len(result)))
        parts = [
            (f"{name}_{key}".lstrip("_") if isinstance(key, str) or name else "", value)
            for key, value in zip(names, result, strict=True)
        ]
    else:
        parts = []
    return [found for key, value in parts for found in flat_tensors(value, key)]


def _output_names(module: Module, inputs: Tensors, named: bool) -> tuple[str, ...]:
    result = _first_run(module, inputs, named)
    names = [name for name, _ in flat_tensors(result)]
    if not names:
        raise ModelError(
            f"the module returned {type(result).__name__}, which holds no tensor",
            hint="let forward return a tensor, or a tuple or dictionary of tensors",
        )
    if len(set(names)) == len(names) and all(names) and not set(names) & set(inputs):
        return tuple(names)
    return ("output",) if len(names) == 1 else tuple(f"output_{i}" for i in range(len(names)))


def _first_run(module: Module, inputs: Tensors, named: bool) -> Any:  # noqa: ANN401
    import torch

    try:
        with torch.no_grad():
            return module(**inputs) if named else module(*inputs.values())
    except Exception as error:  # a module raises anything
        shapes = ", ".join(f"{name} {list(tensor.shape)}" for name, tensor in inputs.items())
        said = "".join(f"\n    {line}" for line in (*first_cause(error), raised_at(error)))
        raise ModelError(
            f"the module does not run in PyTorch on its inputs {shapes}{said}",
            hint="let the factory return inputs that the module takes",
        ) from error


def _numbered(module: Module, inputs: Any) -> Tensors:  # noqa: ANN401  (what the user returned)
    """Return positional inputs under the names of `forward`."""
    import torch

    given = (inputs,) if isinstance(inputs, torch.Tensor) else tuple(inputs)
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    parameters = inspect.signature(module.forward).parameters.values()
    names = [parameter.name for parameter in parameters if parameter.kind in kinds]
    names += [f"input_{index}" for index in range(len(names), len(given))]
    return dict(zip(names, given, strict=False))


def _check(inputs: Tensors, axes: Axes) -> None:
    import torch

    for name, value in inputs.items():
        if not isinstance(value, torch.Tensor):
            raise ModelError(
                f"the input {name!r} is {type(value).__name__}, not a tensor",
                hint="give tensors only; fix other arguments in a module around yours",
            )
    for name, named in axes.items():
        if name not in inputs or any(axis >= inputs[name].ndim for axis in named):
            raise ModelError(
                f"the dynamic axes {dict(named)} of {name!r} are not axes of an input",
                hint=f"the inputs are: "
                f"{', '.join(f'{n} {list(t.shape)}' for n, t in inputs.items())}",
            )


def function_named(factory: str) -> Callable[..., Any]:
    """Return the function that `package.module:function` or `path/to/file.py:function` names.

    What belongs to Python itself or to burnish makes no modules, and is refused unseen.
    """
    place, name = placed(factory)
    is_file = place.endswith(".py")
    if not is_file:
        _refuse_known(factory, place)
    module = _from_file(Path(place)) if is_file else _imported(place)
    found = getattr(module, name, None)
    if not callable(found):
        raise UsageError(
            f"{place} has no function {name!r}",
            hint=_functions(module),
        )
    made_here = getattr(found, "__module__", None) == module.__name__
    if not made_here and (inspect.isroutine(found) or inspect.isclass(found)):
        _refuse_known(factory, str(found.__module__))
    return found


def _functions(module: ModuleType) -> str:
    """Return which functions of a module could have been meant: what it imports is not its own."""
    own = [
        name
        for name, found in vars(module).items()
        if inspect.isfunction(found) and found.__module__ == module.__name__ and name[:1] != "_"
    ]
    return f"it has: {', '.join(own)}" if own else f"write a function there that can {SHAPE}"


def _refuse_known(factory: str, module: str) -> None:
    package = module.partition(".")[0]
    if package == "burnish" or package in (*sys.stdlib_module_names, *sys.builtin_module_names):
        owner = "burnish" if package == "burnish" else "Python itself"
        raise UsageError(
            f"{factory} is no factory: {module} belongs to {owner}, and makes no modules",
            hint=f"name a function of your own that can {SHAPE}",
        )


def _imported(name: str) -> ModuleType:
    here = str(Path.cwd())
    if here not in sys.path:
        sys.path.insert(0, here)
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if not name.startswith(str(error.name)):
            raise
        raise UsageError(
            f"there is no module {name!r}",
            hint="run burnish where it can be imported, or write path/to/file.py:function",
        ) from error


def _from_file(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(path.stem, module)  # dataclasses and pickles look their module up
    sys.path.insert(0, str(path.absolute().parent))
    spec.loader.exec_module(module)
    return module


def sizes(inputs: Tensors, axes: Axes) -> dict[str, int]:
    """Return the size that each named axis has in `inputs`."""
    return {
        symbol: int(inputs[name].shape[axis])
        for name, named in axes.items()
        for axis, symbol in named.items()
    }


def resized(inputs: Tensors, axes: Axes, new: Mapping[str, int]) -> Tensors:
    """Return `inputs` with axes of the sizes `new`, filled by repeating from the second element.

    Values keep their range (token ids stay ids), and no longer tensor begins with the shorter.
    """
    import torch

    result = dict(inputs)
    for name, named in axes.items():
        for axis, symbol in named.items():
            old = inputs[name].shape[axis]
            index = (torch.arange(new[symbol]) + 1) % max(1, old)
            result[name] = result[name].index_select(axis, index)
    return result


def larger(old: Mapping[str, int]) -> dict[str, int]:
    """Return sizes that differ from the old ones, and from each other where the old ones do."""
    return {symbol: size + 1 + 2 * rank for rank, (symbol, size) in enumerate(old.items())}
