import { changeAutomation, eventsPath, getAutomations } from "./automation-api.js";
import { automationButtons } from "./automation-buttons.js";
import { openAutomation } from "./automation-details.js";
import { openEditor } from "./automation-editor.js";
import { AutomationStore } from "./automation-store.js";
import { ownerWords, runWords, stateWords } from "./automation-words.js";
import { Toggle } from "./control-fields.js";
import { DialogFault, openDialog } from "./dialog.js";
import { Button, element } from "./dom.js";
import { Watcher } from "./event-stream.js";
import { momentElement } from "./moments.js";
import { byName } from "./places.js";
import { t } from "./text.js";
import { inWords } from "./words.js";

/**
 * @typedef {import("./types").Automation} Automation
 * @typedef {import("./home.js").Home} Home
 */

/**
 * Opens the list of automations.
 * @param {Home} home
 * @param {import("./rights.js").Rights} rights
 */
export function openAutomations(home, rights) { return new AutomationList(home, rights); }

/** The automations of a structure, live while the dialog is open. */
class AutomationList {
  /**
   * @param {Home} home
   * @param {import("./rights.js").Rights} rights
   */
  constructor(home, rights) {
    this.home = home;
    this.rights = rights;
    this.structures = [...home.structures.values()].filter(({ id }) => rights.may("automate", { structureID: id })).sort(byName);
    const { node, body } = openDialog(t("automationList.automations"), "automations-dialog", () => this.finish());
    this.node = node;
    this.store = new AutomationStore((id) => this.changed(id));
    /** @type {Map<string, AutomationRow>} */
    this.rows = new Map();
    /** @type {Watcher | null} */
    this.watcher = null;
    this.isArranging = false;
    this.isLoaded = false;
    /** @type {Set<import("./automation-details.js").Listener>} */
    this.listeners = new Set();
    this.place = element("select");
    this.place.setAttribute("aria-label", t("automationList.home"));
    this.place.append(...this.structures.map(({ id, name }) => new Option(name, id)));
    this.place.hidden = this.structures.length < 2;
    this.place.addEventListener("change", () => this.watch());
    this.search = element("input");
    this.search.type = "search";
    this.search.placeholder = t("automationList.name");
    this.search.setAttribute("aria-label", t("automationList.findAnAutomation"));
    this.search.addEventListener("input", () => this.arrange());
    this.message = element("p", "recordings-message", t("automationList.looking"));
    this.message.setAttribute("role", "status");
    this.fault = new DialogFault();
    this.list = element("ul", "automations");
    const make = new Button("plus", t("automationList.newAutomation"), () => openEditor(this.context(), null), "button primary");
    body.append(element("div", "automations-bar", this.place, this.search, make.node), this.fault.node, this.message, this.list);
    this.watch();
  }

  get structureID() { return this.place.value; }

  /**
   * Takes what a request has made of an automation, unless another home is chosen by then.
   * @returns {(automation: Automation) => void}
   */
  keeper() {
    const { structureID } = this;
    return (automation) => { if (structureID === this.structureID) this.store.put(automation); };
  }

  /**
   * What the dialogs that this one opens need.
   * @returns {import("./automation-details.js").Context}
   */
  context() {
    return {
      home: this.home, structureID: this.structureID, isOfOthers: (automation) => this.rights.isOfOthers(automation),
      nameOf: (entity) => nameOf(this.home, entity),
      known: (id) => this.store.automations.get(id),
      listen: (listener) => {
        this.listeners.add(listener);
        return () => this.listeners.delete(listener);
      },
      keep: this.keeper(),
      forget: (id) => this.store.remove(id),
    };
  }

  /** Follows the automations of the structure that is chosen. */
  watch() {
    this.watcher?.stop();
    // What is on its way is about the home that was chosen before, and so are the rows.
    this.store.clear();
    this.isLoaded = false;
    this.arrange();
    this.say(t("automationList.looking"));
    const { structureID } = this;
    const current = new Watcher((name, data) => {
      if (this.watcher === current) this.store.event(name, data);
    }, (state) => {
      if (this.watcher !== current) return;
      if (state === "connected") this.load(structureID);
      else this.say(t("automationList.notLive"));
    }, eventsPath(structureID));
    this.watcher = current;
    this.load(structureID);
  }

  /** @param {string} structureID */
  async load(structureID) {
    try {
      if (!await this.store.load(() => getAutomations(structureID))) return;
      this.isLoaded = true;
      this.arrange();
      for (const listener of this.listeners) listener.caughtUp();
    } catch (error) {
      this.say(inWords(error, "automate").message);
    }
  }

  /** @param {string} text */
  say(text) {
    this.message.textContent = text;
    this.message.hidden = text === "";
  }

  /** @param {string} id */
  changed(id) {
    const automation = this.store.automations.get(id) ?? null;
    for (const listener of this.listeners) listener.changed(automation, id);
    const row = this.rows.get(id);
    if (row && automation && row.automation.name === automation.name) row.show(automation);
    else this.arrangeSoon();
  }

  arrangeSoon() {
    if (this.isArranging) return;
    this.isArranging = true;
    queueMicrotask(() => this.arrange());
  }

  arrange() {
    this.isArranging = false;
    const looked = this.search.value.trim().toLowerCase();
    const all = [...this.store.automations.values()];
    const wanted = all.filter(({ name }) => name.toLowerCase().includes(looked)).sort(byName);
    const identifiers = new Set(wanted.map(({ id }) => id));
    for (const [id, row] of this.rows) {
      if (identifiers.has(id)) continue;
      row.node.remove();
      this.rows.delete(id);
    }
    /** @type {ChildNode | null} */
    let next = this.list.firstChild;
    for (const automation of wanted) {
      let row = this.rows.get(automation.id);
      if (!row) {
        row = new AutomationRow(automation, this);
        this.rows.set(automation.id, row);
      }
      row.show(automation);
      if (row.node === next) next = next.nextSibling;
      else this.list.insertBefore(row.node, next);
    }
    this.search.hidden = all.length < 8 && looked === "";
    if (all.length === 0 && !this.isLoaded) return;
    this.say(all.length === 0 ? t("automationList.noAutomations")
      : wanted.length === 0 ? t("automationList.noAutomationHasThisName") : "");
  }

  /**
   * @param {() => Promise<unknown>} run
   */
  async tell(run) {
    if (!await this.fault.attempt(run, { action: "automate" })) this.arrange();
  }

  finish() {
    this.watcher?.stop();
    this.watcher = null;
    this.store.clear();
    this.rows.clear();
    this.listeners.clear();
  }
}

/** An automation in the list. */
class AutomationRow {
  /**
   * @param {Automation} automation
   * @param {AutomationList} list
   */
  constructor(automation, list) {
    this.automation = automation;
    this.name = element("button", "automation-name");
    this.name.type = "button";
    this.name.addEventListener("click", () => openAutomation(list.context(), this.automation.id));
    this.state = element("span", "automation-state");
    this.isOfOthers = list.rights.isOfOthers(automation);
    this.last = element("small");
    this.toggle = new Toggle("", (isActive) => {
      const keep = list.keeper();
      list.tell(async () => {
        await changeAutomation(this.automation.id, { isActive });
        keep({ ...this.automation, isActive });
      });
    });
    this.buttons = automationButtons(() => this.automation, (run) => list.tell(run), (id) => list.store.remove(id));
    this.node = element("li", "automation", element("div", "automation-head",
      element("div", "", this.name, this.state), this.toggle.node), this.last, this.buttons.node);
    this.node.dataset["automation"] = automation.id;
    this.shown = "";
  }

  /** @param {Automation} automation */
  show(automation) {
    this.automation = automation;
    const { text, level } = stateWords(automation);
    const { name, isActive, isRunning, isPaused, lastRun } = automation;
    const owner = this.isOfOthers ? [`${ownerWords(automation)} `] : [];
    const end = lastRun ? `: ${runWords(lastRun)}` : t("automationWords.itHasNotRunYet");
    const shown = JSON.stringify([name, text, level, owner, lastRun?.startedAt, end, isActive, isRunning, isPaused]);
    if (shown === this.shown) return;
    this.shown = shown;
    this.name.textContent = name || t("automationList.withoutAName");
    this.state.textContent = text;
    this.node.dataset["level"] = level;
    this.last.replaceChildren(...owner, ...(lastRun ? [momentElement(lastRun.startedAt)] : []), end);
    this.toggle.node.setAttribute("aria-label", t("automationList.nameOn", { name }));
    this.toggle.show(isActive, true);
    this.buttons.show(automation);
  }
}

/**
 * The name of a device or structure.
 * @param {Home} home
 * @param {import("./automation-model").Entity | undefined} entity
 */
function nameOf(home, entity) {
  if (entity?.device !== undefined) return home.tiles.get(entity.device)?.device.name ?? t("automationList.aDeviceThatIsGone");
  return home.structures.get(entity?.structure ?? "")?.name ?? t("automationList.theHome");
}
