"""A report, and what is in it."""

from html.parser import HTMLParser
from typing import NamedTuple

import pytest

import itemix
from itemix.report import render_report

VOID = {"meta", "br", "hr", "img", "input", "link"}


class Node:
    """An element of a page, with its text and its children."""

    def __init__(self, tag, attributes):
        self.tag = tag
        self.attributes = attributes
        self.children = []

    def walk(self):
        """Yield this element and all below it."""
        yield self
        for child in self.children:
            if isinstance(child, Node):
                yield from child.walk()

    def all(self, tag):
        """Return all elements of a kind."""
        return [node for node in self.walk() if node.tag == tag]

    @property
    def text(self):
        """All text below the element, without that of pictures."""
        if self.tag in {"svg", "style"}:
            return ""
        return "".join(child.text if isinstance(child, Node) else child for child in self.children)

    @property
    def values(self):
        """The numbers below the element, with all digits."""
        return [float(node.attributes["value"]) for node in self.all("data")]


class Parser(HTMLParser):
    """Builds the tree of a page, and refuses one whose elements do not close in order."""

    def __init__(self):
        super().__init__()
        self.root = Node("", {})
        self.open = [self.root]

    def handle_starttag(self, tag, attrs):
        """Open an element."""
        names = [name for name, _ in attrs]
        assert len(names) == len(set(names)), f"<{tag}> has an attribute twice"
        node = Node(tag, dict(attrs))
        self.open[-1].children.append(node)
        if tag not in VOID:
            self.open.append(node)

    def handle_endtag(self, tag):
        """Close the element that is open."""
        assert self.open[-1].tag == tag, f"</{tag}> closes <{self.open[-1].tag}>"
        self.open.pop()

    def handle_data(self, data):
        """Keep text."""
        self.open[-1].children.append(data)


def parsed(text):
    """Return the tree of a page."""
    assert text.startswith("<!DOCTYPE html>")
    parser = Parser()
    parser.feed(text)
    parser.close()
    assert parser.open == [parser.root]
    return parser.root


class Report(NamedTuple):
    """A report with the data and the model that it is about."""

    data: object
    model: object
    text: str
    page: Node

    def section(self, key):
        """Return a section by the key of its heading."""
        return next(node for node in self.page.all("section") if node.attributes["aria-labelledby"] == key)

    def table(self, key, position=0):
        """Return the cells of a table of a section, without the headers."""
        rows = self.section(key).all("tbody")[position].all("tr")
        return [[cell for cell in row.children if isinstance(cell, Node)] for row in rows]


@pytest.fixture(scope="session")
def sampled():
    """A report on a model that was sampled, with the data beside."""
    data = itemix.datasets.load("grocery_store").sample(2000, random_state=0)
    model = itemix.DirichletProcessMixture(
        n_components=8, inference="gibbs", n_samples=3, thin=2, max_iter=100, tol=1.0, random_state=0
    ).fit(data)
    text = render_report(model, data=data, title="The store")
    return Report(data, model, text, parsed(text))


@pytest.fixture(scope="session")
def tested():
    """A report on a small mixture, tested on transactions in which a pair is twice as frequent."""
    model = itemix.Mixture([0.5, 0.5], [[0.8, 0.3, 0.2], [0.1, 0.3, 0.2]], ["salt", "pepper", "tea"])
    train = model.sample(2000, random_state=0)
    fitted = itemix.BayesianMixture(2, random_state=0).fit(train)
    rows = model.sample(1000, random_state=1).to_lists()
    planted = [[*{*row, "pepper", "tea"}] if number % 10 == 0 else row for number, row in enumerate(rows)]
    text = render_report(fitted, test=planted, min_support=0.02)
    return Report(planted, fitted, text, parsed(text))


@pytest.fixture(scope="session")
def parse():
    """Parse other pages."""
    return parsed
