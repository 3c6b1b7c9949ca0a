"""`gatehouse recordings endpoints`: servers for recordings, provisioned with certificates and secrets from files."""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from peers.gateway import DOORBELL, Gateway
from peers.pki import Authority
from peers.polling import PATIENCE, eventually
from peers.ports import free_port

DEVICE = DOORBELL.id
SECRET = "wJalrXUtnFEMI-K7MDENG-bPxRfiCYEXAMPLEKEY"
TOKEN = "IQoJb3JpZ2luX2VjEXAMPLE-of-a-session-token"


@pytest.fixture
def house(binary: Path, tmp_path: Path) -> Iterator[Gateway]:
    gateway = Gateway(binary, tmp_path, [DOORBELL], {"recording": {"trigger": "command"}})
    yield gateway
    gateway.stop()


class Endpoints:
    def __init__(self, binary: Path, house: Gateway) -> None:
        self._command = [str(binary), "recordings", "endpoints"]
        self._gateway = ["--gateway", f"http://127.0.0.1:{house.port}"]
        self._environment = os.environ | {"GATEHOUSE_TOKEN": house.token}

    def run(self, *words: str, stdin: str = "", **variables: str) -> subprocess.CompletedProcess[str]:
        # The token is in the environment, and so is nothing else that is secret unless a test says so.
        return subprocess.run(
            [*self._command, *words, *self._gateway], input=stdin, capture_output=True, text=True, timeout=PATIENCE,
            env=self._environment | variables,
        )  # fmt: skip

    def right(self, *words: str, stdin: str = "", **variables: str) -> str:
        result = self.run(*words, stdin=stdin, **variables)
        assert result.returncode == 0, result.stderr
        return result.stdout

    def wrong(self, *words: str, code: int = 1, **variables: str) -> str:
        result = self.run(*words, **variables)
        assert result.returncode == code, (result.stdout, result.stderr)
        return result.stderr


@pytest.fixture
def endpoints(binary: Path, house: Gateway) -> Endpoints:
    return Endpoints(binary, house)


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    made = Authority(tmp_path / "pki", "authority")
    made.issue("gateway")
    made.issue("other")
    return made


def test_endpoints_are_added_listed_replaced_and_deleted(endpoints: Endpoints, authority: Authority) -> None:
    folder = authority.folder
    assert "There are no endpoints" in endpoints.right("list")
    tls = ["--root", str(authority.path), "--client-certificate", str(folder / "gateway.pem")]
    key = ["--client-key", str(folder / "gateway.key")]
    assert endpoints.right("add", "cloud", *tls, *key) == "cloud: added, tlsEndpointID 1\n"
    store = ["--region", "eu-central-1", "--access-key-id", "AKIAEXAMPLE"]
    assert endpoints.right("add", "store", *store, GATEHOUSE_UPLOAD_SECRET=SECRET).startswith("store: added")
    header, *rows = [line.split() for line in endpoints.right("list").splitlines()]
    assert header[:3] == ["ID", "NAME", "KIND"]
    assert [row[:3] for row in rows] == [["1", "cloud", "tls"], ["2", "store", "s3"]]
    listed = json.loads(endpoints.right("list", "--json"))["endpoints"]
    first = listed[0]["clientCertificate"]["fingerprint"]
    assert listed[0]["clientCertificate"]["subject"] == "CN=gateway"

    # Another certificate, with its key on standard input; the id stays.
    other = ["--root", str(authority.path), "--client-certificate", str(folder / "other.pem"), "--client-key", "-"]
    text = (folder / "other.key").read_text()
    assert endpoints.right("replace", "cloud", *other, stdin=text) == "cloud: replaced, tlsEndpointID 1\n"
    again = json.loads(endpoints.right("list", "--json"))["endpoints"][0]["clientCertificate"]
    assert again["subject"] == "CN=other" and again["fingerprint"] != first

    # The key from the environment must fit, too.
    refused = endpoints.wrong("replace", "cloud", *tls, GATEHOUSE_UPLOAD_KEY=text)
    assert "privateKey is not the key of the first certificate" in refused
    assert endpoints.right("delete", "store") == "store: deleted\n"
    assert "no upload endpoint is named store" in endpoints.wrong("delete", "store")
    assert [one["id"] for one in json.loads(endpoints.right("list", "--json"))["endpoints"]] == [1]


def test_what_is_wrong_is_said_before_anything_changes(
    endpoints: Endpoints, authority: Authority, tmp_path: Path
) -> None:
    assert endpoints.right("add", "cloud", "--root", str(authority.path)).startswith("cloud: added")
    assert "endpoint cloud exists already" in endpoints.wrong("add", "cloud")
    assert "there is no endpoint other" in endpoints.wrong("replace", "other")
    assert "cannot be read" in endpoints.wrong("add", "a", "--root", str(tmp_path / "missing.pem"))
    (tmp_path / "empty").write_text("")
    assert "is empty" in endpoints.wrong("add", "a", "--root", str(tmp_path / "empty"))
    certificate = str(authority.folder / "gateway.pem")
    assert "belong together" in endpoints.wrong("add", "a", "--client-certificate", certificate)
    assert "must contain a certificate" in endpoints.wrong("add", "a", "--root", str(authority.folder / "gateway.key"))
    assert "an endpoint's name" in endpoints.wrong("add", "../up")
    # The command line itself is wrong.
    assert "both --region and --access-key-id" in endpoints.wrong("add", "a", "--region", "r", code=64)
    store = ["--region", "r", "--access-key-id", "A"]
    assert "GATEHOUSE_UPLOAD_SECRET" in endpoints.wrong("add", "a", *store, code=64)
    both = [*store, "--client-certificate", certificate]
    assert "not to a store" in endpoints.wrong("add", "a", *both, code=64)
    # There is no option that would show a secret in the list of processes.
    for option in ("--secret", "--secret-access-key", "--key", "--session-token"):
        assert "Unknown option" in endpoints.wrong("add", "a", *store, option, "x", code=64)
    assert [one["name"] for one in json.loads(endpoints.right("list", "--json"))["endpoints"]] == ["cloud"]


def test_an_endpoint_in_use_is_not_deleted_and_no_secret_is_shown(
    house: Gateway, endpoints: Endpoints, authority: Authority, tmp_path: Path
) -> None:
    (tmp_path / "secret").write_text(SECRET + "\n")
    (tmp_path / "token").write_text(TOKEN + "\n")
    key = authority.folder / "gateway.key"
    shown = [
        endpoints.right(
            "add", "store", "--root", str(authority.path), "--region", "r", "--access-key-id", "AKIAEXAMPLE",
            "--secret-file", str(tmp_path / "secret"), "--session-token-file", str(tmp_path / "token"),
        ),
        endpoints.right(
            "add", "cloud", "--client-certificate", str(authority.folder / "gateway.pem"), "--client-key", str(key)
        ),
        endpoints.right("list"),
        endpoints.right("list", "--json"),
        endpoints.wrong("replace", "cloud", "--client-certificate", str(authority.path), "--client-key", str(key)),
    ]  # fmt: skip
    # A recording waits for a server that does not answer, and that is logged.
    house.wait_until_flowing(DEVICE)
    connection = allocate(house, f"https://127.0.0.1:{free_port()}/")
    control = {"initialDuration": 2, "augmentationDuration": 1, "maxDuration": 4, "blindDuration": 0}
    for name, parameters in [
        ("setTransportStatus", {"connectionID": connection, "transportStatus": "active"}),
        ("manuallyTriggerTransport",
         {"connectionID": connection, "activationReason": "userInitiated", "timeControl": control}),
    ]:  # fmt: skip
        reply = house.client.command(DEVICE, "PushAvStreamTransport", name, parameters)
        assert reply.status == 200, reply.text
    eventually(lambda: "cannot be uploaded" in house.process.output(), "the upload fails")
    assert "is in use" in endpoints.wrong("delete", "store")
    # The queue of a gateway that starts again still knows it.
    house.stop()
    log = house.process.output()
    house.start()
    eventually(lambda: "cannot be uploaded" in house.process.output(), "the upload fails again")
    shown += [log, house.process.output(), endpoints.right("list"), endpoints.wrong("delete", "store")]
    secrets = [SECRET, TOKEN, *key.read_text().splitlines()[1:-1]]
    for text in shown:
        assert not any(secret in text for secret in secrets), text
    # They are in one file that only its owner reads.
    file = tmp_path / "state/upload-endpoints.json"
    assert SECRET in file.read_text() and file.stat().st_mode & 0o077 == 0


def allocate(house: Gateway, url: str) -> int:
    options: dict[str, Any] = {
        "streamUsage": "recording", "videoStreamID": 1, "tlsEndpointID": 1, "url": url, "expiryTime": 3600,
        "triggerOptions": {"triggerType": "command", "maxPreRollLen": 0}, "ingestMethod": "cmafIngest",
        "containerOptions": {"containerType": "cmaf", "cmafContainerOptions": {
            "cmafInterface": "interface1", "segmentDuration": 4000, "chunkDuration": 1000, "sessionGroup": 1,
            "trackName": "main"}},
    }  # fmt: skip
    reply = house.client.command(
        DEVICE, "PushAvStreamTransport", "allocatePushTransport", {"transportOptions": options}
    )
    assert reply.status == 200, reply.text
    return int(reply.json["transportConfiguration"]["connectionID"])
