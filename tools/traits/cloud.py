"""The key `cloudToCloud` of the data files says how traits and types appear in cloud-to-cloud messages.

A device type names its counterpart: `"cloudToCloud": "action.devices.types.LIGHT"`. A trait has a list of mappings,
because one trait here may correspond to several there, and the device type may matter. All mappings that apply to an
endpoint are used. If several name the same cloud trait, their attributes, states and commands are joined, and lists
that occur in several (`sensorStatesSupported`) are concatenated.

    {
      "trait": "action.devices.traits.Brightness",      the cloud trait, as SYNC lists it
      "types": ["DimmableLightDeviceType"],             applies only to these types; without it, to all
      "exceptTypes": ["SpeakerDeviceType"],             does not apply to these types
      "unlessTrait": "OnOff",                           does not apply if the endpoint has this trait
      "attributes": {"commandOnlyBrightness": false},   fixed attributes of SYNC
      "computed": [OUTPUT],                             attributes of SYNC that follow from the trait's state
      "states": [OUTPUT],                               states of QUERY and of report state
      "commands": [COMMAND]                             what EXECUTE does
    }

An OUTPUT writes one member of a message. It is left out if its source is not supported or null, if the conversion does
not have a value for it, or if one of its conditions does not hold.

    {
      "name": "color.temperatureK",                     where to write; dots lead into objects
      "from": "colorTemperatureMireds",                 the attribute; "LevelControl.currentLevel" for that of another
                                                        trait of the endpoint
      "value": true,                                    a constant, instead of "from"
      "convert": CONVERSION,
      "otherwise": VALUE,                               written instead of leaving it out, if the conditions hold
      "when": [CONDITION],
      "item": {"name": "PM2.5"}, "member": "rawValue"   the place is a list: the value becomes a member of the item that
                                                        has these other members
    }

A COMMAND says what one command of EXECUTE does. The first one whose conditions hold is used, so a command without
conditions comes last among those of its name.

    {
      "name": "action.devices.commands.BrightnessAbsolute",
      "when": [CONDITION],
      "steps": [STEP],                                  one after another
      "handler": "cameraStream"                         instead of steps: the code of that name
    }

A STEP sends a command of the trait, or of another trait of the endpoint ("LevelControl.moveToLevelWithOnOff"); it is
left out if the endpoint does not have that trait. Or it writes attributes.

    {"send": "moveToLevelWithOnOff", "parameters": {"level": INPUT}}
    {"write": {"occupiedHeatingSetpoint": INPUT}}

An INPUT is a value for a parameter or an attribute.

    {
      "from": "brightness",                             the cloud command's parameter; "challenge.pin" is the PIN
      "value": 0,                                       a constant, instead of "from"
      "convert": CONVERSION,                            used backwards: from the cloud's value to ours
      "addTo": "currentLevel",                          the value is a difference: convert it as such, and add this
                                                        attribute. The sum is kept in the range of the conversion.
      "optional": true                                  leave the parameter out if the cloud does not send it
    }

A CONDITION compares an attribute of ours, or a parameter of the cloud's command. All conditions in a list must hold.

    {"attribute": "systemMode", "is": ["heat"]}         it is one of these values
    {"parameter": "fanSpeed", "exists": true}           it is present; an attribute that is null is not
    {"parameter": "relativePositionMs", "atLeast": 0}

A CONVERSION has one of these forms. Our values are those of the JSON: a name for an enum, a number for a bitmap.
Our value is rounded if its type is a whole number.

    {"factor": 0.01, "decimals": 2}                     cloud = ours × factor, rounded to "decimals", or to as
                                                        many as the factor has
    {"scale": [0, 254, 0, 100], "decimals": 0}          ours from 0 to 254 is the cloud's from 0 to 100, in proportion.
                                                        Both are kept in range. Without "decimals" the cloud's is whole.
    {"reciprocal": 1000000}                             cloud = 1000000 / ours, whole in both directions
    {"names": [["locked", true]], "otherwise": false}   pairs of ours and the cloud's. Backwards, the first pair with
                                                        the value counts; a value without a pair is out of range
    {"text": "utf8"}                                    the cloud's text as octets, in base64
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

MISSING = object()


class MappingError(Exception):
    """A mapping that cannot be used, and why."""


@dataclass
class Conversion:
    factor: float | None = None
    scale: list[float] | None = None
    reciprocal: float | None = None
    names: list[list] | None = None
    text: str | None = None
    decimals: int | None = None
    otherwise: object = MISSING

    def check(self, place: str) -> None:
        kinds = [self.factor, self.scale, self.reciprocal, self.names, self.text]
        require(sum(kind is not None for kind in kinds) == 1, place, "a conversion has exactly one form")
        require(self.factor != 0 and self.reciprocal != 0, place, "a factor of 0 cannot be reversed")
        if self.scale is not None:
            low, high, cloud_low, cloud_high = self.scale if len(self.scale) == 4 else (0, 0, 0, 0)
            require(low < high and cloud_low != cloud_high, place, "a scale has two ranges: [0, 254, 0, 100]")
        require(all(len(pair) == 2 for pair in self.names or []), place, "names are pairs")
        require(self.text in (None, "utf8"), place, "text is utf8")
        require(self.otherwise is MISSING or self.names is not None, place, "only names can have an otherwise")


@dataclass
class Condition:
    attribute: str | None = None
    parameter: str | None = None
    values: list | None = None
    exists: bool | None = None
    atLeast: float | None = None

    def check(self, place: str) -> None:
        subjects = [self.attribute, self.parameter]
        tests = [self.values, self.exists, self.atLeast]
        require(
            sum(item is not None for item in subjects) == 1,
            place,
            "a condition needs either an attribute or a parameter",
        )
        require(sum(item is not None for item in tests) == 1, place, "a condition needs one of is, exists and atLeast")


@dataclass
class Output:
    name: str
    source: str | None = None
    value: object = MISSING
    convert: Conversion | None = None
    otherwise: object = MISSING
    when: list[Condition] = field(default_factory=list)
    item: dict | None = None
    member: str | None = None


@dataclass
class Input:
    source: str | None = None
    value: object = MISSING
    convert: Conversion | None = None
    addTo: str | None = None
    optional: bool = False


@dataclass
class Step:
    send: str | None = None
    parameters: dict[str, Input] = field(default_factory=dict)
    write: dict[str, Input] | None = None


@dataclass
class CloudCommand:
    name: str
    when: list[Condition] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    handler: str | None = None


@dataclass
class Mapping:
    trait: str
    types: list[str] = field(default_factory=list)
    exceptTypes: list[str] = field(default_factory=list)
    unlessTrait: str | None = None
    attributes: dict = field(default_factory=dict)
    computed: list[Output] = field(default_factory=list)
    states: list[Output] = field(default_factory=list)
    commands: list[CloudCommand] = field(default_factory=list)


# The members whose names are words of Python, and those that hold further values.
RENAMED = {Output: {"from": "source"}, Input: {"from": "source"}, Condition: {"is": "values"}}
NESTED: dict[type, dict[str, type]] = {
    Mapping: {"computed": Output, "states": Output, "commands": CloudCommand},
    Output: {"convert": Conversion, "when": Condition},
    CloudCommand: {"when": Condition, "steps": Step},
    Step: {"parameters": Input, "write": Input},
    Input: {"convert": Conversion},
}
# The commands that code carries out.
HANDLERS = {"cameraStream"}


def mappings(trait, vocabulary) -> list[Mapping]:
    """The mappings of a trait, checked against the vocabulary. Throws `MappingError`."""
    place = f"{trait.name}, cloudToCloud"
    found = [build(Mapping, item, place) for item in trait.cloudToCloud or []]
    for mapping in found:
        check(mapping, trait, vocabulary, f"{place}, {mapping.trait}")
    return found


def check(mapping: Mapping, trait, vocabulary, place: str) -> None:
    types = {kind.name for kind in vocabulary.known_types}
    traits = {other.name: other for other in vocabulary.known_traits}
    for name in [*mapping.types, *mapping.exceptTypes]:
        require(name in types, place, f"the device type {name} is not declared")
    require(mapping.unlessTrait in (None, *traits), place, f"the trait {mapping.unlessTrait} has no file")

    def member(name: str, of: str):
        """A command or attribute of the trait, or of another one: `LevelControl.currentLevel`."""
        other, _, last = name.rpartition(".")
        owner = traits.get(other) if other else trait
        if owner is None:
            raise MappingError(f"{place}: the trait {other} has no file")
        item = next((item for item in getattr(owner, of) if item.name == last), None)
        require(item is not None, place, f"{owner.name} does not have {last} among its {of}")
        return item

    def conditions(items: list[Condition]) -> None:
        for item in items:
            item.check(place)
            if item.attribute:
                member(item.attribute, "attributes")

    for item in [*mapping.computed, *mapping.states]:
        require((item.source is None) != (item.value is MISSING), place, f"{item.name} needs either a from or a value")
        if item.source:
            member(item.source, "attributes")
        if item.convert:
            item.convert.check(f"{place}, {item.name}")
        require((item.item is None) == (item.member is None), place, f"{item.name}: item and member belong together")
        conditions(item.when)

    hidden: set[str] = set()
    for command in mapping.commands:
        require(command.name not in hidden, place, f"an earlier {command.name} without a condition hides this one")
        if not command.when:
            hidden.add(command.name)
        conditions(command.when)
        require(bool(command.steps) != bool(command.handler), place, f"{command.name} has steps or a handler")
        require(command.handler in (None, *HANDLERS), place, f"the handler {command.handler} is not known")
        for step in command.steps:
            require(
                (step.send is None) != (step.write is None), place, f"a step of {command.name} either sends or writes"
            )
            inputs = dict(step.write or {})
            for name in step.write or {}:
                require(not member(name, "attributes").readOnly, place, f"{name} cannot be written")
            if step.send:
                declared = {item.name: item for item in member(step.send, "commands").parameters}
                for name in step.parameters:
                    require(name in declared, place, f"{step.send} does not have the parameter {name}")
                missing = [name for name, item in declared.items() if item.required and name not in step.parameters]
                require(not missing, place, f"{step.send} needs {', '.join(missing)}")
                inputs |= step.parameters
            for name, value in inputs.items():
                require(
                    (value.source is None) != (value.value is MISSING), place, f"{name} needs either a from or a value"
                )
                if value.convert:
                    value.convert.check(f"{place}, {name}")
                if value.addTo:
                    member(value.addTo, "attributes")


def build(kind: type, data: dict[str, Any], place: str) -> Any:
    """A value of the dataclass `kind` from a file's object."""
    require(isinstance(data, dict), place, f"an object is expected, not {data!r}")
    arguments: dict[str, Any] = {}
    known = {one.name for one in fields(kind)}
    for key, value in data.items():
        name = RENAMED.get(kind, {}).get(key, key)
        require(name in known and key != "source", place, f"{key} is not known")
        inner = NESTED.get(kind, {}).get(key)
        inside = f"{place}, {key}"
        if not inner:
            arguments[name] = value
        elif isinstance(value, list):
            arguments[name] = [build(inner, item, inside) for item in value]
        elif kind is Step and isinstance(value, dict):
            arguments[name] = {member: build(inner, item, inside) for member, item in value.items()}
        else:
            arguments[name] = build(inner, value, inside)
    try:
        return kind(**arguments)
    except TypeError as error:
        raise MappingError(f"{place}: {str(error).partition(') ')[2] or error}") from error


def require(holds: bool, place: str, message: str) -> None:
    if not holds:
        raise MappingError(f"{place}: {message}")
