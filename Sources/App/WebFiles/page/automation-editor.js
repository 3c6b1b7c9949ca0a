import { APIError } from "./api.js";
import {
  changeAutomation, createAutomation, getAutomation, getCandidates, getSuggestions, simulateDraft, validateDraft,
} from "./automation-api.js";
import { nodeWords } from "./automation-words.js";
import { Candidates } from "./candidates.js";
import { blockList } from "./condition-rows.js";
import { DialogFault, keepEntered, leaveDialog, mayDiscard, openDialog } from "./dialog.js";
import { Button, element } from "./dom.js";
import { inputField } from "./editor-controls.js";
import { modelOf } from "./graph-reading.js";
import { graphOf, partAt } from "./graph-writing.js";
import { lateFault } from "./late-faults.js";
import { missingFields } from "./missing-fields.js";
import { momentElement } from "./moments.js";
import { pathOf } from "./run-path.js";
import { starterList } from "./starter-rows.js";
import { stepList } from "./step-rows.js";
import { counted, t } from "./text.js";
import { inWords } from "./words.js";

/**
 * @typedef {import("./automation-details.js").Context} Context
 * @typedef {import("./automation-model").Model} Model
 * @typedef {import("./types").Automation} Automation
 * @typedef {import("./types").AutomationDraft} AutomationDraft
 * @typedef {import("./types").ValidationIssue} ValidationIssue
 */

/**
 * What the rows of the editor share.
 * @typedef {object} Desk
 * @property {Candidates} candidates
 * @property {string} structureID
 * @property {boolean} hasCoordinates
 * @property {import("./automation-words.js").NameOf} nameOf
 * @property {(part: object, node: HTMLElement) => void} placed tells where a part of the model is shown
 * @property {(text: string) => HTMLDivElement} hint
 */

// How far back a draft is tried.
const triedDays = 7;

/**
 * Opens the editor for an automation, or for a new one.
 * @param {Context} context
 * @param {Automation | null} automation
 */
export function openEditor(context, automation) { return new AutomationEditor(context, automation); }

class AutomationEditor {
  /**
   * @param {Context} context
   * @param {Automation | null} automation
   */
  constructor(context, automation) {
    this.context = context;
    this.automation = automation;
    this.isClosed = false;
    this.name = automation?.name ?? "";
    this.description = automation?.description ?? "";
    this.title = automation ? t("automationEditor.editName", { name: automation.name })
      : t("automationEditor.newAutomation");
    const { node, body } = openDialog(this.title, "editor-dialog", () => { this.isClosed = true; });
    this.node = node;
    this.body = body;
    this.message = element("p", "recordings-message", t("automationEditor.looking"));
    this.message.setAttribute("role", "status");
    this.fault = new DialogFault();
    /** @type {Model | null} */
    this.model = null;
    /**
     * When, if and then.
     * @type {HTMLElement[]}
     */
    this.sections = [];
    /** @type {WeakMap<object, HTMLElement>} */
    this.shown = new WeakMap();
    /** The graph as it was, so that only a change of it is written. */
    this.before = "";
    body.append(this.message);
    this.open();
  }

  async open() {
    try {
      this.candidates = new Candidates(await getCandidates(this.context.structureID));
      if (this.isClosed) return;
      if (this.automation) this.edit(this.automation);
      else this.draw(emptyModel());
    } catch (error) {
      if (!this.isClosed) this.message.textContent = inWords(error, "automate").message;
    }
  }

  /** @param {Automation} automation */
  edit(automation) {
    const read = modelOf(automation.automationGraph);
    if ("model" in read) {
      this.before = JSON.stringify(graphOf(read.model).graph);
      this.draw(read.model);
      this.showIssues(automation.validationIssues);
    } else this.drawReadOnly(automation, read.problem);
  }

  nameFields() {
    const name = inputField(t("automationEditor.name"), "name", "text", this.name, (value) => { this.name = value; },
      { required: true, maxLength: 60, placeholder: t("automationEditor.lightAtTheDoor") });
    this.nameField = name.querySelector("input");
    return element("div", "editor-names", name,
      inputField(t("automationEditor.description"), "description", "text", this.description, (value) => { this.description = value; }, { maxLength: 500 }));
  }

  /**
   * A graph that is more than the editor can show is listed, and stays as it is.
   * @param {Automation} automation
   * @param {string} problem
   */
  drawReadOnly(automation, problem) {
    const { items } = pathOf(automation.automationGraph, [], this.context.nameOf);
    this.form(this.nameFields(),
      element("p", "notice", t("automationEditor.automationCannotBeEdited", { problem })),
      element("h3", "", t("automationEditor.whatItDoes")), outline(items));
  }

  /** @param {Model} model */
  draw(model) {
    this.model = model;
    const structure = this.context.home.structures.get(this.context.structureID);
    /** @type {Desk} */
    const desk = {
      candidates: this.candidates ?? new Candidates([]), structureID: this.context.structureID, nameOf: this.context.nameOf,
      hasCoordinates: structure?.latitude !== undefined && structure.longitude !== undefined,
      placed: (part, node) => this.shown.set(part, node),
      hint: (text) => element("div", "hint", text),
    };
    this.trial = element("div", "trial");
    this.trial.setAttribute("role", "status");
    const simulate = new Button("history", t("automationEditor.tryOnPastDays", { triedDays }), () => this.simulate());
    this.sections = [section(t("automationEditor.when"), starterList(model.starters, desk)),
      section(t("automationEditor.if"), blockList(model.conditions, desk)), section(t("automationEditor.then"), stepList(model.steps, desk))];
    /** @type {Node[]} */
    const parts = [this.nameFields(), ...this.sections, simulate.node, this.trial];
    if (!this.automation && !this.isSuggested) {
      const suggestions = element("div", "suggestions");
      parts.unshift(suggestions);
      this.suggest(suggestions);
    }
    this.form(...parts);
  }

  /** @param {Node[]} parts */
  form(...parts) {
    const save = element("button", "button primary", t("automationEditor.save"));
    save.type = "submit";
    const cancel = element("button", "button", t("automationEditor.cancel"));
    cancel.type = "button";
    cancel.addEventListener("click", () => leaveDialog(this.node));
    const form = element("form", "editor", ...parts, this.fault.node, element("div", "answers", cancel, save));
    form.noValidate = true;
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      save.disabled = true;
      await this.save();
      save.disabled = false;
    });
    this.body.replaceChildren(form);
    keepEntered(this.node, () => this.draft());
  }

  /**
   * Drafts that this home can run now.
   * @param {HTMLElement} place
   */
  async suggest(place) {
    try {
      const suggestions = await getSuggestions(this.context.structureID);
      if (this.isClosed || suggestions.length === 0) return;
      place.append(element("h3", "", t("automationEditor.suggestions")), element("div", "buttons", ...suggestions.map((draft) => {
        const button = new Button("plus", draft.name, async () => {
          const read = modelOf(draft.automationGraph);
          if (!("model" in read)) {
            this.fault.say(t("automationEditor.suggestionCannotBeEdited", { problem: read.problem }));
            return;
          }
          if (!await mayDiscard(this.node)) return;
          this.isSuggested = true;
          this.name = draft.name;
          this.description = draft.description ?? "";
          this.draw(read.model);
          // The button that was pressed is gone.
          this.nameField?.focus();
        });
        button.node.title = draft.description ?? draft.name;
        return button.node;
      })));
    } catch {
      // Without suggestions, the editor is as useful.
    }
  }

  /** @returns {AutomationDraft} */
  draft() {
    const draft = { name: this.name.trim(), description: this.description.trim() };
    if (!this.model) return draft;
    return { ...draft, automationGraph: graphOf(this.model).graph };
  }

  async save() {
    this.fault.say("");
    this.showIssues([]);
    if (this.name.trim() === "") {
      this.fault.say(t("automationEditor.pleaseGiveItAName"));
      this.nameField?.focus();
      return;
    }
    const { automationGraph, ...names } = this.draft();
    const tellLate = lateFault();
    const isChanged = automationGraph !== undefined && JSON.stringify(automationGraph) !== this.before;
    if (isChanged && this.refusesGaps()) return;
    try {
      if (!this.automation) {
        this.context.keep(await createAutomation(this.context.structureID, { ...names, isActive: true, automationGraph }));
      } else {
        await changeAutomation(this.automation.id, isChanged ? { ...names, automationGraph } : names, this.automation.etag);
        // The change is made. If it cannot be read now, an event brings it.
        const changed = await getAutomation(this.automation.id).catch(() => null);
        if (changed) this.context.keep(changed);
      }
      this.node.close();
    } catch (error) {
      if (this.isClosed) tellLate(this.title, inWords(error, "automate"));
      else await this.refused(error);
    }
  }

  /** Whether fields that need a value have none. It says which, and leads to the first one. */
  refusesGaps() {
    const missing = missingFields(this.sections);
    if (missing.length === 0) return false;
    this.fault.say(t("automationEditor.missing", { fields: missing.map(({ words }) => words).join(", ") }));
    missing[0].control.focus();
    return true;
  }

  /** @param {unknown} error */
  async refused(error) {
    const { message, details } = inWords(error, "automate");
    this.fault.say([message, details].filter(Boolean).join(" "));
    let issues = issuesOf(error);
    if (issues.length === 0 && this.model && error instanceof APIError && error.status === "INVALID_ARGUMENT") {
      issues = await this.validate();
    }
    if (issues.length > 0) {
      this.fault.say(t("automationEditor.cannotBeKeptYet"));
      this.showIssues(issues);
    }
  }

  /** @returns {Promise<ValidationIssue[]>} */
  async validate() {
    try {
      return (await validateDraft(this.context.structureID, this.draft())).validationIssues;
    } catch {
      // The refusal itself says what was wrong.
      return [];
    }
  }

  /**
   * Shows each issue at the part that it is about; what is about no part, below.
   * @param {ValidationIssue[]} issues
   */
  showIssues(issues) {
    for (const old of this.body.querySelectorAll(".box-issues")) old.replaceChildren();
    if (!this.model) return;
    const { places } = graphOf(this.model);
    /** @type {string[]} */
    const rest = [];
    /** @type {HTMLElement | null} */
    let first = null;
    for (const { path, message, severity } of issues) {
      const part = partAt(places, path);
      const node = part ? this.shown.get(part) : undefined;
      const place = node && [...node.children].find((child) => child.className === "box-issues");
      if (!node?.isConnected || !place) {
        rest.push(message);
        continue;
      }
      const line = element("p", severity === "warning" ? "warning" : "error", message);
      line.setAttribute("role", "alert");
      place.append(line);
      first ??= node;
    }
    if (rest.length > 0) this.fault.say([this.fault.node.textContent, ...rest].filter(Boolean).join(" "));
    first?.scrollIntoView({ block: "center" });
  }

  async simulate() {
    const { trial } = this;
    if (!trial) return;
    this.fault.say("");
    this.showIssues([]);
    if (this.refusesGaps()) return;
    trial.replaceChildren(t("automationEditor.looking"));
    const now = Date.now();
    try {
      const runs = await simulateDraft(this.context.structureID, { ...this.draft(), name: this.name.trim() || t("automationEditor.draft") }, now - triedDays * 86400000, now);
      if (this.isClosed) return;
      trial.replaceChildren(element("p", "", runs.length === 0 ? t("automationEditor.wouldNotHaveRun", { triedDays })
        : counted("automation.wouldHaveRun", runs.length, { days: triedDays })));
      const shown = runs.slice(-50).reverse();
      trial.append(element("ul", "", ...shown.map((run) => element("li", "", momentElement(run.at), simulatedWords(run, this.context.nameOf)))));
    } catch (error) {
      if (this.isClosed) return;
      trial.replaceChildren();
      await this.refused(error);
    }
  }
}

/**
 * What follows the time of a run.
 * @param {import("./types").SimulatedRun} run
 * @param {import("./automation-words.js").NameOf} nameOf
 */
function simulatedWords({ trigger, commands, text }, nameOf) {
  const sent = commands.map((one) => one.text ?? nodeWords({ type: "action", ...one }, nameOf));
  const told = text ?? trigger?.text ?? "";
  const result = sent.length > 0 ? sent.join("; ") : t("automationEditor.nothingSent");
  return `${told ? `: ${told}` : ""} → ${result}`;
}

/**
 * The issues that an answer of the gateway brings.
 * @param {unknown} error
 * @returns {ValidationIssue[]}
 */
function issuesOf(error) {
  const told = error instanceof APIError ? error.told : null;
  return told?.details?.validationIssues ?? told?.validationIssues ?? [];
}

/** @returns {Model} */
function emptyModel() { return { starters: [], conditions: [], steps: [] }; }

/**
 * @param {string} title
 * @param {Node} content
 */
function section(title, content) {
  const node = element("section", "editor-part", element("h3", "", title), content);
  node.setAttribute("aria-label", title);
  return node;
}

/**
 * @param {import("./run-path.js").PathItem[]} items
 * @returns {HTMLElement}
 */
function outline(items) {
  return element("ol", "flow", ...items.map(({ words, branches }) => element("li", "", element("div", "flow-step", words),
    ...branches.map(({ label, items: inner }) => element("div", "flow-branch", ...(label ? [element("h4", "", label)] : []), outline(inner))))));
}
