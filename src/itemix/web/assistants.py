"""Assistants: the questions of the explorer as tools of the Model Context Protocol.

An assistant that speaks this protocol asks a model what a page would ask: the tools are the views, their
parameters are the declared questions, and their limits are those of the server. Nothing can be changed.
"""

from __future__ import annotations

import asyncio
import json
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp_types import CallToolResult, ListToolsResult, TextContent, Tool, ToolAnnotations
from pydantic import TypeAdapter
from starlette.exceptions import HTTPException

import itemix
from itemix.errors import InvalidInputError, ItemixError
from itemix.web.app import VIEWS, make_pool, require_names, within
from itemix.web.views import chosen_model, read_question

if TYPE_CHECKING:
    from collections.abc import Sequence

    from mcp.server.context import ServerRequestContext
    from mcp_types import CallToolRequestParams, PaginatedRequestParams
    from starlette.applications import Starlette

    from itemix.web.app import View
    from itemix.web.served import Served

_INSTRUCTIONS = (
    "Probabilistic models of transactions (baskets of items), and exact figures of the data beside them. "
    "Supports and probabilities are fractions from 0 to 1. Begin with `describe`: it has thresholds that "
    "make sense. Find the exact names of items with `items`. Answers are pages: raise `limit` or `offset` "
    "for more. Nothing can be changed."
)


class _Said(NamedTuple):
    """What assistants call a view, what they are told of it, and what of its question they need not set."""

    name: str
    description: str
    left_out: tuple[str, ...] = ()


_TOOLS = {
    "/model": _Said("describe", "Say what the model is, which data is beside it, and which thresholds fit."),
    "/items": _Said("items", "Find the names of items that have a text in them, the most frequent first."),
    "/itemsets": _Said(
        "mine",
        "Find frequent itemsets: which items occur together, with the support that the model expects and, "
        "where there is data, the exact one.",
    ),
    "/query": _Said(
        "query", "Return the probability that some items are present and others absent, given what is known."
    ),
    "/influences": _Said("influences", "Find the items that raise and lower the probability of an event."),
    "/rules": _Said("rules", "Find association rules: what those with some items have, too.", ("points",)),
    "/recommend": _Said("recommend", "Recommend items that a basket may lack."),
    "/components": _Said(
        "components", "List the kinds of transactions that the model has found.", ("heat_items",)
    ),
    "/components/{number:int}": _Said("component", "Describe one kind of transactions, with examples."),
    "/overview": _Said("overview", "Say what stands out: a kind, a pair, a rule, a surprise, and a doubt."),
    "/map": _Said("map", "Join the kinds of transactions that are most alike to fewer, with their items."),
    "/agreement": _Said(
        "agreement", "Compare supports of the model with those in data, and name its worst misses."
    ),
    "/evidence": _Said(
        "evidence",
        "Say what stands behind a set or a rule: interval, counts, kinds of transactions, and its subsets "
        "and supersets.",
    ),
    "/what-if": _Said("what_if", "Say which kinds a basket may be, and what may come next."),
    "/dependencies": _Said("dependencies", "Find pairs of items that depend on each other."),
    "/surprises": _Said(
        "surprises",
        "Find itemsets that are more or less frequent in new data than the model allows, with q values.",
        ("points",),
    ),
    "/compare": _Said(
        "compare", "Find itemsets that are more frequent in one of two data sets, tested with q values."
    ),
    "/shifts": _Said("shifts", "Find kinds of transactions that are more frequent in one of two data sets."),
}


def make_assistant(models: Sequence[Served]) -> Server[Any]:
    """Make the server of some models, which has a tool for each view.

    Parameters
    ----------
    models : sequence of Served
        At least one; the first answers if a call names none.

    Raises
    ------
    InvalidInputError
        If there are no models, or two of one name.
    """
    names = require_names(models)
    of_path = {view.path: view for view in VIEWS}
    views = {said.name: of_path[path] for path, said in _TOOLS.items()}
    tools = [_tool(view, names) for view in views.values()]
    pool = make_pool()

    async def listed(
        context: ServerRequestContext[Any], asked: PaginatedRequestParams | None
    ) -> ListToolsResult:
        return ListToolsResult(tools=tools)

    async def called(context: ServerRequestContext[Any], asked: CallToolRequestParams) -> CallToolResult:
        try:
            view = views.get(asked.name)
            if view is None:
                raise InvalidInputError(
                    f"expected one of the tools {', '.join(views)}, got {asked.name!r}; call another one"
                )
            given = asked.arguments or {}
            question = read_question(view.question, _unseen(view) | given, is_text=False)
            served = chosen_model(models, question.model)
            answer = await within(pool, partial(view.answer, served, question), served.limits.seconds)
        except HTTPException as error:  # there is no such model
            return _refused(error.detail)
        except ItemixError as error:
            return _refused(str(error))
        return CallToolResult(
            content=[TextContent(type="text", text=json.dumps(answer, ensure_ascii=False))],
            structured_content=answer,
        )

    return Server(
        "itemix",
        version=itemix.__version__,
        instructions=_INSTRUCTIONS,
        on_list_tools=listed,
        on_call_tool=called,
    )


def _tool(view: View, names: list[str]) -> Tool:
    said = _TOOLS[view.path]
    schema = view.question.model_json_schema()
    fields = {name: entry for name, entry in schema["properties"].items() if name not in said.left_out}
    if len(names) > 1:
        fields["model"] = {**fields["model"], "anyOf": [{"enum": names}, {"type": "null"}]}
    else:
        del fields["model"]
    return Tool(
        name=said.name,
        description=said.description,
        input_schema={**schema, "properties": fields},
        output_schema=TypeAdapter(view.shape).json_schema(),
        annotations=ToolAnnotations(read_only_hint=True, open_world_hint=False),
    )


def _unseen(view: View) -> dict[str, object]:
    """Return what is asked of a view on behalf of assistants: they draw nothing, so they get no points."""
    return dict.fromkeys(_TOOLS[view.path].left_out, 0)


def _refused(message: str) -> CallToolResult:
    """Return an error as a tool reports it, so that the assistant reads it and tries what it says."""
    return CallToolResult(content=[TextContent(type="text", text=" ".join(message.split()))], is_error=True)


def serve_standard_streams(server: Server[Any]) -> None:
    """Answer on standard input and output, until the input ends."""

    async def run() -> None:
        async with stdio_server() as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())

    asyncio.run(run())


def make_http_app(server: Server[Any]) -> Starlette:
    """Return the application that answers at /mcp of this machine: streamable HTTP without sessions."""
    return server.streamable_http_app(json_response=True, stateless_http=True)
