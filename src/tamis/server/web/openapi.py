"""The interface as an OpenAPI document, made of the same structs that requests are read into."""

from typing import Any, Final

import msgspec

from tamis.language.limits import MAX_TEXT_BYTES
from tamis.server.web import cloudevents
from tamis.server.web.kept import Shown, Wanted
from tamis.server.web.observing import Health, Why, WhyQuery
from tamis.server.web.problems import MEDIA_TYPE, Problem
from tamis.server.web.publishing import JSON, LINES, Published, PublishQuery
from tamis.server.web.rendering import SSE
from tamis.server.web.resources import FetchQuery, Listed, StreamQuery

VERSION: Final = "1"
_REF: Final = "#/components/schemas/{name}"
#: The names of the formats of conditions and of events, for programs that make examples.
CONDITION: Final = "tamis-condition"
EVENT: Final = "tamis-event"


def _ref(name: str) -> dict[str, Any]:
    return {"$ref": _REF.format(name=name)}


_STRUCTS: Final = (Problem, Published, Wanted, Shown, Listed, Health, Why)

#: What a value of an event can be in JSON.
_VALUE: Final = {
    "description": "null, a Boolean, a number (an integer of 64 bits, or else a double), a text, or lists and "
    "objects of these, 32 deep.",
    "anyOf": [
        {"type": "null"},
        {"type": "boolean"},
        {"type": "number"},
        {"type": "string"},
        {"type": "array", "items": {"$ref": "#/components/schemas/Value"}},
        {"type": "object", "additionalProperties": {"$ref": "#/components/schemas/Value"}},
    ],
}
_EVENT: Final = {
    "type": "object",
    "description": "An event: its attributes by name.",
    "additionalProperties": {"$ref": "#/components/schemas/Value"},
    "example": {"symbol": "ACME", "price": 12},
}
_TEXT: Final = {"type": "string", "minLength": 1}
_PERHAPS: Final = {"type": ["string", "null"], "minLength": 1}
_CLOUD_EVENT: Final = {
    "type": "object",
    "description": "A CloudEvent 1.0 in its JSON format.",
    "required": list(cloudevents.REQUIRED),
    "properties": {
        "id": _TEXT,
        "source": _TEXT,
        "type": _TEXT,
        "specversion": {"const": "1.0"},
        "subject": _PERHAPS,
        "time": {"type": ["string", "null"], "format": "date-time"},
        "datacontenttype": _PERHAPS,
        "dataschema": _PERHAPS,
        "data": _ref("Value"),
        "data_base64": {"type": ["string", "null"], "format": "byte"},
    },
    "patternProperties": {
        "^[a-z0-9]+$": {
            "anyOf": [
                {"type": ["string", "boolean", "null"]},
                {"type": "integer", "minimum": -(1 << 31), "maximum": (1 << 31) - 1},
            ]
        }
    },
    "additionalProperties": False,
    "not": {"required": ["data", "data_base64"]},
}
_DELIVERED: Final = {
    "type": "object",
    "description": "An event as a subscriber gets it.",
    "required": ["id", "event", "number"],
    "properties": {
        "id": {"type": ["string", "integer"]},
        "event": {"type": "object"},
        "number": {"type": "integer"},
        "traceparent": {"type": "string"},
        "age_bound": {"type": ["number", "null"]},
    },
}
_FETCHED: Final = {
    "type": "object",
    "required": ["events", "next", "dropped"],
    "properties": {
        "events": {"type": "array", "items": {"$ref": "#/components/schemas/Delivered"}},
        "next": {"type": "integer", "description": "What to ask for the next time, as `after`."},
        "dropped": {"type": "integer"},
    },
}
_SENT: Final = {
    "type": "object",
    "description": "An event, or `dropped` or `goodbye`.",
    "required": ["data"],
    "properties": {
        "id": {"type": "string"},
        "event": {"enum": ["dropped", "goodbye"]},
        "data": {"type": "string", "contentMediaType": "application/json"},
    },
}


def document() -> dict[str, Any]:
    """Return the document."""
    _, schemas = msgspec.json.schema_components(_STRUCTS, ref_template=_REF)
    schemas["Wanted"]["properties"]["condition"] |= _condition()
    schemas |= {
        "Value": _VALUE,
        "Event": _EVENT,
        "CloudEvent": _CLOUD_EVENT,
        "Delivered": _DELIVERED,
        "Fetched": _FETCHED,
        "ServerSentEvent": _SENT,
    }
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Tamis",
            "version": VERSION,
            "description": "Content-based publish/subscribe: publish events, and subscribe to those that meet a "
            "condition. WebSocket is at `/ws`. See docs/http.md.",
        },
        "paths": _paths(),
        "components": {
            "schemas": schemas,
            "securitySchemes": {
                "bearer": {"type": "http", "scheme": "bearer"},
                "token": {"type": "apiKey", "in": "query", "name": "token"},
            },
        },
        "security": [{}, {"bearer": []}, {"token": []}],
    }


def _paths() -> dict[str, Any]:
    one = {"$ref": "#/components/schemas/Event"}
    cloud = {"$ref": "#/components/schemas/CloudEvent"}
    events = {
        JSON: {"schema": {"anyOf": [one, {"type": "array", "items": one}]}},
        LINES: {"schema": {"type": "string", "description": "An event as a JSON object in each line."}},
        cloudevents.STRUCTURED: {"schema": cloud},
        cloudevents.BATCH: {"schema": {"type": "array", "items": cloud}},
    }
    id: dict[str, Any] = {"name": "id", "in": "path", "required": True, "schema": {"type": "string", "minLength": 1}}
    last = {"name": "last-event-id", "in": "header", "required": False, "schema": {"type": "string"}}
    shown = _json("Shown")
    return {
        "/events": {
            "post": {
                **_operation("publish", "Publish events", PublishQuery),
                "requestBody": {"required": True, "content": events},
            }
            | _responses({"200": _json("Published")}, 400, 408, 409, 413, 415, 422, 507)
        },
        "/subscribe": {
            "get": _operation("subscribe", "Subscribe, as Server-Sent Events", StreamQuery)
            | _responses({"200": _body(SSE, _ref("ServerSentEvent"))}, 400, 422)
        },
        "/subscriptions": {
            "post": {
                **_operation("keep", "Make a subscription that lives without a connection"),
                "requestBody": {"required": True, "content": {JSON: {"schema": _ref("Wanted")}}},
            }
            | _responses({"201": {**shown, "headers": {"location": _header()}}}, 400, 408, 413, 415, 422),
            "get": _operation("list", "List your subscriptions") | _responses({"200": _json("Listed")}),
        },
        "/subscriptions/{id}": {
            "parameters": [id],
            "get": _operation("show", "Show a subscription") | _responses({"200": shown}, 404),
            "delete": _operation("end", "End a subscription")
            | _responses({"204": {"description": "It has ended."}}, 404),
        },
        "/subscriptions/{id}/events": {
            "parameters": [id, last],
            "get": _operation("fetch", "Fetch events, or have them as they come", FetchQuery)
            | _responses(
                {
                    "200": {
                        "description": "Events.",
                        "content": {JSON: {"schema": _ref("Fetched")}, SSE: {"schema": _ref("ServerSentEvent")}},
                    }
                },
                400,
                404,
                410,
            ),
        },
        "/why": {
            "get": _operation("why", "Why does an event meet a condition, or why not?", WhyQuery)
            | _responses({"200": _json("Why")}, 400, 404, 422)
        },
        "/health": {"get": _operation("health", "Is the broker alive?") | _responses({"200": _json("Health")})},
        "/ready": {
            "get": _operation("ready", "Does the broker do all that it was told to?")
            | _responses({"200": _json("Health"), "503": _json("Health")})
        },
        "/metrics": {
            "get": _operation("metrics", "Figures for Prometheus")
            | _responses({"200": _body("text/plain", {"type": "string"})})
        },
    }


def _operation(id: str, summary: str, query: type[msgspec.Struct] | None = None) -> dict[str, Any]:
    made: dict[str, Any] = {"operationId": id, "summary": summary}
    if query is not None:
        made["description"] = query.__doc__
        made["parameters"] = _parameters(query)
    return made


def _parameters(query: type[msgspec.Struct]) -> list[dict[str, Any]]:
    """Return the fields of a struct as parameters of a query."""
    (found,) = msgspec.json.schema_components((query,), ref_template=_REF)[1].values()
    made = []
    for name, schema in found["properties"].items():
        if name == "condition":
            schema = {**_condition(), **schema}
        if name == "event":
            schema |= {"format": EVENT, "description": "An event as a JSON object."}
        made.append({"name": name, "in": "query", "required": name in found["required"], "schema": _present(schema)})
    return made


def _present(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a parameter that is there: one that may be null is left out instead."""
    kinds = [each for each in schema.get("anyOf", ()) if each != {"type": "null"}]
    return kinds[0] if kinds else {name: value for name, value in schema.items() if value is not None}


def _condition() -> dict[str, Any]:
    text = "A condition as SQL has it after WHERE, with a notify clause if you like; see docs/language.md."
    return {"type": "string", "format": CONDITION, "maxLength": MAX_TEXT_BYTES, "description": text}


def _responses(good: dict[str, Any], *problems: int) -> dict[str, Any]:
    """Return what may be answered: what is promised, and problems; some may come of every request."""
    every = {401, 403, 429, 500, 503}
    wrong = {str(each): _body(MEDIA_TYPE, _ref("Problem")) for each in sorted(every.union(problems))}
    return {"responses": {**wrong, **good}}


def _json(name: str) -> dict[str, Any]:
    return _body(JSON, _ref(name))


def _body(media_type: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"description": schema.get("$ref", "text").rpartition("/")[2], "content": {media_type: {"schema": schema}}}


def _header() -> dict[str, Any]:
    return {"required": True, "schema": {"type": "string"}}
