import { getCameraList, restoreFileCamera } from "./api.js";
import { openCameraSettings } from "./camera-edit.js";
import { DialogFault } from "./dialog.js";
import { element, icon } from "./dom.js";
import { keepFocus } from "./kept-focus.js";
import { Newest } from "./newest.js";
import { oneAtATime } from "./one-at-a-time.js";
import { t } from "./text.js";

/**
 * @typedef {import("./types").Camera} Camera
 * @typedef {import("./types").CameraList} CameraList
 */

/**
 * The cameras that the config file has, in its order, each with the line under its name.
 * @param {Camera[]} cameras
 * @returns {{ camera: Camera, line: string }[]}
 */
export function ofFile(cameras) {
  return cameras.filter(({ origin }) => origin === "file" || origin === "overridden").map((camera) => ({
    camera,
    line: camera.origin === "overridden" ? `${camera.source} · ${t("settings.cameras.changed")}` : camera.source,
  }));
}

/** The cameras of the config file: those that run, and those that were removed on this page. */
export class FileCameras {
  /** @param {CameraList} list */
  constructor(list) {
    this.count = element("span");
    this.words = element("p");
    this.cameras = element("ul", "found-cameras");
    this.removedWords = element("p", "", t("settings.cameras.removed"));
    this.removed = element("ul", "found-cameras");
    this.fault = new DialogFault();
    this.requests = new Newest();
    this.nodes = [this.words, this.cameras, this.removedWords, this.removed, this.fault.node];
    this.show(list);
  }

  /** @param {CameraList} list */
  show({ cameras, removed }) {
    const shown = ofFile(cameras);
    this.count.textContent = String(shown.length);
    this.words.textContent = t(shown.length > 0 ? "settings.cameras.which" : "settings.cameras.none");
    // A dialog gives the focus back to a button that the list no longer has.
    keepFocus(this.cameras, () => this.cameras.replaceChildren(...shown.map(({ camera, line }) =>
      row(camera.name, line, () => openCameraSettings(camera.name, camera, () => this.refresh())))));
    this.removedWords.hidden = this.removed.hidden = removed.length === 0;
    keepFocus(this.removed, () => this.removed.replaceChildren(...removed.map(({ id, name }) =>
      row(name, t("settings.cameras.bringBack"), oneAtATime(() => this.fault.attempt(async () => {
        await restoreFileCamera(id);
        await this.load();
      }))))), this.cameras.querySelector("button"));
  }

  async load() {
    const request = this.requests.begin();
    const list = await getCameraList();
    if (request.takes()) this.show(list);
  }

  refresh() { return this.fault.attempt(() => this.load(), { isRead: true }); }
}

/**
 * @param {string} name
 * @param {string} line
 * @param {() => unknown} choose
 */
function row(name, line, choose) {
  const button = element("button", "found-camera", icon("camera"),
    element("span", "", element("strong", "", name), element("small", "", line)));
  button.type = "button";
  button.addEventListener("click", choose);
  return element("li", "", button);
}
