"""A folder of recordings on a disk that is away: the gateway starts without it, and records as soon as it is there."""

from pathlib import Path

from peers.gateway import DOORBELL, Gateway
from peers.polling import eventually

DEVICE = DOORBELL.id
RECORDINGS = f"/v1/devices/{DEVICE}/recordings"


def refusal(house: Gateway) -> str:
    """Why there are no recordings."""
    answer = house.client.request("GET", RECORDINGS)
    assert answer.status == 503, answer.text
    return str(answer.json)


def names(house: Gateway) -> list[str]:
    """The recordings, the newest first; none while they cannot be read."""
    answer = house.client.request("GET", RECORDINGS)
    return [str(one["id"]) for one in answer.json["recordings"]] if answer.status == 200 else []


def test_a_gateway_starts_without_its_folder_of_recordings_and_waits_for_it(binary: Path, tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    footage = disk / "footage"
    house = Gateway(binary, tmp_path, [DOORBELL], {"recording": {"trigger": "continuous", "folder": str(footage)}})
    try:
        assert str(footage) in refusal(house)
        house.wait_until_flowing(DEVICE)
        disk.mkdir()
        first = eventually(lambda: names(house), "it records")
        assert (footage / ".gatehouse-recordings").exists()

        # At the next start the disk is away, and its mount point is empty.
        house.stop()
        mounted = disk.rename(tmp_path / "mounted")
        disk.mkdir()
        house.start()
        assert ".gatehouse-recordings" in refusal(house)
        house.wait_until_flowing(DEVICE)
        assert house.client.metric("gatehouse_recording_failing") == 1
        assert list(disk.iterdir()) == []

        # It is mounted: what was recorded before is there, and it goes on.
        disk.rmdir()
        mounted.rename(disk)
        eventually(lambda: len(names(house)) > len(first), "it records again")
        assert set(first) <= set(names(house))
    finally:
        house.stop()
