// What the gateway sends, as far as the page reads it. openapi.yaml says the rest.

export interface Source {
  /** "unknown" for a camera that the token may watch and not read. */
  state: string;
  reason?: string;
  /** Why it delivers nothing: SourceCause of openapi.yaml. */
  cause?: string;
  /** It rests while nobody needs it. */
  isOnDemand?: boolean;
  /** It runs on a battery: it is not woken up for pictures that nobody asked for. */
  isOnBattery?: boolean;
  tracks: { kind: "video" | "audio"; codec: string }[];
}

// The attributes of each trait, by its name. What a device does not support is missing, and what is not known is null.
export type Traits = { [trait: string]: any };

export interface Endpoint {
  id: number;
  types: string[];
  traits: Traits;
  connectivityState?: string;
  dataSourceLocality?: string;
}

export interface Structure {
  id: string;
  name: string;
  address?: string;
  latitude?: number;
  longitude?: number;
  timeZone?: string;
}

export interface Room {
  id: string;
  name: string;
  structureID: string;
}

export interface Device {
  id: string;
  /** What the config calls it. */
  key?: string;
  name: string;
  type: string;
  connectivityState: string;
  dataSourceLocality?: string;
  structureID?: string;
  roomID?: string | null;
  /** Only cameras have one. */
  source?: Source;
  activeDetections?: string[];
  endpoints: Endpoint[];
}

export interface Camera {
  /** The key in the config. */
  id: string;
  /** The identifier of its device. */
  deviceID?: string;
  name: string;
  type: string;
  source: string;
  substream?: string;
  transport: string;
  keepAlive: string;
  framesPerSecond?: number;
  pull: string;
  battery: boolean;
  pullWhileOff: boolean;
  talkback: string;
  transcodeVideo: string;
  onvif?: { url: string; username?: string; password?: string };
  webhook: boolean;
  information?: Record<string, unknown>;
  /** Where the settings come from: "file", "overridden" (the config file's do not count), "api" or "builtin". */
  origin: string;
}

/** The cameras, and those of the config file that were removed. */
export interface CameraList {
  cameras: Camera[];
  removed: { id: string; name: string; type: string }[];
}

/** A camera that has answered the search. */
export interface FoundCamera {
  name?: string;
  model?: string;
  location?: string;
  address: string;
  source: string;
  /** The key of the camera that has this address already. */
  camera?: string;
}

export interface ProbedTrack {
  kind: "video" | "audio";
  codec: string;
  width?: number;
  height?: number;
  hasBFrames?: boolean;
  framesPerSecond: number;
  bitsPerSecond: number;
}

/** What a camera sends that was tried. */
export interface ProbedCamera {
  reached: boolean;
  failure?: string;
  /** SourceCause of openapi.yaml. */
  cause?: string;
  tracks: ProbedTrack[];
  speaker: string[];
  viewers: string[];
  notes: string[];
  /** Whether a camera that is asked by ONVIF has a smaller stream, which was not watched. */
  hasSubstream?: boolean;
}

export interface Gateway {
  name: string;
  version: string;
  httpsPort?: number;
  /** Where clients reach it, if its config says that. */
  publicURL?: string;
  rtspPort?: number;
  /** Whether other machines reach its RTSP server. */
  rtspIsOpen?: boolean;
  iceServers: RTCIceServer[];
}

export interface Step {
  name: string;
  milliseconds: number;
}

export interface Talkback {
  state: string;
  reason?: string;
}

export interface Session {
  mediaSessionId: string;
  deviceID: string;
  talkback?: Talkback;
  codecs: string[];
  steps: Step[];
  path?: string;
  wantsICERestart?: boolean;
  stream?: { name: string, reason: string };
  statistics?: { estimatedBitrate: number, isLimited?: boolean };
}

export interface DecommissionPlan {
  isEligible: boolean;
  reason?: string;
  recordings: { count: number; byteCount: number };
  webhook: boolean;
  history: string;
  automations: string[];
}

export interface HistoryItem {
  id: string;
  kind: string;
  deviceID: string;
  endpoint?: number;
  trait?: string;
  attribute?: string;
  from?: unknown;
  to?: unknown;
  event?: string;
  timestamp: string;
  endTimestamp?: string;
  thumbnail?: string;
  clip?: string;
  recordingID?: string;
}

export interface HistoryPage {
  items: HistoryItem[];
  cursor?: string;
}

export interface HistoryFilters {
  kinds: string[];
  devices: unknown[];
  oldest?: string;
}

export interface DeviceEvent {
  deviceID: string;
  event: string;
  timestamp: string;
}

/** A value of the config file. */
export type SettingValue = null | boolean | number | string | SettingValue[] | { [key: string]: SettingValue };

/** What the config file says, without secrets. */
export interface ConfigurationSettings {
  file: string;
  hasFile: boolean;
  settings: { [key: string]: SettingValue };
}

export interface Configuration {
  problems: { file: string; line: number; key: string; reason: string }[];
  needsRestart: string[];
}

export interface LiveView {
  mediaSessionId: string;
  answerSdp: string;
  liveSessionDurationSeconds: number;
  notes?: string[];
}

// What went wrong, for a person. Details are for those who look for the cause. After a mild fault things go on.
export interface Fault {
  heading?: string;
  message: string;
  details?: string | null;
  mild?: boolean;
}

// Whether the event stream is connected.
export interface Link {
  isUp: boolean;
}

// What the gateway has said of itself so far; nothing before it was reached.
export type KnownGateway = Partial<Gateway>;

export interface Recording {
  id: string;
  deviceID: string;
  start: string;
  end: string;
  durationSeconds: number;
  trigger: { kind: "command" | "motion" | "continuous"; reason: string; events: string[]; at: string };
  isRunning: boolean;
}

export interface FootageTrack {
  name: string;
  kind: "video" | "audio";
  codec: string;
  timescale: number;
  initialization: string;
}

export interface FootageSegment {
  track: string;
  durationSeconds: number;
  decodeTime: number;
  isComplete: boolean;
  media: string;
}

export interface FootagePart {
  recording: string;
  start: string;
  end: string;
  originMilliseconds: number;
  isRunning: boolean;
  tracks: FootageTrack[];
  segments: FootageSegment[];
}

export type Scope = "read" | "control" | "media" | "view" | "automate" | "unlock" | "admin";

export interface Grant {
  scopes: Scope[];
  structureID?: string;
  deviceID?: string;
}

/** A device that a grant names, or a camera that the token may watch and not read. */
export interface NamedDevice {
  id: string;
  key: string;
  name: string;
  isCamera?: boolean;
  isOnBattery?: boolean;
}

export interface OwnAccess {
  principal: string;
  grants: Grant[];
  expiresAt?: string;
  devices: NamedDevice[];
}

export interface Token {
  id: string;
  name: string;
  grants: Grant[];
  createdAt: string;
  createdBy: string;
  expiresAt?: string;
  lastUsedAt?: string;
  clientID?: string;
  hasPassword?: boolean;
  token?: string;
}

export interface TokenSettings {
  name?: string;
  grants?: Grant[];
  expiresInSeconds?: number;
  password?: string;
}

export interface ValidationIssue {
  path: string;
  severity: string;
  type: string;
  message: string;
}

export interface Trigger {
  kind: string;
  path: string;
  entityID?: string;
  text?: string;
}

/** One line of a run. Its other members depend on the kind. */
export interface RunEntry {
  at: string;
  strand: number;
  path: string;
  kind: string;
  text?: string;
  [member: string]: any;
}

export interface Run {
  id: string;
  automationID: string;
  startedAt: string;
  endedAt?: string;
  trigger: Trigger;
  isLate?: boolean;
  depth?: number;
  end?: string;
  text?: string;
  entries?: RunEntry[];
  /** Whether the automation has got another graph since. */
  hasOtherGraph?: boolean;
}

export interface Automation {
  id: string;
  structureID: string;
  owner: string;
  name: string;
  description: string;
  isActive: boolean;
  isValid: boolean;
  isRunning: boolean;
  isPaused: boolean;
  manuallyExecutable: boolean;
  isUnderstood: boolean;
  maxExecutionCount?: number | null;
  executionCount: number;
  graceSeconds: number;
  validationIssues: ValidationIssue[];
  automationGraph: any;
  text?: string;
  lastRun?: Run | null;
  createdAt: string;
  changedAt: string;
  /** The header of the answer that it came with. */
  etag?: string;
}

export interface AutomationDraft {
  name: string;
  description: string;
  isActive?: boolean;
  graceSeconds?: number;
  maxExecutionCount?: number | null;
  automationGraph?: any;
}

export interface CandidateField {
  name: string;
  type: any;
  constraint?: any;
  [member: string]: any;
}

export interface Candidate {
  kind: "command" | "event" | "attributes";
  entity: { device?: string; structure?: string };
  roles: string[];
  deviceTypes: string[];
  trait: string;
  command?: string;
  event?: string;
  fields: CandidateField[];
  unsupportedReasons: { type: string }[];
}

export interface SimulatedRun {
  at: string;
  trigger?: { text?: string };
  commands: { text?: string; command?: string; trait?: string; entity?: { device?: string; structure?: string } }[];
  end?: string;
  text?: string;
}
