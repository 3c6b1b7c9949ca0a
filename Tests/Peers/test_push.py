"""Web Push: notifications to a push service of the test's own, and in Chromium's service worker."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from peers.chromium import patient
from peers.client import Answer
from peers.gateway import DOORBELL, Camera, Gateway
from peers.pki import Authority
from peers.polling import eventually
from peers.push_service import PushBrowser, PushService
from playwright.sync_api import Browser, Page, expect

JSON = {"Content-Type": "application/json"}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PushService]:
    running = PushService(Authority(tmp_path_factory.mktemp("authority"), "authority"))
    yield running
    running.stop()


@pytest.fixture(scope="module")
def house(binary: Path, service: PushService, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    cameras = [DOORBELL, Camera("yard", "builtin:silent", name="Yard", settings={"webhook": True})]
    push = {"services": [service.origin], "ca": str(service.authority.path)}
    running = Gateway(binary, tmp_path_factory.mktemp("push"), cameras, {"push": push})
    for camera in cameras:
        running.wait_until_flowing(camera.id)
    yield running
    assert running.stop() == 0, running.process.output()[-4000:]
    # An address at a push service is a secret.
    assert "/send/" not in running.process.output()


def send(house: Gateway, method: str, path: str, body: Any = None, token: str = "") -> Answer:
    return house.client.request(method, path, json.dumps(body) if body is not None else None, JSON, token)


def subscribe(house: Gateway, browser: PushBrowser, token: str = "", **wishes: Any) -> str:
    answer = send(house, "POST", "/v1/push-subscriptions", browser.subscription | {"wishes": wishes}, token)
    assert answer.status in (200, 201), answer.text
    return str(answer.json["id"])


def press(house: Gateway) -> None:
    assert house.client.command("front-door", "DoorbellPress", "press").status == 200


def detect(house: Gateway, kind: str) -> None:
    assert send(house, "POST", "/v1/devices/yard/events", {"type": kind, "active": True}).status in (200, 202, 204)
    send(house, "POST", "/v1/devices/yard/events", {"type": kind, "active": False})


def messages(service: PushService, browser: PushBrowser) -> list[dict[str, Any]]:
    return [json.loads(browser.decrypt(one.body)) for one in service.sent_to(browser)]


def test_a_press_reaches_a_browser_with_a_picture(house: Gateway, service: PushService) -> None:
    browser = service.browser("press")
    subscribe(house, browser)
    press(house)
    (message,) = eventually(lambda: messages(service, browser), "the notification comes")
    assert (message["kind"], message["name"], message["key"]) == ("doorbell", "Front door", "front-door")
    (request,) = service.sent_to(browser)
    claim = request.check_sender(service.origin, house.client.get("/v1/push")["publicKey"])
    assert claim["sub"].startswith("https://")
    assert request.headers["content-encoding"] == "aes128gcm" and request.headers["urgency"] == "high"
    assert 0 < int(request.headers["ttl"]) <= 3600 and len(request.headers["topic"]) <= 32
    assert b"Front door" not in request.body
    picture = house.client.request("GET", message["picture"], token=None)
    assert picture.status == 200 and picture.body[:3] == b"\xff\xd8\xff"
    assert house.client.request("GET", message["picture"][:-5] + "x.jpg", token=None).status == 404


def test_detections_reach_those_who_chose_them(house: Gateway, service: PushService) -> None:
    chosen, other, quiet = (service.browser(name) for name in ("chosen", "other", "quiet"))
    subscribe(house, chosen, doorbell=False, detections=["person"], devices=["yard"], picture=False)
    subscribe(house, other, doorbell=False, detections=["person"], devices=["front-door"])
    subscribe(house, quiet, doorbell=False)
    detect(house, "vehicle")
    detect(house, "person")
    # A stay that is reported again at once is not news.
    detect(house, "person")
    (message,) = eventually(lambda: messages(service, chosen), "the notification comes")
    assert (message["kind"], message["detection"], message["name"]) == ("detection", "person", "Yard")
    assert "picture" not in message
    press(house)
    eventually(lambda: len(service.sent_to(service.browser("press"))) > 1, "others are notified of the press")
    assert len(messages(service, chosen)) == 1
    assert not service.sent_to(other) and not service.sent_to(quiet)


def test_who_may_not_read_a_camera_hears_nothing_of_it(house: Gateway, service: PushService) -> None:
    door = house.client.device_id("front-door")
    token = send(house, "POST", "/v1/tokens", {"name": "Ana", "grants": [{"scopes": ["read"], "deviceID": door}]}).json
    ana = service.browser("ana")
    subscribe(house, ana, token["token"], detections=["animal"])
    watching = service.browser("watching")
    subscribe(house, watching, detections=["animal"], doorbell=True)
    detect(house, "animal")
    eventually(lambda: service.sent_to(watching), "the owner is notified")
    assert not service.sent_to(ana)
    press(house)
    (message,) = eventually(lambda: messages(service, ana), "Ana hears of her door")
    # She may read the camera, and not see its pictures.
    assert "picture" not in message
    # Her token is taken back, and her browser is forgotten.
    assert house.client.request("DELETE", f"/v1/tokens/{token['id']}").status == 204
    before = len(service.sent_to(watching))
    press(house)
    eventually(lambda: len(service.sent_to(watching)) > before, "the owner is notified")
    assert len(service.sent_to(ana)) == 1


def test_a_busy_service_is_asked_again_and_a_browser_that_is_gone_is_forgotten(
    house: Gateway, service: PushService
) -> None:
    for one in house.client.get("/v1/push-subscriptions")["subscriptions"]:
        assert house.client.request("DELETE", f"/v1/push-subscriptions/{one['id']}").status == 204
    browser = service.browser("late")
    subscribe(house, browser)
    service.statuses = {"late": [503]}
    press(house)
    eventually(lambda: len(service.sent_to(browser)) >= 2, "the message is sent again")
    service.statuses = {"late": [410]}
    press(house)
    eventually(lambda: house.client.get("/v1/push-subscriptions")["subscriptions"] == [], "the browser is forgotten")


@pytest.mark.parametrize(
    "endpoint",
    ["https://127.0.0.1/x", "http://push.example/x", "https://10.1.2.3/x", "https://[::1]/x", "https://localhost/x"],
)
def test_addresses_in_the_house_are_refused(house: Gateway, service: PushService, endpoint: str) -> None:
    body = service.browser("x").subscription | {"endpoint": endpoint}
    assert send(house, "POST", "/v1/push-subscriptions", body).status == 400


# The browser's own push service is on the Internet, which the test does not reach: its subscription is the test's.
SUBSCRIPTION = """
(given) => {
  const made = { toJSON: () => given, endpoint: given.endpoint, unsubscribe: async () => true };
  PushManager.prototype.subscribe = PushManager.prototype.getSubscription = async () => made;
}
"""

# As a browser that does not trust the gateway's certificate, even after somebody went past its warning.
WITHOUT_TRUST = """
() => {
  const { register } = ServiceWorkerContainer.prototype;
  ServiceWorkerContainer.prototype.register = async function () {
    ServiceWorkerContainer.prototype.register = register;
    throw new DOMException("An SSL certificate error occurred when fetching the script.", "SecurityError");
  };
}
"""


SHOWN = """
async () => (await (await navigator.serviceWorker.ready).getNotifications())
  .map(({ title, body, tag, image, data }) => ({ title, body, tag, image, data }))
"""


def deliver(page: Page, origin: str, data: bytes) -> list[dict[str, Any]]:
    """Gives a message to the service worker, as the browser does after it has decrypted it; what the worker shows then.

    Chromium's protocol does not say whether the worker got the message, and on a busy machine it sometimes does not. So
    it is sent again, as push services do. The tag of the notification keeps it from being shown twice.
    """
    session = page.context.new_cdp_session(page)
    found: list[str] = []
    session.on(
        "ServiceWorker.workerRegistrationUpdated",
        lambda event: found.extend(one["registrationId"] for one in event["registrations"] if not one["isDeleted"]),
    )
    session.send("ServiceWorker.enable")
    page.evaluate("navigator.serviceWorker.ready.then(() => null)")
    # Playwright hands events over while it runs something in the page.
    eventually(lambda: page.evaluate("null") or found, "Chromium reports the registration")
    for turn in range(900):
        if turn % 50 == 0:
            session.send(
                "ServiceWorker.deliverPushMessage",
                {"origin": origin, "registrationId": found[-1], "data": data.decode()},
            )
        page.wait_for_timeout(100)
        if shown := page.evaluate(SHOWN):
            session.detach()
            return list(shown)
    raise AssertionError("the worker shows nothing")


def test_the_page_subscribes_and_its_service_worker_shows_the_visitor(
    house: Gateway, service: PushService, browser: Browser
) -> None:
    origin = f"http://127.0.0.1:{house.port}"
    mine = service.browser("chromium")
    with browser.new_context(viewport={"width": 390, "height": 844}) as context:
        context.grant_permissions(["notifications"], origin=origin)
        page = patient(context).new_page()
        problems: list[str] = []
        page.on("pageerror", lambda error: problems.append(str(error)))
        page.goto(f"{origin}/#token={house.token}")
        page.evaluate(SUBSCRIPTION, mine.subscription)
        page.get_by_role("button", name="Notifications", exact=True).click()
        dialog = page.get_by_role("dialog", name="Notifications on this device")
        dialog.get_by_label("A person").check()
        page.evaluate(WITHOUT_TRUST)
        dialog.get_by_role("button", name="Notify this browser").click()
        expect(dialog.get_by_role("alert")).to_contain_text("certificate")
        dialog.get_by_role("button", name="Notify this browser").click()
        expect(dialog.get_by_text("Saved.")).to_be_visible()
        (known,) = house.client.get("/v1/push-subscriptions")["subscriptions"]
        assert known["wishes"] == {"doorbell": True, "detections": ["person"], "picture": True}
        dialog.get_by_role("button", name="Try it").click()
        expect(dialog.get_by_text("A notification is on its way.")).to_be_visible()
        assert messages(service, mine)[-1]["kind"] == "test"

        press(house)
        eventually(lambda: len(messages(service, mine)) == 2, "the notification comes")
        (shown,) = deliver(page, origin, mine.decrypt(service.sent_to(mine)[-1].body))
        assert shown["title"] == "Somebody is at Front door"
        assert shown["data"]["path"] == "/#camera/front-door"
        # Chromium tells a page the picture of a notification only where it can show it.
        assert shown["image"] in (None, "") or shown["image"].startswith(f"{origin}/v1/push-pictures/")

        # The browser replaces its subscription while the page is closed.
        later = service.browser("chromium-later")
        page.add_init_script(f"({SUBSCRIPTION})({json.dumps(later.subscription)})")
        page.reload()

        def is_renewed() -> bool:
            # For a moment there are both.
            listed = house.client.get("/v1/push-subscriptions")["subscriptions"]
            return [one["wishes"] for one in listed] == [known["wishes"]] and listed[0]["id"] != known["id"]

        eventually(is_renewed, "the gateway knows the new one, and no longer the one before")
        page.get_by_role("button", name="Notifications", exact=True).click()
        expect(dialog.get_by_role("button", name="End notifications")).to_be_visible()

        # It ends with the sign-out.
        page.keyboard.press("Escape")
        page.get_by_role("button", name="Sign out").click()
        expect(page.get_by_label("Token or password")).to_be_visible()
        eventually(lambda: house.client.get("/v1/push-subscriptions")["subscriptions"] == [], "it has ended")
        assert not problems
