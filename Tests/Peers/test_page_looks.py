"""What the page looks like: every view at four sizes and in both colour schemes, compared with stored looks.

`pytest Tests/Peers/test_page_looks.py --update-looks` stores them again, in the folder `looks`.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from peers.chromium import LONG_START, patient
from peers.gateway import DOORBELL, Camera, Gateway
from peers.home_page import send
from peers.looks import measure
from peers.polling import eventually
from peers.recorded_footage import make_tracks, write_recording
from playwright.sync_api import Browser, Page, ViewportSize, expect

FOLDER = Path(__file__).parent / "looks"
LAYOUT = f"() => {{ {(Path(__file__).parent / 'peers' / 'layout.js').read_text()} return checkLayout(); }}"


@dataclass(frozen=True)
class Size:
    name: str
    width: int
    height: int
    columns: int
    """How many cells a look has beside each other."""

    @property
    def viewport(self) -> ViewportSize:
        return ViewportSize(width=self.width, height=self.height)


SIZES = [
    Size("phone", 390, 844, 48), Size("tablet", 820, 1180, 64), Size("desktop", 1440, 900, 96),
    Size("wall display", 1920, 1080, 96),
]  # fmt: skip
SCHEMES = ("light", "dark")

STILL = """
(() => {
  // Times and dates are the same in each run.
  Date.prototype.toLocaleTimeString = () => "12:34:56 PM";
  Date.prototype.toLocaleDateString = () => "Thursday, January 1";
  Date.prototype.toLocaleString = () => "1/1/2026, 12:34:56 PM";
  // So are fields with dates, the age of pictures, the path of a live picture, and what is behind a dialog.
  // Words have one font where it is installed: a wider one breaks lines elsewhere.
  // Pictures of cameras are a grey area: what they show is moved out of their boxes.
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(`
    body { font-family: "DejaVu Sans", system-ui, sans-serif !important; }
    code { font-family: "DejaVu Sans Mono", monospace !important; }
    video, canvas, img:not(.mark) { background: #808080 !important; object-position: -9999px 0 !important;
      opacity: 1 !important; filter: none !important; }
    .spinner, .timeline-cursor, .chip, .one-camera .view-state { visibility: hidden; }
    * { scrollbar-width: none !important; }
    ::-webkit-datetime-edit { visibility: hidden; }
    dialog::backdrop { background: #404040 !important; }
  `);
  document.adoptedStyleSheets = [sheet];
})();
"""


DEVICES: dict[str, object] = {
    "ceiling": {"name": "Ceiling light", "type": "ExtendedColorLight", "room": "Study"},
    "heating": {"name": "Heating", "type": "Thermostat", "room": "Study"},
    "blind": {"name": "Blind", "type": "WindowCovering", "room": "Study"},
    "window": {"name": "Window", "type": "ContactSensor", "room": "Study"},
    "lock": {"name": "Front lock", "type": "DoorLock", "room": "Hall"},
    "smoke": {"name": "Smoke alarm", "type": "SmokeCOAlarm", "room": "Hall"},
}


@pytest.fixture(scope="module")
def home(binary: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Gateway]:
    """A home with two cameras that send, one that cannot be reached, devices in two rooms, recordings of yesterday,
    two automations, and something that happened."""
    folder = tmp_path_factory.mktemp("looks")
    start = (datetime.now(UTC) - timedelta(days=1)).replace(hour=12, minute=0, second=0, microsecond=0)
    tracks = make_tracks(folder, 4)
    root = folder / "state" / "recordings"
    root.parent.mkdir(mode=0o700)
    for number, minutes in enumerate([0, 90, 200], 1):
        write_recording(root, "front-door", start + timedelta(minutes=minutes), number, tracks)
    cameras = [DOORBELL, Camera("yard", "builtin:silent", name="Back yard"),
               Camera("barn", "rtsp://127.0.0.1:9/none", name="Barn")]  # fmt: skip
    running = Gateway(binary, folder, cameras, {"devices": DEVICES})
    for camera in ("front-door", "yard"):
        running.wait_until_flowing(camera)
    prepare(running)
    yield running
    assert running.stop() == 0, running.process.output()[-4000:]


def prepare(home: Gateway) -> None:
    for device, trait, command, parameters in (
        ("ceiling", "OnOff", "on", {}),
        ("lock", "DoorLock", "lockDoor", {}),
        ("ceiling", "LevelControl", "moveToLevel", {"level": 128}),
    ):
        one = {"deviceID": device, "trait": trait, "command": command, "parameters": parameters}
        send(home, "POST", "/v1/commands", commands=[one])
    structure = home.client.get("/v1/structures")["structures"][0]["id"]
    light, window = ({"device": home.client.get(f"/v1/devices/{key}")["id"]} for key in ("ceiling", "window"))
    opened = {"type": "attributeStarter", "id": "opened", "entity": window, "trait": "BooleanState"}
    action = {"type": "action", "entity": light, "trait": "OnOff", "command": "on"}
    # The history is written a moment later.
    eventually(lambda: len(home.client.get("/v1/history")["items"]) >= 2, "the history is written")
    for name, nodes in (
        ("Light when the window opens", [opened, action]),
        ("Light for a while", [{"type": "manualStarter"}, action, {"type": "delay", "for": 600}]),
    ):
        graph = {"version": 1, "nodes": nodes}
        send(home, "POST", f"/v1/structures/{structure}/automations", name=name, automationGraph=graph)


@dataclass
class Visitor:
    """One page that visits all views, and another one that measures the screenshots."""

    page: Page
    bench: Page
    home: Gateway
    is_update: bool
    folder: Path

    def go(self, path: str) -> None:
        """Opens an address on a new page of the same tab, which nobody has signed in to."""
        if self.page.url.startswith("http"):
            self.page.evaluate("() => { localStorage.clear(); sessionStorage.clear(); }")
        self.page.goto("about:blank")
        self.page.goto(f"http://127.0.0.1:{self.home.port}/{path}")

    def look(self, view: str, settle: Callable[[], None] | None = None) -> None:
        """Looks at the page as it is, at every size and in both colour schemes. `settle` waits for what a size
        changes."""
        problems: list[str] = []
        for size in SIZES:
            # A page that is shorter at this size would have to scroll back, and may be drawn before it has.
            self.page.evaluate("scrollTo(0, 0)")
            self.page.set_viewport_size(size.viewport)
            for scheme in SCHEMES:
                self.page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
                name = f"{view}-{size.name}-{scheme}".replace(" ", "-")
                title = f"{view}, {size.name} ({size.width} × {size.height}), {scheme}"
                stored = FOLDER / f"{name}.txt"
                # The state of a camera may change between the wait and the picture, for as long as an attempt takes.
                # What the page shows for good is there in each picture.
                for _ in range(4):
                    if settle:
                        settle()
                    self.page.evaluate(DRAWN)
                    png = self.page.screenshot()
                    look = measure(self.bench, png, title, size.width, size.height, size.columns)
                    if self.is_update or not stored.exists() or not look.differences(stored.read_text()):
                        break
                if scheme == SCHEMES[0]:
                    found = self.page.evaluate(LAYOUT)
                    problems += [f"{view}, {size.name}: {one}" for one in found]
                if self.is_update:
                    stored.parent.mkdir(exist_ok=True)
                    stored.write_text(look.text)
                elif not stored.exists():
                    problems.append(f"{title}: {stored.name} is missing: store it with --update-looks")
                elif difference := look.differences(stored.read_text()):
                    picture = self.folder / f"{name}.png"
                    picture.write_bytes(png)
                    problems.append(f"{title}: it looks different, see {picture}\n{difference}")
        assert not problems, "\n".join(problems)


DRAWN = """
async () => {
  await document.fonts.ready;
  await new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));
}
"""


@pytest.fixture(scope="module")
def pages(browser: Browser) -> Iterator[tuple[Page, Page, list[str]]]:
    errors: list[str] = []
    context = patient(
        browser.new_context(viewport=SIZES[0].viewport, reduced_motion="reduce", locale="en-US", timezone_id="UTC")
    )
    context.add_init_script(LONG_START)
    context.add_init_script(STILL)
    page, bench = context.new_page(), context.new_page()
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.bring_to_front()
    yield page, bench, errors
    context.close()


@pytest.fixture
def visitor(
    pages: tuple[Page, Page, list[str]], home: Gateway, request: pytest.FixtureRequest, tmp_path: Path
) -> Iterator[Visitor]:
    page, bench, errors = pages
    yield Visitor(page, bench, home, request.config.getoption("--update-looks"), tmp_path)
    assert not errors


def signed_in(visitor: Visitor, fragment: str = "") -> Page:
    """The list of devices, or the view that the address names."""
    visitor.page.set_viewport_size(SIZES[0].viewport)
    visitor.go(f"#{fragment}&token={visitor.home.token}".replace("#&", "#"))
    if not fragment:
        visitor.page.locator("#camera-front-door").scroll_into_view_if_needed()
        expect(visitor.page.locator("#camera-front-door img.picture")).to_be_visible()
        expect(visitor.page.locator("#camera-barn")).to_contain_text("not reachable")
    return visitor.page


def test_sign_in(visitor: Visitor) -> None:
    visitor.go("")
    expect(visitor.page.locator("#sign-in")).to_be_visible()
    visitor.look("sign-in")


def test_devices(visitor: Visitor) -> None:
    page = signed_in(visitor)
    # From time to time the camera that cannot be reached is tried again, and its text changes for a moment.
    visitor.look("devices", lambda: expect(page.locator("#camera-barn")).to_contain_text("not reachable"))


SCROLLED_TO_THE_END = """
async () => {
  const page = document.documentElement;
  for (let still = 0, turn = 0; still < 10 && turn < 600; turn++) {
    const isAtTheEnd = page.scrollTop + page.clientHeight >= page.scrollHeight - 1;
    still = isAtTheEnd ? still + 1 : 0;
    if (!isAtTheEnd) scrollTo({ top: page.scrollHeight, behavior: "instant" });
    await new Promise((done) => requestAnimationFrame(done));
  }
}
"""


def test_devices_further_down(visitor: Visitor) -> None:
    page = signed_in(visitor)

    def settle() -> None:
        page.locator("#device-blind").scroll_into_view_if_needed()
        # To the very end, and again when what came into sight has made the page longer.
        page.evaluate(SCROLLED_TO_THE_END)

    page.get_by_text("Who may use this home", exact=True).click()
    expect(page.locator("#access-add")).to_be_visible()
    visitor.look("devices-further-down", settle)


def test_wall(visitor: Visitor) -> None:
    page = signed_in(visitor, "wall")

    def settle() -> None:
        # The line at the top goes away when nobody touches the page.
        page.evaluate("dispatchEvent(new Event('pointermove'))")
        expect(page.locator(".cell.playing:not(.stalled)")).to_have_count(2)
        expect(page.locator(".cell", has_text="Barn")).to_contain_text("not reachable")

    visitor.look("wall", settle)


def test_camera(visitor: Visitor) -> None:
    page = signed_in(visitor, "camera/front-door")

    def settle() -> None:
        expect(page.locator(".one-camera.playing:not(.stalled)")).to_be_visible()
        # On a busy machine, the line may say for a while that the connection is too slow.
        expect(page.locator(".one-camera .view-state")).to_have_text("Live · direct")

    visitor.look("camera", settle)


def test_recordings(visitor: Visitor) -> None:
    page = signed_in(visitor)
    page.get_by_role("button", name="Recordings of Front door").click()
    dialog = page.locator("dialog.recordings")
    expect(dialog.locator(".happenings li")).to_have_count(3)
    visitor.look("recordings")


def test_automations(visitor: Visitor) -> None:
    page = signed_in(visitor)
    page.get_by_role("button", name="Automations").click()
    expect(page.locator("li.automation")).to_have_count(2)
    visitor.look("automations")


def test_automation_editor(visitor: Visitor) -> None:
    page = signed_in(visitor)
    page.get_by_role("button", name="Automations").click()
    page.get_by_role("button", name="Light when the window opens", exact=True).click()
    page.locator("dialog.automation-dialog").get_by_role("button", name="Edit").click()
    expect(page.locator("dialog.editor-dialog").get_by_label("Does")).to_be_visible()
    visitor.look("automation-editor")


def test_history(visitor: Visitor) -> None:
    page = signed_in(visitor)
    page.get_by_role("button", name="History", exact=True).click()
    expect(page.locator("dialog .happened").first).to_be_visible()
    visitor.look("history")


def test_camera_settings(visitor: Visitor) -> None:
    page = signed_in(visitor)
    tile = page.locator("#camera-front-door")
    tile.get_by_text("Settings", exact=True).click()
    tile.get_by_role("button", name="Change settings").click()
    expect(page.get_by_role("dialog", name="Settings of Front door")).to_be_visible()
    visitor.look("camera-settings")


def test_add_a_camera(visitor: Visitor) -> None:
    page = signed_in(visitor)
    cameras = [
        {"name": "Garage", "model": "Doorbell-3", "address": "192.0.2.20", "source": "onvif://192.0.2.20"},
        {"name": "A camera with a long name above the entrance of the house", "model": "PTZ-12-outdoor-white",
         "address": "192.0.2.21", "source": "onvif://192.0.2.21"},
    ]  # fmt: skip
    page.route("**/v1/cameras/discover", lambda route: route.fulfill(json={"cameras": cameras}))
    page.get_by_role("button", name="Add a camera").click()
    expect(page.get_by_role("dialog", name="Add a camera")).to_contain_text("Garage")
    visitor.look("add-a-camera")


def test_share(visitor: Visitor) -> None:
    page = signed_in(visitor)
    page.locator("#camera-front-door").get_by_role("button", name="More about").click()
    page.get_by_role("button", name="Share").click()
    expect(page.get_by_role("dialog", name="Share Front door")).to_be_visible()
    visitor.look("share")


def test_page_of_one_camera(visitor: Visitor) -> None:
    home = visitor.home
    grants = [{"scopes": ["view"], "deviceID": home.client.device_id("front-door")}]
    token = send(home, "POST", "/v1/tokens", name="Grandma", grants=grants)["token"]
    visitor.go(f"camera/front-door#token={token}")

    def settle() -> None:
        expect(visitor.page.get_by_text("Live", exact=True)).to_be_visible()

    visitor.look("page-of-one-camera", settle)
