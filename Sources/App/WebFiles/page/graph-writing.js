/**
 * @typedef {import("./automation-model").Block} Block
 * @typedef {import("./automation-model").Model} Model
 * @typedef {import("./automation-model").Moment} Moment
 * @typedef {import("./automation-model").Row} Row
 * @typedef {import("./automation-model").Starter} Starter
 * @typedef {import("./automation-model").Step} Step
 * @typedef {import("./automation-model").TraitOf} TraitOf
 * @typedef {{ type: string, [member: string]: any }} Node
 */

/**
 * The graph of a model, and which part of the model each place of the graph shows.
 * @param {Model} model
 * @returns {{ graph: { version: number, nodes: Node[] }, places: Map<string, object> }}
 */
export function graphOf(model) {
  const writing = new Writing(model);
  return { graph: { version: 1, nodes: writing.nodes }, places: writing.places };
}

/**
 * The part of the model that an issue is about: that of the longest place that its path begins with. "" is the whole.
 * @param {Map<string, object>} places
 * @param {string} path
 * @returns {object | null}
 */
export function partAt(places, path) {
  for (let end = path.length; end > 0; end = Math.max(path.lastIndexOf(".", end - 1), path.lastIndexOf("[", end - 1))) {
    const part = places.get(path.slice(0, end));
    if (part) return part;
  }
  return null;
}

class Writing {
  /** @param {Model} model */
  constructor(model) {
    /** @type {Map<string, object>} */
    this.places = new Map();
    // The names of starters stay, so that conditions that name them still do.
    /** @type {Map<string, Starter>} */
    this.starters = new Map();
    /** @type {Set<string>} */
    this.names = new Set();
    for (const starter of model.starters) {
      if (starter.kind === "manual") continue;
      const id = starter.id && !this.names.has(starter.id) ? starter.id : this.fresh("n");
      this.names.add(id);
      this.starters.set(id, starter);
    }
    /** @type {Map<string, string>} the readers whose values are still those of this moment */
    this.readers = new Map();
    /** @type {Node[]} */
    this.nodes = [];
    const path = "automationGraph";
    this.writeStarters(model.starters, path);
    this.steps([...model.conditions, ...model.steps], path, this.nodes);
  }

  /** @param {string} letter */
  fresh(letter) {
    let number = 1;
    while (this.names.has(letter + number)) number += 1;
    return letter + number;
  }

  /**
   * @param {Starter[]} starters
   * @param {string} path
   */
  writeStarters(starters, path) {
    const names = new Map([...this.starters].map(([id, starter]) => [starter, id]));
    const choices = starters.map((starter) => {
      const id = names.get(starter);
      if (starter.kind === "manual" || id === undefined) return [{ type: "manualStarter" }];
      if (starter.kind === "event") {
        return [{ type: "eventStarter", id, ...traitOf(starter), event: starter.event,
          ...(Object.keys(starter.parameters).length > 0 ? { parameters: starter.parameters } : {}) }];
      }
      const node = { type: "attributeStarter", id, ...traitOf(starter) };
      if (!starter.comparison) return [node];
      return [node, { type: "condition", expression: compare(id, starter.comparison), ...lasting(starter.seconds) }];
    });
    if (choices.length === 1) {
      this.nodes.push(...choices[0]);
      choices[0].forEach((_, index) => this.places.set(`${path}.nodes[${index}]`, starters[0]));
    } else if (choices.length > 1) {
      this.nodes.push({ type: "select",
        nodes: choices.map((nodes) => nodes.length === 1 ? nodes[0] : { type: "sequential", nodes }) });
      starters.forEach((starter, index) => this.places.set(`${path}.nodes[0].nodes[${index}]`, starter));
    }
  }

  /**
   * @param {Step[]} steps
   * @param {string} path of the flow
   * @param {Node[]} nodes where they go
   */
  steps(steps, path, nodes) {
    for (const step of steps) {
      const before = nodes.length;
      this.step(step, path, nodes);
      for (let index = before; index < nodes.length; index += 1) {
        const place = `${path}.nodes[${index}]`;
        if (!this.places.has(place)) this.places.set(place, step);
      }
      // A condition that only looks leaves what was read as it is.
      if (step.kind !== "condition" || step.seconds !== null) this.readers.clear();
    }
  }

  /**
   * @param {Step} step
   * @param {string} path
   * @param {Node[]} nodes
   */
  step(step, path, nodes) {
    switch (step.kind) {
      case "condition": {
        const expression = this.block(step, path, nodes);
        if (expression) {
          this.rowPlaces(step, `${path}.nodes[${nodes.length}].expression`);
          nodes.push({ type: "condition", expression, ...lasting(step.seconds) });
        }
        break;
      }
      case "delay": case "suppress": nodes.push({ type: step.kind, for: step.seconds }); break;
      case "command":
        nodes.push({ type: "action", ...traitOf(step), command: step.command,
          ...(Object.keys(step.parameters).length > 0 ? { parameters: step.parameters } : {}), ...deferred(step.defer) });
        break;
      case "update": nodes.push({ type: "action", ...traitOf(step), update: step.update, ...deferred(step.defer) }); break;
      case "parallel": this.parallel(step, `${path}.nodes[${nodes.length}]`, nodes); break;
      default: this.choice(step, path, nodes);
    }
  }

  /**
   * @param {import("./automation-model").ParallelStep} step
   * @param {string} place
   * @param {Node[]} nodes
   */
  parallel(step, place, nodes) {
    const branches = step.branches.filter((branch) => branch.length > 0).map((steps, index) => {
      /** @type {Node[]} */
      const own = [];
      const path = `${place}.nodes[${index}]`;
      this.readers.clear();
      // What a single node is about is at the place of the branch itself.
      if (steps.length === 1 && steps[0].kind !== "condition") {
        this.step(steps[0], "", own);
        this.move(".nodes[0]", path);
        this.places.set(path, steps[0]);
        return own[0] ?? { type: "sequential", nodes: [] };
      }
      this.steps(steps, path, own);
      return { type: "sequential", nodes: own };
    });
    nodes.push({ type: "parallel", nodes: branches });
  }

  /**
   * Gives what was written at one place another one.
   * @param {string} from
   * @param {string} to
   */
  move(from, to) {
    for (const [place, part] of this.places) {
      if (!place.startsWith(from)) continue;
      this.places.delete(place);
      this.places.set(to + place.slice(from.length), part);
    }
  }

  /**
   * @param {import("./automation-model").ChoiceStep} step
   * @param {string} path
   * @param {Node[]} nodes
   */
  choice(step, path, nodes) {
    const conditions = step.branches.map(({ block }) => this.block(block, path, nodes));
    const place = `${path}.nodes[${nodes.length}]`;
    const branches = step.branches.map(({ block, steps }, index) => {
      const own = `${place}.${index === 0 ? "ifThen" : `elseIfThens[${index - 1}]`}`;
      this.places.set(own, block);
      this.rowPlaces(block, `${own}.condition`);
      return { condition: conditions[index] ?? { constant: true }, nodes: this.branch(steps, own) };
    });
    nodes.push({ type: "if", ifThen: branches[0], ...(branches.length > 1 ? { elseIfThens: branches.slice(1) } : {}),
      ...(step.otherwise ? { elseThen: { nodes: this.branch(step.otherwise, `${place}.elseThen`) } } : {}) });
  }

  /**
   * @param {Step[]} steps
   * @param {string} path
   */
  branch(steps, path) {
    /** @type {Node[]} */
    const nodes = [];
    this.readers.clear();
    this.steps(steps, path, nodes);
    return nodes;
  }

  /**
   * The expression of a block. What it reads is read just before it.
   * @param {Block} block
   * @param {string} path
   * @param {Node[]} nodes
   */
  block(block, path, nodes) {
    const expressions = block.rows.map((row) => {
      const before = nodes.length;
      const id = this.reader(row, nodes);
      if (nodes.length > before) this.places.set(`${path}.nodes[${before}]`, row);
      return expressionOf(row, id);
    });
    if (expressions.length <= 1) return expressions[0] ?? null;
    return { [block.join]: expressions };
  }

  /**
   * @param {Block} block
   * @param {string} path of its expression
   */
  rowPlaces(block, path) {
    block.rows.forEach((row, index) => {
      this.places.set(block.rows.length === 1 ? path : `${path}.${block.join}[${index}]`, row);
    });
  }

  /**
   * The name of what a row looks at.
   * @param {Row} row
   * @param {Node[]} nodes
   */
  reader(row, nodes) {
    if (row.kind === "compare" && row.isStarter && row.id) {
      const starter = this.starters.get(row.id);
      if (starter && starter.kind !== "manual" && sourceKey(starter) === sourceKey(row)) return row.id;
    }
    const source = row.kind === "compare" ? row : { entity: { structure: row.structure }, trait: "Time" };
    const key = sourceKey(source);
    const known = this.readers.get(key);
    if (known) return known;
    const id = row.id && !this.names.has(row.id) ? row.id : this.fresh("r");
    this.names.add(id);
    this.readers.set(key, id);
    nodes.push({ type: "stateReader", id, ...traitOf(source) });
    return id;
  }
}

/**
 * @param {Row} row
 * @param {string} id
 * @returns {any}
 */
function expressionOf(row, id) {
  if (row.kind === "compare") return compare(id, row.comparison);
  if (row.kind === "time") return { between: [field("currentTime", id), moment(row.from, id), moment(row.to, id)] };
  const days = row.days.map((day) => ({ equals: [field("dayOfWeek", id), { constant: day }] }));
  return days.length === 1 ? days[0] : { or: days };
}

/**
 * @param {Moment} one
 * @param {string} id
 */
function moment(one, id) { return typeof one === "string" ? field(`${one}Time`, id) : { constant: one }; }

/**
 * @param {string} id
 * @param {import("./automation-model").Comparison} comparison
 */
function compare(id, { field: name, operator, values }) {
  return { [operator]: [field(name, id), ...values.map((constant) => ({ constant }))] };
}

/**
 * @param {string} name
 * @param {string} id
 */
function field(name, id) { return { field: name, of: { reference: id } }; }

/** @param {number | null} seconds */
function lasting(seconds) { return seconds === null ? {} : { for: seconds }; }

/** @param {number | null} seconds */
function deferred(seconds) { return seconds === null ? {} : { defer: seconds }; }

/**
 * @param {TraitOf} source
 * @returns {TraitOf}
 */
function traitOf({ entity, deviceType, trait }) {
  return { entity, ...(deviceType === undefined ? {} : { deviceType }), trait };
}

/** @param {TraitOf} source */
export function sourceKey({ entity, deviceType, trait }) {
  return JSON.stringify([entity.device ?? null, entity.structure ?? null, deviceType ?? null, trait]);
}
