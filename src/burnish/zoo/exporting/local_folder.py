"""A folder with `config.json` and weights: the user's own model of the `transformers` library."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

from burnish.core import documents
from burnish.core.errors import ModelError, UsageError
from burnish.zoo import text
from burnish.zoo.decoders import with_past
from burnish.zoo.entry import BuiltModel, Module, NetworkOptions, Tensors
from burnish.zoo.exporting.user_factory import build_from_module
from burnish.zoo.precision import in_precision
from burnish.zoo.tokens import ids, mask, segments

_PICKLES = ("*.bin", "*.pt", "*.pth")
_BEGUN = 5
"""Tokens that a decoder beside an encoder has written already."""
_SAMPLES, _FRAMES = 16000, 200
"""A second of sound, and two of frames."""
_FEATURE_SIZES = ("feature_projection_input_dim", "input_feat_per_channel", "num_mel_bins")


def build_from_folder(folder: Path, options: NetworkOptions, *, trust_pickle: bool) -> BuiltModel:
    """Return the folder's model with inputs made from its configuration."""
    name = _class_name(folder)
    _require_weights(folder, trust_pickle=trust_pickle)
    module = _loaded(folder, name, options, trust_pickle=trust_pickle)
    if options.past:
        if not module.can_generate() or module.config.is_encoder_decoder:
            raise UsageError(
                f"{name} cannot follow --past: it writes no text on its own",
                hint="leave --past away",
            )
        return with_past(module, options, "logits")
    inputs, axes = _inputs(module, options)
    return in_precision(build_from_module(module, inputs, axes), options.precision)


def _class_name(folder: Path) -> str:
    path = folder / "config.json"
    config = documents.read_json(path, hint="name a folder that save_pretrained wrote")
    names = config.get("architectures") if isinstance(config, dict) else None
    if not names or not isinstance(names, list):
        raise ModelError(
            f"{path}: names no architecture",
            hint='add for instance "architectures": ["BertModel"], or use --module',
        )
    return str(names[0])


def _require_weights(folder: Path, *, trust_pickle: bool) -> None:
    if any(folder.glob("*.safetensors")):
        return
    pickles = sorted(path.name for pattern in _PICKLES for path in folder.glob(pattern))
    if not pickles:
        raise ModelError(
            f"{folder}: holds no weights (*.safetensors)",
            hint="save the model with save_pretrained(folder)",
        )
    if not trust_pickle:
        raise UsageError(
            f"{folder}: its weights are a pickle ({pickles[0]}), which can run any code",
            hint="convert them to safetensors with save_pretrained, "
            "or add --trust-pickle if you trust who made them",
        )


def _loaded(folder: Path, name: str, options: NetworkOptions, *, trust_pickle: bool) -> Module:
    import transformers

    kind: Any = getattr(transformers, name, None)
    # other classes may load code that the folder holds
    is_model = inspect.isclass(kind) and issubclass(kind, transformers.PreTrainedModel)
    if not is_model:
        raise ModelError(
            f"transformers {transformers.__version__} has no model class {name!r}",
            hint="write a function that builds the model, and use --module",
        )
    if trust_pickle and not any(folder.glob("*.safetensors")):
        return _from_pickle(folder, kind, options)
    module, found = kind.from_pretrained(
        folder,
        local_files_only=True,
        use_safetensors=True,
        attn_implementation=_attention(kind, options),
        output_loading_info=True,
    )
    missing = sorted(found["missing_keys"])
    if missing:
        raise ModelError(
            f"{folder}: lacks {len(missing)} weights of {name}, first of all {missing[0]!r}",
            hint="save the whole model with save_pretrained(folder)",
        )
    return module.float().eval()


def _attention(kind: Any, options: NetworkOptions) -> str:  # noqa: ANN401  (a class of transformers)
    return options.attention if kind._supports_sdpa else "eager"


def _from_pickle(folder: Path, kind: Any, options: NetworkOptions) -> Module:  # noqa: ANN401
    """Return the model with weights of all pickles, read as tensors only."""
    import torch

    config = kind.config_class.from_pretrained(folder, local_files_only=True)
    config._attn_implementation = _attention(kind, options)
    module = kind(config)
    weights: dict[str, Any] = {}
    for pattern in _PICKLES:
        for path in sorted(folder.glob(pattern)):
            weights |= torch.load(path, map_location="cpu", weights_only=True)
    missing = module.load_state_dict(weights, strict=False).missing_keys
    tied = set(getattr(module, "_tied_weights_keys", None) or ())
    if set(missing) - tied:
        raise ModelError(
            f"{folder}: lacks {len(missing)} weights of {kind.__name__}, first of all "
            f"{sorted(missing)[0]!r}",
            hint="save the whole model with save_pretrained(folder)",
        )
    module.tie_weights()
    return module.float().eval()


Axes = dict[str, dict[int, str]]
"""By input: which of its axes may have other sizes, and what those are called."""


def _inputs(module: Module, options: NetworkOptions) -> tuple[Tensors, Axes]:
    match module.main_input_name:
        case "input_ids":
            inputs = _tokens(module, options)
            axes = {name: {0: "batch", 1: "sequence"} for name in inputs}
        case "pixel_values":
            inputs, axes = _pixels(module, options), {"pixel_values": {0: "batch"}}
        case "input_values":
            inputs, axes = _waves(module, options)
        case "input_features":
            inputs, axes = _features(module, options)
        case other:
            raise ModelError(
                f"{type(module).__name__} reads {other!r}, which burnish cannot make up",
                hint="write a function that returns (module, inputs), and use --module",
            )
    if "decoder_input_ids" not in inspect.signature(module.forward).parameters:
        return inputs, axes
    written = ids(
        options.batch or text.BATCH, _BEGUN, vocabulary=module.config.vocab_size, seed=options.seed
    )
    begun: Axes = {"decoder_input_ids": {0: "batch", 1: "decoder_sequence"}}
    return {**inputs, "decoder_input_ids": written}, {**axes, **begun}


def _tokens(module: Module, options: NetworkOptions) -> Tensors:
    batch, length = options.batch or text.BATCH, options.sequence or text.SEQUENCE
    takes = inspect.signature(module.forward).parameters
    made = {
        "input_ids": ids(batch, length, vocabulary=module.config.vocab_size, seed=options.seed),
        "attention_mask": mask(batch, length, side="right"),
        "token_type_ids": segments(batch, length),
    }
    segmented = getattr(module.config, "type_vocab_size", 0) > 1
    return {
        name: tensor
        for name, tensor in made.items()
        if name in takes and (name != "token_type_ids" or segmented)
    }


def _pixels(module: Module, options: NetworkOptions) -> Tensors:
    config = module.config
    size = getattr(config, "image_size", 224)
    height, width = size if isinstance(size, (tuple, list)) else (size, size)
    channels = getattr(config, "num_channels", 3)
    shape = (options.batch or text.BATCH, channels, height, width)
    return {"pixel_values": _noise(shape, options)}


def _waves(module: Module, options: NetworkOptions) -> tuple[Tensors, Axes]:
    """Return sound as `input_values` are read: samples, or a spectrogram of fixed size."""
    config, batch = module.config, options.batch or text.BATCH
    if hasattr(config, "num_mel_bins") and hasattr(config, "max_length"):
        shape: tuple[int, ...] = (batch, config.max_length, config.num_mel_bins)
        axes = {0: "batch"}
    else:
        shape, axes = (batch, options.sequence or _SAMPLES), {0: "batch", 1: "samples"}
    return {"input_values": _noise(shape, options)}, {"input_values": axes}


def _features(module: Module, options: NetworkOptions) -> tuple[Tensors, Axes]:
    """Return sound as `input_features` are read: so many numbers for each frame."""
    config, batch = module.config, options.batch or text.BATCH
    if hasattr(config, "num_mel_bins") and hasattr(config, "max_source_positions"):
        # two frames are one position, and all positions are there
        shape: tuple[int, ...] = (batch, config.num_mel_bins, 2 * config.max_source_positions)
        return {"input_features": _noise(shape, options)}, {"input_features": {0: "batch"}}
    sizes = (getattr(config, name, None) for name in _FEATURE_SIZES)
    width = next((size for size in sizes if size), None)
    if width is None:
        raise ModelError(
            f"{type(module).__name__} does not say how many features a frame has",
            hint="write a function that returns (module, inputs), and use --module",
        )
    shape = (batch, options.sequence or _FRAMES, int(width))
    return {"input_features": _noise(shape, options)}, {"input_features": {0: "batch", 1: "frames"}}


def _noise(shape: tuple[int, ...], options: NetworkOptions) -> Any:  # noqa: ANN401  (a torch.Tensor)
    import torch

    return torch.randn(shape, generator=torch.Generator().manual_seed(options.seed))
