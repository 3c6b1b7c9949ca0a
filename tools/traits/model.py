"""What a vocabulary consists of: traits, device types, and their parts."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

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
# Octets are base64 in JSON; their lengths count the decoded bytes.
SCALARS = {*INTEGERS, "bool", "string", "double", "octets"}
MEASURED = {"string", "octets"}


# How important an event can be (Matter core specification, section 7.14.1.2).
IMPORTANCES = ("debug", "info", "critical")

MISSING = object()


class VocabularyError(Exception):
    """A data file that cannot be used. The message says which file, where, and what to change."""


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
    # The value that unknown names and numbers are read as; without one, the enum gets `unrecognized_`.
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
    # A struct whose members may all be left out, at every depth.
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
    # The field whose maximum ends the range: the fields after it are then 0 or absent. 24:00 ends a day, and 24:30 is
    # not a time.
    end: str | None = None

    @property
    def end_field(self) -> Field | None:
        return next((item for item in self.fields if item.name == self.end), None)

    @property
    def fields_after_end(self) -> list[Field]:
        names = [item.name for item in self.fields]
        return self.fields[names.index(self.end) + 1 :] if self.end in names else []


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
    # The name of the fields that the event shares with others. The event then has none of its own.
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
    # False for a trait that the gateway does not provide. It is declared for the code of apps.
    isFed: bool = True
    # The trait whose members this one also has. Members of the same name are completed, and others are added.
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
        """The forms with optional members of the structs that may be incomplete somewhere, and of those inside them."""
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
    # What a device of this type also is, nearest first.
    supertypes: list[str] = field(default_factory=list)
    # Whether it is a helper part of a device, which people do not name.
    isUtilityType: bool = False
    # Other names of the Swift type.
    aliases: list[str] = field(default_factory=list)
    # The kind of a configured camera that has this type.
    kind: str | None = None
    # The type in cloud-to-cloud's messages, for example action.devices.types.LIGHT.
    cloudToCloud: str | None = None


def global_attribute(name: str, number: int, kind: str, summary: str) -> Field:
    return Field(name=name, id=number, type=kind, summary=summary, optional=True, readOnly=True)


# Matter core specification, section 7.13. A trait whose file declares one of them has that form of it instead.
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
    global_attribute("featureMap", 0xFFFC, "uint32", "What the device supports, with a bit for each feature."),
    global_attribute("clusterRevision", 0xFFFD, "uint16", "The revision of the trait that the device follows."),
]
# The fields of events that share them.
PAYLOADS = {
    "Detection": [
        Field(name="phase", id=0, type="DetectionPhase", summary="Whether the detection began, ended or is momentary."),
        Field(name="eventSessionId", id=1, type="string", summary="The same from the start of a detection to its end."),
        Field(
            name="cameraTimestamp",
            id=2,
            type="string",
            optional=True,
            summary="The camera's own time of the detection (RFC 3339), if the camera gave one.",
        ),
    ]
}
