import assert from "node:assert/strict";
import { test } from "node:test";

import { changesOf } from "../../Sources/App/WebFiles/page/config-lines.js";
import { tell } from "../../Sources/App/WebFiles/page/settings-fields.js";
import { mqttForm, networkForm, recordingForm, rtmpForm, rtspForm } from "../../Sources/App/WebFiles/page/settings-forms.js";

/** As much of an element as the forms use. */
class Element {
  constructor(tag) {
    Object.assign(this, { tag, content: [], attributes: {}, handlers: {}, className: "", value: "", checked: false, hidden: false, isFocused: false });
  }

  append(...content) { this.content.push(...content); }
  before() {}
  remove() { this.isRemoved = true; }
  focus() { this.isFocused = true; }
  setAttribute(name, value) { this.attributes[name] = value; }
  removeAttribute(name) { delete this.attributes[name]; }
  addEventListener(name, handler) { this.handlers[name] = handler; }
  dispatchEvent({ type }) { this.handlers[type]?.(); }
}

globalThis.HTMLInputElement = class extends Element {};
globalThis.document = { createElement: (tag) => {
  if (tag === "template") return { content: { cloneNode: () => new Element("svg") } };
  return tag === "input" ? new globalThis.HTMLInputElement(tag) : new Element(tag);
} };
globalThis.Option = function (words, value) { return Object.assign(new Element("option"), { words, value }); };

const off = {
  http: { publicURL: null }, media: { port: 8189, addresses: [], iceServers: [] },
  network: { stun: [], turn: [], tcp: true, mdns: "gatehouse", portMapping: false }, rtsp: false, rtmp: false, recording: false, mqtt: false,
};
const used = {
  http: { publicURL: "https://home.example" },
  media: { port: 8190, addresses: ["203.0.113.7", "2001:db8::1"], iceServers: [{ url: "turn:a", username: "u", credential: "c" },
    { url: "stun:b", username: null, credential: null }] },
  network: { stun: ["stun:a.example:3478"], turn: [{ url: "turns:t.example:5349", username: "u", credential: "***", ca: "/a.pem" }], tcp: 443,
    mdns: false, portMapping: true },
  rtsp: { host: "0.0.0.0", port: 554 },
  rtmp: { host: "::", port: 1936 },
  recording: { trigger: "command", preRoll: 0, days: 3, gigabytes: 5, totalGigabytes: null, freeGigabytes: 0, uploadGigabytes: 8, folder: "/r" },
  mqtt: { host: "broker", port: 8883, tls: { ca: "/ca.pem", certificate: null, privateKey: null }, username: "g", password: "***", clientID: "g2",
    discoveryPrefix: false, zigbee2mqttPrefix: "z", publish: false, topicPrefix: "t", commands: true, pictures: true, presence: { Anna: ["w"] } },
};
const forms = { mqttForm, networkForm, recordingForm, rtmpForm, rtspForm };
const field = (form, path) => form.fields.find((one) => one.path === path);

test("a form that nobody touches changes nothing", () => {
  for (const settings of [off, used]) {
    for (const [name, make] of Object.entries(forms)) assert.deepEqual(changesOf(settings, make(settings).values()), {}, name);
  }
});

test("a broker that is switched on has its keys, and the gateway chooses a port that nobody names", () => {
  const form = mqttForm(off);
  field(form, "mqtt").control.checked = true;
  field(form, "mqtt.host").control.value = " broker.local ";
  assert.deepEqual(changesOf(off, form.values()), { mqtt: {
    host: "broker.local", tls: false, clientID: "gatehouse", discoveryPrefix: "homeassistant", zigbee2mqttPrefix: "zigbee2mqtt",
    publish: true, topicPrefix: "gatehouse", commands: false, pictures: false, presence: true,
  } });
});

test("a broker that is switched off is one key, and another name keeps the password of the file", () => {
  const form = mqttForm(used);
  field(form, "mqtt.host").control.value = "other";
  assert.deepEqual(changesOf(used, form.values()), { mqtt: { host: "other" } });
  field(form, "mqtt").control.checked = false;
  assert.deepEqual(changesOf(used, form.values()), { mqtt: false });
});

test("a server that is switched on listens at this machine's address and its usual port", () => {
  for (const [make, name, port] of [[rtspForm, "rtsp", 8554], [rtmpForm, "rtmp", 1935]]) {
    const form = make(off);
    field(form, name).control.checked = true;
    assert.deepEqual(changesOf(off, form.values()), { [name]: { host: "127.0.0.1", port } });
  }
});

test("what is typed into the network's fields is what the config has", () => {
  const form = networkForm(used);
  field(form, "network.stun").control.value = "a.example\nb.example\n";
  field(form, "network.tcp.kind").control.value = "off";
  field(form, "network.mdns").control.value = "porch";
  field(form, "media.port").control.value = "80x";
  const rows = field(form, "network.turn");
  rows.add({}).fields[0].control.value = "turn:second";
  assert.deepEqual(changesOf(used, form.values()), {
    media: { port: "80x" },
    network: { stun: ["stun:a.example:3478", "b.example"], tcp: false, mdns: "porch",
      turn: [used.network.turn[0], { credential: "***", url: "turn:second" }] },
  });
});

test("what the gateway says is at the field that it is about, until the next check", () => {
  const form = networkForm(used);
  const told = tell([{ key: "network.stun[0]", reason: "no server" }, { key: "network.turn[0].username", reason: "too long" },
    { key: "http", reason: "two ports" }], form.fields);
  const stun = field(form, "network.stun");
  const [url, username] = field(form, "network.turn").rows[0].fields;
  assert.equal(told.first, stun);
  assert.deepEqual(told.others, ["http: two ports"]);
  assert.equal(stun.fault.textContent, "Line 1: no server");
  assert.equal(stun.control.attributes["aria-invalid"], "true");
  assert.ok(stun.control.attributes["aria-describedby"].split(" ").includes(stun.fault.id));
  assert.equal(username.fault.textContent, "too long");
  assert.equal(url.fault.hidden, true);
  tell([], form.fields);
  assert.equal(stun.fault.hidden, true);
  assert.equal(stun.control.attributes["aria-invalid"], undefined);
  assert.ok(!stun.control.attributes["aria-describedby"].includes(`${stun.fault.id} `));
});
