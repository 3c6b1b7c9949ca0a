import { Button, element } from "./dom.js";
import { locale, t } from "./text.js";

/** @typedef {import("./shortcuts.js").Action} Action */

/** The buttons below the picture of one camera. Each of them does what its key does. */
export class CameraTools {
  /**
   * @param {(action: Action) => void} act
   * @param {{ setVolume: (volume: number) => void, setQuality: (hint: "hd" | "sd") => void, openRecordings: () => void }}
   *   handlers
   */
  constructor(act, { setVolume, setQuality, openRecordings }) {
    this.talk = new Button("microphone", t("cameraTools.talk"), () => act("talk"), "button talk");
    this.sound = new Button("sound", t("cameraTools.sound"), () => act("mute"), "button compact");
    this.volume = element("input", "volume");
    this.volume.type = "range";
    this.volume.max = "100";
    this.volume.setAttribute("aria-label", t("cameraTools.volume"));
    this.volume.addEventListener("input", () => setVolume(Number(this.volume.value) / 100));
    this.quality = element("select", "quality", option("hd", t("cameraTools.highQuality")), option("sd", t("cameraTools.lowQuality")));
    this.quality.setAttribute("aria-label", t("cameraTools.quality"));
    this.quality.addEventListener("change", () => setQuality(this.quality.value === "sd" ? "sd" : "hd"));
    this.wider = new Button("minus", t("cameraTools.zoomOut"), () => act("wider"), "button icon");
    this.zoomed = element("output", "zoom-level");
    this.closer = new Button("plus", t("cameraTools.zoomIn"), () => act("closer"), "button icon");
    this.save = new Button("picture", t("cameraTools.savePicture"), () => act("save"), "button compact");
    this.recordings = new Button("history", t("cameraTools.recordings"), openRecordings, "button compact");
    this.float = new Button("float", t("cameraTools.pictureInPicture"), () => act("float"), "button icon");
    this.full = new Button("full", t("cameraTools.fullScreen"), () => act("full"), "button icon");
    this.keys = new Button("keys", t("cameraTools.shortcuts"), () => act("help"), "button icon keys");
    this.nodes = [
      this.talk.node,
      element("div", "tool-group", this.sound.node, this.volume),
      element("div", "tool-group", this.wider.node, this.zoomed, this.closer.node),
      this.quality,
      this.save.node, this.recordings.node,
      element("div", "tool-group end", this.float.node, this.full.node, this.keys.node),
    ];
    this.float.node.hidden = !document.pictureInPictureEnabled;
  }

  /** @param {{ volume: number, muted: boolean }} sound */
  renderSound({ volume, muted }) {
    this.sound.shape = muted ? "muted" : "sound";
    this.sound.label = muted ? t("cameraTools.soundOff") : t("cameraTools.sound");
    this.sound.node.setAttribute("aria-pressed", String(!muted));
    this.volume.value = String(Math.round(volume * 100));
  }

  /** @param {number} scale */
  renderZoom(scale) {
    const text = `${scale.toLocaleString(locale, { minimumFractionDigits: 1, maximumFractionDigits: 1 })}×`;
    if (this.zoomed.value !== text) this.zoomed.value = text;
    this.wider.node.disabled = scale === 1;
  }
}

/**
 * @param {string} value
 * @param {string} text
 */
function option(value, text) {
  const made = element("option", "", text);
  made.value = value;
  return made;
}
