import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { findingWords, sortedFindings, subjectWords, summaryOf } from "../../Sources/App/WebFiles/page/findings.js";

const findings = [
  { subject: "page", state: "good", message: "a" },
  { subject: "mediaPort", state: "failure", message: "b" },
  { subject: "camera", state: "good", message: "c", device: "Yard" },
  { subject: "camera", state: "failure", message: "d", device: "Barn" },
  { subject: "clock", state: "warning", message: "e" },
];
const messages = (list) => list.map(({ message }) => message).join("");

test("what fails comes first, and of that what is about the camera in question", () => {
  assert.equal(messages(sortedFindings(findings)), "bdeac");
  assert.equal(messages(sortedFindings(findings, "Barn")), "dbea");
  assert.equal(messages(sortedFindings(findings, "Yard")), "beca");
});

test("a finding says what it is about, also one that this page does not know yet", () => {
  assert.equal(subjectWords(findings[3]), "Barn");
  assert.equal(subjectWords(findings[1]), "The port for pictures and sound");
  assert.equal(subjectWords({ subject: "moon", state: "note", message: "" }), "moon");
  assert.equal(findingWords("failure"), "Does not work");
  for (const subject of ["page", "certificate", "mediaPort", "outsideAddress", "turnServer", "translation", "viewerServers",
    "camera", "clock", "disk"]) {
    assert.notEqual(subjectWords({ subject, state: "note", message: "" }), subject);
  }
});

test("every subject of the API has words", () => {
  const document = readFileSync(new URL("../../Sources/App/WebFiles/openapi.yaml", import.meta.url), "utf8");
  const [, list] = document.match(/subject:\s+type: string\s+enum:\s+\[([^\]]+)\]/) ?? [];
  const subjects = (list ?? "").split(",").map((subject) => subject.trim());
  assert.ok(subjects.includes("turnServer"));
  for (const subject of subjects) assert.notEqual(subjectWords({ subject, state: "note", message: "" }), subject);
});

test("one sentence says how it is", () => {
  assert.equal(summaryOf(findings), "2 things do not work.");
  assert.equal(summaryOf([findings[1]]), "One thing does not work.");
  assert.match(summaryOf([findings[4]]), /^Everything works/);
  assert.match(summaryOf([]), /^The gateway found nothing wrong/);
});
