import { fragmentOf, shownAt } from "./address.js";
import { traitsOf } from "./api.js";
import { CameraView } from "./camera-view.js";
import { askToLeaveDialogs, leaveDialogs } from "./dialog.js";
import { byID } from "./dom.js";
import { Leaving } from "./leaving.js";
import { places } from "./places.js";
import { WakeLock } from "./wake-lock.js";
import { Wall } from "./wall.js";

/**
 * @typedef {import("./address.js").Shown} Shown
 * @typedef {import("./types").Device} Device
 */

/**
 * A view that takes the place of the list of devices.
 * @typedef {object} View
 * @property {HTMLElement} node
 * @property {string} title of the page
 * @property {() => void} update the devices, their settings or the connection have changed
 * @property {(name: string, data: any) => void} event
 * @property {(isWholeSecond: boolean) => void} tick four times a second
 * @property {() => void} check the gateway was reached again, and it may be another one
 * @property {boolean} isInUse whether somebody would miss something if the page were loaded again
 * @property {Set<import("./shortcuts.js").Action>} actions what its keys do
 * @property {(action: import("./shortcuts.js").Action, isHeld: boolean) => void} act a key was pressed, or is held
 * @property {() => void} [shown] it is in the page now
 * @property {() => void} close ends what is going on
 */

/**
 * What the views share.
 * @typedef {object} ViewParts
 * @property {{ gateway: import("./types").KnownGateway, link: import("./types").Link }} page
 * @property {import("./snapshots.js").Snapshots} snapshots
 * @property {import("./rights.js").Rights} rights
 * @property {() => Device[]} cameras that can be watched, in the order of the page
 * @property {() => void} leave goes back to where this view was opened
 */

// Milliseconds without a hand before a page may be loaded again by itself.
const handless = 10000;

/** Shows what the page's address asks for: the list of devices, the wall, or one camera. */
export class Views {
  /**
   * @param {import("./home.js").Home} home
   * @param {Pick<ViewParts, "page" | "snapshots" | "rights">} shared
   */
  constructor(home, shared) {
    this.home = home;
    this.node = byID("view", HTMLElement);
    this.isOpen = false;
    /** @type {Shown} */
    this.shown = { kind: "home" };
    /** @type {View | null} */
    this.view = null;
    // Where a camera was opened: it goes back there.
    /** @type {Shown} */
    this.origin = { kind: "home" };
    /**
     * Whether somebody agrees to lose what they have entered, while they are asked because the page goes elsewhere.
     * @type {Promise<boolean> | null}
     */
    this.question = null;
    this.scrolled = 0;
    /**
     * What had the focus in the list when a view took its place.
     * @type {HTMLElement | null}
     */
    this.opener = null;
    this.wakeLock = new WakeLock();
    this.leaving = new Leaving();
    // Whether the gateway is a newer one than the page came from.
    this.isOutdated = false;
    this.touchedAt = -Infinity;
    /** @type {ViewParts} */
    this.parts = {
      ...shared, cameras: () => this.cameras, leave: () => this.leave(),
    };
    addEventListener("hashchange", () => this.show());
    document.addEventListener("visibilitychange", () => this.keepAwake());
    // A browser that has refused may need a touch.
    addEventListener("pointerup", () => this.keepAwake());
    for (const name of ["pointerdown", "keydown"]) {
      addEventListener(name, () => { this.touchedAt = performance.now(); }, { capture: true, passive: true });
    }
  }

  get cameras() {
    const { structures, rooms, tiles } = this.home;
    return places(structures.values(), rooms.values(), [...tiles.values()].map(({ reported }) => reported))
      .flatMap(({ devices }) => devices)
      .filter((device) => traitsOf(device).WebRtcLiveView !== undefined && this.parts.rights.may("view", device));
  }

  /** The user is signed in and the home is known. */
  open() {
    this.isOpen = true;
    // The form in which somebody signed in may have the focus. A screen that nobody touches gets no mark around a name.
    this.show({ movesFocus: false });
  }

  /** Ends what is going on. open() goes on with what the address says then. */
  close() {
    this.isOpen = false;
    this.question = null;
    this.opener = null;
    this.replace(null);
    this.leaving.finish();
  }

  /** @param {{ movesFocus?: boolean }} options movesFocus: whether the focus goes along with the view */
  show({ movesFocus = true } = {}) {
    if (!this.isOpen) return;
    const shown = shownAt(location.hash);
    const before = this.shown;
    const isOther = fragmentOf(shown) !== fragmentOf(before);
    if (this.view && !isOther) return;
    // A dialog belongs to what was shown below it. It gives the focus back when it closes.
    if (isOther && !leaveDialogs()) {
      this.askToLeave();
      return;
    }
    const held = movesFocus ? focused() : null;
    if (shown.kind === "camera" && before.kind !== "camera") this.origin = before;
    this.shown = shown;
    // Whether the focus would fall to the page with the view before.
    const isInView = held !== null && this.node.contains(held);
    if (before.kind === "home") {
      this.scrolled = scrollY;
      if (shown.kind !== "home") this.opener = held;
    }
    if (shown.kind === "home") {
      this.replace(null);
      this.home.resume();
      scrollTo(0, this.scrolled);
      if (isInView) this.focusList(before);
      return;
    }
    // What was watched in the list goes on when the list is shown again.
    this.home.suspend();
    const view = shown.kind === "wall" ? new Wall(shown.only, this.parts) : new CameraView(shown.id, this.parts);
    this.replace(view);
    if (view instanceof CameraView) {
      if (held) view.focus(held.title);
    } else if (before.kind === "camera") view.focus(before.id);
  }

  /** Shows what the address asks for by then, if somebody agrees to lose what they have entered in dialogs. */
  async askToLeave() {
    if (this.question) return;
    const question = askToLeaveDialogs();
    this.question = question;
    const mayLeave = await question;
    // Somebody has signed out.
    if (this.question !== question) return;
    this.question = null;
    if (mayLeave) {
      this.show();
      return;
    }
    // They keep it, and with it what is shown.
    const kept = fragmentOf(this.shown);
    if (fragmentOf(shownAt(location.hash)) !== kept) history.pushState(null, "", location.pathname + location.search + kept);
  }

  /**
   * The list takes the focus where it was left, or at the camera that was shown.
   * @param {Shown} before
   */
  focusList(before) {
    const tile = before.kind === "camera"
      ? [...this.home.tiles.values()].find(({ reported: { id, key } }) => [id, key].includes(before.id)) : undefined;
    for (const node of [this.opener, tile?.more.node, byID("open-wall", HTMLElement)]) {
      if (!node?.isConnected) continue;
      // The list has been scrolled to where it was.
      node.focus({ preventScroll: node === this.opener });
      // What is hidden does not take it.
      if (document.activeElement === node) return;
    }
  }

  /** @param {View | null} view */
  replace(view) {
    if (this.view instanceof Wall && view instanceof CameraView) this.enlarge(this.view, view);
    else this.view?.close();
    this.view = view;
    document.body.classList.toggle("has-view", view !== null);
    this.node.hidden = view === null;
    this.node.replaceChildren(...view ? [view.node] : []);
    view?.update();
    view?.shown?.();
    this.name();
    this.keepAwake();
  }

  /**
   * The large view shows the picture of the wall until it has its own.
   * @param {Wall} wall
   * @param {CameraView} view
   */
  enlarge(wall, view) {
    const cells = wall.leave();
    const cell = cells.find(({ camera }) => [camera.id, camera.key].includes(view.named));
    if (cell && view.borrow(cell)) cells.splice(cells.indexOf(cell), 1);
    this.leaving.take(cells);
  }

  name() { document.title = this.view ? `${this.view.title} – Gatehouse` : "Gatehouse"; }

  leave() {
    const to = fragmentOf(this.shown.kind === "camera" ? this.origin : { kind: "home" });
    history.pushState(null, "", location.pathname + location.search + to);
    this.show();
  }

  /**
   * Shows a camera, because somebody answers the door.
   * @param {string} id of the device
   * @returns {boolean} whether it does; the list of devices shows its own pictures
   */
  answer(id) {
    if (!this.view) return false;
    const device = this.cameras.find((camera) => camera.id === id);
    if (device) location.hash = fragmentOf({ kind: "camera", id: device.key ?? id });
    return device !== undefined;
  }

  update() {
    this.view?.update();
    this.name();
  }

  /**
   * @param {string} name
   * @param {any} data
   */
  event(name, data) { this.view?.event(name, data); }

  /** @param {boolean} isWholeSecond */
  tick(isWholeSecond) {
    this.view?.tick(isWholeSecond);
    if (!isWholeSecond) return;
    this.keepAwake();
    if (this.isOutdated) this.reload();
  }

  check() { this.view?.check(); }

  /** A newer gateway brings a newer page. */
  replaced() {
    this.isOutdated = true;
    this.reload();
  }

  /**
   * Loads the page again. Nobody does that by hand for a screen on a wall, which may show one camera, too. It waits until
   * nobody is in the middle of something, and until the gateway is there: the browser's page about an error would stay.
   */
  reload() {
    if (!this.view || !this.parts.page.link.isUp) return;
    const isTouched = performance.now() - this.touchedAt < handless;
    if (this.view.isInUse || isTouched || document.querySelector("dialog[open]")) return;
    this.isOutdated = false;
    location.reload();
  }

  /** A screen on a wall stays on. */
  keepAwake() { this.wakeLock.keep(this.view !== null); }
}

/** What has the focus, and null if that is the page itself. */
function focused() {
  const { activeElement: held, body } = document;
  return held instanceof HTMLElement && held !== body ? held : null;
}
