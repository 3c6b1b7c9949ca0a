"""Pieces of Swift: names, types, literals and documentation."""

import json
import string

from .model import INTEGERS, Field, Trait

SCALARS = {name: name.replace("u", "U").replace("int", "Int") for name in INTEGERS}
SCALARS |= {"bool": "Bool", "string": "String", "double": "Double", "octets": "Data"}


def swift_type(field: Field) -> str:
    return base_type(field) + "?" * (field.optional + field.nullable)


def base_type(field: Field) -> str:
    name = field.item or field.type
    name = f"Partial{name}" if field.partial else SCALARS.get(name, name)
    return f"[{name}]" if field.item else name


def default(field: Field) -> str:
    if field.has_default:
        return f" = {literal(field)}"
    if field.optional or field.nullable:
        return " = nil"
    return " = []" if field.item else ""


def literal(field: Field) -> str:
    """The default of a field in Swift."""
    if field.default is None:
        return "nil"
    if isinstance(field.default, bool):
        return str(field.default).lower()
    if isinstance(field.default, str):
        return json.dumps(field.default) if field.type == "string" else f".{escaped(field.default)}"
    if field.type in INTEGERS or field.type == "double":
        return str(field.default)
    return f"{field.type}(rawValue: {field.default})" if field.default else "[]"


def uses_data(trait: Trait) -> bool:
    fields = [item for struct in trait.structs for item in struct.fields] + trait.attributes
    fields += [item for event in trait.events for item in event.fields]
    fields += [item for command in trait.commands for item in [*command.parameters, *command.result]]
    return any(item.type == "octets" for item in fields)


def capitalized(name: str) -> str:
    return name[0].upper() + name[1:]


def lowercased(name: str) -> str:
    """A type's name as a property: OnOff is onOff, and an acronym at the beginning is all small."""
    run = name[: len(name) - len(name.lstrip(string.ascii_uppercase))]
    if len(run) > 1 and len(run) < len(name) and name[len(run)].islower():
        run = run[:-1]
    return run.lower() + name[len(run) :]


KEYWORDS = {
    "as",
    "break",
    "case",
    "class",
    "continue",
    "default",
    "defer",
    "do",
    "else",
    "enum",
    "extension",
    "false",
    "for",
    "func",
    "guard",
    "if",
    "import",
    "in",
    "init",
    "inout",
    "internal",
    "is",
    "let",
    "nil",
    "operator",
    "private",
    "protocol",
    "public",
    "repeat",
    "return",
    "self",
    "static",
    "struct",
    "super",
    "switch",
    "throw",
    "throws",
    "true",
    "try",
    "var",
    "where",
    "while",
}


def escaped(name: str) -> str:
    return f"`{name}`" if name in KEYWORDS else name


def doc(*paragraphs: str, indent: int = 0) -> list[str]:
    lines: list[str] = []
    for paragraph in filter(None, paragraphs):
        lines += ["///"] * bool(lines) + [f"/// {paragraph}"]
    return indented(lines, indent)


def indented(lines: list[str], count: int) -> list[str]:
    return ["    " * count + line if line else line for line in lines]
