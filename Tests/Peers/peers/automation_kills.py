"""Kills a gateway at seeded moments while automations run, and checks what became of each run and command."""

import json
import random
import sqlite3
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .automation_house import House
from .mqtt_client import BareClient
from .polling import eventually

SHAPES = 6
Node = dict[str, Any]


def switch_names() -> list[str]:
    """The switches that the automations of the kills use."""
    return [f"{kind}-{number}" for number in range(SHAPES) for kind in ("sensor", "first", "second")]


def shapes(house: House) -> list[list[Node]]:
    """The flows behind the sensors. None is so short that its automation could start 20 times in 10 s."""

    def wait(seconds: float) -> Node:
        return {"type": "delay", "for": seconds}

    def flow(*nodes: Node) -> Node:
        return {"type": "sequential", "nodes": list(nodes)}

    def lamp(kind: str, number: int, command: str = "on") -> Node:
        return house.action(f"{kind}-{number}", command)

    is_on = {"equals": [{"field": "onOff", "of": {"reference": "n1"}}, {"constant": True}]}
    branches = [flow(wait(1.5), lamp("first", 1)), flow(lamp("second", 1), wait(1), lamp("second", 1, "off"))]
    return [
        [lamp("first", 0), wait(1), lamp("second", 0)],
        [{"type": "parallel", "nodes": branches}],
        [wait(1), lamp("first", 2), lamp("second", 2), lamp("first", 2, "off"), lamp("second", 2, "off")],
        [{"type": "if", "ifThen": {"condition": is_on, "nodes": [lamp("first", 3), wait(1)]},
          "elseThen": {"nodes": [lamp("second", 3), wait(2)]}}, lamp("first", 3, "off")],
        # The duration begins again with each start, so this run outlives nearly all of them.
        [{"type": "condition", "expression": is_on, "for": 5}, lamp("first", 4), wait(5), lamp("second", 4)],
        [{"type": "suppress", "for": 5}, lamp("first", 5), wait(1), lamp("second", 5)],
    ]  # fmt: skip


def actions(node: Any, path: str) -> dict[str, Node]:
    """The actions of a part of a graph by their places."""
    if not isinstance(node, dict):
        return {}
    found = {path: node} if node.get("type") == "action" else {}
    for name in ("ifThen", "elseThen"):
        found |= actions(node.get(name), f"{path}.{name}")
    for number, child in enumerate(node.get("nodes", [])):
        found |= actions(child, f"{path}.nodes[{number}]")
    return found


@dataclass
class Command:
    """A command whose record says that it is about to be sent."""

    run: str
    life: int
    """In which life of the gateway: how often it had been killed."""
    outcome: str = "none"


@dataclass
class Verdict:
    """What the kills did."""

    kills: int
    seed: int
    ends: Counter[str] = field(default_factory=Counter)
    outcomes: Counter[str] = field(default_factory=Counter)
    arrived_unknown: int = 0
    problems: list[str] = field(default_factory=list)

    def words(self) -> str:
        def listed(counts: Counter[str]) -> str:
            return ", ".join(f"{count} {name}" for name, count in sorted(counts.items()))

        return (
            f"{self.kills} kills (seed {self.seed}): {self.ends.total()} runs ({listed(self.ends)}), "
            f"{self.outcomes.total()} commands ({listed(self.outcomes)}; {self.arrived_unknown} of the unknown ones "
            f"had arrived), {len(self.problems)} broken promises"
        )


class Killer:
    """Changes the sensors, kills the gateway, and starts it again."""

    def __init__(self, house: House, seed: int) -> None:
        self.house = house
        self.seed = seed
        self._random = random.Random(seed)
        # When each kill was, in milliseconds since 1970.
        self._kills: list[float] = []
        # The topic, the payload and the life of each message to a switch.
        self._messages: list[tuple[str, str, int]] = []
        self._lives = 0
        self._is_connected = False
        self._is_on = [False] * SHAPES
        # What each action sends: by automation and place, the topic and the payload.
        self._targets: dict[tuple[str, str], tuple[str, str]] = {}
        names = {house.device(name): name for name in switch_names()}
        for number, flow in enumerate(shapes(house)):
            nodes = [house.starter(f"sensor-{number}"), *flow]
            automation = house.automate(*nodes, name=f"Shape {number}")
            for path, action in actions({"nodes": nodes}, "automationGraph").items():
                topic = f"{names[action['entity']['device']]}/set"
                self._targets[automation, path] = (topic, action["command"].upper())
        self._publisher = BareClient(house.broker.port, "killer")
        self._witness = BareClient(house.broker.port, "witness")
        self._witness.subscribe("+/set", "gatehouse/status")
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()
        eventually(lambda: self._is_connected, "the gateway is at the broker")

    def _watch(self) -> None:
        # The broker publishes the last will after all that it had received from the gateway, so it is known to which
        # life each message belongs.
        for topic, payload in self._witness.messages():
            if topic != "gatehouse/status":
                self._messages.append((topic, payload, self._lives))
            elif payload == "online":
                self._is_connected = True
            elif self._is_connected:
                self._is_connected = False
                self._lives += 1

    def _change(self) -> None:
        number = self._random.randrange(SHAPES)
        # The condition with a duration has to hold, or its run would end at once.
        self._is_on[number] = number == 4 or not self._is_on[number]
        self._publisher.publish(f"sensor-{number}/state", "ON" if self._is_on[number] else "OFF", retain=True)

    def start_all(self) -> None:
        """Starts every automation and waits for the first commands, so that there is something to lose."""
        for number in range(SHAPES):
            # Whether the gateway has read the retained state yet or not: from here on it is known, and then it changes.
            self._publisher.publish(f"sensor-{number}/state", "OFF", retain=True)
            self._publisher.publish(f"sensor-{number}/state", "ON", retain=True)
            self._is_on[number] = True
        eventually(lambda: len(self._messages) >= SHAPES, "the first commands", every=0.05)

    def kill(self, longest: float) -> None:
        """One kill, after up to so many seconds with changes."""
        until = time.monotonic() + self._random.uniform(0, longest)
        while (left := until - time.monotonic()) > 0:
            self._change()
            # The seed chooses the moments; nothing is waited for.
            time.sleep(min(left, self._random.uniform(0, 0.4)))
        self.house.gateway.process.kill()
        self._kills.append(time.time() * 1000)
        eventually(lambda: not self._is_connected, "the broker publishes the last will", every=0.01)
        if self._random.random() < 0.3:
            self._change()
        self.house.gateway.start()
        eventually(lambda: self._is_connected, "the gateway is at the broker again", every=0.01)

    def finish(self, state: Path) -> Verdict:
        """Lets every run end, stops the gateway, and compares what was recorded with what arrived."""

        def is_quiet() -> bool:
            path = f"/v1/structures/{self.house.structure}/automations"
            return not any(one["isRunning"] for one in self.house.gateway.client.get(path)["automations"])

        eventually(is_quiet, "every run has ended", every=0.2)
        assert self.house.gateway.stop() == 0, self.house.gateway.process.output()[-4000:]
        # The gateway says goodbye after all that it has sent.
        eventually(lambda: not self._is_connected, "the gateway has left the broker", every=0.01)
        self._publisher.close()
        self._witness.close()
        self._thread.join()
        return self._compare(state / "automations.sqlite")

    def _compare(self, database: Path) -> Verdict:
        verdict = Verdict(len(self._kills), self.seed)
        runs: dict[str, list[dict[str, Any]]] = {}
        connection = sqlite3.connect(database)
        for (data,) in connection.execute("SELECT data FROM entry ORDER BY run, number"):
            entry = json.loads(data)
            runs.setdefault(entry["runID"], []).append(entry)
        connection.close()
        commands: dict[tuple[str, str, int], list[Command]] = {}
        for run, entries in runs.items():
            end = next(iter(entries[-1]["event"].get("ended", {"": "lost"}).values()))
            verdict.ends[end] += 1
            if end in ("lost", "interrupted", "stopped"):
                verdict.problems.append(f"run {run} did not go on: {end}")
            if [entry["number"] for entry in entries] != list(range(len(entries))):
                verdict.problems.append(f"the record of run {run} has a gap")
            for key, command in self._commands(entries):
                commands.setdefault(key, []).append(command)
        self._match(commands, verdict)
        return verdict

    def _commands(self, entries: list[dict[str, Any]]) -> list[tuple[tuple[str, str, int], Command]]:
        found: dict[int, tuple[tuple[str, str, int], Command]] = {}
        for entry in entries:
            if sending := entry["event"].get("sending"):
                life = sum(1 for kill in self._kills if kill < entry["at"])
                target = self._targets[entry["automationID"], entry["path"]]
                found[sending["commandID"]] = ((*target, life), Command(entry["runID"], life))
            elif (sent := entry["event"].get("sent")) and sent["commandID"] in found:
                found[sent["commandID"]][1].outcome = next(iter(sent["_1"]))
        return list(found.values())

    def _match(self, commands: dict[tuple[str, str, int], list[Command]], verdict: Verdict) -> None:
        """Within one life, as many messages have to arrive as commands succeeded, and one more for each unknown one."""
        arrived = Counter(self._messages)
        for key in commands.keys() | arrived.keys():
            outcomes = Counter(command.outcome for command in commands.get(key, []))
            verdict.outcomes.update(outcomes)
            topic, payload, life = key
            what = f"{payload} to {topic} in life {life}: {arrived[key]} messages, {dict(outcomes)}"
            if arrived[key] < outcomes["succeeded"]:
                verdict.problems.append(f"too few: {what}")
            elif arrived[key] > outcomes["succeeded"] + outcomes["unknown"]:
                verdict.problems.append(f"too many: {what}")
            else:
                verdict.arrived_unknown += arrived[key] - outcomes["succeeded"]
