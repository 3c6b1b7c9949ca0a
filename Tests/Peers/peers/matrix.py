"""Peers that make offers of every shape and apply the gateway's answers to them."""

import asyncio
import itertools
import json
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from aiortc import (
    RTCBundlePolicy,
    RTCConfiguration,
    RTCPeerConnection,
    RTCRtpReceiver,
    RTCSessionDescription,
)
from aiortc.mediastreams import MediaStreamError, MediaStreamTrack
from aiortc.rtcrtpparameters import RTCRtpCodecCapability

from .client import Client
from .polling import PATIENCE
from .shapes import Camera, Case, Outcome, Tally, some_cases
from .viewer import Page

MATRIX = (Path(__file__).parent / "matrix.js").read_text()
# As many at once as keep two processor cores busy.
PARALLEL = 4


def browser_matrix(
    peer: str, page: Page, load: Callable[[], object], token: str, make: Callable[[frozenset[str]], list[Case]]
) -> Tally:
    """Runs cases inside a page of the gateway's origin, which `load` loads again. `make` gets the browser's codecs."""
    began = time.monotonic()

    def prepare() -> None:
        load()
        page.evaluate(f"(() => {{ {MATRIX}; window.matrix = new GatehouseMatrix({json.dumps(token)}); return 0; }})()")

    prepare()
    tally = Tally(peer, frozenset(page.evaluate("window.matrix.codecs")))
    every = [list(those) for _, those in itertools.groupby(make(tally.codecs), key=lambda case: case.shape)]
    # Twenty-five a call keep each far below the drivers' time limits, also on a busy machine, and a page has not too
    # many connections that are closed and not collected.
    for first in range(0, len(every), 25):
        if first > 0:
            prepare()
        part = every[first : first + 25]
        messages = json.dumps(
            [asdict(those[0].shape) | {"cameras": [[one.camera.id, one.sample] for one in those]} for those in part]
        )
        outcomes = page.evaluate(f"window.matrix.run({messages}, {PARALLEL})")
        for those, found in zip(part, outcomes, strict=True):
            for case, outcome in zip(those, found, strict=True):
                tally.add(case, Outcome(**outcome))
    tally.seconds = time.monotonic() - began
    return tally


def capabilities(kind: str) -> list[RTCRtpCodecCapability]:
    """The codecs that aiortc receives."""
    found = RTCRtpReceiver.getCapabilities(kind)
    assert found is not None, kind
    return list(found.codecs)


async def aiortc_matrix(client: Client, cameras: list[Camera], stride: int) -> Tally:
    codecs = [one for kind in ("audio", "video") for one in capabilities(kind)]
    tally = Tally("aiortc", frozenset(codec.mimeType.partition("/")[2] for codec in codecs))
    began = time.monotonic()
    all_cases = some_cases(cameras, tally.codecs, stride)
    for case in all_cases:
        # With this aiortc (1.16) makes a transport that it does not connect, also to another aiortc.
        if case.shape.policy == "max-bundle" and case.shape.data == "first":
            case.sample = False
    every = iter(all_cases)

    async def work() -> None:
        for case in every:
            tally.add(case, await _one(client, case))

    await asyncio.gather(*(work() for _ in range(PARALLEL)))
    tally.seconds = time.monotonic() - began
    return tally


async def _one(client: Client, case: Case) -> Outcome:
    outcome = Outcome()
    policy = RTCBundlePolicy(case.shape.policy)
    connection = RTCPeerConnection(RTCConfiguration(iceServers=[], bundlePolicy=policy))
    tasks: list[asyncio.Task[None]] = []
    shown = asyncio.Event()

    async def watch(track: MediaStreamTrack) -> None:
        try:
            await track.recv()
            if track.kind == "video":
                shown.set()
        except MediaStreamError:
            pass

    if case.sample:
        connection.on("track", lambda track: tasks.append(asyncio.get_running_loop().create_task(watch(track))))
    resource = ""
    try:
        if case.shape.data == "first":
            connection.createDataChannel("first")
        for line in case.shape.lines:
            transceiver = connection.addTransceiver(line.kind, direction=line.direction)
            every = capabilities(line.kind)
            wanted = f"{line.kind}/{line.codec}".lower()
            if line.codec and (fitting := [codec for codec in every if codec.mimeType.lower() == wanted]):
                transceiver.setCodecPreferences(fitting)
        if case.shape.data == "last":
            connection.createDataChannel("last")
        await connection.setLocalDescription(await connection.createOffer())
        answer = await asyncio.to_thread(client.whep, case.camera.id, connection.localDescription.sdp)
        outcome.status, outcome.text = answer.status, answer.text
        if answer.status != 201:
            return outcome
        resource, outcome.answer = answer.headers["location"], answer.text
        try:
            await connection.setRemoteDescription(RTCSessionDescription(answer.text, "answer"))
            outcome.applied = True
        except Exception as error:  # What it is is for the report.
            outcome.text = f"{type(error).__name__}: {error}"
            return outcome
        if case.sample:
            try:
                await asyncio.wait_for(shown.wait(), PATIENCE)
                outcome.frames = 1
            except TimeoutError:
                pass
        return outcome
    finally:
        await connection.close()
        for task in tasks:
            task.cancel()
        if resource:
            await asyncio.to_thread(client.request, "DELETE", resource)
