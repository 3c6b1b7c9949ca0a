"""Chooses the longer files of tests for a run. All of them would take an hour of two processors, so each commit runs
one part of them, everything that takes less than about 10 s, and the basics with Chromium, Firefox and aiortc."""

from functools import cache
from pathlib import Path

from .parts import chosen_part

# Each part takes about as long as the others. Within a part, the files that take longest begin first.
PARTS = [
    [
        "test_page_looks", "test_onvif", "test_page_bench", "test_live_streams", "test_streams", "test_camera_probe",
    ],
    [
        "test_hostile_turn", "test_stream_cameras", "test_addresses", "test_page_liveness", "test_reduced_token",
        "test_mqtt", "test_automation_recordings", "test_camera_app",
    ],
    [
        "test_networks", "test_automations", "test_recorded_players", "test_loss", "test_rtmp_publish",
        "test_page_automations", "test_mqtt_former_cameras",
    ],
    [
        "test_late_streams", "test_published_privacy", "test_upload_kills", "test_hostile_input",
        "test_home_commands", "test_import", "test_data_channel", "test_relay_bench",
    ],
    [
        "test_offer_matrix", "test_page_views", "test_recorded_codecs", "test_off", "test_live_departures",
    ],
    [
        "test_playlist_cameras", "test_page_cameras", "test_uploaded_players", "test_rtsp_server",
        "test_damaged_state",
    ],
    [
        "test_page_large_view", "test_command_line", "test_recorded_triggers", "test_page_settings", "test_recording",
        "test_bench_limits",
    ],
    [
        "test_recordings_by_rtsp", "test_hls_js", "test_event_readers", "test_talk_loss", "test_hot_reload",
        "test_web_page", "test_matter_recording", "test_smart_device_management",
    ],
    [
        "test_generated_requests", "test_page_home", "test_published_codecs", "test_loss_bench", "test_narrow_tcp",
        "test_page_ice_restart", "test_rtsp_publish", "test_recording_folder", "test_local_names",
    ],
    [
        "test_page_watching", "test_examples", "test_port_mapping", "test_upload_endpoints", "test_published_loss",
        "test_upload", "test_go2rtc", "test_page_candidates", "test_report_state", "test_sdp_command",
    ],
    [
        "test_browser_networks", "test_page_camera_settings", "test_package", "test_microphone", "test_path_bench",
        "test_mqtt_devices", "test_hostile_onvif", "test_recordings_deleted", "test_candidate_order",
    ],
    [
        "test_package_service", "test_page_fallback", "test_page_accessible", "test_other_players",
        "test_page_network_change", "test_recordings", "test_share_links", "test_log", "test_transports",
        "test_attacks", "test_meetecho",
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
