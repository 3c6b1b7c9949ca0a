"""Which long files of tests a run has. All of them would take an hour of two processors, so each commit runs a third of
them, and everything that is short."""

from functools import cache
from pathlib import Path

from .parts import chosen_part

# Each part takes about as long as the others. Within a part, the files that take longest begin first.
PARTS = [
    ["test_page_looks", "test_networks", "test_automations", "test_upload_kills", "test_live_streams", "test_loss"],
    [
        "test_offer_matrix", "test_recordings_by_rtsp", "test_page_views", "test_event_readers",
        "test_uploaded_players", "test_talk_loss", "test_off",
    ],
    [
        "test_generated_requests", "test_browser_networks", "test_package_service", "test_page_accessible",
        "test_microphone", "test_upload_endpoints", "test_other_players", "test_examples", "test_narrow_tcp",
        "test_path_bench", "test_published_loss", "test_page_network_change", "test_page_ice_restart",
    ],
]  # fmt: skip
VARIABLE = "GATEHOUSE_PEERS"
_PLACE = {name: place for part in PARTS for place, name in enumerate(part)}
_PART = {name: number for number, part in enumerate(PARTS) for name in part}


def place(file: Path) -> int:
    """When the file begins: a small number is early, and short files follow all long ones."""
    return _PLACE.get(file.stem, len(_PLACE))


@cache
def left_out() -> frozenset[str]:
    """The files that belong to other parts than this commit's; none if GATEHOUSE_PEERS is "all"."""
    part = chosen_part(len(PARTS), VARIABLE)
    return frozenset(name for name, number in _PART.items() if part not in (None, number))
