import { t } from "./text.js";


/**
 * @typedef {import("./automation-model").Block} Block
 * @typedef {import("./automation-model").Comparison} Comparison
 * @typedef {import("./automation-model").Model} Model
 * @typedef {import("./automation-model").Operator} Operator
 * @typedef {import("./automation-model").Row} Row
 * @typedef {import("./automation-model").Starter} Starter
 * @typedef {import("./automation-model").Step} Step
 * @typedef {import("./automation-model").TraitOf} TraitOf
 * @typedef {any} Tree
 */

/** What the editor cannot show. The message says what it is. */
export class TooMuch extends Error {}

/** @type {Record<string, string[]>} */
const members = {
  attributeStarter: ["id", "entity", "deviceType", "trait"], stateReader: ["id", "entity", "deviceType", "trait"],
  eventStarter: ["id", "entity", "deviceType", "trait", "event", "parameters"], manualStarter: [],
  select: ["nodes"], sequential: ["nodes"], parallel: ["nodes"], condition: ["expression", "for"],
  if: ["ifThen", "elseIfThens", "elseThen"], delay: ["for"], suppress: ["for"],
  action: ["entity", "deviceType", "trait", "command", "parameters", "update", "defer"],
};

const comparisons = ["equals", "notEquals", "greaterThan", "greaterThanOrEquals", "lessThan", "lessThanOrEquals", "between",
  "contains"];
const weekdays = new Set(["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]);

/**
 * What has been read so far, by its name. A value that was read before something was waited for is not read again, so rows
 * cannot move it; it is stale.
 * @typedef {Map<string, { source: TraitOf, isStarter: boolean, isStale: boolean }>} Scope
 */

/**
 * The model of a graph.
 * @param {Tree} graph
 * @returns {{ model: Model } | { problem: string }} the problem says why the editor cannot show the graph
 */
export function modelOf(graph) {
  try {
    if (graph?.version !== 1 || !Array.isArray(graph.nodes)) throw new TooMuch(t("graphReading.laterVersion"));
    only(graph, ["version", "nodes"]);
    checkNumbers(graph);
    return { model: readModel(graph.nodes) };
  } catch (error) {
    if (error instanceof TooMuch) return { problem: error.message };
    throw error;
  }
}

/** @param {Tree[]} nodes */
function readModel(nodes) {
  /** @type {Scope} */
  const scope = new Map();
  const { starters, used } = readStarters(nodes, scope);
  /** @type {Block[]} */
  const conditions = [];
  const steps = readSteps(nodes.slice(used), scope);
  while (steps[0]?.kind === "condition") conditions.push(/** @type {Block} */ (steps.shift()));
  return { starters, conditions, steps };
}

/**
 * @param {Tree[]} nodes
 * @param {Scope} scope
 * @returns {{ starters: Starter[], used: number }} and how many nodes they are
 */
function readStarters(nodes, scope) {
  const [first, second] = list(nodes);
  if (first === undefined) return { starters: [], used: 0 };
  if (first.type !== "select") {
    const starter = readStarter(first, scope);
    // The gateway says that nothing starts it.
    if (starter === null) return { starters: [], used: 0 };
    return { starters: [starter], used: attach(starter, second, scope) ? 2 : 1 };
  }
  checkNode(first);
  const starters = list(first.nodes).map((choice) => {
    const parts = choice.type === "sequential" ? list(checkNode(choice).nodes) : [choice];
    const starter = parts[0] && readStarter(parts[0], scope);
    if (!starter) throw new TooMuch(t("graphReading.mixedStarters"));
    const attached = parts.length > 1 && attach(starter, parts[1], scope);
    if (parts.length > (attached ? 2 : 1)) throw new TooMuch(t("graphReading.conditionsOfStarter"));
    return starter;
  });
  return { starters, used: 1 };
}

/**
 * @param {Tree} node
 * @param {Scope} scope
 * @returns {Starter | null}
 */
function readStarter(node, scope) {
  if (node?.type === "manualStarter") {
    checkNode(node);
    return { kind: "manual" };
  }
  if (node?.type !== "attributeStarter" && node?.type !== "eventStarter") return null;
  checkNode(node);
  const source = readTrait(node);
  scope.set(node.id, { source, isStarter: true, isStale: false });
  if (node.type === "attributeStarter") return { kind: "attribute", id: node.id, ...source, comparison: null, seconds: null };
  return { kind: "event", id: node.id, ...source, event: node.event, parameters: node.parameters ?? {} };
}

/**
 * Whether a node is the condition of a starter: what its attribute has to be.
 * @param {Starter} starter
 * @param {Tree} node
 * @param {Scope} scope
 */
function attach(starter, node, scope) {
  if (starter.kind !== "attribute" || node?.type !== "condition") return false;
  checkNode(node);
  const row = readComparison(node.expression, scope);
  if (row?.kind !== "compare" || row.id !== starter.id) return false;
  starter.comparison = row.comparison;
  starter.seconds = node.for ?? null;
  return true;
}

/**
 * @param {Tree[]} nodes
 * @param {Scope} scope
 * @returns {Step[]}
 */
function readSteps(nodes, scope) {
  /** @type {Step[]} */
  const steps = [];
  for (const node of list(nodes)) {
    checkNode(node);
    const step = readStep(node, scope);
    if (step === null) continue;
    if (Array.isArray(step)) steps.push(...step);
    else steps.push(step);
    // A condition that only looks leaves what was read as it is.
    const isInstant = node.type === "condition" && node.for === undefined;
    if (!isInstant) for (const known of scope.values()) known.isStale = !known.isStarter;
  }
  return steps;
}

/**
 * @param {Tree} node
 * @param {Scope} scope
 * @returns {Step | Step[] | null} null for what is only read
 */
function readStep(node, scope) {
  switch (node.type) {
    case "stateReader":
      scope.set(node.id, { source: readTrait(node), isStarter: false, isStale: false });
      return null;
    case "condition": return readBlock(node.expression, node.for ?? null, scope);
    case "delay": case "suppress": return { kind: node.type, seconds: node.for };
    case "action": {
      const source = readTrait(node);
      const defer = node.defer ?? null;
      if (node.update !== undefined) return { kind: "update", ...source, update: node.update, defer };
      return { kind: "command", ...source, command: node.command, parameters: node.parameters ?? {}, defer };
    }
    case "parallel": return { kind: "parallel", branches: list(node.nodes).map((branch) => {
      const own = copy(scope);
      return readSteps(branch.type === "sequential" ? checkNode(branch).nodes : [branch], own);
    }) };
    case "sequential":
      if (list(node.nodes).some(({ type }) => type === "condition")) throw new TooMuch(t("graphReading.conditionOfFlow"));
      return readSteps(node.nodes, scope);
    case "if": return readChoice(node, scope);
    default: throw new TooMuch(t("graphReading.starterInTheMiddle"));
  }
}

/**
 * @param {Tree} node
 * @param {Scope} scope
 * @returns {Step}
 */
function readChoice(node, scope) {
  const branches = [node.ifThen, ...list(node.elseIfThens ?? [])].map((branch) => {
    only(branch, ["condition", "nodes"]);
    return { block: readBlock(branch.condition, null, scope), steps: readSteps(branch.nodes, copy(scope)) };
  });
  if (node.elseThen !== undefined) only(node.elseThen, ["nodes"]);
  return { kind: "choice", branches, otherwise: node.elseThen ? readSteps(node.elseThen.nodes, copy(scope)) : null };
}

/**
 * @param {Tree} expression
 * @param {number | null} seconds
 * @param {Scope} scope
 * @returns {Block}
 */
function readBlock(expression, seconds, scope) {
  const single = readRow(expression, scope);
  if (single) return { kind: "condition", join: "and", rows: [single], seconds };
  for (const join of /** @type {("and" | "or")[]} */ (["and", "or"])) {
    if (!Array.isArray(expression?.[join])) continue;
    only(expression, [join]);
    const rows = expression[join].map((/** @type {Tree} */ one) => readRow(one, scope));
    if (rows.every((/** @type {Row | null} */ row) => row !== null)) return { kind: "condition", join, rows, seconds };
  }
  throw new TooMuch(t("graphReading.nestedCondition"));
}

/**
 * @param {Tree} expression
 * @param {Scope} scope
 * @returns {Row | null}
 */
function readRow(expression, scope) { return readDays(expression, scope) ?? readTime(expression, scope) ?? readComparison(expression, scope); }

/**
 * @param {Tree} expression
 * @param {Scope} scope
 * @returns {Row | null}
 */
function readComparison(expression, scope) {
  const operator = /** @type {Operator} */ (comparisons.find((name) => expression?.[name] !== undefined));
  if (!operator) return null;
  only(expression, [operator]);
  const [left, ...right] = list(expression[operator]);
  const read = readField(left, scope);
  if (!read || right.length !== (operator === "between" ? 2 : 1)) return null;
  const values = right.map(readConstant);
  if (values.some((value) => value === undefined)) return null;
  return { kind: "compare", id: read.id, ...(read.isStarter ? { isStarter: true } : {}), ...read.source,
    comparison: { field: read.field, operator, values } };
}

/**
 * A time of day between two others, of which each may be a moment of the sun.
 * @param {Tree} expression
 * @param {Scope} scope
 * @returns {Row | null}
 */
function readTime(expression, scope) {
  const operands = expression?.between;
  if (!Array.isArray(operands) || operands.length !== 3) return null;
  const read = readField(operands[0], scope);
  if (!read || read.isStarter || read.field !== "currentTime" || !isClock(read.source)) return null;
  only(expression, ["between"]);
  const ends = operands.slice(1).map((operand) => {
    const sun = readField(operand, scope);
    if (sun?.id === read.id && sun.field === "sunriseTime") return "sunrise";
    if (sun?.id === read.id && sun.field === "sunsetTime") return "sunset";
    const value = readConstant(operand);
    return value && typeof value === "object" && "hours" in value && "minutes" in value ? value : null;
  });
  if (ends.includes(null)) return null;
  return { kind: "time", id: read.id, structure: read.source.entity.structure ?? "", from: ends[0], to: ends[1] };
}

/**
 * @param {Tree} expression
 * @param {Scope} scope
 * @returns {Row | null}
 */
function readDays(expression, scope) {
  const parts = Array.isArray(expression?.or) ? expression.or : [expression];
  /** @type {string[]} */
  const days = [];
  let id = "";
  let structure = "";
  for (const part of parts) {
    const operands = part?.equals;
    if (!Array.isArray(operands) || operands.length !== 2 || Object.keys(part).length !== 1) return null;
    const read = readField(operands[0], scope);
    const day = readConstant(operands[1]);
    if (!read || read.isStarter || read.field !== "dayOfWeek" || !isClock(read.source) || !weekdays.has(day)) return null;
    if (id !== "" && read.id !== id) return null;
    id = read.id;
    structure = read.source.entity.structure ?? "";
    days.push(day);
  }
  if (Array.isArray(expression.or)) only(expression, ["or"]);
  return { kind: "days", id, structure, days };
}

/** @param {TraitOf} source */
function isClock({ entity, trait, deviceType }) { return trait === "Time" && entity.structure !== undefined && deviceType === undefined; }

/**
 * @param {Tree} tree
 * @param {Scope} scope
 */
function readField(tree, scope) {
  const id = tree?.of?.reference;
  if (typeof tree?.field !== "string" || typeof id !== "string") return null;
  only(tree, ["field", "of"]);
  only(tree.of, ["reference"]);
  const known = scope.get(id);
  if (!known) throw new TooMuch(t("graphReading.unreadValue"));
  if (known.isStale) throw new TooMuch(t("graphReading.staleValue"));
  return { id, field: tree.field, source: known.source, isStarter: known.isStarter };
}

/** @param {Tree} tree */
function readConstant(tree) {
  if (tree === null || typeof tree !== "object" || !("constant" in tree) || Object.keys(tree).length !== 1) return undefined;
  return tree.constant ?? undefined;
}

/**
 * @param {Tree} node
 * @returns {TraitOf}
 */
function readTrait(node) {
  only(node.entity, ["device", "structure"]);
  if (Object.values(node.entity).length !== 1 || typeof Object.values(node.entity)[0] !== "string" || typeof node.trait !== "string") {
    throw new TooMuch(t("graphReading.laterVersion"));
  }
  return { entity: node.entity, ...(node.deviceType === undefined ? {} : { deviceType: node.deviceType }), trait: node.trait };
}

/** @param {Tree} node */
function checkNode(node) {
  const known = Object.hasOwn(members, node?.type) ? members[node.type] : null;
  if (!known) throw new TooMuch(t("graphReading.unknownStep"));
  only(node, ["type", ...known]);
  const texts = known.filter((name) => ["id", "deviceType", "trait", "event", "command"].includes(name));
  const isRead = texts.every((name) => node[name] === undefined || typeof node[name] === "string")
    && ["for", "defer"].every((name) => node[name] === undefined || typeof node[name] === "number")
    && ["parameters", "update"].every((name) => node[name] === undefined || isRecord(node[name]))
    && (node.type !== "delay" && node.type !== "suppress" || node.for !== undefined)
    && (node.type !== "action" || (node.command === undefined) !== (node.update === undefined))
    && (node.type !== "action" || node.update === undefined || node.parameters === undefined);
  if (!isRead) throw new TooMuch(t("graphReading.laterVersion"));
  return node;
}

/** @param {unknown} value */
function isRecord(value) { return value !== null && typeof value === "object" && !Array.isArray(value); }

/**
 * @param {Tree} tree
 * @param {string[]} names
 */
function only(tree, names) {
  if (!isRecord(tree) || Object.keys(tree).some((name) => !names.includes(name))) {
    throw new TooMuch(t("graphReading.laterVersion"));
  }
}

/**
 * @param {Tree} value
 * @returns {Tree[]}
 */
function list(value) {
  if (!Array.isArray(value) || value.some((one) => one === null || typeof one !== "object")) throw new TooMuch(t("graphReading.laterVersion"));
  return value;
}

/**
 * @param {Scope} scope
 * @returns {Scope}
 */
function copy(scope) { return new Map([...scope].map(([id, known]) => [id, { ...known }])); }

/**
 * A number that JavaScript rounds would be written as another one.
 * @param {Tree} tree
 */
function checkNumbers(tree) {
  if (typeof tree === "number" && Number.isInteger(tree) && !Number.isSafeInteger(tree)) {
    throw new TooMuch(t("graphReading.largeNumber"));
  }
  if (tree !== null && typeof tree === "object") Object.values(tree).forEach(checkNumbers);
}
