"""Fixtures: one gateway with all cameras for each file that uses it, and one Chromium for the whole run. The files that
take longest run first."""

import os
import signal
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from peers import chromium as chromium_peer
from peers.chromium import ChromiumPage, open_page
from peers.coturn import Coturn
from peers.firefox import Firefox
from peers.gateway import DOORBELL, Camera, Gateway
from peers.links import Links
from peers.lossy_line import LossyLine
from peers.namespace import Namespace, NamespaceUnavailable
from peers.networks import Networks
from peers.own_network import enter_own_network
from peers.polling import PATIENCE
from peers.remote_gateway import coturn_on_the_internet
from peers.rotation import left_out, place
from peers.rtsp_cameras import RTSPCameras
from playwright.sync_api import Browser, Playwright, expect, sync_playwright

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture(scope="session")
def binary() -> Path:
    """The gateway's program: the debug build, unless GATEHOUSE_BINARY names another."""
    path = Path(os.environ.get("GATEHOUSE_BINARY", ROOT / ".build/debug/gatehouse"))
    if not path.exists():
        pytest.exit(f"{path} is missing: run swift build first", returncode=3)
    return path


@pytest.fixture(scope="session")
def rtsp_cameras(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RTSPCameras]:
    cameras = RTSPCameras(tmp_path_factory.mktemp("rtsp") / "rtsp-camera.log")
    yield cameras
    cameras.stop()


@pytest.fixture(scope="session")
def namespace() -> Iterator[Namespace | None]:
    """Where Firefox lives; None where this host gives no namespace, and then the host's own address has to do."""
    try:
        made = Namespace()
    except NamespaceUnavailable as reason:
        print(f"Firefox runs without a network namespace: {reason}")
        yield None
        return
    yield made
    made.close()


@pytest.fixture(scope="module")
def gateway(
    binary: Path,
    rtsp_cameras: RTSPCameras,
    namespace: Namespace | None,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Gateway]:
    # It pulls its cameras all the time, so it does not stay for files that have gateways of their own.
    # After the namespace: its interface is among those that the gateway offers.
    running = Gateway(
        binary,
        tmp_path_factory.mktemp("gateway"),
        [DOORBELL, rtsp_cameras.camera("garden", "vp8"), rtsp_cameras.camera("drive", "h264"),
         rtsp_cameras.camera("porch", "pcmu"), rtsp_cameras.camera("gate", "silent"),
         rtsp_cameras.camera("shed", "vp8-silent"), rtsp_cameras.camera("nursery", "sound"),
         rtsp_cameras.camera("yard", "g722"), Camera("cellar", "builtin:silent")],
    )  # fmt: skip
    yield running
    assert running.process.is_running, f"the gateway ended unexpectedly:\n{running.process.output()[-4000:]}"
    assert running.stop() == 0, f"the gateway did not end well:\n{running.process.output()[-4000:]}"


@pytest.fixture(scope="session")
def driver() -> Iterator[Playwright]:
    # Playwright's own patience is five seconds.
    expect.set_options(timeout=PATIENCE * 1000)
    with sync_playwright() as playwright:
        yield playwright


@pytest.fixture(scope="session")
def browser(driver: Playwright) -> Iterator[Browser]:
    launched = chromium_peer.launch(driver)
    yield launched
    launched.close()


@pytest.fixture(scope="module")
def chromium(browser: Browser, gateway: Gateway) -> Iterator[ChromiumPage]:
    """A page that a file's tests share, as they share Firefox: opening one takes longer than most of them."""
    with open_page(browser, f"http://127.0.0.1:{gateway.port}") as page:
        yield page


@pytest.fixture(scope="module")
def firefox(
    gateway: Gateway, namespace: Namespace | None, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Firefox]:
    launched = Firefox(tmp_path_factory.mktemp("firefox"), namespace)
    launched.open(f"http://{launched.host}:{gateway.port}/")
    yield launched
    launched.stop()


@pytest.fixture(scope="module")
def whole_line() -> Iterator[LossyLine]:
    """A line that loses datagrams; skipped where the host gives none."""
    try:
        made = LossyLine()
    except NamespaceUnavailable as reason:
        pytest.skip(f"this host gives no lossy line: {reason}")
    yield made
    made.close()


@pytest.fixture
def line(whole_line: LossyLine) -> Iterator[LossyLine]:
    """Loses nothing when a test begins."""
    yield whole_line
    whole_line.set()


@pytest.fixture(scope="module")
def networks() -> Iterator[Networks]:
    """Two networks behind routers, and what lies between them; skipped where the host gives none."""
    try:
        made = Networks()
    except NamespaceUnavailable as reason:
        pytest.skip(f"this host gives no networks: {reason}")
    yield made
    made.close()


@pytest.fixture(scope="module")
def coturn(networks: Networks, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Coturn]:
    """A STUN and TURN server between the networks."""
    with coturn_on_the_internet(networks, tmp_path_factory.mktemp("coturn")) as started:
        yield started


@pytest.fixture
def links() -> Iterator[Links]:
    """A gateway's host and a viewer's, with a router between them; skipped where the host gives no networks."""
    try:
        made = Links()
    except NamespaceUnavailable as reason:
        pytest.skip(f"this host gives no networks: {reason}")
    yield made
    made.close()


@pytest.fixture(scope="session")
def report(request: pytest.FixtureRequest) -> list[str]:
    """Lines that are printed after the tests: figures that are measured and not judged."""
    lines: list[str] = []
    request.config.stash[REPORT] = lines
    return lines


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Puts the files that take long first, and of the others those with many tests. Workers take whole files in this
    order (`--no-loadscope-reorder`), so that none is left with a long one while the others have nothing to do."""
    counts = Counter(item.path for item in items)
    # The tests of a file stay in their order.
    items.sort(key=lambda item: (place(item.path), -counts[item.path], item.path))


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """With `--rotate`, leaves out the long files that other commits run."""
    return True if config.getoption("--rotate") and collection_path.stem in left_out() else None


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--rotate", action="store_true", help="leave the long files of other parts to other commits (peers/rotation.py)"
    )
    parser.addoption(
        "--update-looks", action="store_true", help="store what the page looks like now (test_page_looks.py)"
    )


def pytest_configure(config: pytest.Config) -> None:
    # A worker has others beside it.
    if hasattr(config, "workerinput"):
        try:
            enter_own_network()
        except NamespaceUnavailable as reason:
            print(f"This worker shares the machine's network with the others: {reason}")

    # The fixtures also end their processes when pytest is asked to stop.
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    signal.signal(signal.SIGTERM, interrupt)


REPORT = pytest.StashKey[list[str]]()


def pytest_sessionfinish(session: pytest.Session) -> None:
    # With several workers, the figures of each go to the process that prints them.
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["figures"] = session.config.stash.get(REPORT, [])


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    node.config.stash.setdefault(REPORT, []).extend(getattr(node, "workeroutput", {}).get("figures", []))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if config.getoption("--rotate") and (others := left_out()):
        terminalreporter.write_line(f"Left to other commits: {len(others)} files ({', '.join(sorted(others))})")
    if lines := config.stash.get(REPORT, None):
        terminalreporter.section("figures")
        for line in lines:
            terminalreporter.write_line(line)
