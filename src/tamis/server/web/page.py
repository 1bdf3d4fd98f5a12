"""The interface as a page for people, made of the OpenAPI document: one file, nothing from elsewhere."""

from html import escape
from typing import Any, Final

from tamis.server.web.openapi import document

_STYLE: Final = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
h2 { font-size: 1.1rem; margin: 2rem 0 .3rem; } code, b { font-family: ui-monospace, monospace; }
b { color: #fff; background: #2a6; border-radius: .3rem; padding: .1rem .4rem; } table { border-collapse: collapse; }
td, th { text-align: left; padding: .15rem 1rem .15rem 0; vertical-align: top; } th { font-weight: 600; }
@media (prefers-color-scheme: dark) { body { background: #111; color: #ddd; } }
"""


def page() -> str:
    """Return the page."""
    shown = document()
    parts = [
        "<!doctype html><html lang='en'><meta charset='utf-8'><title>Tamis</title>",
        f"<style>{_STYLE}</style><h1>Tamis</h1><p>{escape(shown['info']['description'])}</p>",
        "<p>As a document for programs: <a href='openapi.json'>openapi.json</a>.</p>",
    ]
    for path, operations in shown["paths"].items():
        for method, operation in operations.items():
            if method != "parameters":
                shared = operations.get("parameters", [])
                parts.append(_operation(path, method, operation, shared))
    return "".join(parts) + "</html>\n"


def _operation(path: str, method: str, operation: dict[str, Any], shared: list[dict[str, Any]]) -> str:
    made = [f"<h2><b>{method.upper()}</b> <code>{escape(path)}</code> {escape(operation['summary'])}</h2>"]
    rows = [_parameter(each) for each in [*shared, *operation.get("parameters", [])]]
    if rows:
        made.append(f"<table><tr><th>parameter<th>in<th>what{''.join(rows)}</table>")
    if "requestBody" in operation:
        made.append(f"<p>Body: {_listed(operation['requestBody']['content'])}</p>")
    good = {code: each for code, each in operation["responses"].items() if code < "3"}
    for code, response in good.items():
        made.append(f"<p>{code}: {_listed(response.get('content', {})) or 'nothing'}</p>")
    problems = ", ".join(code for code in operation["responses"] if code >= "4")
    return "".join(made) + f"<p>Problems: {problems}</p>"


def _parameter(parameter: dict[str, Any]) -> str:
    schema = parameter["schema"]
    kind = " or ".join(schema["enum"]) if "enum" in schema else schema.get("type", "")
    limits = [f"{word} {schema[key]:,}" for key, word in _LIMITS.items() if key in schema]
    default = [f"otherwise {schema['default']}"] if "default" in schema else []
    needed = ["needed"] if parameter["required"] else []
    what = escape(", ".join([kind, *limits, *needed, *default]))
    return f"<tr><td><code>{parameter['name']}</code><td>{parameter['in']}<td>{what}"


_LIMITS: Final = {"minimum": "from", "exclusiveMinimum": "above", "maximum": "to", "maxLength": "characters up to"}


def _listed(content: dict[str, Any]) -> str:
    return ", ".join(f"<code>{escape(each)}</code>" for each in content)
