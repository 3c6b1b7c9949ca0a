"""Report state and request sync, against a cloud over HTTPS that checks the service account and makes trouble."""

import base64
import hashlib
import json
import urllib.parse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from peers.gateway import Gateway
from peers.home_graph import HomeGraph
from peers.pki import Authority

JSON = {"Content-Type": "application/json"}
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
VERIFIER = "the-verifier-of-the-reporting-cloud-in-tests-000000"
REDIRECT = "https://cloud.example/linked"


class Reporting:
    """A gateway with two virtual devices and a cloud that its changes are reported to."""

    def __init__(self, binary: Path, folder: Path, patch: pytest.MonkeyPatch) -> None:
        authority = Authority(folder / "pki", "authority")
        self.cloud = HomeGraph(*authority.issue("cloud"))
        patch.setenv("CLOUD_ACCOUNT", self.cloud.credentials())
        sections = {
            "oauth": {"clients": [{"id": "cloud", "name": "Cloud", "redirects": [REDIRECT]}]},
            "cloudToCloud": {
                "reportState": {
                    "client": "cloud", "url": f"{self.cloud.url}/v1", "credentials": "${CLOUD_ACCOUNT}",
                    "ca": str(authority.path),
                }
            },
            "devices": {
                "lamp": {
                    "name": "Lamp", "type": "OnOffLight", "information": {"vendorID": " 0xFFF1 ", "productID": ""},
                },
                "secret": {"name": "Secret lamp", "type": "OnOffLight"},
            },
        }  # fmt: skip
        self.gateway = Gateway(binary, folder, [], sections)
        self.lamp = self.gateway.client.device_id("lamp")
        self.secret = self.gateway.client.device_id("secret")

    def link(self, devices: list[str]) -> str:
        """Links an account for some devices, and returns its access token."""
        challenge = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).decode().rstrip("=")
        decision = {
            "clientID": "cloud", "redirect": REDIRECT, "responseType": "code", "state": "s",
            "codeChallenge": challenge, "codeChallengeMethod": "S256",
            "grants": [{"scopes": ["read", "control"], "deviceID": device} for device in devices],
        }  # fmt: skip
        answer = self.gateway.client.request("POST", "/v1/oauth/authorizations", json.dumps(decision), JSON)
        assert answer.status == 201, answer.text
        code = urllib.parse.parse_qs(urllib.parse.urlsplit(answer.json["location"]).query)["code"][0]
        form = {
            "grant_type": "authorization_code", "client_id": "cloud", "code": code, "redirect_uri": REDIRECT,
            "code_verifier": VERIFIER,
        }  # fmt: skip
        answer = self.gateway.client.request("POST", "/oauth/token", urllib.parse.urlencode(form), FORM, token=None)
        assert answer.status == 200, answer.text
        return str(answer.json["access_token"])

    def ask(self, intent: str, token: str) -> Any:
        body = {"requestId": "r", "inputs": [{"intent": f"action.devices.{intent}"}]}
        answer = self.gateway.client.request("POST", "/v1/cloud-to-cloud", json.dumps(body), JSON, token)
        assert answer.status == 200, answer.text
        return answer.json.get("payload")

    def switch(self, device: str, on: bool) -> None:
        assert self.gateway.client.command(device, "OnOff", "on" if on else "off").status == 200

    def reported(self, on: bool, since: int) -> bool:
        """Whether the lamp was reported in a state after the first `since` reports."""
        return any(states.get(self.lamp, {}).get("on") is on for states in self.cloud.states()[since:])


@pytest.fixture(scope="module")
def reporting(binary: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reporting]:
    with pytest.MonkeyPatch.context() as patch:
        running = Reporting(binary, tmp_path_factory.mktemp("reporting"), patch)
        yield running
        running.cloud.stop()
        assert running.gateway.stop() == 0, running.gateway.process.output()[-4000:]


@pytest.fixture
def token(reporting: Reporting) -> Iterator[str]:
    """An account that is linked for the lamp alone, and that the cloud knows the present state of."""
    before = len(reporting.cloud.states())
    made = reporting.link(["lamp"])
    reporting.cloud.wait(lambda: len(reporting.cloud.states()) > before, "the present state is reported")
    yield made
    reporting.gateway.client.request(
        "POST", "/oauth/revoke", urllib.parse.urlencode({"client_id": "cloud", "token": made}), FORM, token=None
    )


def test_a_change_is_reported_once_and_only_of_what_was_granted(reporting: Reporting, token: str) -> None:
    cloud = reporting.cloud
    assert cloud.synchronisations() >= 1 and cloud.tokens >= 1
    before = len(cloud.states())
    payload = reporting.ask("SYNC", token)
    (device,) = payload["devices"]
    assert device["willReportState"] is True and device["matterOriginalVendorId"] == "0xfff1"
    assert all(body["agentUserId"] == payload["agentUserId"] for _, body in cloud.reports)
    # The cloud has asked for all devices, so it gets all states once more.
    cloud.wait(lambda: len(cloud.states()) > before, "the states follow SYNC")
    before = len(cloud.states())
    reporting.switch("secret", on=True)
    reporting.switch("lamp", on=True)
    reporting.switch("lamp", on=True)
    cloud.wait(lambda: reporting.reported(on=True, since=before), "the lamp is reported")
    reporting.switch("lamp", on=False)
    cloud.wait(lambda: reporting.reported(on=False, since=before), "the lamp is reported again")
    assert [states[reporting.lamp]["on"] for states in cloud.states()[before:]] == [True, False]
    assert all(reporting.secret not in states for states in cloud.states())


def test_a_renamed_device_makes_the_cloud_ask_for_the_list(reporting: Reporting, token: str) -> None:
    before = reporting.cloud.synchronisations()
    answer = reporting.gateway.client.request("PATCH", "/v1/devices/lamp", json.dumps({"name": "Desk"}), JSON)
    assert answer.status == 200, answer.text
    reporting.cloud.wait(lambda: reporting.cloud.synchronisations() > before, "a list is asked for")


@pytest.mark.parametrize("trouble", ["busy", "broken", "redirect", "unauthorized"])
def test_a_report_survives_a_cloud_in_trouble(reporting: Reporting, token: str, trouble: str) -> None:
    cloud = reporting.cloud
    tokens = cloud.tokens
    cloud.trouble.append(
        {
            "busy": (429, {"Retry-After": "1"}),
            "broken": (500, {}),
            "redirect": (307, {"Location": f"{cloud.url}/stolen"}),
            "unauthorized": (401, {}),
        }[trouble]
    )
    before = len(cloud.states())
    reporting.switch("lamp", on=True)
    cloud.wait(lambda: reporting.reported(on=True, since=before), "the report comes again")
    reporting.switch("lamp", on=False)
    cloud.wait(lambda: reporting.reported(on=False, since=before), "the next one comes too")
    assert not cloud.trouble and not cloud.strangers
    assert (cloud.tokens > tokens) == (trouble == "unauthorized")


def test_a_cloud_that_was_away_gets_the_newest_state(reporting: Reporting, token: str) -> None:
    cloud = reporting.cloud
    before = len(cloud.states())
    cloud.stop()
    for on in (True, False, True):
        reporting.switch("lamp", on=on)
    cloud.start()
    cloud.wait(lambda: reporting.reported(on=True, since=before), "the newest state is reported")
    assert len(cloud.states()) == before + 1
    reporting.switch("lamp", on=False)


def test_a_disconnected_account_is_reported_no_more(reporting: Reporting, token: str) -> None:
    cloud = reporting.cloud
    # The message that is on its way ends with the account.
    cloud.left.clear()
    cloud.trouble.append((0, {}))
    other = reporting.link(["lamp"])
    cloud.wait(lambda: 0 in cloud.troubled, "a report hangs")
    for linked in (other, token):
        reporting.ask("DISCONNECT", linked)
    assert cloud.left.wait(10), "the gateway still waits for the answer"
    before = len(cloud.reports)
    reporting.switch("lamp", on=True)
    # A report of this change would come before that of an account that is linked afterwards.
    cloud.trouble.clear()
    reporting.link(["lamp"])
    cloud.wait(lambda: len(cloud.reports) > before, "the new account is reported")
    users = {body["agentUserId"] for _, body in cloud.reports[before:]}
    assert len(users) == 1
