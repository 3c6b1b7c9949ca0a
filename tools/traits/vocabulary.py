"""The vocabulary as the data files declare it, checked."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from dataclasses import fields as fields_of
from pathlib import Path
from typing import Any

from . import cloud
from .model import (
    GLOBAL_ATTRIBUTES,
    IMPORTANCES,
    INTEGERS,
    MEASURED,
    NAMESPACES,
    PAYLOADS,
    SCALARS,
    Choice,
    Command,
    DeviceType,
    Event,
    Field,
    Struct,
    Trait,
    Value,
    VocabularyError,
)


@dataclass
class Vocabulary:
    traits: list[Trait]
    enums: list[Choice]
    device_types: list[DeviceType]
    # For a vendor's vocabulary, the project's, which it can refer to.
    base: Vocabulary | None = None

    @property
    def known_traits(self) -> list[Trait]:
        """The traits that a file can refer to."""
        return self.traits + (self.base.traits if self.base else [])

    @property
    def known_types(self) -> list[DeviceType]:
        """The device types that a file can refer to."""
        return self.device_types + (self.base.device_types if self.base else [])

    @property
    def namespaces(self) -> list[str]:
        """The namespaces of the traits that a file can refer to."""
        return list(dict.fromkeys([*NAMESPACES, *sorted(trait.namespace for trait in self.traits)]))

    @property
    def device_traits(self) -> list[Trait]:
        """The traits that devices list."""
        return [trait for trait in self.traits if trait.detection is None]

    @property
    def detections(self) -> list[Trait]:
        return [trait for trait in self.traits if trait.detection is not None]

    @property
    def reported_events(self) -> list[str]:
        """The names under which events, and the attributes that a device sets itself, can be reported."""
        events = [event.name for trait in self.traits for event in trait.events if event.reported]
        states = [item.reportedAs for trait in self.traits for item in trait.attributes if item.reportedAs]
        return [name[0].lower() + name[1:] for name in events] + states

    def trait(self, name: str) -> Trait:
        return next(trait for trait in self.known_traits if trait.name == name)

    def choice_of(self, trait: Trait, name: str) -> Choice | None:
        """The enum or bitmap that a name in a field of the trait refers to."""
        shared = self.enums + (self.base.enums if self.base else [])
        return trait.choice(name) or next((choice for choice in shared if choice.name == name), None)

    @property
    def kinds(self) -> list[DeviceType]:
        """The types that a configured camera can have."""
        return [kind for kind in self.device_types if kind.kind]

    @classmethod
    def load(cls, folder: Path, base: Vocabulary | None = None) -> Vocabulary:
        """Reads a folder with Traits and Types. A vendor's refers to the project's vocabulary, its `base`."""
        files = {path.stem: read(path) for path in sorted((folder / "Traits").glob("*.json"))}
        traits = [build(Trait, inherited(data, files, name), f"{name}.json") for name, data in files.items()]
        traits.sort(key=lambda trait: trait.identifier)
        for trait in traits:
            complete(trait, traits)
            check_namespace(trait, is_vendor=base is not None)
        enums, device_types = [], []
        for path in sorted((folder / "Types").glob("*.json")):
            data = read(path)
            enums += [build(Choice, item, path.name) for item in data.pop("enums", [])]
            device_types += [build(DeviceType, item, path.name) for item in data.pop("deviceTypes", [])]
            if data:
                raise VocabularyError(f"{path.name}: {', '.join(data)} is not known; enums and deviceTypes are")
        vocabulary = cls(traits, enums, device_types, base)
        vocabulary.check()
        return vocabulary

    def check(self) -> None:
        unique([trait.name for trait in self.known_traits], "a trait's name")
        unique([trait.identifier for trait in self.known_traits], "a trait's identifier")
        names = {trait.name for trait in self.known_traits}
        types = {kind.name for kind in self.known_types}
        unique([kind.name for kind in self.known_types], "a device type's name")
        unique([kind.identifier for kind in self.known_types], "a device type's identifier")
        for kind in self.device_types:
            for missing in {*kind.requiredTraits, *kind.optionalTraits} - names:
                raise VocabularyError(f"{kind.name}: the trait {missing} has no file")
            for missing in set(kind.supertypes) - types:
                raise VocabularyError(f"{kind.name}: the supertype {missing} is not declared")
            unique([*kind.requiredTraits, *kind.optionalTraits], f"a trait of {kind.name}")
        for trait in self.traits:
            self.check_trait(trait)

    def check_trait(self, trait: Trait) -> None:
        if not re.fullmatch(r"home\.matter\.[0-9a-f]{4}\.clusters\.[0-9a-f]{4}", trait.identifier):
            raise VocabularyError(f"{trait.name}: {trait.identifier} is not home.matter.<vendor>.clusters.<cluster>")
        for event in trait.events:
            if event.importance not in IMPORTANCES:
                known = ", ".join(IMPORTANCES)
                raise VocabularyError(
                    f"{trait.name}, {event.name}: the importance {event.importance} is not known; {known} are"
                )
            if event.payload and event.payload not in PAYLOADS:
                raise VocabularyError(f"{trait.name}, {event.name}: the payload {event.payload} is not known")
        shared = self.enums + (self.base.enums if self.base else [])
        types = SCALARS | {choice.name for choice in [*trait.enums, *trait.bitmaps, *shared]}
        types |= {struct.name for struct in trait.structs}
        groups = [("attributes", trait.attributes)]
        groups += [(struct.name, struct.fields) for struct in trait.structs]
        groups += [(command.name, command.parameters) for command in trait.commands]
        groups += [(f"{command.name}'s result", command.result) for command in trait.commands]
        groups += [(event.name, event.fields) for event in trait.events]
        for group, fields in groups:
            place = f"{trait.name}, {group}"
            unique([item.name for item in fields], f"a name in {place}")
            unique([item.id for item in fields], f"an id in {place}")
            for item in fields:
                check_field(item, types, place)
                check_default(item, place)
        for struct in trait.structs:
            check_end(struct, f"{trait.name}, {struct.name}")
        unique([command.name for command in trait.commands], f"a command of {trait.name}")
        unique([event.name for event in trait.events], f"an event of {trait.name}")
        for choice in [*trait.enums, *trait.bitmaps]:
            unique([value.number for value in choice.values], f"a number of {trait.name}.{choice.name}")
        try:
            cloud.mappings(trait, self)
        except cloud.MappingError as error:
            raise VocabularyError(str(error)) from error


def check_field(item: Field, types: set[str], place: str) -> None:
    if (item.item or item.type) not in types:
        raise VocabularyError(f"{place}: {item.name} has the type {item.type}, which is not declared")
    if (item.minimum is not None or item.maximum is not None) and item.type not in INTEGERS:
        raise VocabularyError(f"{place}: {item.name} has a range, but {item.type} is not a whole number")
    if (item.minLength is not None or item.maxLength is not None) and item.type not in MEASURED and not item.item:
        raise VocabularyError(f"{place}: {item.name} has a length, but {item.type} is neither a string nor a list")
    if item.partial and (item.item or item.type in SCALARS):
        raise VocabularyError(f"{place}: {item.name} is partial, but {item.type} is not a struct")
    if item.type in INTEGERS:
        lowest, highest = INTEGERS[item.type]
        if not lowest <= (item.minimum or 0) <= (item.maximum if item.maximum is not None else highest) <= highest:
            raise VocabularyError(f"{place}: the range of {item.name} does not fit into {item.type}")


def check_end(struct: Struct, place: str) -> None:
    """The field that ends a range has a maximum, and the fields after it are numbers of its type."""
    if struct.end is None:
        return
    field = struct.end_field
    if field is None or field.maximum is None:
        raise VocabularyError(f"{place}: the end {struct.end} is not a field with a maximum")
    for other in struct.fields_after_end:
        if other.type != field.type:
            raise VocabularyError(f"{place}: {other.name} comes after the end {field.name} and is not of its type")


def check_namespace(trait: Trait, is_vendor: bool) -> None:
    """A vendor has a namespace and a number of its own, so its traits never collide with the project's."""
    if not re.fullmatch(r"[A-Z][A-Za-z0-9]*", trait.namespace):
        raise VocabularyError(f"{trait.name}: the namespace {trait.namespace} cannot be the name of a Swift type")
    if trait.namespace in NAMESPACES and is_vendor:
        raise VocabularyError(f"{trait.name}: the namespace {trait.namespace} is the project's; choose one of your own")
    if trait.namespace not in NAMESPACES and not is_vendor:
        known = " and ".join(NAMESPACES)
        raise VocabularyError(f"{trait.name}: the namespace {trait.namespace} is not known; {known} are")
    parts = trait.identifier.split(".")
    if is_vendor and len(parts) > 2 and parts[2] in NAMESPACES.values():
        raise VocabularyError(f"{trait.name}: the vendor number {parts[2]} is the project's; use your own")


def check_default(item: Field, place: str) -> None:
    """A default must be a value that the field can have."""
    if not item.has_default:
        return
    if item.optional:
        raise VocabularyError(f"{place}: {item.name} is optional, so it cannot have a default")
    if item.nullable != (item.default is None):
        raise VocabularyError(f"{place}: the default of {item.name} is null if and only if the field is nullable")


# What a trait has in common with the one that it is like.
INHERITED = ("enums", "bitmaps", "structs", "attributes", "commands", "events")


def inherited(data: dict, files: dict[str, dict], name: str) -> dict:
    """A trait's file, completed from the file that it is like."""
    if "like" not in data:
        return data
    other = files.get(data["like"])
    if other is None:
        raise VocabularyError(f"{name}.json: the trait {data['like']} that it is like has no file")
    if "like" in other:
        raise VocabularyError(f"{name}.json: {data['like']} is like another trait itself; name that one")
    lists = {key: joined(other.get(key, []), data.get(key, [])) for key in INHERITED if key in other or key in data}
    return data | lists


def joined(first: list[dict], second: list[dict]) -> list[dict]:
    """Two lists of named items, joined in the order of their numbers. Items with the same name become one."""
    items = {item["name"]: without_schema(item) for item in first}
    for item in second:
        known = items.get(item["name"], {})
        lists = {key: joined(known.get(key, []), value) for key, value in item.items() if isinstance(value, list)}
        items[item["name"]] = known | item | lists
    return sorted(items.values(), key=lambda item: item.get("id", item.get("number", 0)))


def without_schema(item: dict) -> dict:
    """The item without its name in the OpenAPI document, because only one schema can have that name."""
    return {key: value for key, value in item.items() if key != "schema"}


def complete(trait: Trait, traits: list[Trait]) -> None:
    """Gives a trait its name on the wire, and the attributes that every trait has."""
    others = [other for other in traits if other is not trait and other.base_name == trait.base_name]
    is_ambiguous = trait.namespace == "Matter" and any(other.namespace != "Matter" for other in others)
    if is_ambiguous or trait.namespace not in NAMESPACES:
        trait.name = f"{trait.namespace}.{trait.base_name}"
    # A trait that only names an event has no attributes.
    own = {item.name for item in trait.attributes}
    if trait.detection is None:
        trait.attributes += [replace(item) for item in GLOBAL_ATTRIBUTES if item.name not in own]


def unique(values: list, what: str) -> None:
    for value in values:
        if values.count(value) > 1:
            raise VocabularyError(f"{what} occurs twice: {value}")


def read(path: Path) -> dict:
    try:
        return json.loads(path.read_text())
    except ValueError as error:
        raise VocabularyError(f"{path.name}: {error}") from error


NESTED: dict[type, dict[str, type]] = {
    Choice: {"values": Value},
    Struct: {"fields": Field},
    Command: {"parameters": Field, "result": Field},
    Event: {"fields": Field},
    Trait: {
        "enums": Choice,
        "bitmaps": Choice,
        "structs": Struct,
        "attributes": Field,
        "commands": Command,
        "events": Event,
    },
}


def build(kind: type, data: dict[str, Any], place: str) -> Any:
    """A value of the dataclass `kind` from a file's object."""
    place = f"{place}, {data['name']}" if "name" in data else place
    arguments: dict[str, Any] = {}
    known = [one.name for one in fields_of(kind)]
    for key, value in data.items():
        if key not in known:
            raise VocabularyError(f"{place}: {key} is not known; known are {', '.join(known)}")
        inner = NESTED.get(kind, {}).get(key)
        arguments[key] = [build(inner, item, place) for item in value] if inner else value
    try:
        return kind(**arguments)
    except TypeError as error:
        raise VocabularyError(f"{place}: {str(error).partition(') ')[2] or error}") from error
