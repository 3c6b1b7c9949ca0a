import { Button, element } from "./dom.js";
import { openShortcuts } from "./shortcut-dialog.js";
import { wallActions } from "./shortcuts.js";
import { t } from "./text.js";
import { ViewFrame, fullScreen, hasFullScreen } from "./view-frame.js";
import { WallCell } from "./wall-cell.js";
import { gridFor } from "./wall-layout.js";

/** @typedef {import("./types").Device} Device */

// So many cells start in a quarter of a second: sixteen decoders at once would make each of them late.
const startsPerTick = 3;
// Milliseconds without a hand before the line at the top goes away.
const handless = 8000;
const captionHeight = 36;
const gap = 4;

/** All cameras in a grid that fills the screen. Those in sight play, in their smaller streams. */
export class Wall {
  /**
   * @param {string[]} only names of the cameras that it shows; all if there are none
   * @param {import("./views.js").ViewParts} parts
   */
  constructor(only, parts) {
    this.only = only;
    this.parts = parts;
    this.frame = new ViewFrame("wall", t("wall.devices"), parts.leave);
    this.frame.title = t("wall.wall");
    const full = new Button("full", t("wall.fullScreen"), () => fullScreen(), "button plain");
    // Without it, the line at the top goes away by itself.
    full.node.hidden = !hasFullScreen();
    this.frame.buttons.append(
      new Button("keys", t("wall.shortcuts"), () => openShortcuts(true), "button plain keys").node, full.node);
    this.grid = element("div", "wall-grid");
    this.empty = element("p", "nobody", t("wall.noCameras"));
    this.frame.stage.append(this.empty, this.grid);
    // The keys that scroll go to what has the focus.
    this.frame.stage.tabIndex = 0;
    this.frame.stage.setAttribute("aria-label", t("wall.cameras"));
    this.frame.stage.setAttribute("role", "group");
    /** @type {Map<string, WallCell>} */
    this.cells = new Map();
    // The camera that was heard when it went away; "" for none.
    this.heardBefore = "";
    this.touched = performance.now();
    this.order = "";
    this.arranged = "";
    this.sizes = new ResizeObserver(() => this.arrange());
    this.sizes.observe(this.frame.stage);
    this.sight = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) {
        for (const cell of this.cells.values()) if (cell.node === target) cell.isSeen = isIntersecting;
      }
    }, { root: this.frame.stage });
    this.touch = () => {
      this.touched = performance.now();
      this.renderBar();
    };
    for (const name of ["pointermove", "pointerdown", "keydown", "focusin"]) addEventListener(name, this.touch);
  }

  get node() { return this.frame.node; }

  get title() { return t("wall.wall"); }

  get actions() { return wallActions; }

  get isInUse() { return [...this.cells.values()].some(({ live }) => live.isInUse); }

  shown() { this.frame.stage.focus({ preventScroll: true }); }

  /** @param {string} id of the camera that was looked at */
  focus(id) {
    for (const { camera, link } of this.cells.values()) if ([camera.id, camera.key].includes(id)) link.focus();
  }

  update() {
    const cameras = this.parts.cameras().filter(({ id, key }) =>
      this.only.length === 0 || this.only.some((name) => name === id || name === key));
    const listed = new Map(cameras.map((device) => [device.id, device]));
    for (const [id, cell] of this.cells) if (!listed.has(id)) this.drop(id, cell);
    for (const device of cameras) this.put(device);
    this.empty.hidden = cameras.length > 0;
    const order = [...listed.keys()].join(" ");
    if (order !== this.order) {
      this.order = order;
      // A cell is moved in the grid, not in the document: a video that is moved in the document stops.
      for (const [place, id] of [...listed.keys()].entries()) {
        const cell = this.cells.get(id);
        if (cell) cell.node.style.order = String(place);
      }
    }
    this.arrange();
    this.renderBar();
  }

  /** @param {Device} device */
  put(device) {
    let cell = this.cells.get(device.id);
    if (!cell) {
      cell = new WallCell(device, this.parts, (one) => this.hear(one));
      this.cells.set(device.id, cell);
      this.grid.append(cell.node);
      this.sight.observe(cell.node);
      // Nobody may be there to turn its sound on again.
      if (device.id === this.heardBefore) cell.isHeard = true;
    }
    cell.update(device);
  }

  /**
   * @param {string} id
   * @param {WallCell} cell
   */
  drop(id, cell) {
    if (cell.isHeard) this.heardBefore = id;
    this.cells.delete(id);
    this.sight.unobserve(cell.node);
    cell.close();
    cell.node.remove();
  }

  /**
   * Sound comes from one camera at a time.
   * @param {WallCell} cell
   */
  hear(cell) {
    const isHeard = !cell.isHeard;
    for (const one of this.cells.values()) if (one !== cell && one.isHeard) one.isHeard = false;
    cell.isHeard = isHeard;
    this.heardBefore = "";
  }

  arrange() {
    const { stage } = this.frame;
    const style = this.grid.style;
    if (stage.clientWidth === 0) return;
    const { columns, rowHeight } = gridFor(this.cells.size,
      { width: stage.clientWidth, height: stage.clientHeight, caption: captionHeight, gap, aspect: this.aspect });
    const rows = rowHeight === null ? `repeat(${Math.max(1, Math.ceil(this.cells.size / columns))}, minmax(0, 1fr))` : "";
    const arranged = `${columns} ${rows} ${rowHeight}`;
    if (arranged === this.arranged) return;
    this.arranged = arranged;
    style.gridTemplateColumns = `repeat(${columns}, minmax(0, 1fr))`;
    style.gridTemplateRows = rows;
    style.gridAutoRows = rowHeight === null ? "" : `${rowHeight}px`;
    this.grid.classList.toggle("scrolls", rowHeight !== null);
  }

  /** The width of the usual picture by its height: that in the middle of those that are known. */
  get aspect() {
    const known = [...this.cells.values()].map(({ aspect }) => aspect).filter((one) => one > 0)
      .sort((one, other) => one - other);
    return known[known.length >> 1] ?? 16 / 9;
  }

  // On a wall nobody touches anything: then the pictures have the whole screen, unless there is something to say.
  renderBar() {
    const { isUp } = this.parts.page.link;
    this.frame.say(isUp ? "online" : "waiting", isUp ? t("wall.connected") : t("wall.reconnecting"));
    const isUsed = performance.now() - this.touched < handless || this.frame.bar.contains(document.activeElement);
    this.node.classList.toggle("handless", isUp && !isUsed);
  }

  /**
   * @param {string} name
   * @param {any} data
   */
  event(name, data) { for (const cell of this.cells.values()) cell.live.event(name, data); }

  /** @param {boolean} isWholeSecond */
  tick(isWholeSecond) {
    let starts = startsPerTick;
    for (const cell of this.cells.values()) if (cell.tick(starts > 0)) starts -= 1;
    if (!isWholeSecond) return;
    this.renderBar();
    this.arrange();
  }

  check() { for (const cell of this.cells.values()) cell.live.check(); }

  /** @param {import("./shortcuts.js").Action} action */
  act(action) {
    if (action === "full") fullScreen();
    else if (action === "back") this.parts.leave();
    else if (action === "help") openShortcuts(true);
  }

  close() { for (const cell of this.leave()) cell.close(); }

  /**
   * Ends everything but the pictures.
   * @returns {WallCell[]} whose pictures have to be ended
   */
  leave() {
    this.sizes.disconnect();
    this.sight.disconnect();
    for (const name of ["pointermove", "pointerdown", "keydown", "focusin"]) removeEventListener(name, this.touch);
    const cells = [...this.cells.values()];
    for (const cell of cells) cell.rest();
    this.cells.clear();
    return cells;
  }
}
