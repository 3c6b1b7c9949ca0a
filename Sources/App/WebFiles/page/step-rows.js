import { choiceKey, choiceOptions, commandWords, entityKey, entityOf, shapeOf } from "./candidates.js";
import { blockFields, newBlock } from "./condition-rows.js";
import { afterRemoval, checkField, drawn, durationField, firstControl, partList, selectField } from "./editor-controls.js";
import { Button, element } from "./dom.js";
import { plain } from "./history-words.js";
import { t } from "./text.js";
import { askedFields, firstValue, valueField } from "./value-fields.js";

/**
 * @typedef {import("./automation-model").CommandStep} CommandStep
 * @typedef {import("./automation-model").Step} Step
 * @typedef {import("./automation-model").UpdateStep} UpdateStep
 * @typedef {import("./automation-editor.js").Desk} Desk
 */

/**
 * What an automation does, in order.
 * @param {Step[]} steps changed in place
 * @param {Desk} desk
 * @param {boolean} [isInParallel] whether it is a branch of a parallel step, where no choice may be
 * @returns {HTMLDivElement}
 */
export function stepList(steps, desk, isInParallel = false) {
  return partList({
    parts: steps, noun: t("stepRows.step"), isOrdered: true, placed: desk.placed,
    build: (step, replace) => stepFields(step, desk, replace, isInParallel),
    more: (parts, added) => new Button("plus", t("stepRows.addAStep"), () => {
      parts.push(actionStep(desk) ?? { kind: "delay", seconds: 60 });
      added();
    }).node,
  });
}

/**
 * @param {Desk} desk
 * @param {string} [key] of the entity
 * @param {string} [wanted] what it does
 * @returns {CommandStep | UpdateStep | null} null if nothing can be done
 */
function actionStep(desk, key, wanted) {
  const [first] = desk.candidates.entities("action");
  const entity = key === undefined ? first : entityOf(key);
  if (!entity) return null;
  const choices = desk.candidates.choices(entity, "action");
  const usable = choices.filter(({ isMissing }) => isMissing === "");
  const choice = choices.find((one) => one.key === wanted) ?? usable.find(({ candidate }) => candidate.command === "on") ?? usable[0] ?? choices[0];
  if (!choice) return null;
  const { candidate } = choice;
  const source = { entity, ...(candidate.deviceTypes[0] === undefined ? {} : { deviceType: candidate.deviceTypes[0] }), trait: candidate.trait };
  if (candidate.kind === "attributes") return { kind: "update", ...source, update: {}, defer: null };
  const required = candidate.fields.filter((field) => shapeOf(field).isRequired);
  return { kind: "command", ...source, command: candidate.command ?? "", defer: null,
    parameters: Object.fromEntries(required.map((field) => [field.name, firstValue(field)])) };
}

/**
 * @param {Step} step changed in place
 * @param {Desk} desk
 * @param {(other: Step) => void} replace
 * @param {boolean} isInParallel
 */
function stepFields(step, desk, replace, isInParallel) {
  return drawn("row-fields", (redraw, marks) => {
    const kind = step.kind === "command" || step.kind === "update" ? "action" : step.kind;
    /** @type {import("./editor-controls.js").Option[]} */
    const kinds = [["action", t("stepRows.aDeviceDoesSomething")], ["delay", t("stepRows.wait")], ["condition", t("stepRows.goOnOnlyIf")], ["suppress", t("stepRows.suppress")],
      ["parallel", t("stepRows.severalAtTheSameTime")]];
    if (!isInParallel) kinds.push(["choice", t("stepRows.ifElse")]);
    const chooser = selectField(t("stepRows.then"), "kind", kinds, kind, (value) => replace(newStep(value, desk)));
    switch (step.kind) {
      case "delay": case "suppress": return [chooser, durationField(t("stepRows.for"), "for", step.seconds, (seconds) => { step.seconds = seconds; })];
      case "condition": return [chooser, blockFields(step, desk, true)];
      case "parallel": return [chooser, ...parallelFields(step, desk, redraw, marks)];
      case "choice": return [chooser, ...choiceFields(step, desk, redraw, marks)];
      default: return [chooser, ...actionFields(step, desk, replace, redraw)];
    }
  });
}

/**
 * @param {string} kind
 * @param {Desk} desk
 * @returns {Step}
 */
function newStep(kind, desk) {
  const action = () => actionStep(desk) ?? /** @type {Step} */ ({ kind: "delay", seconds: 60 });
  switch (kind) {
    case "delay": return { kind: "delay", seconds: 60 };
    case "suppress": return { kind: "suppress", seconds: 600 };
    case "condition": return newBlock(desk);
    case "parallel": return { kind: "parallel", branches: [[action()], [action()]] };
    case "choice": return { kind: "choice", branches: [{ block: newBlock(desk), steps: [action()] }], otherwise: null };
    default: return action();
  }
}

/**
 * @param {CommandStep | UpdateStep} step changed in place
 * @param {Desk} desk
 * @param {(other: Step) => void} replace
 * @param {() => void} redraw
 */
function actionFields(step, desk, replace, redraw) {
  const what = entityKey(step.entity);
  const entities = desk.candidates.entityOptions("action", desk.nameOf, step.entity);
  const choices = desk.candidates.choices(step.entity, "action");
  const candidate = step.kind === "command" ? desk.candidates.find(step, "command", step.command) : desk.candidates.find(step, "attributes");
  const key = candidate ? choiceKey(candidate) : "";
  const options = choiceOptions(choices);
  if (!choices.some((one) => one.key === key)) {
    options.push([key, step.kind === "command" ? commandWords(step.command) : t("automation.set", { values: plain(step.trait).toLowerCase() })]);
  }
  const change = (/** @type {Step | null} */ other) => { if (other) replace(other); };
  /** @type {Node[]} */
  const nodes = [
    selectField(t("stepRows.device"), "device", entities, what, (value) => change(actionStep(desk, value))),
    selectField(t("stepRows.does"), "does", options, key, (value) => change(actionStep(desk, what, value)))];
  const values = step.kind === "command" ? step.parameters : step.update;
  const fields = askedFields((candidate?.fields ?? []).filter(({ isWritable }) => isWritable !== false), values);
  for (const field of fields) {
    nodes.push(valueField({ name: `value-${field.name}`, trait: step.trait, field, value: values[field.name],
      isOptional: step.kind === "update" || !shapeOf(field).isRequired, changed: (value) => {
        if (value === undefined) delete values[field.name];
        else values[field.name] = value;
      } }));
  }
  if (step.entity.device === undefined) return nodes;
  nodes.push(checkField(t("stepRows.waitIfOffline"), "defer", step.defer !== null, (isChecked) => {
    step.defer = isChecked ? 600 : null;
    redraw();
  }));
  if (step.defer !== null) nodes.push(durationField(t("stepRows.atMost"), "at-most", step.defer, (seconds) => { step.defer = seconds; }));
  return nodes;
}

/**
 * @param {import("./automation-model").ParallelStep} step changed in place
 * @param {Desk} desk
 * @param {import("./editor-controls.js").Redraw} redraw
 * @param {import("./editor-controls.js").Marks} marks
 */
function parallelFields(step, desk, redraw, marks) {
  const branches = step.branches.map((steps, index) => {
    const { node, bin } = nested(t("stepRows.branchNumber", { number: index + 1 }), stepList(steps, desk, true), step.branches.length < 3 ? null : () => {
      step.branches.splice(index, 1);
      redraw(...afterRemoval(index));
    });
    marks.set(`new ${index}`, firstControl(node)).set(`remove ${index}`, bin);
    return node;
  });
  const add = new Button("plus", t("stepRows.addABranch"), () => {
    step.branches.push([actionStep(desk) ?? { kind: "delay", seconds: 60 }]);
    redraw(`new ${step.branches.length - 1}`);
  }, "button compact").node;
  marks.set("add", add);
  return [...branches, add];
}

/**
 * @param {import("./automation-model").ChoiceStep} step changed in place
 * @param {Desk} desk
 * @param {import("./editor-controls.js").Redraw} redraw
 * @param {import("./editor-controls.js").Marks} marks
 */
function choiceFields(step, desk, redraw, marks) {
  const branches = step.branches.map(({ block, steps }, index) => {
    const condition = element("div", "box", blockFields(block, desk, false), element("div", "box-issues"));
    desk.placed(block, condition);
    const title = index === 0 ? t("stepRows.if")
      : step.branches.length > 2 ? t("stepRows.elseIfNumber", { number: index }) : t("stepRows.elseIf");
    const content = element("div", "", condition, element("p", "nested-title", t("stepRows.then")), stepList(steps, desk));
    const { node, bin } = nested(title, content, index === 0 ? null : () => {
      step.branches.splice(index, 1);
      redraw(...afterRemoval(index));
    });
    marks.set(`new ${index}`, firstControl(node)).set(`remove ${index}`, bin);
    return node;
  });
  if (step.otherwise) {
    const { node } = nested(t("stepRows.else"), stepList(step.otherwise, desk), () => {
      step.otherwise = null;
      redraw("else");
    });
    marks.set("new else", firstControl(node));
    branches.push(node);
  }
  const add = new Button("plus", t("stepRows.elseIf"), () => {
    step.branches.push({ block: newBlock(desk), steps: [] });
    redraw(`new ${step.branches.length - 1}`);
  }, "button compact").node;
  marks.set("add", add);
  const buttons = element("div", "buttons", add);
  if (!step.otherwise) {
    const otherwise = new Button("plus", t("stepRows.else"), () => {
      step.otherwise = [];
      redraw("new else");
    }, "button compact").node;
    marks.set("else", otherwise);
    buttons.append(otherwise);
  }
  return [...branches, buttons];
}

/**
 * @param {string} title
 * @param {Node} content
 * @param {(() => void) | null} remove
 * @returns {{ node: HTMLElement, bin: HTMLElement | null }} bin: the button that removes it
 */
function nested(title, content, remove) {
  const head = element("div", "box-head", element("span", "", title));
  /** @type {HTMLElement | null} */
  let bin = null;
  if (remove) {
    bin = new Button("close", t("stepRows.remove"), remove, "button plain").node;
    bin.setAttribute("aria-label", t("stepRows.removeTitle", { title }));
    head.append(bin);
  }
  const node = element("div", "nested", head, content);
  node.setAttribute("role", "group");
  node.setAttribute("aria-label", title);
  return { node, bin };
}
