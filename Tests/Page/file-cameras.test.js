import assert from "node:assert/strict";
import { test } from "node:test";

import { ofFile } from "../../Sources/App/WebFiles/page/file-cameras.js";

test("the list of the config file has its cameras, and says which of them were changed on the page", () => {
  const camera = (id, origin) => ({ id, name: id, source: `rtsp://192.0.2.9/${id}`, origin });
  const cameras = [camera("door", "file"), camera("yard", "overridden"), camera("gate", "api"), camera("bell", "builtin")];
  assert.deepEqual(ofFile(cameras), [
    { camera: cameras[0], line: "rtsp://192.0.2.9/door" },
    { camera: cameras[1], line: "rtsp://192.0.2.9/yard · changed on this page" },
  ]);
  assert.deepEqual(ofFile([]), []);
});
