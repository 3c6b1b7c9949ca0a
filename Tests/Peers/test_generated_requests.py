"""Requests that schemathesis generates from the OpenAPI document: none breaks the gateway, and every answer is one that
the document describes."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from peers.gateway import DOORBELL, Camera, Gateway
from peers.ports import free_port

# Streams without end, pulls that wait for a message, and a speaker that takes its time.
SLOW = [
    "/v1/events",
    "/v1/devices/{device}/live.mp4",
    "/v1/devices/{device}/live.mjpeg",
    "/v1/devices/{device}/live.m3u8",
    "/v1/structures/{structure}/automations/events",
    "/v1/projects/{project}/subscriptions/{subscription}",
]
SEED = 11
EXAMPLES = 5
GRAPH = {"version": 1, "nodes": [{"type": "manualStarter"}, {"type": "delay", "for": 60}]}
SECONDS = 900
COMMANDS = ["on", "toggle", "moveToLevel", "moveToHue", "stopLiveView", "fly"]


@pytest.fixture(scope="module")
def fuzzed(binary: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    redirect = f"http://127.0.0.1:{free_port()}/done"
    sections = {
        "oauth": {"clients": [{"id": "app", "name": "The App", "redirects": [redirect]}]},
        "devices": {
            "lamp": {"name": "Lamp", "type": "ExtendedColorLight"},
            "party": {"name": "Party box", "types": ["Speaker", "DimmableLight"]},
        },
        "recording": {"trigger": "command", "freeGigabytes": 0},
    }
    folder = tmp_path_factory.mktemp("generated")
    running = Gateway(binary, folder, [DOORBELL, Camera("hall", "builtin:silent")], sections)
    yield running
    assert running.process.is_running, running.process.output()[-4000:]
    assert running.stop() == 0, running.process.output()[-4000:]


def create(gateway: Gateway, path: str, body: dict[str, Any]) -> str:
    """Creates something, and returns its identifier."""
    answer = gateway.client.request("POST", path, json.dumps(body), {"Content-Type": "application/json"})
    assert answer.status == 201, answer.text
    return str(answer.json["id"])


def with_short_graphs(document: dict[str, Any]) -> None:
    """Makes graphs of automations short. Four routes take the same schema, which contains itself, and three quarters of
    all requests were about it. `validate` gets graphs with every member, one level deep. The other routes get a graph
    that is valid, and one that is not."""
    schemas = document["components"]["schemas"]
    value = {"type": "object", "properties": {"constant": {}, "reference": {"type": "string"}}, "minProperties": 1}
    kind = schemas["AutomationNode"]["properties"]["type"]
    nodes = {"type": "array", "items": {"type": "object", "required": ["type"], "properties": {"type": kind}}}
    inside = {"AutomationExpression": value, "AutomationNodes": nodes}

    def flat(schema: Any) -> Any:
        """The schema without what leads to expressions and nodes again."""
        if isinstance(schema, dict):
            name = str(schema.get("$ref", "")).rpartition("/")[2]
            return inside.get(name) or {key: flat(part) for key, part in schema.items()}
        return [flat(part) for part in schema] if isinstance(schema, list) else schema

    for name in ("AutomationOperands", "AutomationBranch"):
        schemas[name] = flat(schemas[name])
    members = schemas["AutomationNode"]["properties"]
    for name in ("nodes", "elseThen"):
        members[name] = flat(members[name])
    expression = schemas["AutomationExpression"]["properties"]
    for name in ("item", "of"):
        expression[name] = value

    draft = json.loads(json.dumps(schemas["AutomationDraft"]))
    draft["properties"]["automationGraph"] = {"enum": [GRAPH, {"version": 1, "nodes": [{"type": "delay"}]}]}
    body = {"required": True, "content": {"application/json": {"schema": draft}}}
    reference = {"$ref": "#/components/requestBodies/AutomationDraft"}
    for path, item in document["paths"].items():
        operations = [] if path.endswith("/validate") else [one for one in item.values() if isinstance(one, dict)]
        for operation in operations:
            if operation.get("requestBody") == reference:
                operation["requestBody"] = body


def with_real_names(gateway: Gateway) -> dict[str, Any]:
    """The document, with the names of things that exist in place of any text: otherwise most answers are a 404."""
    document = dict(gateway.client.get("/v1/openapi.json"))
    structure = gateway.client.get("/v1/structures")["structures"][0]["id"]
    room = create(gateway, f"/v1/structures/{structure}/rooms", {"name": "Hall"})
    automations = f"/v1/structures/{structure}/automations"
    automation = create(gateway, automations, {"name": "One", "automationGraph": GRAPH})
    devices = ["front-door", "hall", "lamp", "party", "nobody"]
    parameters = document["components"]["parameters"]
    parameters["device"]["schema"] = {"enum": devices}
    parameters["structure"]["schema"] = {"enum": [structure, "nowhere"]}
    parameters["room"]["schema"] = {"enum": [room, "nowhere"]}
    parameters["automation"]["schema"] = {"enum": [automation, "nothing"]}
    # Another one is deleted, so that the rest of the requests still find theirs.
    other = create(gateway, automations, {"name": "Other", "automationGraph": GRAPH})
    document["paths"]["/v1/automations/{automation}"]["delete"].setdefault("parameters", []).append(
        {"name": "automation", "in": "path", "required": True, "schema": {"enum": [other, "nothing"]}}
    )
    with_short_graphs(document)
    parameters["trait"]["schema"] = {"enum": ["OnOff", "LevelControl", "ColorControl", "WebRtcLiveView", "Unknown"]}
    for path in SLOW:
        del document["paths"][path]
    commands = {"enum": COMMANDS}
    path = document["paths"]["/v1/devices/{device}/traits/{trait}/commands/{command}"]
    # Of the parameters of all commands, those of these.
    parameters_of_commands = path["post"]["requestBody"]["content"]["application/json"]["schema"]
    parameters_of_commands["anyOf"] = [
        one for one in parameters_of_commands["anyOf"] if re.split(r"[/.]", one["$ref"])[-1] in COMMANDS
    ]
    assert parameters_of_commands["anyOf"]
    for parameter in [*path.get("parameters", []), *path["post"].get("parameters", [])]:
        if parameter.get("name") == "command":
            parameter["schema"] = commands
    # Offers and candidates are not JSON; other tests send these.
    for path in ("/whep/{device}", "/whip/{device}"):
        del document["paths"][path]["post"]
        del document["paths"][f"{path}/{{session}}"]["patch"]
    return document


def test_no_generated_request_breaks_the_gateway_or_the_document(fuzzed: Gateway, tmp_path: Path) -> None:
    document = tmp_path / "openapi.json"
    document.write_text(json.dumps(with_real_names(fuzzed)))
    # What is not implemented, and a camera that is not connected, are refusals like any other. 500 never is. How long a
    # busy machine takes to generate requests says nothing about the gateway.
    (tmp_path / "schemathesis.toml").write_text(
        'suppress-health-check = ["too_slow"]\n'
        'checks.not_a_server_error.expected-statuses = ["2xx", "3xx", "4xx", "501", "503"]\n'
    )
    # One worker: of two, one may walk through `sys.modules` in Hypothesis while the other one imports, and fail.
    result = subprocess.run(
        [Path(sys.executable).with_name("st"), "run", str(document), "--continue-on-failure",
         "--url", f"http://127.0.0.1:{fuzzed.port}", "--header", f"Authorization: Bearer {fuzzed.client.token}",
         "--workers", "1", "--phases", "coverage,fuzzing", "--mode", "all", "--max-examples", str(EXAMPLES),
         "--seed", str(SEED), "--generation-deterministic", "--request-timeout", "60", "--no-color",
         "--checks", "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"],
        capture_output=True, text=True, timeout=SECONDS, check=False, cwd=tmp_path,
    )  # fmt: skip
    assert result.returncode == 0, result.stdout[-20_000:] + result.stderr[-4_000:]
