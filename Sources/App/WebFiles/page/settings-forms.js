import { choice } from "./camera-fields.js";
import { mask } from "./camera-model.js";
import { isGroup, numberOf } from "./config-lines.js";
import { element } from "./dom.js";
import { choiceField, isOn, lineField, linesOfField, listField, Rows, switchField, textOf } from "./settings-fields.js";
import { known, t } from "./text.js";

/**
 * @typedef {import("./types").SettingValue} Value
 * @typedef {{ [key: string]: Value }} Group
 * @typedef {import("./settings-fields.js").Field} Field
 */

/**
 * The form of one part of the settings.
 * @typedef {object} SettingsForm
 * @property {import("./text.js").TextKey} title
 * @property {string} state what is set, in a few words
 * @property {(Field | Rows)[]} fields
 * @property {Node[]} nodes
 * @property {() => Record<string, Value>} values the sections of the config as the fields describe them
 * @property {string} variable stands for a password that the page does not know
 * @property {boolean} isAtOnce whether a change takes effect without a restart
 */

/** @type {(value: Value | undefined) => Group} */
const group = (value) => (isGroup(value) ? value : {});

/** @type {(field: Field) => Value} */
const number = (field) => numberOf(field.control.value);

/**
 * The fields of a section that can be off: they are there only while it is on.
 * @param {Field} power
 * @param {(Field | Rows)[]} fields
 */
function switched(power, fields) {
  const inside = element("div", "fields-inside", ...fields.map(({ node }) => node));
  const show = () => { inside.hidden = !isOn(power); };
  power.control.addEventListener("change", show);
  show();
  return [power.node, inside];
}

/**
 * @param {Group} settings
 * @returns {SettingsForm}
 */
export function mqttForm({ mqtt }) {
  const now = group(mqtt);
  const isUsed = isGroup(mqtt);
  const power = switchField("mqtt", "settings.mqtt.on", isUsed);
  const host = lineField("mqtt.host", "settings.host", now["host"], { placeholder: "broker.local" });
  const port = lineField("mqtt.port", "settings.port", now["port"], { type: "number", placeholder: "1883" });
  const tls = switchField("mqtt.tls", "settings.mqtt.tls", now["tls"] !== undefined && now["tls"] !== false,
    isGroup(now["tls"]) ? t("settings.mqtt.tlsFiles") : "");
  const username = lineField("mqtt.username", "camera.field.user", now["username"]);
  const password = switchField("mqtt.password", "settings.mqtt.password", typeof now["password"] === "string", t("settings.passwordInFile"));
  const clientID = lineField("mqtt.clientID", "settings.mqtt.clientID", now["clientID"] ?? "gatehouse");
  const discovery = lineField("mqtt.discoveryPrefix", "settings.mqtt.discoveryPrefix", now["discoveryPrefix"] ?? "homeassistant",
    { hint: t("settings.mqtt.emptyPrefix") });
  const zigbee = lineField("mqtt.zigbee2mqttPrefix", "settings.mqtt.zigbee2mqttPrefix", now["zigbee2mqttPrefix"] ?? "zigbee2mqtt",
    { hint: t("settings.mqtt.emptyPrefix") });
  const publish = switchField("mqtt.publish", "settings.mqtt.publish", now["publish"] !== false);
  const topic = lineField("mqtt.topicPrefix", "settings.mqtt.topicPrefix", now["topicPrefix"] ?? "gatehouse");
  const commands = switchField("mqtt.commands", "settings.mqtt.commands", now["commands"] === true);
  const pictures = switchField("mqtt.pictures", "settings.mqtt.pictures", now["pictures"] === true);
  const persons = isGroup(now["presence"]) ? now["presence"] : null;
  const presence = choiceField("mqtt.presence", "settings.mqtt.presence", choice({
    everybody: "settings.mqtt.presence.everybody", nobody: "settings.mqtt.presence.nobody",
    ...(persons ? { persons: "settings.mqtt.presence.persons" } : {}),
  }), persons ? "persons" : now["presence"] === false ? "nobody" : "everybody");
  const inside = [host, port, tls, username, password, clientID, discovery, zigbee, publish, topic, commands, pictures, presence];
  return {
    title: "settings.mqtt", variable: "MQTT_PASSWORD", isAtOnce: true, fields: [power, ...inside], nodes: switched(power, inside),
    state: isUsed ? `${String(now["host"])}:${String(now["port"])}` : t("settings.off"),
    values: () => ({
      mqtt: isOn(power) ? {
        host: textOf(host) ?? "", port: number(port), tls: isOn(tls) && (isGroup(now["tls"]) ? now["tls"] : true),
        username: textOf(username), password: isOn(password) ? mask : null, clientID: textOf(clientID),
        discoveryPrefix: textOf(discovery) ?? false, zigbee2mqttPrefix: textOf(zigbee) ?? false, publish: isOn(publish),
        topicPrefix: textOf(topic), commands: isOn(commands), pictures: isOn(pictures),
        presence: presence.control.value === "persons" ? persons : presence.control.value === "everybody",
      } : false,
    }),
  };
}

/**
 * @param {Group} settings
 * @returns {SettingsForm}
 */
export function networkForm(settings) {
  const [http, media, network] = [group(settings["http"]), group(settings["media"]), group(settings["network"])];
  const publicURL = lineField("http.publicURL", "settings.network.publicURL", http["publicURL"],
    { placeholder: "https://home.example", hint: t("settings.network.publicURL.hint") });
  const port = lineField("media.port", "settings.network.mediaPort", media["port"], { type: "number" });
  const addresses = listField("media.addresses", "settings.network.addresses", media["addresses"], { placeholder: "203.0.113.7" });
  const mapping = switchField("network.portMapping", "settings.network.portMapping", network["portMapping"] === true,
    t("settings.network.portMapping.hint"));
  const stun = listField("network.stun", "settings.network.stun", network["stun"],
    { placeholder: "stun.example.org", hint: t("settings.network.stun.hint") });
  const turn = new Rows("network.turn", "settings.network.turn", "settings.network.turn.add", [
    { key: "url", label: "settings.network.url", placeholder: "turn:turn.example.org" },
    { key: "username", label: "camera.field.user" },
  ], network["turn"], { credential: mask });
  const viewers = new Rows("media.iceServers", "settings.network.iceServers", "settings.network.iceServers.add", [
    { key: "url", label: "settings.network.url", placeholder: "stun:stun.example.org" },
    { key: "username", label: "camera.field.user" },
    { key: "credential", label: "camera.field.password", type: "password" },
  ], media["iceServers"]);
  const tcpPort = lineField("network.tcp", "settings.network.tcp.port", typeof network["tcp"] === "number" ? network["tcp"] : null,
    { type: "number", placeholder: "443" });
  const tcp = choiceField("network.tcp.kind", "settings.network.tcp", choice({
    media: "settings.network.tcp.media", other: "settings.network.tcp.other", off: "settings.network.tcp.off",
  }), typeof network["tcp"] === "number" ? "other" : network["tcp"] === false ? "off" : "media");
  const show = () => { tcpPort.node.hidden = tcp.control.value !== "other"; };
  tcp.control.addEventListener("change", show);
  show();
  const mdns = lineField("network.mdns", "settings.network.mdns", network["mdns"], { hint: t("settings.network.mdns.hint") });
  const fields = [publicURL, port, addresses, mapping, stun, turn, viewers, tcp, tcpPort, mdns];
  return {
    title: "settings.network", variable: "TURN_PASSWORD", isAtOnce: false, fields, nodes: fields.map(({ node }) => node),
    state: String(http["publicURL"] ?? t("settings.network.noPublicURL")),
    values: () => ({
      http: { publicURL: textOf(publicURL) },
      media: { port: number(port), addresses: linesOfField(addresses), iceServers: viewers.values },
      network: {
        stun: linesOfField(stun).map((one, index) => sameServer(one, network["stun"], index)), turn: turn.values,
        tcp: tcp.control.value === "other" ? number(tcpPort) ?? "" : tcp.control.value === "media",
        mdns: textOf(mdns) ?? false, portMapping: isOn(mapping),
      },
    }),
  };
}

/**
 * A server that is written without the scheme or the usual port is the one that the gateway shows with both.
 * @param {string} typed
 * @param {Value | undefined} shown
 * @param {number} index
 */
function sameServer(typed, shown, index) {
  const before = Array.isArray(shown) ? shown[index] : undefined;
  const whole = typed.startsWith("stun:") ? typed : `stun:${typed}`;
  return before === whole || before === `${whole}:3478` ? String(before) : typed;
}

/**
 * @param {Group} settings
 * @returns {SettingsForm}
 */
export function rtspForm({ rtsp }) {
  const now = group(rtsp);
  const power = switchField("rtsp", "settings.rtsp.on", isGroup(rtsp));
  const host = lineField("rtsp.host", "settings.listenAt", now["host"] ?? "127.0.0.1", { hint: t("settings.listenAt.hint") });
  const port = lineField("rtsp.port", "settings.port", now["port"] ?? 8554, { type: "number" });
  return {
    title: "settings.rtsp", variable: "", isAtOnce: false, fields: [power, host, port], nodes: switched(power, [host, port]),
    state: isGroup(rtsp) ? `${String(now["host"])}:${String(now["port"])}` : t("settings.off"),
    values: () => ({ rtsp: isOn(power) ? { host: textOf(host), port: number(port) } : false }),
  };
}

/**
 * @param {Group} settings
 * @returns {SettingsForm}
 */
export function rtmpForm({ rtmp }) {
  const now = group(rtmp);
  const power = switchField("rtmp", "settings.rtmp.on", isGroup(rtmp), t("settings.rtmp.hint"));
  const host = lineField("rtmp.host", "settings.listenAt", now["host"] ?? "127.0.0.1", { hint: t("settings.listenAt.hint") });
  const port = lineField("rtmp.port", "settings.port", now["port"] ?? 1935, { type: "number" });
  return {
    title: "settings.rtmp", variable: "", isAtOnce: false, fields: [power, host, port], nodes: switched(power, [host, port]),
    state: isGroup(rtmp) ? `${String(now["host"])}:${String(now["port"])}` : t("settings.off"),
    values: () => ({ rtmp: isOn(power) ? { host: textOf(host), port: number(port) } : false }),
  };
}

/**
 * @param {Group} settings
 * @returns {SettingsForm}
 */
export function recordingForm({ recording }) {
  const now = group(recording);
  const power = switchField("recording", "settings.recording.on", isGroup(recording), t("settings.recording.hint"));
  const trigger = choiceField("recording.trigger", "settings.recording.trigger", choice({
    motion: "settings.recording.trigger.motion", continuous: "settings.recording.trigger.continuous",
    command: "settings.recording.trigger.command",
  }), String(now["trigger"] ?? "motion"));
  const numbers = {
    preRoll: lineField("recording.preRoll", "settings.recording.preRoll", now["preRoll"] ?? 4, { type: "number" }),
    days: lineField("recording.days", "settings.recording.days", now["days"] ?? 14, { type: "number" }),
    gigabytes: lineField("recording.gigabytes", "settings.recording.gigabytes", now["gigabytes"], { type: "number" }),
    totalGigabytes: lineField("recording.totalGigabytes", "settings.recording.totalGigabytes", now["totalGigabytes"], { type: "number" }),
    freeGigabytes: lineField("recording.freeGigabytes", "settings.recording.freeGigabytes", now["freeGigabytes"] ?? 2, { type: "number" }),
    uploadGigabytes: lineField("recording.uploadGigabytes", "settings.recording.uploadGigabytes", now["uploadGigabytes"],
      { type: "number" }),
  };
  const folder = lineField("recording.folder", "settings.recording.folder", now["folder"],
    { placeholder: "/srv/recordings", hint: t("settings.recording.folder.hint") });
  const inside = [trigger, ...Object.values(numbers), folder];
  return {
    title: "settings.recording", variable: "", isAtOnce: false, fields: [power, ...inside], nodes: switched(power, inside),
    state: isGroup(recording) ? known(`settings.recording.trigger.${trigger.control.value}`) ?? "" : t("settings.off"),
    values: () => ({
      recording: isOn(power) ? {
        trigger: trigger.control.value, folder: textOf(folder),
        ...Object.fromEntries(Object.entries(numbers).map(([key, field]) => [key, number(field)])),
      } : false,
    }),
  };
}
