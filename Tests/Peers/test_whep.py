"""The rules of WHEP's resources: entity tags, conditions, media types and methods, without a browser between."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from peers.client import Answer, Client
from peers.gateway import Gateway

SAMPLES = Path(__file__).parent.parent.parent / "sdp-samples/offers"
FRAGMENT = {"Content-Type": "application/trickle-ice-sdpfrag"}


def offer() -> str:
    # As recorded: line ends are CRLF and stay so.
    return (SAMPLES / "chromium-recvonly-av.offer.sdp").read_bytes().decode()


def value(sdp: str, name: str) -> str:
    found = re.search(rf"^a={name}:(\S+)", sdp, re.MULTILINE)
    assert found, f"no a={name} in {sdp!r}"
    return found[1]


@pytest.fixture
def client(gateway: Gateway) -> Client:
    gateway.wait_until_flowing("front-door")
    return gateway.client


@pytest.fixture
def session(client: Client) -> Iterator[Answer]:
    answer = client.whep("front-door", offer())
    assert answer.status == 201, answer.text
    yield answer
    client.request("DELETE", answer.headers["location"])


def trickle(client: Client, session: Answer, condition: str | None, body: str | None = None) -> Answer:
    if body is None:
        body = (
            f"a=ice-ufrag:{value(offer(), 'ice-ufrag')}\r\na=ice-pwd:{value(offer(), 'ice-pwd')}\r\n"
            "m=audio 9 UDP/TLS/RTP/SAVPF 0\r\na=mid:0\r\n"
            "a=candidate:1 1 udp 2122260223 192.0.2.9 50000 typ host generation 0\r\n"
        )
    headers = FRAGMENT | ({} if condition is None else {"If-Match": condition})
    return client.request("PATCH", session.headers["location"], body, headers)


def test_the_answer_names_the_session_and_its_generation(session: Answer) -> None:
    assert session.headers["content-type"] == "application/sdp"
    assert re.fullmatch(r"/whep/front-door/[\w-]{20,}", session.headers["location"])
    assert re.fullmatch(r'"[^"]+"', session.headers["etag"])
    assert "application/trickle-ice-sdpfrag" in session.headers["accept-patch"]
    assert value(session.text, "setup") == "passive"


def test_candidates_need_the_sessions_current_tag(client: Client, session: Answer) -> None:
    assert trickle(client, session, session.headers["etag"]).status == 204
    # Credentials say the same as the tag.
    assert trickle(client, session, None).status == 204
    candidate = "m=audio 9 UDP/TLS/RTP/SAVPF 0\r\na=mid:0\r\na=candidate:1 1 udp 1 192.0.2.9 50000 typ host\r\n"
    assert trickle(client, session, None, candidate).status == 428
    others = f"a=ice-ufrag:another\r\na=ice-pwd:{'p' * 24}\r\n"
    assert trickle(client, session, None, others + candidate).status == 428
    assert trickle(client, session, '"another"').status == 412


def test_a_restart_gives_new_credentials_and_a_new_tag(client: Client, session: Answer) -> None:
    body = "a=ice-ufrag:newUfrag\r\na=ice-pwd:abcdefghijklmnopqrstuvwx\r\n"
    restarted = trickle(client, session, "*", body)
    assert restarted.status == 200, restarted.text
    assert restarted.headers["etag"] != session.headers["etag"]
    assert value(restarted.text, "ice-ufrag") != value(session.text, "ice-ufrag")
    assert value(restarted.text, "ice-pwd") != value(session.text, "ice-pwd")
    # What belonged to the former generation comes too late.
    assert trickle(client, session, session.headers["etag"]).status == 412


def test_a_damaged_fragment_is_refused_with_its_place(client: Client, session: Answer) -> None:
    answer = trickle(client, session, session.headers["etag"], "this is not a fragment\r\n")
    assert answer.status == 400 and answer.json["error"]["message"]


def test_an_ended_session_is_gone(client: Client) -> None:
    location = client.whep("front-door", offer()).headers["location"]
    assert client.request("DELETE", location).status == 200
    # Ending is idempotent for the session's owner.
    assert client.request("DELETE", location).status == 200
    assert client.request("PATCH", location, "a=ice-ufrag:x\r\n", FRAGMENT | {"If-Match": "*"}).status == 404


def test_options_state_what_may_be_sent(client: Client, session: Answer) -> None:
    device = client.request("OPTIONS", "/whep/front-door")
    assert device.status == 204 and device.headers["accept-post"] == "application/sdp"
    resource = client.request("OPTIONS", session.headers["location"])
    assert resource.status == 204 and "application/trickle-ice-sdpfrag" in resource.headers["accept-patch"]


def test_refuses_anything_but_an_offer(client: Client) -> None:
    sdp = {"Content-Type": "application/sdp"}
    cases = {
        "no token": (client.request("POST", "/whep/front-door", offer(), sdp, token=None), 401),
        "a wrong token": (client.request("POST", "/whep/front-door", offer(), sdp, token="gatehouse_no"), 401),
        "another type": (client.request("POST", "/whep/front-door", "{}", {"Content-Type": "text/plain"}), 415),
        "no offer, as some players wait for one": (client.request("POST", "/whep/front-door"), 415),
        "no SDP": (client.whep("front-door", "hello"), 400),
        "nothing": (client.whep("front-door", ""), 400),
        "no such device": (client.whep("back-door", offer()), 404),
        "too much": (client.whep("front-door", "v=0\r\n" + "a=x:" + "y" * 100_000 + "\r\n"), 413),
        "a foreign page": (
            client.request("POST", "/whep/front-door", offer(), sdp | {"Origin": "https://elsewhere.example"}), 403,
        ),
    }  # fmt: skip
    assert {name: answer.status for name, (answer, _) in cases.items()} == {
        name: expected for name, (_, expected) in cases.items()
    }
    for answer, _ in cases.values():
        error = answer.json["error"]
        assert error["code"] > 0 and error["status"] and error["message"]


def test_every_recorded_offer_is_answered_or_refused_with_a_reason(client: Client) -> None:
    recorded = sorted(SAMPLES.glob("*.sdp"))
    assert recorded
    for path in recorded:
        answer = client.whep("front-door", path.read_bytes().decode())
        if answer.status == 201:
            assert value(answer.text, "fingerprint").lower() == "sha-256"
            assert client.request("DELETE", answer.headers["location"]).status == 200
        else:
            # 406 without a common codec; 400 if the offer asks for nothing that a camera has.
            assert answer.status in (400, 406), f"{path.name}: {answer.status} {answer.text}"
            assert answer.json["error"]["message"], path.name
