"""Pages that need nothing else, no network and no other file: what all of them have in common."""

from __future__ import annotations

import base64
import functools
import hashlib
import re
from collections.abc import Iterable
from typing import Any

import jinja2
from markupsafe import Markup, escape

from burnish.core import units
from burnish.core.plain_text import upright
from burnish.report import theme
from burnish.version import __version__


def page(
    template: str,
    *,
    style: str,
    script: str = "",
    version: str = __version__,
    **shown: Any,  # noqa: ANN401  (whatever the template shows)
) -> str:
    """Return a page in the colours of all; all text in it is escaped, and no script runs but ours.

    `style` and `script` are code of ours; `version` is that of burnish that found what is shown.
    """
    digest = base64.b64encode(hashlib.sha256(f"\n{script}\n".encode()).digest()).decode()
    made = environment().get_template(template)
    return upright(
        made.render(
            version=version,
            style=Markup(theme.css() + style),
            script=Markup(script),
            script_source=Markup(f"; script-src 'sha256-{digest}'") if script else "",
            **shown,
        )
    )


@functools.cache
def source(name: str) -> str:
    """Return a part of pages that is text already: rules of style, or a script."""
    return environment().get_template(name).render()


def both(drawings: Iterable[str]) -> Markup:
    """Return a drawing for wide pages and one for narrow ones, of which one is seen."""
    wide, narrow = map(Markup, drawings)
    return Markup('<div class="wide">{}</div><div class="narrow">{}</div>').format(wide, narrow)


@functools.cache
def environment() -> jinja2.Environment:
    """Return what renders our templates: everything escaped, nothing silently undefined."""
    made = jinja2.Environment(
        loader=jinja2.PackageLoader("burnish.report", "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    made.filters.update(
        seconds=units.seconds, share=units.share, sentence=_sentence, name=_with_places_to_break
    )
    return made


def _with_places_to_break(text: str) -> Markup:
    """Return text that may go on in a new line after a slash, underscore or colon, as names do."""
    return Markup(re.sub(r"(?<=[/_:])(?=\w)", "<wbr>", escape(text)))


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
