"""The parts of the OpenAPI document that follow from the vocabulary. They are between markers:

# BEGIN GENERATED name
# END GENERATED name
"""

import json
import re
from dataclasses import replace as replace_field
from typing import Any

from .model import INTEGERS, Choice, Command, Event, Field, Trait, VocabularyError
from .vocabulary import Vocabulary

MARKER = re.compile(r"^( *)# BEGIN GENERATED ([\w-]+)\n.*?^ *# END GENERATED \2\n", re.MULTILINE | re.DOTALL)


def document(text: str, vocabulary: Vocabulary) -> str:
    """The document, with its generated parts replaced by those of the vocabulary."""
    parts = regions(vocabulary)

    def replace(match: re.Match) -> str:
        indent, name = match[1], match[2]
        if name not in parts:
            raise VocabularyError(f"openapi.yaml: the generator does not have a part with the name {name}")
        body = "".join(f"{indent}{line}\n" for line in parts[name])
        return f"{indent}# BEGIN GENERATED {name}\n{body}{indent}# END GENERATED {name}\n"

    missing = set(parts) - {match[2] for match in MARKER.finditer(text)}
    if missing:
        raise VocabularyError(f"openapi.yaml: it does not have a marker for {', '.join(sorted(missing))}")
    return MARKER.sub(replace, text)


def regions(vocabulary: Vocabulary) -> dict[str, list[str]]:
    traits = vocabulary.device_traits
    commands = [(trait, command) for trait in traits for command in trait.commands]
    schemas = [command_schema(trait, command, vocabulary) for trait, command in commands]
    results = [f"{name}Result" for name, (_, command) in zip(schemas, commands, strict=True) if command.result]
    events = [event for trait in vocabulary.traits for event in trait.events]
    members = event_members(vocabulary)
    reported = {field.name: field for event in events if event.reported for field in event.fields}
    detections = [trait.detection for trait in vocabulary.detections if trait.detection]
    return {
        "trait-names": [f"- {trait.name}" for trait in traits],
        "trait-schemas": [f"- {reference(trait.name)}" for trait in traits],
        "command-names": [f"- {name}" for name in dict.fromkeys(command.name for _, command in commands)],
        "command-parameters": [f"- {reference(name)}" for name in schemas],
        "command-results": [f"- {reference(name)}" for name in [*results, "Empty"]],
        "device-types": [f"- {kind.name}" for kind in vocabulary.device_types],
        "device-traits": [f"{trait.name}: {reference(trait.name)}" for trait in traits],
        "event-names": [f"- {name}" for name in dict.fromkeys(event.name for event in events)],
        "event-fields": [f"{name}: {flow(member)}" for name, member in members.items()],
        "reported-event-fields": [f"{name}: {flow(schema(field, None))}" for name, field in reported.items()],
        "reported-events": [f"- {name}" for name in vocabulary.reported_events],
        "schemas": [
            *choices(vocabulary.enums),
            *(["DetectionKind:", *nested(enum_lines(detections))] if detections else []),
            *[line for trait in traits for line in trait_schemas(trait, vocabulary)],
        ],
    }


def command_schema(trait: Trait, command: Command, vocabulary: Vocabulary) -> str:
    """The name of a command's schema: that of the command, after the trait's if several traits have such a command."""
    count = sum(other.name == command.name for others in vocabulary.traits for other in others.commands)
    return command.name if count == 1 else f"{trait.name}.{command.name}"


def event_schema(trait: Trait, event: Event, vocabulary: Vocabulary) -> str:
    names = [other.name for others in vocabulary.traits for other in others.events]
    return event.name if names.count(event.name) == 1 else f"{trait.name}.{event.name}"


def event_members(vocabulary: Vocabulary) -> dict[str, dict]:
    """The fields of all events. A field that differs between events can be anything here."""
    members: dict[str, dict] = {}
    for trait in vocabulary.traits:
        for event in trait.events:
            for field in event.fields:
                found = schema(field, trait)
                known = members.setdefault(field.name, found)
                if known != found:
                    members[field.name] = {"description": "The form depends on the event."}
    return members


def trait_schemas(trait: Trait, vocabulary: Vocabulary) -> list[str]:
    lines = choices([*trait.enums, *trait.bitmaps])
    for struct in [*trait.structs, *trait.partial_structs]:
        if struct.schema:
            lines += record(struct.schema, struct.fields, trait, struct.summary)
    if trait.writable:
        lines += record(
            f"{trait.name}Update", trait.writable, trait, "Attributes that are absent keep their values.", is_open=True
        )
    # A device lists the attributes that it supports.
    attributes = [replace_field(field, optional=True) for field in trait.attributes]
    lines += record(trait.name, attributes, trait, trait.summary)
    for command in trait.commands:
        name = command_schema(trait, command, vocabulary)
        # Clients of another version may send more than this gateway knows.
        lines += record(name, command.parameters, trait, command.summary, is_open=True)
        if command.result:
            lines += record(f"{name}Result", command.result, trait)
    for event in trait.events:
        if not event.payload:
            common = ["deviceID: {type: string}", "timestamp: {type: string, format: date-time}"]
            name = event_schema(trait, event, vocabulary)
            lines += record(name, event.fields, trait, event.summary, common=common)
    return lines


def choices(list_of: list[Choice]) -> list[str]:
    lines = []
    for choice in list_of:
        if choice.schema:
            lines += [f"{choice.schema}:", *nested(enum_lines([value.name for value in choice.values]))]
    return lines


def enum_lines(names: list[str]) -> list[str]:
    return ["type: string", "enum:", *[f"  - {name}" for name in names]]


def record(
    name: str,
    fields: list[Field],
    trait: Trait,
    summary: str = "",
    is_open: bool = False,
    common: list[str] | None = None,
) -> list[str]:
    common = common or []
    required = [line.partition(":")[0] for line in common] + [field.name for field in fields if field.required]
    lines = ["type: object"]
    if summary:
        lines += [f"description: {json.dumps(summary)}"]
    if required:
        lines += [f"required: [{', '.join(required)}]"]
    if not is_open:
        lines += ["additionalProperties: false"]
    properties = common + [f"{field.name}: {flow(schema(field, trait))}" for field in fields]
    if properties:
        lines += ["properties:", *nested(properties)]
    return [f"{name}:", *nested(lines)]


def schema(field: Field, trait: Trait | None) -> dict[str, Any]:
    """A field's schema as an object."""
    result: dict[str, Any]
    if field.item:
        result = {"type": "array", "items": type_schema(field.item, trait)}
        lengths = ("minItems", "maxItems")
    else:
        result = type_schema(f"Partial{field.type}" if field.partial else field.type, trait)
        lengths = ("minLength", "maxLength")
    if field.type in INTEGERS and (field.type.startswith("u") or field.minimum is not None):
        lowest, highest = INTEGERS[field.type]
        result["minimum"] = field.minimum if field.minimum is not None else lowest
        highest = field.maximum if field.maximum is not None else highest
        if highest < 2**53:
            result["maximum"] = highest
    for key, value in zip(lengths, (field.minLength, field.maxLength), strict=True):
        if value is not None:
            # Of octets, the schema measures the base64.
            result[key] = (value + 2) // 3 * 4 if field.type == "octets" else value
    if field.has_default and "$ref" not in result:
        result["default"] = field.default
    if field.nullable and "type" in result:
        result["type"] = [result["type"], "null"]
        if "enum" in result:
            result["enum"] = [*result["enum"], None]
    elif field.nullable:
        return {"anyOf": [result, {"type": "null"}], "description": field.summary}
    if "$ref" not in result:
        result["description"] = field.summary
    return result


def type_schema(name: str, trait: Trait | None) -> dict[str, Any]:
    if name in INTEGERS:
        return {"type": "integer"}
    if name == "octets":
        return {"type": "string", "contentEncoding": "base64"}
    if name in {"bool", "string", "double"}:
        return {"type": {"bool": "boolean", "string": "string", "double": "number"}[name]}
    choice = trait.choice(name) if trait else None
    if trait and choice and choice in trait.bitmaps:
        return {"type": "integer", "minimum": 0, "maximum": sum(1 << value.number for value in choice.values)}
    if choice and not choice.schema:
        return {"type": "string", "enum": [value.name for value in choice.values]}
    for struct in [*trait.structs, *trait.partial_structs] if trait else []:
        if struct.name == name and not struct.schema:
            return {
                "type": "object",
                "required": [field.name for field in struct.fields if field.required],
                "additionalProperties": False,
                "properties": {field.name: schema(field, trait) for field in struct.fields},
            }
    declared = (
        choice or next((struct for struct in [*trait.structs, *trait.partial_structs] if struct.name == name), None)
        if trait
        else None
    )
    return {"$ref": f"#/components/schemas/{declared.schema if declared else name}"}


def reference(name: str) -> str:
    return flow({"$ref": f"#/components/schemas/{name}"})


def flow(value: object) -> str:
    """JSON is YAML's flow style."""
    return json.dumps(value, ensure_ascii=False)


def nested(lines: list[str]) -> list[str]:
    return [f"  {line}" for line in lines]
