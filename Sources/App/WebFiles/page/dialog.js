import { openQuestion } from "./ask.js";
import { Button, element } from "./dom.js";
import { forgetLateFaults, lateFault, takeLateFaults } from "./late-faults.js";
import { t } from "./text.js";
import { inWords } from "./words.js";

/**
 * Whether dialogs have something that somebody would lose.
 * @type {WeakMap<HTMLDialogElement, () => boolean>}
 */
const losses = new WeakMap();

/**
 * The open questions whether dialogs may lose something.
 * @type {Map<HTMLDialogElement, import("./ask.js").Question>}
 */
const questions = new Map();

/**
 * The dialogs that the browser closes although somebody would lose something, with what had the focus.
 * @type {Map<HTMLDialogElement, Element | null>}
 */
const forced = new Map();

/**
 * Opens a dialog with a heading and a button that closes it. It exists only while it is open.
 * @param {string} title
 * @param {string} className
 * @param {() => void} [closed]
 * @returns {{ node: HTMLDialogElement, heading: HTMLElement, body: HTMLElement }}
 */
export function openDialog(title, className, closed = () => {}) {
  const heading = element("h2", "", title);
  const body = element("div", "dialog-body");
  const node = element("dialog", `sheet ${className}`);
  node.setAttribute("aria-label", title);
  node.append(element("header", "recordings-head", heading,
    new Button("close", t("dialog.close"), () => leaveDialog(node), "button compact").node), body);
  const leave = takeLateFaults((fault) => {
    const late = new DialogFault();
    body.before(late.node);
    late.show(fault);
  });
  // Escape, and the way back of some phones.
  node.addEventListener("cancel", (event) => {
    if (event.target !== node || !losesSomething(node)) return;
    event.preventDefault();
    // Chromium lets a page keep a dialog open once, and again only after somebody has touched the page. On Android, somebody who goes
    // back twice has not.
    if (event.cancelable) leaveDialog(node);
    else forced.set(node, document.activeElement);
  });
  // After an Escape that closes nothing, Chromium closes the dialog at the next one without asking the page. So that does not learn
  // of a key that needs a question.
  node.addEventListener("keydown", (event) => {
    if (event.key !== "Escape" || event.isComposing || event.defaultPrevented || !losesSomething(node)) return;
    event.preventDefault();
    leaveDialog(node);
  });
  node.addEventListener("close", () => {
    const held = forced.get(node);
    if (forced.delete(node)) {
      // Nobody has been asked yet.
      node.showModal();
      if (held instanceof HTMLElement && node.contains(held)) held.focus();
      leaveDialog(node);
      return;
    }
    // Nothing is left to ask about.
    questions.get(node)?.node.close();
    leave();
    node.remove();
    closed();
  });
  // A press beside the dialog closes it. One that selects text in a field may end beside it, and the browser reports
  // its click at the dialog, too.
  let isBeside = false;
  node.addEventListener("pointerdown", (event) => { isBeside = event.target === node; });
  node.addEventListener("click", (event) => { if (isBeside && event.target === node) leaveDialog(node); });
  document.body.append(node);
  node.showModal();
  return { node, heading, body };
}

/** @param {HTMLDialogElement} dialog */
function losesSomething(dialog) { return dialog.open && (losses.get(dialog)?.() ?? false); }

/**
 * Asks whether somebody agrees to lose what they have entered in a dialog, if there is something. Whoever asks while the question
 * is open gets its answer.
 * @param {HTMLDialogElement} dialog
 * @returns {Promise<boolean>} whether the dialog is open and may lose it
 */
export async function mayDiscard(dialog) {
  if (!losesSomething(dialog)) return true;
  const question = questions.get(dialog)
    ?? openQuestion({ question: t("dialog.discard"), yes: t("dialog.discardThem"), no: t("dialog.keep"), isDangerous: true });
  questions.set(dialog, question);
  const answer = await question.answer;
  if (questions.get(dialog) === question) questions.delete(dialog);
  return answer !== null && dialog.open;
}

/**
 * Closes a dialog unless somebody wants to keep what they have entered.
 * @param {HTMLDialogElement} dialog
 * @returns {Promise<boolean>} whether that has closed it
 */
export async function leaveDialog(dialog) {
  // Without a question, it closes at once.
  if (losesSomething(dialog) && !await mayDiscard(dialog)) return false;
  dialog.close();
  return true;
}

/**
 * Asks before a dialog loses what somebody enters from now on.
 * @param {HTMLDialogElement} dialog
 * @param {() => unknown} entered what its fields say
 */
export function keepEntered(dialog, entered) {
  const before = JSON.stringify(entered());
  losses.set(dialog, () => JSON.stringify(entered()) !== before);
}

/**
 * What somebody has entered into fields whose default values are those that the gateway has.
 * @param {HTMLElement} part
 */
export function changedFields(part) {
  return [...part.querySelectorAll("input")].filter((one) => one.value !== one.defaultValue).map(({ value }) => value);
}

/**
 * Shows the value that the gateway has now, unless the person has entered something else.
 * @param {HTMLInputElement} field
 * @param {string} value
 */
export function follow(field, value) {
  if (field.defaultValue === value) return;
  const isEntered = field.value !== field.defaultValue;
  field.defaultValue = value;
  if (!isEntered) field.value = value;
}

/** The open dialogs, the latest first: each gives the focus back to what has opened it. */
function dialogs() { return [...document.querySelectorAll("dialog")].filter(({ open }) => open).reverse(); }

/** The same without the questions whether they may lose something. */
function forms() {
  const asking = new Set([...questions.values()].map(({ node }) => node));
  return dialogs().filter((one) => !asking.has(one));
}

/**
 * Closes the dialogs because somebody goes elsewhere, up to one that would lose something.
 * @returns {boolean} whether all are closed
 */
export function leaveDialogs() {
  return forms().every((dialog) => {
    if (losesSomething(dialog)) return false;
    dialog.close();
    return true;
  });
}

/**
 * Closes every dialog because somebody goes elsewhere, unless they want to keep what they have entered.
 * @returns {Promise<boolean>} whether all are closed
 */
export async function askToLeaveDialogs() {
  for (const dialog of forms()) {
    // One that has closed meanwhile holds nobody back.
    if (!await leaveDialog(dialog) && dialog.open) return false;
  }
  return leaveDialogs();
}

/** Closes every dialog: the person at the screen may no longer see what they show. */
export function closeDialogs() {
  forced.clear();
  for (const dialog of dialogs()) dialog.close();
  forgetLateFaults();
}

/**
 * A form with one field and a button. The default value of the field is what was done last (see `changedFields`).
 * @param {{ label: string, value?: string, button: string, isEmptied?: boolean,
 *   run: (value: string) => Promise<boolean | void> }} options isEmptied: the field is for the next thing when run says
 *   true
 */
export function lineForm({ label, value = "", button, isEmptied = false, run }) {
  const input = element("input");
  input.defaultValue = input.value = value;
  input.required = true;
  input.maxLength = 60;
  input.autocomplete = "off";
  input.setAttribute("aria-label", label);
  input.placeholder = label;
  const save = element("button", "button", button);
  save.type = "submit";
  const form = element("form", "line", input, save);
  let isRunning = false;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    // A double press makes one thing.
    if (isRunning) return;
    isRunning = true;
    const asked = input.value;
    try {
      if (await run(asked.trim()) !== true) return;
      if (!isEmptied) input.defaultValue = asked;
      // What somebody has entered since is the next thing.
      else if (input.value === asked) input.value = "";
    } finally {
      isRunning = false;
    }
  });
  return form;
}

/** What went wrong in a dialog. */
export class DialogFault {
  constructor() {
    this.node = element("div", "error");
    this.node.setAttribute("role", "alert");
    this.node.hidden = true;
  }

  /** @param {string} text "" for nothing */
  say(text) {
    this.node.textContent = text;
    this.node.hidden = text === "";
  }

  /** @param {import("./types").Fault} fault */
  show({ message, details }) { this.say([message, details].filter(Boolean).join(" ")); }

  /**
   * Runs what the user asked for, and says what went wrong: where the user is by then.
   * @param {() => Promise<unknown>} run
   * @param {{ action?: import("./words.js").Action, isRead?: boolean }} options isRead: nobody misses it in a dialog that is closed
   * @returns {Promise<boolean>} whether it worked
   */
  async attempt(run, { action = "change", isRead = false } = {}) {
    const tellLate = lateFault();
    this.say("");
    try {
      await run();
      return true;
    } catch (error) {
      const fault = inWords(error, action);
      if (this.node.isConnected) this.show(fault);
      else if (!isRead) tellLate(this.node.closest("dialog")?.getAttribute("aria-label") ?? "", fault);
      return false;
    }
  }
}
