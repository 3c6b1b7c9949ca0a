"""The served OpenAPI document: valid in itself, and true of what the gateway answers."""

import re
from typing import Any

import pytest
from openapi_schema_validator import OAS31Validator
from openapi_spec_validator import validate
from peers.client import Answer
from peers.gateway import Gateway


@pytest.fixture(scope="module")
def document(gateway: Gateway) -> dict[str, Any]:
    return dict(gateway.client.get("/v1/openapi.json"))


def check(document: dict[str, Any], method: str, path: str, answer: Answer) -> None:
    """Holds an answer against what the document says of it."""
    responses = document["paths"][path][method.lower()]["responses"]
    described = responses.get(str(answer.status)) or responses.get("default")
    assert described, f"{method} {path} answered {answer.status}, which is not described"
    if reference := described.get("$ref"):
        described = document
        for name in reference.removeprefix("#/").split("/"):
            described = described[name]
    content = described.get("content", {}).get("application/json")
    if not content:
        return
    # References start at the document's root, so the schema includes the components.
    schema = {"components": document["components"]} | content["schema"]
    errors = list(OAS31Validator(schema).iter_errors(answer.json))
    assert not errors, f"{method} {path}: {errors[0].message} at {errors[0].json_path}"


def test_is_valid(document: dict[str, Any]) -> None:
    assert document["openapi"].startswith("3.1")
    validate(document)


def test_describes_what_is_answered(document: dict[str, Any], gateway: Gateway) -> None:
    checked = 0
    for path, operations in document["paths"].items():
        if "get" not in operations or path == "/v1/events" or "/live." in path:
            continue
        for device, trait, session in (
            ("front-door", "WebRtcLiveView", "unknown"),
            ("garden", "PushAvStreamTransport", "unknown"),
            ("unknown", "Unknown", "unknown"),
        ):
            concrete = path.replace("{device}", device).replace("{trait}", trait).replace("{session}", session)
            concrete = concrete.replace("{file}", "app.js").replace("{camera}", device)
            concrete = re.sub(r"\{\w+\}", "unknown", concrete)
            answer = gateway.client.request("GET", concrete)
            if concrete == path and answer.status == 404 and "404" not in operations["get"]["responses"]:
                pytest.fail(f"GET {path} is described and not there")
            check(document, "GET", path, answer)
            checked += 1
    assert checked >= 12
