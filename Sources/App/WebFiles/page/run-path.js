import { durationWords, endWords, expressionWords, nodeWords, valueText } from "./automation-words.js";
import { plain } from "./history-words.js";
import { t } from "./text.js";

/**
 * @typedef {import("./automation-words.js").NameOf} NameOf
 * @typedef {import("./types").RunEntry} RunEntry
 * @typedef {"passed" | "ended" | "failed" | "waiting" | "skipped"} Status
 */

/**
 * A node of a run: what it is, what became of it, and the flows in it.
 * @typedef {{ path: string, words: string, status: Status, at: string | null, details: string[],
 *   branches: { label: string, items: PathItem[] }[] }} PathItem
 */

/**
 * The path that a run took through its graph.
 * @param {any} graph
 * @param {RunEntry[]} entries
 * @param {NameOf} nameOf
 * @returns {{ items: PathItem[], rest: RunEntry[] }} rest: what the graph has no node for, since it is another one now
 */
export function pathOf(graph, entries, nameOf) {
  const drawing = new Drawing(graph, entries, nameOf);
  const items = drawing.flow(graph?.nodes ?? [], "automationGraph");
  return { items, rest: entries.filter(({ path }) => path !== "" && !drawing.drawn.has(nodePath(path))) };
}

/**
 * The place of the node in the place of a part of it, for example of a branch of a choice.
 * @param {string} path
 */
function nodePath(path) { return path.replace(/(\.nodes\[\d+\])(?!.*\.nodes\[\d+\]).*$/, "$1"); }

class Drawing {
  /**
   * @param {any} graph
   * @param {RunEntry[]} entries
   * @param {NameOf} nameOf
   */
  constructor(graph, entries, nameOf) {
    this.nameOf = nameOf;
    /** @type {Map<string, RunEntry[]>} */
    this.entries = new Map();
    for (const entry of entries) {
      const place = nodePath(entry.kind === "began" ? entry.trigger?.path ?? entry.path : entry.path);
      this.entries.set(place, [...this.entries.get(place) ?? [], entry]);
    }
    /** @type {Set<string>} */
    this.drawn = new Set();
    /** @type {Map<string, any>} */
    this.named = new Map();
    collect(graph?.nodes, this.named);
    this.isOver = entries.some(({ kind }) => kind === "ended");
  }

  /**
   * @param {any[]} nodes
   * @param {string} path
   * @returns {PathItem[]}
   */
  flow(nodes, path) { return nodes.map((node, index) => this.item(node, `${path}.nodes[${index}]`)); }

  /**
   * @param {any} node
   * @param {string} path
   * @returns {PathItem}
   */
  item(node, path) {
    this.drawn.add(path);
    const entries = this.entries.get(path) ?? [];
    const branches = this.branches(node, path, entries);
    const inner = branches.flatMap(({ items }) => items);
    const isReached = entries.length > 0 || inner.some(({ status }) => status !== "skipped");
    const at = entries[0]?.at ?? inner.find(({ at: time }) => time !== null)?.at ?? null;
    return { path, words: this.words(node), status: isReached ? this.status(node, entries, inner) : "skipped", at,
      details: entries.flatMap((entry) => this.detail(entry)), branches };
  }

  /** @param {any} node */
  words(node) {
    const words = nodeWords(node, this.nameOf);
    if (node?.type !== "condition") return words;
    return `${words}: ${expressionWords(node.expression, (id) => this.named.get(id), this.nameOf)}`;
  }

  /**
   * @param {any} node
   * @param {string} path
   * @param {RunEntry[]} entries
   */
  branches(node, path, entries) {
    if (node?.type === "if") return this.choice(node, path, entries);
    if (!Array.isArray(node?.nodes)) return [];
    if (node.type === "sequential") return [{ label: "", items: this.flow(node.nodes, path) }];
    return this.flow(node.nodes, path).map((item, index) => ({
      label: node.type === "select" ? "" : t("runPath.branchNumber", { number: index + 1 }),
      items: node.nodes[index].type === "sequential" ? item.branches.flatMap(({ items }) => items) : [item],
    }));
  }

  /**
   * @param {any} node
   * @param {string} path
   * @param {RunEntry[]} entries
   */
  choice(node, path, entries) {
    const chosen = entries.find(({ kind }) => kind === "chose");
    const taken = chosen?.flow ?? chosen?.chosen ?? null;
    const words = (/** @type {any} */ one) => expressionWords(one, (id) => this.named.get(id), this.nameOf);
    const branches = [{ place: "ifThen", label: t("run.if", { condition: words(node.ifThen?.condition) }), nodes: node.ifThen?.nodes },
      ...(node.elseIfThens ?? []).map((/** @type {any} */ one, /** @type {number} */ index) => (
        { place: `elseIfThens[${index}]`, label: t("run.elseIf", { condition: words(one.condition) }), nodes: one.nodes })),
      ...(node.elseThen ? [{ place: "elseThen", label: t("runPath.else"), nodes: node.elseThen.nodes }] : [])];
    return branches.map(({ place, label, nodes }) => ({
      label: place === taken ? t("run.taken", { label }) : label, items: this.flow(nodes ?? [], `${path}.${place}`),
    }));
  }

  /**
   * @param {any} node
   * @param {RunEntry[]} entries
   * @param {PathItem[]} inner
   * @returns {Status}
   */
  status(node, entries, inner) {
    const has = (/** @type {string} */ kind) => entries.some((entry) => entry.kind === kind);
    if (node.type === "action") {
      const sent = lastOf(entries, "sent");
      if (sent) return outcomeOf(sent).kind === "succeeded" ? "passed" : "failed";
      return this.isOver ? "failed" : "waiting";
    }
    if (node.type === "condition") {
      const last = lastOf(entries, "condition");
      if (last?.holds === false) return "ended";
      return has("holding") && !last && !this.isOver ? "waiting" : "passed";
    }
    if (inner.some(({ status }) => status === "waiting")) return "waiting";
    return "passed";
  }

  /**
   * @param {RunEntry} entry
   * @returns {string[]}
   */
  detail(entry) {
    if (entry.kind === "strandEnded" || entry.kind === "forked") return [];
    return [entryWords(entry), ...operandWords(entry)];
  }
}

/**
 * @param {RunEntry[]} entries
 * @param {string} wanted
 */
function lastOf(entries, wanted) {
  /** @type {RunEntry | undefined} */
  let last;
  for (const entry of entries) if (entry.kind === wanted) last = entry;
  return last;
}

/**
 * @param {any} nodes
 * @param {Map<string, any>} named
 */
function collect(nodes, named) {
  if (!Array.isArray(nodes)) return;
  for (const node of nodes) {
    if (typeof node?.id === "string") named.set(node.id, node);
    collect(node?.nodes, named);
    for (const branch of [node?.ifThen, ...(node?.elseIfThens ?? []), node?.elseThen]) collect(branch?.nodes, named);
  }
}

/**
 * The outcome of a command, whichever form it has.
 * @param {RunEntry} entry
 * @returns {{ kind: string, code?: string, message?: string }}
 */
export function outcomeOf({ outcome, code, message }) {
  if (outcome === undefined) return { kind: code ? "failed" : "unknown", code, message };
  if (typeof outcome === "string") return { kind: outcome, code, message };
  if (typeof outcome.kind === "string") return outcome;
  const [kind] = Object.keys(outcome);
  return { kind: kind ?? "unknown", ...outcome[kind] };
}

/**
 * What happened, as a line. The gateway's own words come first.
 * @param {RunEntry} entry
 */
export function entryWords(entry) {
  if (entry.text) return entry.text;
  switch (entry.kind) {
    case "began": return entry.trigger?.text ?? t("runPath.itBegan");
    case "read": return t("runPath.read");
    case "condition": return entry.holds ? t("runPath.holds") : entry.missing ? t("runPath.notKnownMissing", { missing: entry.missing }) : t("runPath.doesNotHold");
    case "holding": return t("runPath.hasToHold");
    case "chose": return entry.flow ?? entry.chosen ? t("runPath.aFlowWasChosen") : t("runPath.noFlowWasChosen");
    case "delay": return t("runPath.waits");
    case "suppressed": return t("runPath.suppresses");
    case "sending": return t("runPath.sent");
    case "deferred": return t("runPath.waitsForDevice");
    case "sent": return sentWords(entry);
    case "triggeredAgain": return t("runPath.startedAgain");
    case "ended": return endWords(entry.end);
    default: return plain(entry.kind);
  }
}

/** @param {RunEntry} entry */
function sentWords(entry) {
  const { kind, message } = outcomeOf(entry);
  const took = entry.milliseconds === undefined ? "" : t("run.after", { duration: durationWords(entry.milliseconds / 1000) });
  if (kind === "succeeded") return t("run.done") + took;
  if (kind === "unknown") return t("runPath.unknownOutcome");
  return `${kind === "notAuthorised" ? t("runPath.notPermitted") : t("runPath.failed")}${message ? `: ${message}` : ""}${took}`;
}

/** @param {RunEntry} entry */
function operandWords({ kind, operands }) {
  if (kind !== "condition" || !operands) return [];
  return Object.entries(operands).map(([name, value]) => `${name}: ${value === null ? t("runPath.notKnown") : valueText("", name.slice(name.lastIndexOf(".") + 1), value)}`);
}
