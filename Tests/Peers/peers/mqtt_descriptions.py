"""Devices as Home Assistant's discovery and Zigbee2MQTT describe them."""

from typing import Any


def device(name: str, **more: Any) -> dict[str, Any]:
    return {"identifiers": [name.lower()], "name": name, "manufacturer": "Maker", "model": "Model 1"} | more


LAMP: dict[str, Any] = {
    "name": None, "schema": "json", "unique_id": "lamp", "state_topic": "lamp/state", "command_topic": "lamp/set",
    "brightness": True, "supported_color_modes": ["hs"], "availability_topic": "lamp/status",
    "device": device("Lamp", suggested_area="Living room", sw_version="1.2", serial_number="S-1"),
}  # fmt: skip
COVER: dict[str, Any] = {
    "unique_id": "blind", "command_topic": "blind/set", "position_topic": "blind/position",
    "set_position_topic": "blind/position/set", "device": device("Blind"),
}  # fmt: skip
LOCK: dict[str, Any] = {
    "unique_id": "lock",
    "state_topic": "lock/state",
    "command_topic": "lock/set",
    "device": device("Lock"),
}
FAN: dict[str, Any] = {
    "unique_id": "fan", "state_topic": "fan/state", "command_topic": "fan/set", "percentage_state_topic": "fan/speed",
    "percentage_command_topic": "fan/speed/set", "device": device("Fan"),
}  # fmt: skip
CLIMATE: dict[str, Any] = {
    "unique_id": "heating", "modes": ["off", "heat"], "mode_state_topic": "heating/mode",
    "mode_command_topic": "heating/mode/set", "temperature_state_topic": "heating/target",
    "temperature_command_topic": "heating/target/set", "current_temperature_topic": "heating/current",
    "device": device("Heating"),
}  # fmt: skip
BELL: dict[str, Any] = {
    "unique_id": "bell", "device_class": "doorbell", "event_types": ["press"], "state_topic": "bell/event",
    "device": device("Bell"),
}  # fmt: skip

DESCRIPTIONS: dict[str, dict[str, Any]] = {
    "light/lamp": LAMP, "cover/blind": COVER, "lock/lock": LOCK, "fan/fan": FAN, "climate/heating": CLIMATE,
    "event/bell": BELL,
} | {
    f"sensor/{kind}": {
        "unique_id": kind, "device_class": kind, "state_topic": "weather", "unit_of_measurement": unit,
        "value_template": "{{ value_json." + kind + " }}", "device": device("Weather"),
    } for kind, unit in [("temperature", "°C"), ("humidity", "%")]
} | {
    f"binary_sensor/{kind}": {
        "unique_id": kind, "device_class": kind, "state_topic": f"{kind}/state", "device": device(kind.title()),
    } for kind in ["motion", "door", "smoke"]
} | {
    f"switch/{side}": {
        "unique_id": side, "state_topic": f"{side}/state", "command_topic": f"{side}/set", "device": device("Pair"),
    } for side in ["left", "right"]
}  # fmt: skip
"""By the middle of the topics of discovery."""


def feature(kind: str, name: str, access: int = 7, **more: Any) -> dict[str, Any]:
    return {"type": kind, "name": name, "property": name, "access": access} | more


def zigbee(friendly_name: str, address: str, *exposes: dict[str, Any]) -> dict[str, Any]:
    """A device of Zigbee2MQTT's list."""
    definition = {"model": "Z1", "vendor": "Zigbee maker", "exposes": list(exposes)}
    return {"ieee_address": address, "type": "Router", "friendly_name": friendly_name, "definition": definition}


SWITCHED = feature("binary", "state", value_on="ON", value_off="OFF")
BULB_ADDRESS = "0x000d6ffffe000001"


def bulb(friendly_name: str) -> dict[str, Any]:
    light = {"type": "light", "features": [SWITCHED, feature("numeric", "brightness", value_max=254)]}
    return zigbee(friendly_name, BULB_ADDRESS, light)


CLIMATE_SENSOR = zigbee(
    "air", "0x00158d0000000002", feature("numeric", "temperature", 1, unit="°C"),
    feature("numeric", "humidity", 1, unit="%"), feature("numeric", "battery", 1, unit="%"),
)  # fmt: skip
ACTIONS = ["on_press", "on_hold", "on_hold_release", "off_press", "off_double"]
REMOTE = zigbee(
    "remote", "0x00158d0000000003", feature("enum", "action", 1, values=ACTIONS),
    feature("numeric", "battery", 1, unit="%"),
)  # fmt: skip
