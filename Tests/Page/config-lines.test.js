import assert from "node:assert/strict";
import { test } from "node:test";

import { draftOf, entryOf } from "../../Sources/App/WebFiles/page/camera-lines.js";
import { fieldsOf, patchOf } from "../../Sources/App/WebFiles/page/camera-model.js";
import { changesOf, fieldOf, linesOf, listOf, numberOf, variableOf, waitingOf, withVariables }
  from "../../Sources/App/WebFiles/page/config-lines.js";

test("only the keys that differ are written", () => {
  const before = { network: { stun: ["stun:a:3478"], mdns: "gatehouse", tcp: true }, rtsp: false };
  assert.deepEqual(changesOf(before, before), {});
  assert.deepEqual(changesOf(before, { network: { ...before.network, mdns: "porch" }, rtsp: false }), { network: { mdns: "porch" } });
  assert.deepEqual(changesOf(before, { network: before.network, rtsp: { host: "0.0.0.0", port: 8554, more: null } }),
    { rtsp: { host: "0.0.0.0", port: 8554 } });
  assert.deepEqual(changesOf({ rtsp: { host: "0.0.0.0", port: 8554 } }, { rtsp: false }), { rtsp: false });
});

test("a key without a value is one that is not there, and the order of keys does not matter", () => {
  const before = { media: { iceServers: [{ credential: null, url: "stun:a", username: null }] }, http: { publicURL: null } };
  assert.deepEqual(changesOf(before, { media: { iceServers: [{ url: "stun:a" }] }, http: { publicURL: null } }), {});
  assert.deepEqual(changesOf({ http: { publicURL: "https://a.example" } }, { http: { publicURL: null } }), { http: { publicURL: null } });
  assert.deepEqual(changesOf({ mqtt: { commands: false } }, { mqtt: { commands: null } }), { mqtt: { commands: null } });
});

test("a password that the page does not know is never three asterisks in the file", () => {
  const turn = [{ url: "turn:a", credential: "***" }, { url: "turn:b", credential: "***" }];
  const { sections, variables } = withVariables({ network: { turn } }, "TURN_PASSWORD");
  assert.deepEqual(variables, ["TURN_PASSWORD", "TURN_PASSWORD_2"]);
  assert.deepEqual(sections.network.turn.map(({ credential }) => credential), ["${TURN_PASSWORD}", "${TURN_PASSWORD_2}"]);
  assert.ok(!linesOf(sections).includes("***"));
  assert.deepEqual(withVariables({ rtsp: { port: 1, host: "a" } }, "X"), { sections: { rtsp: { port: 1, host: "a" } }, variables: [] });
});

test("a text that looks like an environment variable is escaped where the gateway would replace it", () => {
  const text = "a${HOME}$${x}$";
  const escaped = "a$${HOME}$$${x}$";
  const server = { url: "turn:a", username: text, credential: "***" };
  const { sections, variables } = withVariables({ mqtt: { username: text, password: "***" }, network: { turn: [server] } }, "P");
  assert.deepEqual(sections, {
    mqtt: { username: escaped, password: "${P}" }, network: { turn: [{ url: "turn:a", username: escaped, credential: "${P_2}" }] },
  });
  assert.deepEqual(variables, ["P", "P_2"]);
  assert.equal(linesOf(sections), `mqtt:
  username: "${escaped}"
  password: "\${P}"
network:
  turn:
    - url: "turn:a"
      username: "${escaped}"
      credential: "\${P_2}"
`);
});

test("a text stays as it is where the gateway replaces nothing", () => {
  const text = "a${HOME}***";
  const sections = {
    http: { publicURL: text }, media: { iceServers: [{ url: text, username: text, credential: text }] },
    mqtt: { host: text, topicPrefix: text, presence: { [text]: [text] }, tls: { ca: text } }, network: { turn: [{ ca: text }] },
    recording: { folder: text }, cameras: [{ name: text, information: { vendorName: text } }],
  };
  assert.deepEqual(withVariables(sections, "P"), { sections, variables: [] });
});

test("lines are YAML with texts in quotes", () => {
  assert.equal(linesOf({
    mqtt: { host: "broker.local", port: 8883, tls: { ca: "a.pem" }, zigbee2mqttPrefix: false, username: null,
      presence: { Anna: ["watch", "no"], no: ["phone"] } },
    network: { stun: ["stun:a", "stun:b"], turn: [{ url: "turn:a", username: "u" }, {}] }, media: { addresses: [] },
  }), `mqtt:
  host: "broker.local"
  port: 8883
  tls:
    ca: "a.pem"
  zigbee2mqttPrefix: false
  username: null
  presence:
    "Anna": ["watch", "no"]
    "no": ["phone"]
network:
  stun: ["stun:a", "stun:b"]
  turn:
    - url: "turn:a"
      username: "u"
    - {}
media:
  addresses: []
`);
  // Nothing in a value ends its line or its quotes.
  assert.equal(linesOf({ a1: "x\"\n\u2028\u0085: y # z" }), "a1: \"x\\\"\\n\\u2028\\u0085: y # z\"\n");
});

test("what is no number is sent as it was typed, for the gateway to refuse", () => {
  assert.deepEqual(["", " 8883 ", "-1", "80a", "1.5", "12345678901"].map(numberOf), [null, 8883, -1, "80a", "1.5", "12345678901"]);
  assert.deepEqual(listOf(" a \n\n b,c\n"), ["a", "b", "c"]);
});

test("a problem is shown at the field with the longest path", () => {
  const paths = ["network.stun", "network.turn[1]", "network.turn[1].username", "mqtt", "mqtt.port"];
  assert.deepEqual(fieldOf("network.stun[2]", paths), { path: "network.stun", rest: "[2]" });
  assert.deepEqual(fieldOf("network.turn[1]", paths), { path: "network.turn[1]", rest: "" });
  assert.deepEqual(fieldOf("network.turn[1].username", paths), { path: "network.turn[1].username", rest: "" });
  assert.deepEqual(fieldOf("mqtt.port", paths), { path: "mqtt.port", rest: "" });
  assert.deepEqual(fieldOf("mqtt.tls.ca", paths), { path: "mqtt", rest: ".tls.ca" });
  assert.equal(fieldOf("network.stunServers", paths), null);
});

test("a form says which of its keys wait for a restart", () => {
  const paths = ["http.publicURL", "network.stun", "recording.days"];
  assert.deepEqual(waitingOf(["http.port", "http.publicURL", "network.tcp", "recording", "rtsp"], paths), ["http.publicURL", "recording"]);
});

const camera = {
  id: "2nd-door", name: "Door", type: "doorbell", source: "rtsp://viewer:***@192.0.2.9/s", transport: "auto", keepAlive: "auto",
  pull: "always", battery: false, pullWhileOff: false, talkback: "auto", transcodeVideo: "auto", webhook: false, origin: "file",
  onvif: { url: "http://192.0.2.9/", username: "viewer", password: "***" },
};
const changed = (fields) => patchOf(camera, { ...fieldsOf(camera), ...fields });

test("the entry of a camera has what has changed, and a variable for its password", () => {
  assert.deepEqual(entryOf("yard", changed({ transport: "udp" })), { sections: { cameras: [{ id: "yard", transport: "udp" }] }, variables: [] });
  const moved = entryOf(camera.id, changed({ address: "rtsp://192.0.2.9/other" }));
  assert.deepEqual(moved.sections.cameras, [{ id: "2nd-door", source: "rtsp://viewer:${CAMERA_2ND_DOOR_PASSWORD}@192.0.2.9/other" }]);
  assert.deepEqual(moved.variables, ["CAMERA_2ND_DOOR_PASSWORD"]);
  assert.equal(variableOf("front-door"), "FRONT_DOOR_PASSWORD");
});

test("a password that was just typed is not on the screen", () => {
  const typed = "hunter:2/@?***";
  const { sections, variables } = entryOf("yard", changed({ password: typed, eventPassword: typed, eventUser: "other" }));
  const lines = linesOf(sections);
  assert.ok(!/hunter|\*/.test(lines), lines);
  assert.equal(lines, `cameras:
  - id: "yard"
    source: "rtsp://viewer:\${YARD_PASSWORD}@192.0.2.9/s"
    onvif:
      username: "other"
      password: "\${YARD_PASSWORD_2}"
`);
  assert.deepEqual(variables, ["YARD_PASSWORD", "YARD_PASSWORD_2"]);
});

test("the address of a camera keeps its dollar signs in the file", () => {
  const { sections, variables } = entryOf("yard", changed({
    address: "rtsp://192.0.2.9/${id}", substream: "address", substreamAddress: "rtsp://192.0.2.8/$${id}",
    eventURL: "http://192.0.2.9/${id}", eventUser: "${user}",
  }));
  assert.deepEqual(sections.cameras, [{
    id: "yard", source: "rtsp://viewer:${YARD_PASSWORD}@192.0.2.9/$${id}", substream: "rtsp://192.0.2.8/$$${id}",
    onvif: { url: "http://192.0.2.9/$${id}", username: "$${user}" },
  }]);
  assert.deepEqual(variables, ["YARD_PASSWORD"]);
});

test("a camera is checked as it would be, with what stays", () => {
  assert.deepEqual(draftOf(camera, changed({ framesPerSecond: "5", eventUser: "" })), { cameras: [{
    id: "2nd-door", type: "doorbell", source: camera.source, framesPerSecond: 5,
    onvif: { url: "http://192.0.2.9/", username: null, password: "***" },
  }] });
  assert.deepEqual(draftOf(camera, changed({ eventURL: "" })).cameras[0].onvif, undefined);
});
