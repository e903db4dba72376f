"""Descriptions that are no text are made text: protobuf gives bytes for them, and takes none back.

Nothing refers to them, so nothing changes but that the model can be written again.
"""

from __future__ import annotations

import onnx_ir as ir


def mend_producer(model: ir.Model) -> None:
    """Make text of who wrote a model."""
    for field in ("producer_name", "producer_version", "domain"):
        if isinstance(getattr(model, field), bytes):
            setattr(model, field, _text(getattr(model, field)))


def mend_imports(imports: dict[str, int]) -> None:
    """Make text of the domains whose operators are used."""
    for domain in [domain for domain in imports if not isinstance(domain, str)]:
        imports[_text(domain)] = imports.pop(domain)


def mend(owner: ir.Model | ir.Graph | ir.Function | ir.Node) -> None:
    """Make text of what is said of something, and of a graph's name."""
    if isinstance(owner, ir.Graph):
        owner.name = _text(owner.name or "")
    entries = owner.metadata_props
    try:
        "".join([owner.doc_string or "", *entries, *entries.values()])
    except TypeError:
        owner.doc_string = _text(owner.doc_string or "")
        texts = {_text(key): _text(value) for key, value in entries.items()}
        entries.clear()
        entries.update(texts)


def mend_value(value: ir.Value) -> None:
    """Make text of what is said of a value, of its type and of its dimensions."""
    if value.doc_string:
        value.doc_string = _text(value.doc_string)
    kind, shape = value.type, value.shape
    if kind is not None and kind.denotation:
        kind.denotation = _text(kind.denotation)
    if shape is not None:
        for place in range(len(shape)):
            said = shape.get_denotation(place)
            if said:
                shape.set_denotation(place, _text(said))


def mend_attribute(attribute: ir.Attr) -> None:
    """Make text of what is said of an attribute."""
    if attribute.doc_string:
        attribute.doc_string = _text(attribute.doc_string)


def _text(text: str | bytes) -> str:
    return text.decode(errors="replace") if isinstance(text, bytes) else text
