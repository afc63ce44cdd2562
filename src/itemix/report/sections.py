"""A section of a report: a heading, sentences, pictures and tables."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from itemix.report.markup import Child, element

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element


class Section(NamedTuple):
    """A part of the report.

    Attributes
    ----------
    key : str
        What links to it say.
    title : str
        Its heading.
    parts : list of elements
        What it holds.
    """

    key: str
    title: str
    parts: list[Element]

    def as_element(self) -> Element:
        """Return the section with its heading."""
        heading = element("h2", self.title, id=self.key)
        return element("section", heading, *self.parts, aria_labelledby=self.key)

    def link(self) -> Element:
        """Return a link to the section."""
        return element("li", element("a", self.title, href=f"#{self.key}"))


def paragraph(*words: Child, lead: bool = False) -> Element:
    """Make a paragraph; the first one of a section leads."""
    return element("p", *words, class_="lead") if lead else element("p", *words)
