import assert from "node:assert/strict";
import { test } from "node:test";

import { configurationFault } from "../../Sources/App/WebFiles/page/configuration.js";

const problem = { file: "/etc/gatehouse.yaml", line: 7, key: "cameras[0].source", reason: "is missing" };

test("a config in order is not mentioned", () => {
  assert.equal(configurationFault({ problems: [], needsRestart: [] }), null);
});

test("the first problem of a config is named with its place, before what needs a restart", () => {
  const fault = configurationFault({ problems: [problem, { ...problem, line: 9 }], needsRestart: ["http.port"] });
  assert.match(fault.message, /^The config file has a problem\./);
  assert.equal(fault.details, "/etc/gatehouse.yaml, line 7: cameras[0].source is missing");
});

test("keys that take effect at the next start are named", () => {
  const fault = configurationFault({ problems: [], needsRestart: ["http.port", "media.port"] });
  assert.match(fault.message, /when the gateway restarts\.$/);
  assert.equal(fault.details, "http.port, media.port");
});
