"""A real MQTT broker (mosquitto), and clients of it."""

import json
import queue
import signal
import subprocess
import threading
from pathlib import Path
from typing import Any

from .mqtt_client import BareClient
from .pki import Authority
from .polling import PATIENCE, eventually
from .ports import free_port
from .processes import OwnedProcess


class Broker:
    """A mosquitto of the test's own."""

    def __init__(
        self,
        folder: Path,
        tls: Authority | None = None,
        password: str | None = None,
        client_certificates: bool = False,
        persistent: bool = False,
    ) -> None:
        """With an authority the broker speaks TLS; with a password it admits the user `gatehouse` alone. A persistent
        broker still retains after `stop` and `start` what it retained before."""
        folder.mkdir(parents=True, exist_ok=True)
        self.port = free_port()
        self.tls = tls
        self.password = password
        self._arguments: list[str] = []
        lines = [f"listener {self.port} 127.0.0.1", "user root", "log_type none"]
        lines += ["persistence true", f"persistence_location {folder}/"] if persistent else ["persistence false"]
        if password:
            users = folder / "users"
            subprocess.run(
                ["mosquitto_passwd", "-c", "-b", str(users), "gatehouse", password],
                check=True, capture_output=True, timeout=PATIENCE,
            )  # fmt: skip
            lines += ["allow_anonymous false", f"password_file {users}"]
            self._arguments += ["-u", "gatehouse", "-P", password]
        else:
            lines += ["allow_anonymous true"]
        if tls:
            certificate, key = tls.issue("broker")
            lines += [f"certfile {certificate}", f"keyfile {key}", f"cafile {tls.path}"]
            self._arguments += ["--cafile", str(tls.path)]
            if client_certificates:
                lines += ["require_certificate true"]
                certificate, key = tls.issue("tester")
                self._arguments += ["--cert", str(certificate), "--key", str(key)]
        self._config = folder / "mosquitto.conf"
        self._config.write_text("\n".join(lines) + "\n")
        self._log = folder / "mosquitto.log"
        self.start()

    def start(self) -> None:
        """Starts the broker, also again after `stop`: at the same port, and only a persistent one has what it knew."""
        self._process = OwnedProcess(["mosquitto", "-c", str(self._config)], self._log)
        eventually(self._answers, "the broker answers")

    def _answers(self) -> bool:
        assert self._process.is_running, self._process.output()
        done = subprocess.run(
            self.command("mosquitto_pub", "-t", "probe", "-m", "x"), capture_output=True, timeout=PATIENCE, check=False
        )
        return done.returncode == 0

    def command(self, program: str, *arguments: str) -> list[str]:
        return [program, "-h", "127.0.0.1", "-p", str(self.port), *self._arguments, *arguments]

    def publish(self, topic: str, payload: object, retain: bool = False) -> None:
        """Publishes one message; what is not text becomes JSON."""
        text = payload if isinstance(payload, str) else json.dumps(payload)
        # An empty payload takes a retained message away.
        what = ["-m", text] if text else ["-n"]
        command = self.command("mosquitto_pub", "-q", "1", "-t", topic, *what, *(["-r"] if retain else []))
        subprocess.run(command, check=True, timeout=PATIENCE)

    def publish_lines(self, topic: str, lines: list[str]) -> None:
        """Publishes many messages to one topic as fast as the broker takes them."""
        subprocess.run(
            self.command("mosquitto_pub", "-t", topic, "-l"), input="\n".join(lines) + "\n", text=True, check=True,
            timeout=PATIENCE,
        )  # fmt: skip

    def retained(self, topic: str) -> str | None:
        """The message that the broker keeps for a topic."""
        done = subprocess.run(
            self.command("mosquitto_sub", "-t", topic, "-C", "1", "-W", "1", "--retained-only"),
            capture_output=True, text=True, timeout=PATIENCE, check=False,
        )  # fmt: skip
        return done.stdout.rstrip("\n") or None

    def retained_bytes(self, topic: str) -> bytes:
        """The message that the broker keeps for a topic, whatever it is; empty where it keeps none."""
        done = subprocess.run(
            self.command("mosquitto_sub", "-t", topic, "-C", "1", "-W", "1", "--retained-only", "-N"),
            capture_output=True, timeout=PATIENCE, check=False,
        )  # fmt: skip
        return done.stdout

    def retained_topics(self) -> set[str]:
        """The topics of all messages that the broker keeps, for a broker without TLS and passwords."""
        client = BareClient(self.port, "retained-topics")
        try:
            return client.retained_topics()
        finally:
            client.close()

    def freeze(self) -> None:
        """Lets the broker do nothing until `kill`: what is sent to it waits, and is not acknowledged."""
        self._process.send(signal.SIGSTOP)

    def kill(self) -> None:
        """Ends the broker without a chance to handle what waits."""
        self._process.kill()

    def stop(self) -> None:
        self._process.stop()


class Subscriber:
    """Collects the messages of some topics until `stop`."""

    def __init__(self, broker: Broker, *topics: str) -> None:
        arguments = [part for topic in topics for part in ("-t", topic)]
        self._process = subprocess.Popen(
            broker.command("mosquitto_sub", "-F", "%r %t %p", *arguments), stdout=subprocess.PIPE, text=True, bufsize=1
        )
        self.messages: list[tuple[bool, str, str]] = []
        self._arrivals: queue.Queue[None] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self._process.stdout
        for line in self._process.stdout:
            retained, topic, payload = [*line.rstrip("\n").split(" ", 2), ""][:3]
            self.messages.append((retained == "1", topic, payload))

    def payloads(self, topic: str) -> list[str]:
        return [payload for _, name, payload in self.messages if name == topic]

    def wait_for(self, topic: str, payload: str | None = None, within: float = PATIENCE) -> str:
        def find() -> list[str]:
            return [one for one in self.payloads(topic) if payload is None or one == payload]

        return eventually(find, f"a message to {topic} {payload or ''}", within)[-1]

    def stop(self) -> None:
        self._process.terminate()
        self._process.wait(PATIENCE)


def section(broker: Broker, **more: Any) -> dict[str, Any]:
    """The section `mqtt` of a config for this broker."""
    return {"host": "127.0.0.1", "port": broker.port} | more
