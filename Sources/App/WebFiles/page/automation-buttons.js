import { ask } from "./ask.js";
import { deleteAutomation, tellAutomation } from "./automation-api.js";
import { Button, element } from "./dom.js";
import { t } from "./text.js";

/** @typedef {import("./types").Automation} Automation */

/**
 * The buttons that do something with an automation.
 * @param {() => Automation} current
 * @param {(run: () => Promise<unknown>) => Promise<void>} tell runs a request, and says what went wrong
 * @param {(id: string) => void} removed
 */
export function automationButtons(current, tell, removed) {
  const run = new Button("play", t("automationButtons.run"), () => tell(() => tellAutomation(current().id, "execute")));
  const stop = new Button("stop", t("automationButtons.stop"), () => tell(() => tellAutomation(current().id, "stop")));
  const release = new Button("unlock", t("automationButtons.release"), () => tell(() => tellAutomation(current().id, "release")));
  const bin = new Button("bin", t("automationButtons.delete"), async () => {
    const { id, name } = current();
    if (await ask({ question: t("automationButtons.deleteName", { name }), details: [t("automationButtons.deletingEffect")], yes: t("automationButtons.delete"),
      isDangerous: true }) === null) return;
    await tell(async () => {
      await deleteAutomation(id);
      removed(id);
    });
  }, "button danger");
  return {
    node: element("div", "buttons", run.node, stop.node, release.node, bin.node),
    /** @param {Automation} automation */
    show({ name, isRunning, isPaused, isUnderstood }) {
      run.node.hidden = isRunning;
      run.node.disabled = isUnderstood === false;
      stop.node.hidden = !isRunning;
      release.node.hidden = !isPaused;
      for (const [button, words] of /** @type {[Button, string][]} */ ([[run, t("automationButtons.run")], [stop, t("automationButtons.stop")], [release, t("automationButtons.release")], [bin, t("automationButtons.delete")]])) {
        button.node.setAttribute("aria-label", `${words} ${name}`);
      }
    },
  };
}
