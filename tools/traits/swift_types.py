"""The Swift types in a trait's namespace: enums, structs, attributes, commands and events."""

from .model import INTEGERS, PAYLOADS, Choice, Command, Event, Field, Struct, Trait
from .swift_text import base_type, capitalized, default, doc, escaped, indented, literal, swift_type


def enum(choice: Choice) -> list[str]:
    lines = [*doc(choice.summary), f"public enum {choice.name}: String, VocabularyEnum {{"]
    for value in choice.values:
        lines += [*doc(value.summary, indent=1), f"    case {escaped(value.name)}"]
    if not choice.fallback:
        lines += ["    /// A value that this version does not know.", "    case unrecognized_"]
    known = ", ".join(f".{escaped(value.name)}" for value in choice.values)
    lines += ["", f"    public static let unrecognized = Self.{choice.fallback or 'unrecognized_'}"]
    lines += ["", f"    public static let allCases: [Self] = [{known}]"]
    lines += ["", "    public var number: UInt64 {", "        switch self {"]
    lines += [f"        case .{escaped(value.name)}: {value.number}" for value in choice.values]
    lines += [] if choice.fallback else ["        case .unrecognized_: .max"]
    return [*lines, "        }", "    }", "}"]


def bitmap(choice: Choice) -> list[str]:
    lines = [*doc(choice.summary), f"public struct {choice.name}: OptionSet, Sendable, Codable, Hashable {{"]
    for value in choice.values:
        lines += doc(value.summary, indent=1)
        lines += [f"    public static let {escaped(value.name)} = Self(rawValue: 1 << {value.number})"]
    lines += ["", "    public var rawValue: UInt32", "", "    public init(rawValue: UInt32) {"]
    return [*lines, "        self.rawValue = rawValue", "    }", "}"]


def record(
    name: str,
    summary: str,
    fields: list[Field],
    trait: Trait,
    extra: tuple[str, ...] = (),
    conforms: str = "VocabularyRecord",
    checks: tuple[str, ...] = (),
) -> list[str]:
    return [
        *doc(summary),
        f"public struct {name}: {conforms} {{",
        *(f"    {line}" if line else "" for line in extra),
        *([""] if extra and fields else []),
        *indented(members(fields, trait, "Creates the value.", checks), 1),
        "}",
    ]


def struct_type(struct: Struct, trait: Trait) -> list[str]:
    return record(struct.name, struct.summary, struct.fields, trait, checks=end_check(struct))


def attributes(trait: Trait) -> list[str]:
    """The attributes, which are all optional."""
    fields = trait.attributes
    lines = [f"/// The attributes of `{trait.base_name}`.", "public struct Attributes: TraitAttributes {"]
    for field in fields:
        lines += [*doc(field.summary, indent=1), f"    @Attribute public var {field.name}: {base_type(field)}?"]
    arguments = ", ".join(f"{field.name}: {base_type(field)}? = nil" for field in fields)
    names = ", ".join(f'"{field.name}"' for field in fields)
    lines += [""] * bool(fields) + [f"    public static let names: [String] = [{names}]"]
    lines += ["", "    /// Creates the state of a device that supports none of the attributes.", "    public init() {}"]
    if fields:
        lines += ["", "    /// Creates the state. The device does not support an attribute that is nil or left out."]
        lines += [f"    public init({arguments}) {{"]
        lines += [f"        self._{field.name} = Attribute(wrappedValue: {field.name})" for field in fields]
        lines += ["    }"]
    lines += ["", "    public mutating func merge(_ newer: Self) {"]
    lines += [f"        self._{field.name}.merge(newer._{field.name})" for field in fields]
    lines += ["    }"]
    checks = [line for field in fields for line in check(field, trait, is_attribute=True)]
    if checks:
        lines += ["", "    public func validate(at path: String) throws(HomeError) {", *indented(checks, 2), "    }"]
    return [*lines, "}"]


def update(trait: Trait) -> list[str]:
    summary = "What a client writes. Attributes that are absent keep their values."
    fixed = ", ".join(f'"{item.name}"' for item in trait.attributes if item.readOnly)
    constant = (
        "/// The attributes that clients cannot write.",
        f"public static let readOnly: Set<String> = [{fixed}]",
        "",
        *setters("self", trait.writable),
    )
    owner = (f"public static let trait: any Trait.Type = {trait.swift}.self",)
    return record("Update", summary, trait.writable, trait, owner + constant, "TraitUpdate")


def update_method() -> list[str]:
    return [
        "/// Writes attributes: `try await trait.update { $0.setName(value) }`.",
        "/// - Returns: the trait with its attributes after the update.",
        "/// - Throws: `HomeError`, like ``sendUpdate(_:)``.",
        "@discardableResult",
        "public nonisolated(nonsending) func update(_ change: (inout Update) -> Void) async throws -> Self {",
        "    var update = Update()",
        "    change(&update)",
        "    return try await self.sendUpdate(update)",
        "}",
        "",
        "/// An update as a value, for an automation's action.",
        "public static func update(_ change: (inout Update) -> Void) -> Update {",
        "    var update = Update()",
        "    change(&update)",
        "    return update",
        "}",
    ]


def setters(target: str, fields: list[Field]) -> list[str]:
    """Functions that set optional fields of a record."""
    lines: list[str] = []
    for field in fields:
        kind = base_type(field) + "?" * field.nullable
        value = ".some(value)" if field.nullable else "value"
        lines += [""] * bool(lines) + doc(field.summary)
        lines += [
            f"public mutating func set{capitalized(field.name)}(_ value: {kind}) {{ {target}.{field.name} = {value} }}"
        ]
    return lines


def members(fields: list[Field], trait: Trait, init: str, more_checks: tuple[str, ...] = ()) -> list[str]:
    """The properties, the initializer, the coding and the validation of a record."""
    lines: list[str] = []
    for field in fields:
        lines += [*doc(field.summary), f"public var {field.name}: {swift_type(field)}"]
    arguments = ", ".join(f"{field.name}: {swift_type(field)}{default(field)}" for field in fields)
    lines += [""] * bool(fields) + [f"/// {init}", f"public init({arguments}) {{"]
    lines += [f"    self.{field.name} = {field.name}" for field in fields]
    lines += ["}"]
    if any(field.nullable or field.has_default for field in fields):
        lines += ["", *coding(fields)]
    checks = [*(line for field in fields for line in check(field, trait)), *more_checks]
    if checks:
        lines += ["", "public func validate(at path: String) throws(HomeError) {", *indented(checks, 1), "}"]
    return lines


def coding(fields: list[Field]) -> list[str]:
    """Coding that distinguishes an absent value from null. Swift's own does not."""
    lines = ["private enum CodingKeys: String, CodingKey {", f"    case {', '.join(f.name for f in fields)}", "}", ""]
    lines += ["public init(from decoder: any Decoder) throws {"]
    lines += ["    let container = try decoder.container(keyedBy: CodingKeys.self)"]
    for field in fields:
        base = base_type(field)
        if field.nullable and field.optional:
            some = f".some(try container.decode({base}?.self, forKey: .{field.name}))"
            read = f"container.contains(.{field.name}) ? {some} : nil"
        elif field.has_default and not field.nullable:
            value = f"try container.decodeIfPresent({base}.self, forKey: .{field.name})"
            read = f"{value} ?? {literal(field)}"
        elif field.nullable and not field.has_default:
            read = f"try container.decode({base}?.self, forKey: .{field.name})"
        elif field.optional or field.has_default:
            read = f"try container.decodeIfPresent({base}.self, forKey: .{field.name})"
        else:
            read = f"try container.decode({base}.self, forKey: .{field.name})"
        lines += [f"    self.{field.name} = {read}"]
    lines += ["}", "", "public func encode(to encoder: any Encoder) throws {"]
    lines += ["    var container = encoder.container(keyedBy: CodingKeys.self)"]
    for field in fields:
        if field.optional and field.nullable:
            lines += [f"    if let {field.name} {{ try container.encode({field.name}, forKey: .{field.name}) }}"]
        else:
            verb = "encodeIfPresent" if field.optional else "encode"
            lines += [f"    try container.{verb}(self.{field.name}, forKey: .{field.name})"]
    return [*lines, "}"]


def check(field: Field, trait: Trait, is_attribute: bool = False) -> list[str]:
    """The statements that check a field against its constraints."""
    place = f'"{field.name}", at: path'
    value = checked_value(field, is_attribute)
    lines = []
    if any(choice.name == (field.item or field.type) for choice in trait.enums):
        lines += [f"try Constraint.recognized({value}, {place})"]
    if field.minimum is not None or field.maximum is not None:
        low, high = INTEGERS[field.type]
        low = field.minimum if field.minimum is not None else low
        high = field.maximum if field.maximum is not None else high
        lines += [f"try Constraint.range({value}, {low}...{high}, {place})"]
    if field.minLength is not None or field.maxLength is not None:
        lengths = f"{field.minLength or 0}...{'' if field.maxLength is None else field.maxLength}"
        hint = f', hint: "{field.hint}"' if field.hint else ""
        measured = "items" if field.item else "length"
        lines += [f"try Constraint.{measured}({value}, {lengths}, {place}{hint})"]
    if trait.struct(field.item or field.type):
        lines += [f"try Constraint.{'records' if field.item else 'record'}({value}, {place})"]
    return lines


def checked_value(field: Field, is_attribute: bool = False) -> str:
    doubly = field.optional and field.nullable and not is_attribute
    return f"self.{field.name}" + (" ?? nil" if doubly else "")


def end_check(struct: Struct) -> tuple[str, ...]:
    """The statement that checks that nothing goes beyond the end of a struct's range."""
    field = struct.end_field
    if field is None:
        return ()
    parts = ", ".join(checked_value(part) for part in struct.fields_after_end)
    value = checked_value(field)
    return (f'try Constraint.end({value}, {field.maximum}, parts: [{parts}], "{field.name}", at: path)',)


def command_type(command: Command, trait: Trait) -> list[str]:
    name = f"{capitalized(command.name)}Command"
    optional = [field for field in command.parameters if field.optional]
    extra = [
        f"public static let trait: any Trait.Type = {trait.swift}.self",
        f'public static let name = "{command.name}"',
        f"public static let id: UInt32 = {command.id}",
    ]
    if command.result:
        response = record("Response", f"The response to `{command.name}`.", command.result, trait)
    else:
        response = ["public typealias Response = NoFields"]
    extra += ["", *response]
    if optional:
        extra += [
            "",
            "/// The optional arguments of the command.",
            "public struct OptionalArgs: Sendable {",
            f"    fileprivate var command: {name}",
            "",
            *indented(setters("self.command", optional), 1),
            "}",
        ]
    return record(name, command.summary, command.parameters, trait, tuple(extra), "Command")


def command_functions(command: Command) -> list[list[str]]:
    """The factory of the command's value, and the method that sends it."""
    name = f"{capitalized(command.name)}Command"
    required = [field for field in command.parameters if not field.optional]
    has_options = len(required) < len(command.parameters)
    parameters = [
        f"{field.name}: {swift_type(field)}" + (f" = {literal(field)}" if field.has_default else "")
        for field in required
    ]
    arguments = ", ".join(f"{field.name}: {escaped(field.name)}" for field in required)
    passed = arguments
    if has_options:
        parameters += [f"optionalArgsProvider: ((inout {name}.OptionalArgs) -> Void)? = nil"]
        passed = ", ".join(filter(None, [arguments, "optionalArgsProvider: optionalArgsProvider"]))
    signature = f"{escaped(command.name)}({', '.join(parameters)})"
    factory = [*doc(f"The command `{command.name}` as a value. {command.summary}")]
    factory += [f"public static func {signature} -> {name} {{"]
    if has_options:
        factory += [
            f"    var options = {name}.OptionalArgs(command: {name}({arguments}))",
            "    optionalArgsProvider?(&options)",
            "    return options.command",
            "}",
        ]
    else:
        factory += [f"    {name}({arguments})", "}"]
    method = doc(command.summary, "Throws `HomeError`, like ``sendCommand(_:)``.")
    if command.result:
        method += ["@discardableResult"]
    result = f" -> {name}.Response" if command.result else ""
    method += [
        f"public nonisolated(nonsending) func {signature} async throws{result} {{",
        f"    try await self.sendCommand(Self.{escaped(command.name)}({passed}))",
        "}",
    ]
    return [factory, method]


def supports(command: Command) -> list[str]:
    name = capitalized(command.name)
    return [
        f"/// Whether the device accepts `{command.name}`. A device that does not list its commands accepts all.",
        f"public var supports{name}Command: Bool {{",
        f"    self.attributes.acceptedCommandList?.contains({name}Command.id) ?? true",
        "}",
    ]


def event_type(event: Event, trait: Trait) -> list[str]:
    extra = (
        f"public static let trait: any Trait.Type = {trait.swift}.self",
        f'public static let name = "{event.name}"',
        f"public static let id: UInt32 = {event.id}",
        *([f"public static let importance = EventImportance.{event.importance}"] if event.importance != "info" else []),
        "",
        "/// What came with the event besides its fields.",
        "public var metadata = EventMetadata()",
    )
    fields = PAYLOADS[event.payload] if event.payload else event.fields
    for field in fields:
        extra += ("", *doc(f"Starts an automation only for this value. {field.summary or ''}".rstrip()))
        value = f'EventParameter("{field.name}", value)'
        kind = base_type(field)
        extra += (f"public static func {field.name}(_ value: {kind}) -> EventParameter<Self> {{ {value} }}",)
    return record(f"{event.name}Event", event.summary, fields, trait, extra, "Event")
