import { send } from "./api.js";
import { openDialog } from "./dialog.js";
import { element } from "./dom.js";
import { findingWords, sortedFindings, subjectWords, summaryOf } from "./findings.js";
import { inWords } from "./words.js";

/**
 * Lets the gateway examine what is between a camera and a viewer, and says what to do.
 * @param {string} [camera] its name, if it is about one
 */
export async function openDoctor(camera) {
  const { node, body } = openDialog(camera ? `Why can’t I see ${camera}?` : "Why can’t I see it?", "doctor");
  const summary = element("p", "nobody", "The gateway looks at its ports, its network and the cameras …");
  summary.setAttribute("role", "status");
  body.append(summary);
  try {
    // It asks servers on other networks, which may not answer.
    const { findings } = await send("GET", "/v1/doctor", undefined, { patience: 60000 });
    if (!node.isConnected) return;
    const sorted = sortedFindings(findings, camera);
    summary.textContent = summaryOf(sorted);
    const good = sorted.filter(({ state }) => state === "good");
    body.append(list(sorted.filter(({ state }) => state !== "good")));
    if (good.length > 0) body.append(element("details", "", element("summary", "", "What is in order"), list(good)));
  } catch (error) {
    summary.textContent = inWords(error, "examine").message;
  }
}

/** @param {import("./findings.js").Finding[]} findings */
function list(findings) {
  return element("ul", "findings", ...findings.map((finding) => {
    const row = element("li", `finding ${finding.state}`,
      element("strong", "", subjectWords(finding)), element("span", "finding-state", findingWords(finding.state)),
      element("p", "", finding.message));
    if (finding.advice) row.append(element("p", "advice", finding.advice));
    return row;
  }));
}
