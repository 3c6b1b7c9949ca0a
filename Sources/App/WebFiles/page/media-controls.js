import { accepts } from "./accepted.js";
import { Choice, Slider, Toggle } from "./control-fields.js";
import { Button, element } from "./dom.js";
import { lower, t } from "./text.js";

/** @typedef {import("./controls.js").ControlKind} ControlKind */

/** @type {ControlKind} */
const playback = {
  name: "playback",
  fits: ({ MediaPlayback }) => MediaPlayback !== undefined,
  make: (part) => {
    /** @param {import("./dom.js").Shape} shape @param {string} label @param {() => void} action */
    const button = (shape, label, action) => {
      const made = new Button(shape, label, action, "button round");
      made.node.setAttribute("aria-label", `${part.name}: ${lower(label)}`);
      return made;
    };
    const isPlaying = () => ["playing", "buffering"].includes(part.traits().MediaPlayback?.currentState);
    const previous = button("back", t("mediaControls.previous"), () => part.send("MediaPlayback", "previous", {}, {}));
    const play = button("play", t("mediaControls.play"), () => {
      const wasPlaying = isPlaying();
      part.send("MediaPlayback", wasPlaying ? "pause" : "play", {},
        { MediaPlayback: { currentState: wasPlaying ? "paused" : "playing" } });
    });
    const stop = button("stop", t("mediaControls.stop"), () => {
      part.send("MediaPlayback", "stop", {}, { MediaPlayback: { currentState: "notPlaying" } });
    });
    const next = button("forward", t("mediaControls.next"), () => part.send("MediaPlayback", "next", {}, {}));
    return {
      node: element("div", "buttons", previous.node, play.node, stop.node, next.node),
      update: ({ MediaPlayback }, isEnabled) => {
        const label = isPlaying() ? t("mediaControls.pause") : t("mediaControls.play");
        play.shape = isPlaying() ? "pause" : "play";
        play.label = label;
        play.node.title = label;
        play.node.setAttribute("aria-label", `${part.name}: ${lower(label)}`);
        play.node.disabled = !isEnabled;
        stop.node.disabled = !isEnabled || MediaPlayback?.currentState === "notPlaying";
        for (const [one, number] of /** @type {const} */ ([[previous, 4], [next, 5]])) {
          one.node.hidden = !accepts(MediaPlayback, number);
          one.node.disabled = !isEnabled;
        }
      },
    };
  },
};

/** @type {ControlKind} */
const volume = {
  name: "volume",
  fits: ({ Volume }) => Volume?.currentVolume !== undefined && accepts(Volume, 0),
  make: (part) => {
    const slider = new Slider({
      title: t("mediaControls.volume"), label: t("control.volume", { name: part.name }), minimum: 0, maximum: 100,
      words: (value) => `${value} %`,
      changed: (value) => part.send("Volume", "setVolume", { volumeLevel: value },
        { Volume: { currentVolume: value, isMuted: false } }),
    });
    return {
      node: slider.node,
      update: ({ Volume }, isEnabled) => {
        slider.limit(0, Volume?.maxVolume ?? 100);
        slider.show(Volume?.isMuted ? 0 : Volume?.currentVolume ?? null, isEnabled);
      },
    };
  },
};

/** @type {ControlKind} */
const chime = {
  name: "chime",
  // The speaker of a camera has a panel of its own, and its button a meaning of its own.
  fits: ({ Chime, WebRtcLiveView }) => Chime !== undefined && WebRtcLiveView === undefined,
  make: (part) => {
    const ring = new Button("bell", t("mediaControls.ring"), () => part.send("Chime", "playChimeSound", {}, {}));
    ring.node.setAttribute("aria-label", t("mediaControls.ringName", { name: part.name }));
    const sounds = new Choice(t("mediaControls.sound"), t("control.sound", { name: part.name }), (sound) => {
      part.write("Chime", { selectedChime: Number(sound) });
    });
    return {
      node: element("div", "buttons", ring.node, sounds.node),
      update: ({ Chime }, isEnabled) => {
        ring.node.hidden = !accepts(Chime, 0);
        ring.node.disabled = !isEnabled || Chime?.enabled === false;
        /** @type {{ chimeID: number, name: string }[]} */
        const installed = Chime?.installedChimeSounds ?? [];
        sounds.node.hidden = installed.length < 2 || Chime?.selectedChime === undefined;
        sounds.show(String(Chime?.selectedChime ?? 0), installed.map(({ chimeID, name }) => [String(chimeID), name]),
          isEnabled);
      },
    };
  },
};

/** @type {ControlKind} */
const chimeEnabled = {
  name: "chime-enabled", isMain: true,
  // A camera has it among its settings: beside its name, a switch without a title would look like the camera's own.
  fits: ({ Chime, WebRtcLiveView }) => typeof Chime?.enabled === "boolean" && WebRtcLiveView === undefined,
  make: (part) => {
    const toggle = new Toggle(t("control.sound", { name: part.name }), (enabled) => part.write("Chime", { enabled }));
    return { node: toggle.node, update: ({ Chime }, isEnabled) => toggle.show(Chime?.enabled === true, isEnabled) };
  },
};

/** @type {ControlKind} */
const alarmTest = {
  name: "alarm-test",
  fits: ({ SmokeCoAlarm }) => SmokeCoAlarm?.acceptedCommandList?.includes(0) === true,
  make: (part) => {
    const button = new Button("sound", t("mediaControls.test"), () => part.send("SmokeCoAlarm", "selfTestRequest", {}, {}));
    button.node.setAttribute("aria-label", t("mediaControls.testName", { name: part.name }));
    return { node: button.node, update: (_, isEnabled) => { button.node.disabled = !isEnabled; } };
  },
};

/** @type {ControlKind[]} */
export const mediaControls = [playback, volume, chimeEnabled, chime, alarmTest];
