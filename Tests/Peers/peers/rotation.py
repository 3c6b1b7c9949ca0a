"""Chooses the long files of tests for a run. All of them would take an hour of two processors, so each commit runs one
part of them, and everything that takes less than about 20 s."""

from functools import cache
from pathlib import Path

from .parts import chosen_part

# Each part takes about as long as the others. Within a part, the files that take longest begin first.
PARTS = [
    [
        "test_page_looks", "test_hostile_turn", "test_onvif", "test_stream_cameras", "test_page_bench",
        "test_addresses", "test_live_streams", "test_page_liveness", "test_streams", "test_reduced_token",
    ],
    [
        "test_networks", "test_late_streams", "test_automations", "test_published_privacy", "test_recorded_players",
        "test_upload_kills", "test_loss", "test_hostile_input", "test_rtmp_publish", "test_home_commands",
        "test_page_automations",
    ],
    [
        "test_offer_matrix", "test_playlist_cameras", "test_page_views", "test_page_cameras", "test_recorded_codecs",
        "test_uploaded_players", "test_off",
    ],
    [
        "test_page_large_view", "test_recordings_by_rtsp", "test_command_line", "test_hls_js", "test_recorded_triggers",
        "test_event_readers", "test_page_settings", "test_talk_loss", "test_recording", "test_hot_reload",
    ],
    [
        "test_generated_requests", "test_page_watching", "test_page_home", "test_examples", "test_published_codecs",
        "test_port_mapping", "test_loss_bench", "test_upload_endpoints", "test_narrow_tcp", "test_published_loss",
        "test_page_ice_restart", "test_upload", "test_rtsp_publish", "test_go2rtc", "test_recording_folder",
    ],
    [
        "test_browser_networks", "test_package_service", "test_page_camera_settings", "test_page_fallback",
        "test_package", "test_page_accessible", "test_microphone", "test_other_players", "test_path_bench",
        "test_page_network_change", "test_mqtt_devices", "test_recordings", "test_hostile_onvif", "test_share_links",
        "test_recordings_deleted", "test_log",
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
