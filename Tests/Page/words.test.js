import assert from "node:assert/strict";
import { test } from "node:test";

import { APIError, PageError } from "../../Sources/App/WebFiles/page/api.js";
import { fieldOfSecret, inWords } from "../../Sources/App/WebFiles/page/words.js";

const actions = ["watch", "talk", "add", "remove", "ring", "connect"];
const statuses = [
  "UNAVAILABLE", "DEADLINE_EXCEEDED", "FAILED_PRECONDITION", "RESOURCE_EXHAUSTED", "INVALID_ARGUMENT", "NOT_FOUND",
  "UNAUTHENTICATED", "PERMISSION_DENIED", "UNIMPLEMENTED", "INTERNAL", "ABORTED", "500", "",
];
const unknown = "That did not work: the gateway reports a fault.";

// What a person reads, by action and status; what is not here is the same for all actions.
const own = {
  watch: {
    UNAVAILABLE: "The camera sends nothing at the moment.",
    FAILED_PRECONDITION: "This browser cannot play what the camera sends.",
    RESOURCE_EXHAUSTED: "Too many people are watching at the moment. Try again later.",
    INVALID_ARGUMENT: "The gateway cannot work with this browser.",
    NOT_FOUND: "This camera no longer exists.",
  },
  talk: {
    UNAVAILABLE: "The camera’s speaker cannot be reached.",
    DEADLINE_EXCEEDED: "The camera’s speaker did not answer in time.",
    FAILED_PRECONDITION: "The camera does not accept sound from this page.",
    NOT_FOUND: "The live view has ended. Press Watch, and then Talk again.",
  },
  add: {
    INVALID_ARGUMENT: "The camera cannot be added with these settings.",
    FAILED_PRECONDITION: "The camera cannot be added.",
    RESOURCE_EXHAUSTED: "The gateway has as many cameras as it can hold. Remove one first.",
  },
  remove: {
    FAILED_PRECONDITION: "The camera cannot be removed here.",
    NOT_FOUND: "This camera no longer exists.",
  },
  ring: { UNIMPLEMENTED: "This camera has no button that can be pressed from here." },
  connect: { FAILED_PRECONDITION: "The camera cannot be connected now." },
};
const common = {
  UNAUTHENTICATED: "You are signed out.",
  PERMISSION_DENIED: "The gateway does not allow this from the address at which this page was opened.",
  NOT_FOUND: "This no longer exists.",
  UNAVAILABLE: "The camera cannot be reached at the moment.",
  DEADLINE_EXCEEDED: "The camera did not answer in time.",
  RESOURCE_EXHAUSTED: "The gateway is busy. Try again in a moment.",
};

for (const action of actions) {
  test(`each status has a sentence when the action is ${action}`, () => {
    for (const status of statuses) {
      const said = inWords(new APIError(status, "the gateway's own words"), action);
      assert.equal(said.message, own[action][status] ?? common[status] ?? unknown, status);
      assert.equal(said.details, "the gateway's own words");
    }
  });
}

test("the page's own errors are sentences already", () => {
  assert.deepEqual(inWords(new PageError("NO_PATH", "The picture cannot get from.", "By UDP."), "watch"),
    { message: "The picture cannot get from.", details: "By UDP." });
  assert.deepEqual(inWords(new PageError("UNREACHABLE", "The gateway does not answer."), "ring"),
    { message: "The gateway does not answer.", details: null });
});

test("other exceptions are kept under the details", () => {
  assert.deepEqual(inWords(new TypeError("x is undefined"), "watch"), { message: unknown, details: "x is undefined" });
  assert.deepEqual(inWords("thrown text", "watch"), { message: unknown, details: "thrown text" });
});

test("a speaker that somebody else uses is named as such", () => {
  for (const told of ["owner is talking to front-door", "a clip is being played"]) {
    assert.equal(inWords(new APIError("FAILED_PRECONDITION", told), "talk").message,
      "Somebody else is using the camera’s speaker. Try again in a moment.");
    assert.equal(inWords(new APIError("FAILED_PRECONDITION", told), "watch").details, told);
  }
});

test("a camera that is off or private is named as such", () => {
  const say = (told) => inWords(new APIError("FAILED_PRECONDITION", told), "watch").message;
  assert.equal(say("yard is switched off"), "The camera is switched off.");
  assert.equal(say("yard shows and records nothing: its privacy switch is on"), "The camera’s privacy mode is on.");
  assert.equal(say("the camera sends H265"), own.watch.FAILED_PRECONDITION);
});

test("a setting that cannot be used is named by its field", () => {
  const say = (told) => inWords(new APIError("INVALID_ARGUMENT", told), "add").message;
  assert.match(say("source: expected rtsp://"), /^This address cannot be used\. It has to start with rtsp:/);
  assert.match(say("The camera is wrong. source: expected rtsp://"), /^This address cannot be used/);
  assert.equal(say("name: too long"), "Name: too long");
  assert.equal(say("type: unknown"), "Kind: unknown");
  assert.equal(say("pull: unknown"), "Connect to it: unknown");
  assert.equal(say("onvif.url: expected a URL such as http://192.0.2.20/"),
    "Address of its ONVIF service, for events: expected a URL such as http://192.0.2.20/");
  // A name that every object has is not a field of the form either.
  for (const told of ["moon: unknown", "no key at all", "toString: x", ""]) {
    assert.equal(say(told), own.add.INVALID_ARGUMENT, told);
  }
});

test("what is wrong with an address is said, and not hidden under the details", () => {
  const say = (told) => inWords(new APIError("INVALID_ARGUMENT", told), "add");
  assert.deepEqual(say("source: the URL cannot be used: the port is not a number from 1 to 65535"),
    { message: "Address: the URL cannot be used: the port is not a number from 1 to 65535", details: null });
  assert.deepEqual(say("substream: expected an rtsp:// or rtsps:// URL"),
    { message: "Its smaller stream: expected an rtsp:// or rtsps:// URL", details: null });
});

test("a password that does not go to another address is typed again, in its own field", () => {
  const stored = "*** refers to a stored secret, and none is stored for this user at this host; write the secret itself";
  for (const key of ["source", "substream", "onvif.password"]) {
    const error = new APIError("INVALID_ARGUMENT", `${key}: ${stored}`);
    assert.deepEqual(inWords(error, "add"),
      { message: "Type the password again, because the address has changed.", details: `${key}: ${stored}` });
    assert.equal(fieldOfSecret(error), key);
  }
  for (const other of [new APIError("INVALID_ARGUMENT", "source: expected rtsp://"), new APIError("NOT_FOUND", `source: ${stored}`),
    new TypeError(`source: ${stored}`), "text"]) assert.equal(fieldOfSecret(other), null);
});
