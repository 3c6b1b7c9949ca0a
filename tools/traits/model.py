"""The vocabulary as the data files declare it, checked."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field, replace
from dataclasses import fields as fields_of
from pathlib import Path
from typing import Any

from . import cloud

INTEGERS = {
    "uint8": (0, 2**8 - 1),
    "uint16": (0, 2**16 - 1),
    "uint32": (0, 2**32 - 1),
    "uint64": (0, 2**64 - 1),
    "int8": (-(2**7), 2**7 - 1),
    "int16": (-(2**15), 2**15 - 1),
    "int32": (-(2**31), 2**31 - 1),
    "int64": (-(2**63), 2**63 - 1),
}
# The project's namespaces, with the vendor numbers of their identifiers. A vendor's traits have others.
NAMESPACES = {"Matter": "0000", "Google": "6006"}
# Octets are base64 in JSON; their lengths count the bytes behind it.
SCALARS = {*INTEGERS, "bool", "string", "double", "octets"}
MEASURED = {"string", "octets"}


# How important an event can be (Matter core specification, section 7.14.1.2).
IMPORTANCES = ("debug", "info", "critical")

MISSING = object()


class VocabularyError(Exception):
    """A data file that cannot be used: which one, where, and what to change."""


@dataclass
class Value:
    """One value of an enum or one bit of a bitmap."""

    name: str
    number: int
    summary: str = ""


@dataclass
class Choice:
    """An enum or a bitmap."""

    name: str
    summary: str
    values: list[Value]
    # The name of its schema in the OpenAPI document; without one the document repeats the values.
    schema: str | None = None
    # The value that names and numbers unknown to a reader are read as; without one the enum gets `unrecognized_`.
    fallback: str | None = None


@dataclass
class Field:
    """An attribute, a parameter, or a member of a struct or an event."""

    name: str
    id: int
    type: str
    summary: str
    # May be absent.
    optional: bool = False
    # May be null.
    nullable: bool = False
    # A struct of which any member may be left out, at every depth.
    partial: bool = False
    readOnly: bool = False
    # The name under which a device reports an attribute of its own, such as the position of a switch.
    reportedAs: str | None = None
    minimum: int | None = None
    maximum: int | None = None
    minLength: int | None = None
    maxLength: int | None = None
    # What to do about a value that breaks a constraint.
    hint: str = ""
    # The value of a parameter that a caller leaves out; `null` where the parameter is nullable.
    default: object = MISSING

    @property
    def has_default(self) -> bool:
        return self.default is not MISSING

    @property
    def required(self) -> bool:
        return not self.optional and not self.has_default

    @property
    def item(self) -> str | None:
        """The type of a list's items; None for what is not a list."""
        match = re.fullmatch(r"list<(\w+)>", self.type)
        return match[1] if match else None


@dataclass
class Struct:
    name: str
    summary: str
    fields: list[Field]
    # The name of its schema in the OpenAPI document; without one the document repeats the members.
    schema: str | None = None


@dataclass
class Command:
    name: str
    id: int
    summary: str
    parameters: list[Field] = field(default_factory=list)
    result: list[Field] = field(default_factory=list)


@dataclass
class Event:
    name: str
    id: int
    summary: str
    fields: list[Field] = field(default_factory=list)
    # The name of the fields that the event shares with others; it has none of its own then.
    payload: str | None = None
    # Whether clients can report it for a device.
    reported: bool = False
    # debug, info or critical (Matter core specification, section 7.14.1.2).
    importance: str = "info"


@dataclass
class Trait:
    # The name on the wire. If both namespaces have a trait of one name, Matter's begins with "Matter.".
    name: str
    namespace: str
    identifier: str
    summary: str
    source: str
    # False for a trait that nothing in the gateway feeds. It is declared for the code of apps.
    isFed: bool = True
    # The trait whose members this one has as well. Members of the same name are completed, and others are added.
    like: str | None = None
    # How the trait appears in cloud-to-cloud's messages; cloud.py describes the form.
    cloudToCloud: list[dict] | None = None
    enums: list[Choice] = field(default_factory=list)
    bitmaps: list[Choice] = field(default_factory=list)
    structs: list[Struct] = field(default_factory=list)
    attributes: list[Field] = field(default_factory=list)
    commands: list[Command] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    # What a trait that only names a camera's event detects. Devices do not list such a trait.
    detection: str | None = None

    @property
    def base_name(self) -> str:
        """The name in its namespace."""
        return self.name.rpartition(".")[2]

    @property
    def swift(self) -> str:
        """The Swift type."""
        return f"{self.namespace}.{self.base_name}Trait"

    def choice(self, name: str) -> Choice | None:
        return next((choice for choice in [*self.enums, *self.bitmaps] if choice.name == name), None)

    def struct(self, name: str) -> Struct | None:
        return next((struct for struct in self.structs if struct.name == name), None)

    @property
    def writable(self) -> list[Field]:
        """The attributes that clients may write, all of them optional: the members of an update."""
        return [replace(item, optional=True) for item in self.attributes if not item.readOnly]

    @property
    def partial_structs(self) -> list[Struct]:
        """For each struct that somewhere may be incomplete, and those inside it, the form with optional members."""
        fields = [item for command in self.commands for item in command.parameters if item.partial]
        found: list[Struct] = []
        while fields:
            struct = self.struct(fields.pop(0).type)
            if struct is None or any(known.name == f"Partial{struct.name}" for known in found):
                continue
            # Lists are replaced as a whole.
            members = [
                replace(item, optional=True, partial=self.struct(item.type) is not None) for item in struct.fields
            ]
            found.append(
                Struct(f"Partial{struct.name}", struct.summary, members, struct.schema and f"Partial{struct.schema}")
            )
            fields += [item for item in members if item.partial]
        return found[::-1]


@dataclass
class DeviceType:
    name: str
    identifier: str
    summary: str
    # The names of the traits on the wire.
    requiredTraits: list[str] = field(default_factory=list)
    optionalTraits: list[str] = field(default_factory=list)
    # What a device of this type is as well, nearest first.
    supertypes: list[str] = field(default_factory=list)
    # Whether it is a helper, which nobody would name.
    isUtilityType: bool = False
    # Other names of the Swift type.
    aliases: list[str] = field(default_factory=list)
    # The kind of a configured camera that has this type.
    kind: str | None = None
    # The type in cloud-to-cloud's messages, for example action.devices.types.LIGHT.
    cloudToCloud: str | None = None


@dataclass
class Vocabulary:
    traits: list[Trait]
    enums: list[Choice]
    device_types: list[DeviceType]
    # For a vendor's vocabulary, the project's, which it can refer to.
    base: Vocabulary | None = None

    @property
    def known_traits(self) -> list[Trait]:
        """The traits that can be referred to."""
        return self.traits + (self.base.traits if self.base else [])

    @property
    def known_types(self) -> list[DeviceType]:
        """The device types that can be referred to."""
        return self.device_types + (self.base.device_types if self.base else [])

    @property
    def namespaces(self) -> list[str]:
        """The namespaces of the traits that can be referred to."""
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
        """The enum or bitmap that a field of the trait means by a name."""
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
    """A value that takes the place of a missing one has to be one of the field's."""
    if not item.has_default:
        return
    if item.optional:
        raise VocabularyError(f"{place}: {item.name} is optional, so it cannot have a default")
    if item.nullable != (item.default is None):
        raise VocabularyError(f"{place}: the default of {item.name} is null if and only if the field is nullable")


# What a trait takes from the one that it is like.
INHERITED = ("enums", "bitmaps", "structs", "attributes", "commands", "events")


def inherited(data: dict, files: dict[str, dict], name: str) -> dict:
    """A trait's file with what it has from the file that it is like."""
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
    """Two lists of named things, in the order of their numbers. Things of one name are one."""
    items = {item["name"]: without_schema(item) for item in first}
    for item in second:
        known = items.get(item["name"], {})
        lists = {key: joined(known.get(key, []), value) for key, value in item.items() if isinstance(value, list)}
        items[item["name"]] = known | item | lists
    return sorted(items.values(), key=lambda item: item.get("id", item.get("number", 0)))


def without_schema(item: dict) -> dict:
    """Without the name in the OpenAPI document, which only one thing can have."""
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


def global_attribute(name: str, number: int, kind: str, summary: str) -> Field:
    return Field(name=name, id=number, type=kind, summary=summary, optional=True, readOnly=True)


# Matter core specification, section 7.13. A trait whose file declares one of them has its own form of it.
GLOBAL_ATTRIBUTES = [
    global_attribute(
        "acceptedCommandList",
        0xFFF9,
        "list<uint32>",
        "The numbers of the commands that the device accepts; absent for all of them.",
    ),
    global_attribute(
        "generatedCommandList", 0xFFF8, "list<uint32>", "The numbers of the commands that the device answers with."
    ),
    global_attribute(
        "attributeList", 0xFFFB, "list<uint32>", "The numbers of the attributes that the device supports."
    ),
    global_attribute("featureMap", 0xFFFC, "uint32", "What the device supports, a bit for each feature."),
    global_attribute("clusterRevision", 0xFFFD, "uint16", "The revision of the trait that the device follows."),
]
# The fields of events that share them.
PAYLOADS = {
    "Detection": [
        Field(name="phase", id=0, type="DetectionPhase", summary="Whether it began, ended or is momentary."),
        Field(name="eventSessionId", id=1, type="string", summary="The same from the beginning to the end."),
        Field(
            name="cameraTimestamp",
            id=2,
            type="string",
            optional=True,
            summary="The camera's own time of it (RFC 3339), where it gave one.",
        ),
    ]
}


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
