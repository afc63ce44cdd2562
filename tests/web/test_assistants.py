"""Assistants, asked by the client of the protocol's own SDK: in one process, over pipes, and over HTTP."""

import asyncio
import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest
from mcp import Client, StdioServerParameters, stdio_client

from itemix.errors import InvalidInputError
from itemix.web.app import VIEWS
from itemix.web.assistants import _TOOLS, make_assistant, make_http_app
from itemix.web.served import Limits, Served
from itemix.web.views import ask, differences, model, patterns, segments

CALLS = {
    "describe": (model.about, model.AboutQuestion, {}),
    "items": (model.items, model.ItemsQuestion, {"search": "b"}),
    "mine": (patterns.itemsets, patterns.ItemsetsQuestion, {"min_support": 0.1, "limit": 5}),
    "query": (ask.query, ask.QueryQuestion, {"present": ["beer"], "given": ["whole milk"], "level": 0.9}),
    "influences": (ask.influences, ask.InfluencesQuestion, {"present": ["beer"]}),
    "rules": (patterns.rules, patterns.RulesQuestion, {"min_support": 0.1}),
    "recommend": (ask.recommend, ask.RecommendQuestion, {"basket": ["beer"], "limit": 3}),
    "components": (segments.components, segments.ComponentsQuestion, {"heat_items": 0}),
    "component": (segments.component, segments.ComponentQuestion, {"number": 1}),
    "overview": (model.overview, model.OverviewQuestion, {}),
    "map": (segments.segment_map, segments.MapQuestion, {"kinds": 3}),
    "agreement": (patterns.agreement, patterns.AgreementQuestion, {"min_support": 0.1, "most": 20}),
    "evidence": (ask.evidence, ask.EvidenceQuestion, {"set": ["beer"]}),
    "what_if": (ask.what_if, ask.WhatIfQuestion, {"basket": ["beer"]}),
    "dependencies": (model.dependencies, model.DependenciesQuestion, {"limit": 5}),
    "surprises": (differences.surprises, differences.SurprisesQuestion, {"min_support": 0.05}),
    "compare": (differences.compare, differences.CompareQuestion, {"min_support": 0.05}),
    "shifts": (differences.shifts, differences.ShiftsQuestion, {}),
}


def asked(server, questions):
    """Connect to a server, or to what leads to one, and ask it."""

    async def ask_all():
        async with Client(server) as client:
            tools = (await client.list_tools()).tools
            return tools, [await client.call_tool(name, given) for name, given in questions]

    # In a thread of its own: after tests with a browser, the main thread has a loop that runs.
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, ask_all()).result()


def test_every_view_is_a_tool_that_answers_as_it_does(served):
    """The client checks each answer against the declared shape; it is that of the view, as text, too."""
    questions = [
        (name, {k: v for k, v in given.items() if k != "heat_items"}) for name, (*_, given) in CALLS.items()
    ]
    tools, answers = asked(make_assistant([served]), questions)
    assert [tool.name for tool in tools] == list(CALLS)
    assert {view.path for view in VIEWS} == set(_TOOLS)
    assert all(tool.annotations.read_only_hint and tool.output_schema for tool in tools)
    assert all(tool.input_schema["additionalProperties"] is False for tool in tools)
    for (name, (view, question, given)), answer in zip(CALLS.items(), answers, strict=True):
        assert not answer.is_error, (name, answer.content)
        expected = json.loads(json.dumps(view(served, question(**given))))
        assert answer.structured_content == expected, name
        assert json.loads(answer.content[0].text) == expected


def test_what_was_declared_can_be_asked(served, plain_model):
    """Of one model nothing about models; of several their names. Parameters for pictures are not there."""
    (alone, *_), _ = asked(make_assistant([served]), [])
    assert "model" not in alone.input_schema["properties"]
    plain = Served("plain", plain_model)
    tools, (facts, none) = asked(
        make_assistant([served, plain]), [("describe", {"model": "plain"}), ("describe", {"model": "other"})]
    )
    for tool in tools:
        properties = tool.input_schema["properties"]
        assert properties["model"]["anyOf"][0] == {"enum": ["shop", "plain"]}
        assert not {"points", "heat_items"} & properties.keys()
    assert facts.structured_content["n_items"] == plain_model.n_items
    assert none.content[0].text.startswith("expected one of the models 'shop', 'plain', got 'other'")
    with pytest.raises(InvalidInputError, match="expected models of different names, got "):
        make_assistant([served, served])


def test_errors_are_one_line_that_the_assistant_reads(served):
    """What is wrong is the answer of the tool, so that the next call is better."""
    messages = {
        ("none", None): "expected one of the tools describe, items, mine, query, influences, rules, recom",
        ("mine", None): "expected min_support, got none; try min_support=0.1",
        ("mine", '{"min_support": "x"}'): "expected min_support as a number above 0 to 1, got 'x'; try",
        ("mine", '{"min_support": 0.1, "wrong": 1}'): "expected only the parameters min_support, target,",
        ("mine", '{"min_support": 1e-9}'): "expected at most 20,000 itemsets, got more at min_support=1e-09",
        ("query", '{"present": ["beeer"]}'): "did you mean 'beer'?",
        ("surprises", '{"min_support": 0.1, "points": 5, "limit": 5000}'): "expected limit as a whole number",
    }
    questions = [(name, json.loads(given or "{}")) for name, given in messages]
    _, answers = asked(make_assistant([served]), questions)
    for message, answer in zip(messages.values(), answers, strict=True):
        assert answer.is_error
        assert message in answer.content[0].text
        assert "\n" not in answer.content[0].text


def test_answers_end_when_their_time_is_over(model, data):
    """A search that takes too long is given up, and says what to try."""
    slow = Served("slow", model, data=data, limits=Limits(max_itemsets=10**9, seconds=0.2))
    _, (answer,) = asked(make_assistant([slow]), [("mine", {"min_support": 1e-12})])
    assert answer.is_error
    assert answer.content[0].text.startswith("expected an answer within 0.2 s, got none; raise min_support")


def test_over_http(served, serve):
    """The same at an address of this machine; requests for other hosts are refused."""
    with serve(make_http_app(make_assistant([served]))) as (host, port):
        tools, (facts,) = asked(f"http://{host}:{port}/mcp", [("describe", {})])
    assert len(tools) == len(CALLS)
    assert facts.structured_content["name"] == "shop"


def test_the_command(tmp_path, model):
    """An assistant starts the command, asks over pipes, and ends it by closing them."""
    model.save(tmp_path / "shop.itemix")
    command = ["-m", "itemix", "mcp", str(tmp_path / "shop.itemix")]
    transport = stdio_client(StdioServerParameters(command=sys.executable, args=command, env={**os.environ}))
    tools, (found,) = asked(transport, [("query", {"present": ["beer"]})])
    assert len(tools) == len(CALLS)
    assert found.structured_content["probability"] == pytest.approx(model.probability(["beer"]))
