import assert from "node:assert/strict";
import test from "node:test";
import {
  baseOf, cameraOfPath, fieldValue, frameOf, isShareOf, reachOf, secondsUntil, shareLink, tokenOfFragment,
} from "../../Sources/App/WebFiles/page/share-link.js";

test("a link has the token in its fragment, and the page finds both again", () => {
  const link = new URL(shareLink("https://home.example:8443", "front door/1", "gatehouse_a+b"));
  assert.equal(link.search, "");
  assert.equal(cameraOfPath(link.pathname), "front door/1");
  assert.equal(tokenOfFragment(link.hash), "gatehouse_a+b");
  assert.equal(tokenOfFragment(""), "");
  assert.equal(tokenOfFragment("#other=1"), "");
});

test("a frame shows the page of a camera, whatever the camera is called", () => {
  const link = shareLink("https://home.example:8443", 'a"b/<1>&', "gatehouse_a+b");
  const html = frameOf(link, 'The "yard" <b>&amp;');
  const [, source, title] = html.match(/^<iframe src="([^"]*)" title="([^"]*)" allow="[^"]*" style="[^"]*"><\/iframe>$/);
  const read = (text) => text.replaceAll("&quot;", '"').replaceAll("&lt;", "<").replaceAll("&amp;", "&");
  assert.equal(read(source), link);
  assert.equal(read(title), 'The "yard" <b>&amp;');
  assert.ok(!/<[^i/]/.test(html));
  assert.equal(cameraOfPath(new URL(read(source)).pathname), 'a"b/<1>&');
});

test("a path that is not encoded well is taken as it is", () => {
  assert.equal(cameraOfPath("/camera/%zz"), "%zz");
  assert.equal(cameraOfPath("/"), "");
});

test("the field for the end shows local time, and the seconds count from now", () => {
  const moment = new Date("2026-12-24T18:00:00Z");
  const value = fieldValue(moment);
  assert.match(value, /^2026-12-2\dT\d\d:\d\d$/);
  assert.equal(secondsUntil(value, moment.getTime() - 60000), 60);
  assert.equal(secondsUntil(value, moment.getTime()), 0);
  assert.equal(secondsUntil("", moment.getTime()), 0);
});

test("a share is a token that permits watching this camera and nothing else", () => {
  const view = { scopes: ["view"], deviceID: "door" };
  assert.ok(isShareOf({ grants: [view] }, "door"));
  assert.ok(isShareOf({ grants: [view, { scopes: ["view"], deviceID: "yard" }] }, "door"));
  assert.ok(!isShareOf({ grants: [view] }, "yard"));
  assert.ok(!isShareOf({ grants: [view, { scopes: ["read"], deviceID: "door" }] }, "door"));
  assert.ok(!isShareOf({ grants: [{ scopes: ["view"] }] }, "door"));
});

test("a link begins with the address that the config names, and else with that of the page", () => {
  assert.equal(baseOf("http://127.0.0.1:8080", "https://home.example/"), "https://home.example");
  assert.equal(baseOf("https://192.168.1.10:8443", undefined), "https://192.168.1.10:8443");
});

test("an address that others cannot reach is recognized", () => {
  const reached = {
    machine: ["http://127.0.0.1:8080", "http://127.1.2.3", "http://localhost:8080", "http://gate.localhost", "http://[::1]:8080"],
    network: [
      "https://10.0.0.4", "https://172.16.0.1", "https://172.31.255.1", "https://192.168.1.10:8443", "https://169.254.1.1",
      "https://100.64.0.1", "https://[fd00::1]:8443", "https://[fe80::1]", "https://gatehouse", "https://gatehouse.local:8443",
      "https://gate.home.arpa", "https://gate.fritz.box.",
    ],
    everywhere: [
      "https://home.example", "https://203.0.113.7:8443", "https://172.32.0.1", "https://100.128.0.1", "https://[2001:db8::1]",
      "https://10.example.com", "https://fd.example.com",
    ],
  };
  for (const [reach, addresses] of Object.entries(reached)) for (const one of addresses) assert.equal(reachOf(one), reach, one);
});
