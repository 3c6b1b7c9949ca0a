// The model of the editor of automations: what a person sees of a graph.

export type Value = any;

export interface Entity {
  device?: string;
  structure?: string;
}

/** A trait of a device or structure. */
export interface TraitOf {
  entity: Entity;
  deviceType?: string;
  trait: string;
}

export type Operator = "equals" | "notEquals" | "greaterThan" | "greaterThanOrEquals" | "lessThan" | "lessThanOrEquals"
  | "between" | "contains";

/** What a value is compared with. A `between` has two values. */
export interface Comparison {
  field: string;
  operator: Operator;
  values: Value[];
}

export interface AttributeStarter extends TraitOf {
  kind: "attribute";
  id?: string;
  /** What the attribute has to be; null for any change of the trait. */
  comparison: Comparison | null;
  /** For how many seconds it has to be that; null for at once. */
  seconds: number | null;
}

export interface EventStarter extends TraitOf {
  kind: "event";
  id?: string;
  event: string;
  parameters: Record<string, Value>;
}

export interface ManualStarter {
  kind: "manual";
}

export type Starter = AttributeStarter | EventStarter | ManualStarter;

export interface CompareRow extends TraitOf {
  kind: "compare";
  /** The starter or reader that it had in the graph. */
  id?: string;
  isStarter?: boolean;
  comparison: Comparison;
}

/** A time of day, or a moment of the sun. */
export type Moment = { hours: number; minutes: number; seconds?: number; nanos?: number } | "sunrise" | "sunset";

export interface TimeRow {
  kind: "time";
  id?: string;
  structure: string;
  from: Moment;
  to: Moment;
}

export interface DaysRow {
  kind: "days";
  id?: string;
  structure: string;
  days: string[];
}

export type Row = CompareRow | TimeRow | DaysRow;

/** Rows of which all, or one, must hold. */
export interface Block {
  kind: "condition";
  join: "and" | "or";
  rows: Row[];
  /** For how many seconds it must hold; null for at this moment. */
  seconds: number | null;
}

export interface CommandStep extends TraitOf {
  kind: "command";
  command: string;
  parameters: Record<string, Value>;
  /** For how many seconds it waits for a device that is offline; null if it does not. */
  defer: number | null;
}

export interface UpdateStep extends TraitOf {
  kind: "update";
  update: Record<string, Value>;
  defer: number | null;
}

export interface WaitStep {
  kind: "delay" | "suppress";
  seconds: number;
}

export interface ParallelStep {
  kind: "parallel";
  branches: Step[][];
}

export interface ChoiceStep {
  kind: "choice";
  branches: { block: Block; steps: Step[] }[];
  otherwise: Step[] | null;
}

export type Step = Block | CommandStep | UpdateStep | WaitStep | ParallelStep | ChoiceStep;

export interface Model {
  starters: Starter[];
  /** Conditions before anything is done. */
  conditions: Block[];
  steps: Step[];
}
