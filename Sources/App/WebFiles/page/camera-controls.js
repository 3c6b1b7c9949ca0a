import { Choice, Slider, Toggle } from "./control-fields.js";
import { element } from "./dom.js";
import { t } from "./text.js";

/**
 * @typedef {import("./controls.js").ControlKind} ControlKind
 * @typedef {import("./controls.js").Part} Part
 */

const pictureAndSound = t("cameraControls.pictureAndSound");
const privacy = t("cameraControls.privacy");

/**
 * Writes a setting of a camera, which may refuse it.
 * @param {Part} part
 * @param {string} attribute
 * @param {unknown} value
 */
function write(part, attribute, value) {
  part.write("CameraAvStreamManagement", { [attribute]: value }, undefined, "setting");
}

/**
 * What is heard of a control: the camera, and the title that others see.
 * @param {Part} part
 * @param {string} title
 */
function label(part, title) { return `${part.name}: ${title}`; }

/**
 * A switch for a setting that is true or false. A camera without the setting does not get it.
 * @param {object} options
 * @param {string} options.attribute
 * @param {string} options.title
 * @param {string} options.fold
 * @param {boolean} [options.isMuting] the switch is on while the attribute is false
 * @param {boolean} [options.isKeptByGateway] the setting can be changed while the camera is away
 * @returns {ControlKind}
 */
function switchOf({ attribute, title, fold, isMuting = false, isKeptByGateway = false }) {
  return {
    name: attribute, fold,
    fits: ({ CameraAvStreamManagement }) => typeof CameraAvStreamManagement?.[attribute] === "boolean",
    make: (part) => {
      const toggle = new Toggle(label(part, title), (isOn) => write(part, attribute, isOn !== isMuting));
      return {
        node: element("div", "switch-row", element("span", "", title), toggle.node),
        update: ({ CameraAvStreamManagement }, isEnabled) => {
          toggle.show((CameraAvStreamManagement?.[attribute] === true) !== isMuting, isEnabled || isKeptByGateway);
        },
      };
    },
  };
}

/** @type {Record<string, string>} */
const nightVisionWords = {
  auto: t("cameraControls.automatic"), on: t("cameraControls.on"), off: t("cameraControls.off"),
};

/**
 * What somebody can choose of a setting: what the camera offers, and what it is set to now.
 * @param {unknown} offered
 * @param {string | number | undefined} current
 * @param {(value: string | number) => string} words
 * @returns {[string, string][]} values with their words
 */
export function choices(offered, current, words) {
  const values = new Set(Array.isArray(offered) ? offered : []);
  if (current !== undefined) values.add(current);
  return [...values].map((value) => [String(value), words(value)]);
}

/**
 * A list for a setting that has a few values. A camera with only one of them does not get it.
 * @param {object} options
 * @param {string} options.attribute
 * @param {string} options.offers the attribute that lists the values
 * @param {string} options.title
 * @param {(value: string | number) => string} options.words
 * @param {(text: string) => unknown} options.read the value that a chosen text stands for
 * @returns {ControlKind}
 */
function choiceOf({ attribute, offers, title, words, read }) {
  return {
    name: attribute, fold: pictureAndSound,
    fits: ({ CameraAvStreamManagement: settings }) => settings?.[attribute] !== undefined
      && Array.isArray(settings[offers]) && settings[offers].length > 1,
    make: (part) => {
      const choice = new Choice(title, label(part, title), (text) => write(part, attribute, read(text)));
      return {
        node: choice.node,
        update: ({ CameraAvStreamManagement: settings }, isEnabled) => choice.show(String(settings?.[attribute]),
          choices(settings?.[offers], settings?.[attribute], words), isEnabled),
      };
    },
  };
}

const nightVision = choiceOf({
  attribute: "nightVision", offers: "supportedNightVisionModes", title: t("cameraControls.nightVision"),
  words: (mode) => nightVisionWords[mode] ?? String(mode), read: (text) => text,
});

const rotation = choiceOf({
  attribute: "imageRotation", offers: "supportedImageRotations", title: t("cameraControls.rotation"),
  words: (degrees) => `${degrees}°`, read: Number,
});

const hdr = switchOf({ attribute: "hdrModeEnabled", title: t("cameraControls.hdr"), fold: pictureAndSound });

/**
 * The lowest and the highest level of a camera's loudspeaker; null where nobody can change it.
 * @param {any} settings the attributes of CameraAvStreamManagement
 * @returns {[number, number] | null}
 */
export function speakerLevels(settings) {
  const { speakerVolumeLevel: level, speakerMinLevel: lowest = 0, speakerMaxLevel: highest = 254 } = settings ?? {};
  return typeof level === "number" && lowest < highest ? [lowest, highest] : null;
}

/** @type {ControlKind} */
const speaker = {
  name: "speakerVolumeLevel", fold: pictureAndSound,
  fits: ({ CameraAvStreamManagement }) => speakerLevels(CameraAvStreamManagement) !== null,
  make: (part) => {
    const title = t("cameraControls.speaker");
    let [lowest, highest] = speakerLevels(part.traits()["CameraAvStreamManagement"]) ?? [0, 254];
    const slider = new Slider({
      title, label: label(part, title), minimum: lowest, maximum: highest,
      words: (value) => `${Math.round(value / highest * 100)} %`,
      changed: (value) => write(part, "speakerVolumeLevel", value),
    });
    return {
      node: slider.node,
      update: ({ CameraAvStreamManagement: settings }, isEnabled) => {
        [lowest, highest] = speakerLevels(settings) ?? [lowest, highest];
        slider.limit(lowest, highest);
        slider.show(settings?.speakerVolumeLevel ?? null, isEnabled);
      },
    };
  },
};

const microphone = switchOf({
  attribute: "microphoneMuted", title: t("cameraControls.microphone"), fold: pictureAndSound, isMuting: true,
  isKeptByGateway: true,
});

const recordedSound = switchOf({
  attribute: "recordingMicrophoneMuted", title: t("cameraControls.recordedSound"), fold: pictureAndSound, isMuting: true,
  isKeptByGateway: true,
});

// A chime that is not a camera's has its controls in media-controls.js.
/** @type {ControlKind} */
const chimeEnabled = {
  name: "chimeEnabled", fold: pictureAndSound,
  fits: ({ Chime, WebRtcLiveView }) => WebRtcLiveView !== undefined && typeof Chime?.enabled === "boolean",
  make: (part) => {
    const title = t("cameraControls.chimeEnabled");
    const toggle = new Toggle(label(part, title), (enabled) => part.write("Chime", { enabled }));
    return {
      node: element("div", "switch-row", element("span", "", title), toggle.node),
      update: ({ Chime }, isEnabled) => toggle.show(Chime?.enabled === true, isEnabled),
    };
  },
};

/** @type {ControlKind} */
const chimeSound = {
  name: "selectedChime", fold: pictureAndSound,
  fits: ({ Chime, WebRtcLiveView }) => WebRtcLiveView !== undefined && Chime?.selectedChime !== undefined
    && Array.isArray(Chime.installedChimeSounds) && Chime.installedChimeSounds.length > 1,
  make: (part) => {
    const title = t("cameraControls.chime");
    const choice = new Choice(title, label(part, title), (sound) => part.write("Chime", { selectedChime: Number(sound) }));
    return {
      node: choice.node,
      update: ({ Chime }, isEnabled) => {
        /** @type {{ chimeID: number, name: string }[]} */
        const installed = Chime?.installedChimeSounds ?? [];
        choice.show(String(Chime?.selectedChime), installed.map(({ chimeID, name }) => [String(chimeID), name]), isEnabled);
      },
    };
  },
};

/**
 * Whether a camera is on: any of its recording connections is active.
 * @type {ControlKind}
 */
const power = {
  name: "power", fold: privacy,
  fits: ({ PushAvStreamTransport, WebRtcLiveView }) => WebRtcLiveView !== undefined
    && Array.isArray(PushAvStreamTransport?.currentConnections) && PushAvStreamTransport.currentConnections.length > 0,
  make: (part) => {
    const title = t("cameraControls.power");
    const toggle = new Toggle(label(part, title), (isOn) => {
      const transportStatus = isOn ? "active" : "inactive";
      /** @type {object[]} */
      const connections = part.traits()["PushAvStreamTransport"]?.currentConnections ?? [];
      part.send("PushAvStreamTransport", "setTransportStatus", { transportStatus },
        { PushAvStreamTransport: { currentConnections: connections.map((one) => Object.assign({}, one, { transportStatus })) } });
    });
    return {
      node: element("div", "switch-row", element("span", "", title), toggle.node),
      update: ({ PushAvStreamTransport }) => {
        /** @type {{ transportStatus: string }[]} */
        const connections = PushAvStreamTransport?.currentConnections ?? [];
        toggle.show(connections.some(({ transportStatus }) => transportStatus === "active"), true);
      },
    };
  },
};

const liveViews = switchOf({
  attribute: "softLivestreamPrivacyModeEnabled", title: t("cameraControls.blockLiveViews"), fold: privacy, isKeptByGateway: true,
});

const recordings = switchOf({
  attribute: "softRecordingPrivacyModeEnabled", title: t("cameraControls.blockRecordings"), fold: privacy, isKeptByGateway: true,
});

/** @type {ControlKind[]} */
export const cameraControls = [
  nightVision, hdr, rotation, speaker, microphone, recordedSound, chimeEnabled, chimeSound, power, liveViews, recordings,
];
