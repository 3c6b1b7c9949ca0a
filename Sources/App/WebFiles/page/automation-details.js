import { changeAutomation, explainAutomation, getAutomation, getRun, getRuns } from "./automation-api.js";
import { openEditor } from "./automation-editor.js";
import { automationButtons } from "./automation-buttons.js";
import { endWords, ownerWords, stateWords } from "./automation-words.js";
import { Toggle } from "./control-fields.js";
import { DialogFault, openDialog } from "./dialog.js";
import { arrange, Button, element } from "./dom.js";
import { momentElement } from "./moments.js";
import { Newest } from "./newest.js";
import { drawRun } from "./run-drawing.js";
import { t } from "./text.js";
import { inWords } from "./words.js";

/**
 * @typedef {import("./types").Automation} Automation
 * @typedef {import("./types").Run} Run
 */

/**
 * The reports that a dialog gets from the list that opened it.
 * @typedef {object} Listener
 * @property {(automation: Automation | null, id: string) => void} changed null: it was deleted
 * @property {() => void} caughtUp the list was read again, because events may have been left out
 */

/**
 * What a dialog about an automation needs of the list that opened it.
 * @typedef {object} Context
 * @property {import("./home.js").Home} home
 * @property {string} structureID
 * @property {(automation: Automation) => boolean} isOfOthers whether it belongs to somebody else
 * @property {import("./automation-words.js").NameOf} nameOf
 * @property {(id: string) => Automation | undefined} known
 * @property {(listener: Listener) => () => void} listen calls the listener until the function that it returns is called
 * @property {(automation: Automation) => void} keep
 * @property {(id: string) => void} forget
 */

// More runs than this are looked for by their moment.
const mostRuns = 200;
// The number of runs that are added at once.
const moreRuns = 20;

/**
 * Opens an automation: what it does, its runs, and why it ran or did not.
 * @param {Context} context
 * @param {string} id
 */
export function openAutomation(context, id) { return new AutomationDetails(context, id); }

class AutomationDetails {
  /**
   * @param {Context} context
   * @param {string} id
   */
  constructor(context, id) {
    this.context = context;
    this.id = id;
    this.automation = /** @type {Automation} */ (context.known(id));
    this.unlisten = context.listen({
      changed: (automation, changed) => { if (changed === id) this.changed(automation); },
      caughtUp: () => this.rereadRuns(),
    });
    const { node, heading, body } = openDialog(this.automation.name, "automation-dialog", () => {
      this.isClosed = true;
      this.unlisten();
    });
    this.node = node;
    this.heading = heading;
    this.isClosed = false;
    /** @type {string | undefined} */
    this.next = undefined;
    this.state = element("p", "automation-state");
    this.state.setAttribute("role", "status");
    this.text = element("p", "automation-text");
    const isOfOthers = context.isOfOthers(this.automation);
    // An administrator may stop what others have made. What it does is theirs to say, because it runs with their rights.
    this.owner = element("p", "automation-owner", isOfOthers
      ? t("automationDetails.somebodyElses", { ownerWords: ownerWords(this.automation) }) : "");
    this.owner.hidden = !isOfOthers;
    this.issues = element("ul", "issues");
    this.fault = new DialogFault();
    this.toggle = new Toggle(t("automationDetails.on"), (isActive) => this.tell(async () => {
      await changeAutomation(id, { isActive });
      context.keep({ ...this.automation, isActive });
    }));
    this.buttons = automationButtons(() => this.automation, (run) => this.tell(run), context.forget);
    const edit = new Button("edit", t("automationDetails.edit"), () => this.edit());
    edit.node.hidden = isOfOthers;
    this.buttons.node.prepend(edit.node);
    /** @type {Map<string, { row: HTMLElement, details: HTMLDetailsElement, summary: HTMLElement, requests: Newest }>} */
    this.drawings = new Map();
    this.requests = new Newest();
    /**
     * The runs that events have described while runs are read. The events are newer.
     * @type {Set<Set<string>>}
     */
    this.reads = new Set();
    this.runs = element("ul", "runs");
    this.runsMessage = element("p", "recordings-message", t("automationDetails.looking"));
    this.runsMessage.setAttribute("role", "status");
    this.more = new Button("down", t("automationDetails.earlierRuns"), () => this.readRuns());
    this.more.node.hidden = true;
    body.append(element("div", "automation-head", this.state, this.toggle.node), this.text, this.owner, this.issues, this.buttons.node,
      this.fault.node, element("h3", "", t("automationDetails.whyItRanOrNot")), this.question(),
      element("h3", "", t("automationDetails.runs")), this.runsMessage, this.runs, this.more.node);
    this.changed(this.automation);
    this.readRuns();
  }

  /** @param {Automation | null} automation */
  changed(automation) {
    if (!automation) {
      this.node.close();
      return;
    }
    const last = this.automation.lastRun;
    this.automation = automation;
    const { text } = stateWords(automation);
    this.heading.textContent = automation.name;
    this.state.textContent = text;
    this.toggle.show(automation.isActive, true);
    this.text.textContent = automation.description || automation.text || "";
    this.issues.replaceChildren(...automation.validationIssues.map(({ message }) => element("li", "", message)));
    this.issues.hidden = automation.validationIssues.length === 0;
    this.buttons.show(automation);
    if (automation.lastRun && automation.lastRun !== last) this.showRun(automation.lastRun, true);
  }

  /**
   * @param {() => Promise<unknown>} run
   * @param {{ isRead?: boolean }} [options]
   */
  async tell(run, options) {
    const isDone = await this.fault.attempt(run, { ...options, action: "automate" });
    if (!isDone && !this.isClosed) this.changed(this.automation);
  }

  edit() {
    this.tell(async () => {
      const automation = await getAutomation(this.id);
      if (!this.isClosed) openEditor(this.context, automation);
    }, { isRead: true });
  }

  /** A form for the moment that somebody wonders about. */
  question() {
    const when = element("input");
    when.type = "datetime-local";
    when.required = true;
    when.setAttribute("aria-label", t("automationDetails.moment"));
    const now = new Date();
    when.value = new Date(now.getTime() - now.getTimezoneOffset() * 60000).toISOString().slice(0, 16);
    const submit = element("button", "button", t("automationDetails.explain"));
    submit.type = "submit";
    const answer = element("p", "explanation");
    answer.setAttribute("role", "status");
    const form = element("form", "line", when, submit);
    let asked = 0;
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      asked += 1;
      const number = asked;
      answer.textContent = t("automationDetails.looking");
      const text = await explainAutomation(this.id, new Date(when.value).getTime())
        .then((explanation) => explanation.text, (/** @type {unknown} */ error) => inWords(error, "automate").message);
      // Another moment has its own answer.
      if (number === asked) answer.textContent = text;
    });
    return element("div", "", form, answer);
  }

  /** Reads the runs before those that are shown. */
  async readRuns() {
    // The read that is under way also brings earlier runs.
    if (this.reads.size > 0) return;
    this.more.node.disabled = true;
    await this.read({ limit: moreRuns, before: this.next });
    this.more.node.disabled = false;
  }

  /**
   * Reads again the runs that are shown, and reads those since then. Changes during a lost connection may have come without an
   * event. Runs that are no longer among the newest leave the list, because it must have no gap.
   */
  rereadRuns() {
    return this.read({ limit: Math.min(mostRuns, this.drawings.size + moreRuns) }, (runs, reported) => {
      const listed = new Set(runs.map(({ id }) => id));
      for (const id of this.drawings.keys()) if (!listed.has(id) && !reported.has(id)) this.drawings.delete(id);
      const rows = runs.flatMap(({ id }) => this.drawings.get(id)?.row ?? []);
      // These runs began in the meantime. The latest was added last.
      for (const [id, { row }] of this.drawings) if (!listed.has(id)) rows.unshift(row);
      arrange(this.runs, rows);
      while (this.drawings.size > mostRuns) this.dropLast();
    });
  }

  /**
   * @param {{ limit: number, before?: string | undefined }} part
   * @param {(runs: Run[], reported: Set<string>) => void} [shown] called when the runs are in the list
   */
  async read(part, shown = () => {}) {
    /** @type {Set<string>} */
    const reported = new Set();
    this.reads.add(reported);
    const request = this.requests.begin();
    try {
      const { runs, next } = await getRuns(this.id, part);
      if (this.isClosed || !request.takes()) return;
      for (const run of runs) if (!reported.has(run.id)) this.showRun(run);
      shown(runs, reported);
      this.next = next;
      const isFull = this.runs.childElementCount >= mostRuns;
      this.more.node.hidden = !next || isFull;
      this.sayRuns(this.runs.childElementCount === 0 ? t("automationDetails.itHasNotRunYet") : isFull && next
        ? t("automationDetails.moreRuns") : "");
    } catch (error) {
      if (!this.isClosed && request.isLast()) this.sayRuns(inWords(error, "automate").message);
    } finally {
      this.reads.delete(reported);
    }
  }

  /** @param {string} text */
  sayRuns(text) {
    this.runsMessage.textContent = text;
    this.runsMessage.hidden = text === "";
  }

  /**
   * @param {Run} run
   * @param {boolean} [isNews] whether it was reported just now, and belongs at the top
   */
  showRun(run, isNews = false) {
    if (isNews) for (const reported of this.reads) reported.add(run.id);
    const words = [element("strong", "", momentElement(run.startedAt)),
      ` ${run.text || [run.trigger?.text, endWords(run.end)].filter(Boolean).join(": ")}`];
    const known = this.drawings.get(run.id);
    if (known) {
      // It may have the focus.
      known.summary.replaceChildren(...words);
      if (known.details.open) this.drawInto(run.id);
      return;
    }
    const summary = element("summary", "", ...words);
    const details = element("details", "run", summary);
    details.addEventListener("toggle", () => { if (details.open) this.drawInto(run.id); });
    const row = element("li", "", details);
    this.drawings.set(run.id, { row, details, summary, requests: new Newest() });
    if (isNews) {
      this.runs.prepend(row);
      if (this.drawings.size > mostRuns) this.dropLast();
      this.sayRuns("");
    } else this.runs.append(row);
  }

  /** Makes room for a newer run. */
  dropLast() {
    for (const [id, { row }] of this.drawings) {
      if (row !== this.runs.lastElementChild) continue;
      row.remove();
      this.drawings.delete(id);
      return;
    }
  }

  /** @param {string} runID */
  async drawInto(runID) {
    const shown = this.drawings.get(runID);
    if (!shown) return;
    // A run that goes on is read again and again.
    const request = shown.requests.begin();
    /** @type {Node} */
    let drawing;
    try {
      const run = await getRun(this.id, runID);
      if (!request.takes()) return;
      drawing = drawRun(this.automation, run, this.context.nameOf);
    } catch (error) {
      if (!request.isLast()) return;
      drawing = element("p", "error", inWords(error, "automate").message);
    }
    if (!this.isClosed) arrange(shown.details, [shown.summary, drawing]);
  }
}
