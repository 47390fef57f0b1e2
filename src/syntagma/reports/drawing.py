"""What every picture shares: safe text, estimated widths, and the frame of an SVG."""

from __future__ import annotations

import re
import unicodedata
from functools import cache, lru_cache
from html import escape
from importlib.resources import files

# what XML 1.0 cannot hold, in any spelling
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NARROW, _WIDE = frozenset("ijltfrI.,:;'`|!()[]{}- \"/\\"), frozenset("mwMW@%&—…")


def clean(text: str) -> str:
    """Replace the characters that neither XML nor UTF-8 can carry."""
    return _FORBIDDEN.sub("\ufffd", text)


def safe(text: str) -> str:
    """Make any text inert inside an element or an attribute.

    >>> safe("<b> & \\x00")
    '&lt;b&gt; &amp; \ufffd'
    """
    return escape(clean(text), quote=True)


def shorten(text: str, most: int = 40) -> str:
    """Cut a text that is too long to draw."""
    return text if len(text) <= most else text[: most - 1] + "…"


@lru_cache(maxsize=1 << 16)
def text_width(text: str, size: float = 15.0) -> float:
    """Estimate the width of a text in pixels (no font is at hand to measure it)."""
    return size * sum(map(_ems, text))


def _ems(character: str) -> float:
    if character in _NARROW:
        return 0.34
    if character in _WIDE:
        return 0.92
    if unicodedata.combining(character):
        return 0.0
    if unicodedata.east_asian_width(character) in "WF":
        return 1.0
    return 0.7 if character.isupper() else 0.57


def number(value: float) -> str:
    """Write a coordinate with at most one decimal.

    >>> number(3.0), number(3.14159)
    ('3', '3.1')
    """
    return f"{value:.1f}".removesuffix(".0")


def share(probability: float) -> str:
    """Write a probability so that only certainty is 100%.

    >>> share(0.999), share(0.62)
    ('99.9%', '62%')
    """
    if 0.99 < probability < 1:
        return f"{int(probability * 1000) / 10:g}%"
    return f"{probability:.0%}"


@cache
def style(*names: str) -> str:
    """Read style sheets of the package, one after the other."""
    folder = files("syntagma.reports") / "templates"
    return "".join((folder / name).read_text(encoding="utf-8") for name in names)


class Picture(str):
    """An SVG to stand in a page that brings the styles; `standalone` adds them."""

    __slots__ = ()

    def standalone(self) -> str:
        """Return the SVG with its styles and a background, for a file of its own."""
        sheet = f"<style>{style('palette.css', 'picture.css')}</style>"
        paper = '<rect class="sy-paper" width="100%" height="100%"/>'
        return self.replace("</desc>", f"</desc>{sheet}{paper}", 1)


def picture(
    width: float, height: float, body: str, *, kind: str, title: str, description: str
) -> Picture:
    """Frame a drawing as an SVG that says what it shows to those who cannot see it."""
    size = f"{number(width)} {number(height)}"
    return Picture(
        f'<svg xmlns="http://www.w3.org/2000/svg" class="sy-picture {kind}" role="img" '
        f'width="{number(width)}" height="{number(height)}" viewBox="0 0 {size}" '
        f'aria-label="{safe(title)}"><title>{safe(title)}</title>'
        f"<desc>{safe(description)}</desc>{body}</svg>"
    )
