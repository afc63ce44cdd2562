"""The OpenAPI document: what may be asked at each address, and the shape of the answers that views fill."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, NotRequired

from pydantic import ConfigDict, Field, TypeAdapter
from typing_extensions import TypedDict

import itemix
from itemix.web.questions import ItemName, schema_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from itemix.web.questions import Question

Probability = Annotated[float, Field(ge=0, le=1)]


class Answer(TypedDict):
    """The base of all shapes: an answer has no other fields than those named."""

    __pydantic_config__ = ConfigDict(extra="forbid")  # type: ignore[misc]


class RefusalFacts(Answer):
    """What is wrong, in a word and in a line."""

    code: Literal[
        "invalid_request",
        "unknown_item",
        "too_many",
        "too_slow",
        "too_busy",
        "unauthorized",
        "not_found",
        "method_not_allowed",
        "too_large",
        "wrong_host",
        "internal_error",
    ]
    message: Annotated[str, Field(description="One line: what was expected, what was got, what to try.")]
    lowest_min_support: NotRequired[
        Annotated[float, Field(description="With too_many: the lowest threshold that is possible.")]
    ]


class Refusal(Answer):
    """The answer to a request that is refused."""

    error: RefusalFacts


class Health(Answer):
    """Whether the server answers."""

    status: Literal["ok"]
    version: str


class Models(Answer):
    """The models that are served."""

    models: list[str]


class ModelFacts(Answer):
    """What a model is."""

    name: str
    kind: Annotated[str, Field(description="The class of the model.")]
    inference: str | None
    n_items: int
    n_components: Annotated[int | None, Field(description="None where the model is no mixture.")]
    n_samples: Annotated[int, Field(description="How many samples of a sampler the model is the average of.")]
    has_intervals: bool
    n_transactions: Annotated[int | None, Field(description="Of the data that answers are compared with.")]
    lowest_min_support: Annotated[
        Probability,
        Field(
            description="The lowest threshold that makes sense: what one transaction is, or the lowest that "
            "is possible, as far as it is known."
        ),
    ]
    first_min_support: Annotated[
        Probability, Field(description="A threshold that a few hundred itemsets reach.")
    ]
    max_itemsets: int


class ProbableItem(Answer):
    """An item, and how probable it is."""

    item: ItemName
    probability: Probability


class FoundItems(Answer):
    """Items whose names have a text in them."""

    n_items: Annotated[int, Field(description="How many items match.")]
    items: list[ProbableItem]


class ItemsetRow(Answer):
    """One itemset."""

    items: list[ItemName]
    support: Probability
    lift: Annotated[float | None, Field(description="The support over that of independent items.")]
    lower: NotRequired[
        Annotated[
            Probability, Field(description="The lower end of the credible interval, of models that have one.")
        ]
    ]
    upper: NotRequired[Annotated[Probability, Field(description="Its upper end.")]]
    exact: NotRequired[
        Annotated[Probability, Field(description="The support in the data, if there is data.")]
    ]


class LengthCount(Answer):
    """How many sets have a length."""

    length: int
    count: int


SupportCount = TypedDict("SupportCount", {"from": float, "to": float, "count": int})


class ItemsetsAnswer(Answer):
    """Itemsets of at least a probability."""

    min_support: Probability
    n_itemsets: int
    lengths: list[LengthCount]
    supports: list[SupportCount]
    offset: int
    itemsets: list[ItemsetRow]


class CharacteristicAnswer(Answer):
    """An item that tells a component from others."""

    item: ItemName
    probability: Probability
    lift: Annotated[float, Field(description="The probability in the component over the overall one.")]
    overall: NotRequired[Probability]


class ComponentRow(Answer):
    """One component in a list."""

    number: int
    weight: Probability
    mean_length: float
    in_general: str
    items: list[CharacteristicAnswer]


class HeatMap(Answer):
    """The probabilities of the items that tell components apart."""

    items: list[ItemName]
    overall: list[Probability]
    probabilities: Annotated[
        list[list[Probability]], Field(description="A row for each component, a column for each item.")
    ]


class Components(Answer):
    """The components of a mixture."""

    n_components: int
    components: list[ComponentRow]
    heat: HeatMap


class Component(Answer):
    """One component in detail."""

    number: int
    weight: Probability
    mean_length: float
    in_general: str
    items: list[CharacteristicAnswer]
    baskets: Annotated[
        list[list[ItemName]],
        Field(description="Baskets drawn from this component alone; the same each time."),
    ]


class PairRow(Answer):
    """One pair of items."""

    item: ItemName
    other: ItemName
    probability: Probability
    expected: Annotated[Probability, Field(description="If the two were independent.")]
    lift: float
    leverage: float
    information: Annotated[float, Field(description="Mutual information in bits.")]


class Dependencies(Answer):
    """Pairs of items that depend on each other."""

    n_items: Annotated[
        int,
        Field(
            description="How many items were compared: all, or the most frequent ones where there are too "
            "many."
        ),
    ]
    items: list[ProbableItem]
    pairs: list[PairRow]


class InData(Answer):
    """The event in the data."""

    probability: Annotated[float | None, Field(description="None where no transaction meets the condition.")]
    count: int
    of: Annotated[int, Field(description="The transactions that meet the condition.")]


class Query(Answer):
    """The probability of an event."""

    probability: Probability
    lower: NotRequired[Probability]
    upper: NotRequired[Probability]
    level: NotRequired[Probability]
    independent: Annotated[Probability, Field(description="If all items were independent.")]
    unconditional: NotRequired[
        Annotated[Probability, Field(description="Without the condition, if there is one.")]
    ]
    data: NotRequired[InData]


class Influence(Answer):
    """An item that changes a probability."""

    item: ItemName
    probability: Annotated[Probability, Field(description="Of the event, if the item is present too.")]
    change: float


class Influences(Answer):
    """What raises and lowers a probability."""

    probability: Probability
    raises: list[Influence]
    lowers: list[Influence]


class RecommendationRow(Answer):
    """One item that a basket may lack."""

    item: ItemName
    probability: Probability
    lift: float


class RecommendationsAnswer(Answer):
    """What a basket may lack."""

    recommendations: list[RecommendationRow]


class RuleRow(Answer):
    """One rule, with all measures."""

    antecedents: list[ItemName]
    consequents: list[ItemName]
    antecedent_support: float | None
    consequent_support: float | None
    support: float | None
    confidence: float | None
    lift: float | None
    representativity: float | None
    leverage: float | None
    conviction: Annotated[float | None, Field(description="None is infinite.")]
    zhangs_metric: float | None
    jaccard: float | None
    certainty: float | None
    kulczynski: float | None
    cosine: float | None
    odds_ratio: Annotated[float | None, Field(description="None is infinite.")]
    imbalance_ratio: float | None
    phi: float | None
    mutual_information: Annotated[float | None, Field(description="In bits.")]
    difference_of_confidence: float | None


class RulePoints(Answer):
    """Rules as points to draw."""

    antecedents: list[list[ItemName]]
    consequents: list[list[ItemName]]
    support: list[float]
    confidence: list[float]
    lift: list[float | None]


class RulesAnswer(Answer):
    """Association rules."""

    min_support: Probability
    n_rules: int
    offset: int
    rules: list[RuleRow]
    points: RulePoints


Json = dict[str, Any]

_ABOUT = (
    "Every answer of the explorer's page comes from here. Parameters go into the address of a GET request, "
    "names of items repeated, or as a JSON object into the body of a POST request. Whatever is refused has "
    "one shape, with a code and one line that says what to do."
)
_REFERENCE = "#/components/schemas/{model}"
_REFUSED = {"$ref": "#/components/responses/Refused"}


class Document:
    """The document, to which addresses are added.

    Parameters
    ----------
    shapes : iterable of types
        The shapes of all answers.
    """

    def __init__(self, shapes: Iterable[Any]) -> None:
        every = (*shapes, Refusal)
        mode: Literal["serialization"] = "serialization"
        by_shape, schemas = TypeAdapter.json_schemas(
            [(shape, mode, TypeAdapter(shape)) for shape in every], ref_template=_REFERENCE
        )
        self._schema_of = {shape: schema for (shape, _), schema in by_shape.items()}
        self._schemas = schemas.get("$defs", {})
        self._paths: Json = {}

    def add_view(self, path: str, summary: str, question: type[Question], shape: object) -> None:
        """Add an address that answers with JSON, to GET and to POST."""
        content = {"application/json": {"schema": self._schema_of[shape]}}
        responses = _responses("The answer.", content)
        parameters = _parameters(question, path)
        in_path = [entry for entry in parameters if entry["in"] == "path"]
        get: Json = {"summary": summary, "parameters": parameters, "responses": responses}
        body = _body(question, {entry["name"] for entry in in_path})
        post: Json = {"summary": "The same, with a JSON body.", "responses": responses, "requestBody": body}
        self._paths[path] = {"get": get, "post": post | ({"parameters": in_path} if in_path else {})}

    def add_file(self, path: str, summary: str, question: type[Question], media_type: str) -> None:
        """Add an address that answers with a file."""
        responses = _responses("The file; itemix reads it back.", {media_type: {}})
        get = {"summary": summary, "parameters": _parameters(question, path), "responses": responses}
        self._paths[path] = {"get": get}

    def add_other(self, path: str, summary: str, media_type: str, shape: object = None) -> None:
        """Add an address where nothing can be asked."""
        content = {media_type: {} if shape is None else {"schema": self._schema_of[shape]}}
        responses = {"200": {"description": "The answer.", "content": content}}
        self._paths[path] = {"get": {"summary": summary, "responses": responses}}

    def as_json(self) -> Json:
        """Return all of it."""
        refused = {"application/json": {"schema": self._schema_of[Refusal]}}
        return {
            "openapi": "3.1.0",
            "info": {
                "title": "itemix",
                "summary": "Questions to models of transactions.",
                "description": _ABOUT,
                "version": itemix.__version__,
                "license": {"name": "BSD-3-Clause", "identifier": "BSD-3-Clause"},
            },
            "paths": self._paths,
            "components": {
                "schemas": self._schemas,
                "responses": {"Refused": {"description": "Refused, and why.", "content": refused}},
                "securitySchemes": {
                    "token": {
                        "type": "http",
                        "scheme": "bearer",
                        "description": "Where others than this machine can ask.",
                    }
                },
            },
            "security": [{}, {"token": []}],
        }


def _responses(description: str, content: Json) -> Json:
    return {"200": {"description": description, "content": content}, "4XX": _REFUSED, "503": _REFUSED}


def _parameters(question: type[Question], path: str) -> list[Json]:
    return [_parameter(question, name, f"{{{name}}}" in path) for name in question.model_fields]


def _parameter(question: type[Question], name: str, is_in_path: bool) -> Json:
    schema = dict(schema_of(question, name))
    description = schema.pop("description")
    schema.pop("title", None)
    if schema.get("default") is None:
        schema.pop("default", None)
    is_required = is_in_path or question.model_fields[name].is_required()
    entry = {"name": name, "in": "path" if is_in_path else "query", "description": description}
    return entry | ({"required": True} if is_required else {}) | {"schema": schema}


def _body(question: type[Question], left_out: set[str]) -> Json:
    schema = question.model_json_schema()
    schema["properties"] = {
        name: entry for name, entry in schema["properties"].items() if name not in left_out
    }
    return {"required": True, "content": {"application/json": {"schema": schema}}}
