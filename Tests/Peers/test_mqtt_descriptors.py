"""A gateway with many connections, which give the broker's one a number that select(2) does not know."""

import sys
from pathlib import Path

import pytest
from peers.broker import Broker, section
from peers.gateway import DOORBELL, Gateway
from peers.pki import Authority
from peers.polling import eventually

# Holds descriptors up to the number 1,100 for the program that it becomes.
HOLDER = """
import os, sys
null = os.open("/dev/null", os.O_RDONLY)
while os.dup(null) < 1_100:
    pass
for one in range(null, 1_101):
    os.set_inheritable(one, True)
os.execvp(sys.argv[1], sys.argv[1:])
"""


@pytest.mark.parametrize("has_tls", [False, True], ids=["plain", "tls"])
def test_the_broker_of_a_gateway_with_a_thousand_descriptors(binary: Path, tmp_path: Path, has_tls: bool) -> None:
    authority = Authority(tmp_path / "pki", "authority") if has_tls else None
    broker = Broker(tmp_path / "broker", tls=authority)
    tls = {"tls": {"ca": str(authority.path)}} if authority else {}
    prefix = ["prlimit", "--nofile=4096:4096", sys.executable, "-c", HOLDER]
    home = Gateway(binary, tmp_path, [DOORBELL], {"mqtt": section(broker, commands=True, **tls)}, prefix=prefix)
    try:
        eventually(lambda: home.client.get("/v1/mqtt")["state"] == "connected", "the broker is connected")
        broker.publish("homeassistant/switch/plug/config", {"cmd_t": "plug/set", "uniq_id": "plug-1"}, retain=True)
        eventually(lambda: home.client.get("/v1/mqtt")["devices"], "a device is described")
        eventually(lambda: broker.retained("gatehouse/status") == "online", "the gateway says that it is there")
    finally:
        assert home.stop() == 0, home.process.output()[-4000:]
        broker.stop()
