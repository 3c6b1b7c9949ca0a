import assert from "node:assert/strict";
import { test } from "node:test";

import {
  countArrivals, countReceived, extendAfter, offeredAddresses, pictureCodec,
} from "../../Sources/App/WebFiles/page/reception.js";

const statistics = new Map(Object.entries({
  picture: { type: "inbound-rtp", kind: "video", framesDecoded: 70, packetsReceived: 900, codecId: "codec" },
  sound: { type: "inbound-rtp", kind: "audio", packetsReceived: 250 },
  talk: { type: "outbound-rtp", kind: "audio", packetsSent: 99, packetsReceived: 99 },
  codec: { type: "codec", mimeType: "video/H264" },
}));

test("pictures count for a view with a picture, and sound for one without", () => {
  assert.deepEqual(countReceived(statistics, true), { frames: 70, packets: 900 });
  assert.deepEqual(countReceived(statistics, false), { frames: 0, packets: 250 });
  assert.deepEqual(countReceived(new Map(), true), { frames: 0, packets: 0 });
  const fresh = new Map([["picture", { type: "inbound-rtp", kind: "video" }]]);
  assert.deepEqual(countReceived(fresh, true), { frames: 0, packets: 0 });
});

test("everything that comes counts as a sign of the path", () => {
  const grown = (more) => countArrivals(new Map([...statistics, ["more", more]])) - countArrivals(statistics);
  assert.equal(countArrivals(statistics), 1150);
  assert.equal(grown({ type: "remote-outbound-rtp", reportsSent: 2 }), 2);
  assert.equal(grown({ type: "candidate-pair", requestsReceived: 3, responsesReceived: 4, requestsSent: 50 }), 7);
  assert.equal(grown({ type: "candidate-pair" }), 0);
  assert.equal(countArrivals(new Map()), 0);
});

test("the codec of the picture has the name that people know", () => {
  assert.equal(pictureCodec(statistics), "H264");
  assert.equal(pictureCodec(new Map()), "");
  assert.equal(pictureCodec(new Map([["picture", { type: "inbound-rtp", kind: "video", codecId: "lost" }]])), "");
});

test("addresses are read from the candidates for RTP over UDP", () => {
  const description = [
    "v=0", "a=candidate:1 1 udp 2130706431 192.0.2.7 49152 typ host",
    "a=candidate:2 2 udp 2130706430 192.0.2.7 49153 typ host", "a=candidate:3 1 tcp 1 192.0.2.7 9 typ host",
    "a=candidate:4 1 UDP 2130706429 2001:db8::7 49152 typ host", "a=end-of-candidates", "",
  ].join("\r\n");
  assert.deepEqual(offeredAddresses(description), ["192.0.2.7:49152", "[2001:db8::7]:49152"]);
  assert.deepEqual(offeredAddresses(""), []);
});

test("a lease is extended half a minute before it ends, a short one after half its time", () => {
  assert.deepEqual([300, 36, 35, 30, 4, 1].map(extendAfter), [270, 6, 17.5, 15, 2, 1]);
  for (let seconds = 2; seconds < 400; seconds += 1) assert.ok(extendAfter(seconds) < seconds);
});
