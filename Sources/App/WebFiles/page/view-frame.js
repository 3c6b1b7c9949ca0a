import { Button, element } from "./dom.js";

/** The frame of a view: a line with its name and the way back, what it shows, and its buttons below that. */
export class ViewFrame {
  /**
   * @param {string} className
   * @param {string} back where the way back leads
   * @param {() => void} leave
   */
  constructor(className, back, leave) {
    this.backButton = new Button("back", back, leave, "button plain");
    this.heading = element("h1");
    // A view that opens gives it the focus.
    this.heading.tabIndex = -1;
    this.state = element("p", "view-state");
    this.buttons = element("div", "view-buttons");
    this.bar = element("header", "view-bar", this.backButton.node, this.heading, this.state, this.buttons);
    this.stage = element("div", "stage");
    this.tools = element("div", "view-tools");
    this.node = element("div", `view-frame ${className}`, this.bar, this.stage, this.tools);
    // Whether only what it shows and its buttons are left, in place of the whole screen.
    this.fillsWindow = false;
  }

  /** Shows the whole page on the whole screen, or leaves that. Without a whole screen for pages, the line with the name goes. */
  fullScreen() {
    if (hasFullScreen()) fullScreen();
    else this.fill(!this.fillsWindow);
  }

  /** Whether fullScreen() leaves something. An iPhone does not know what is on its whole screen. */
  get isFull() { return this.fillsWindow || Boolean(document.fullscreenElement); }

  /** @param {boolean} fillsWindow */
  fill(fillsWindow) {
    this.fillsWindow = fillsWindow;
    this.node.classList.toggle("full-window", fillsWindow);
  }

  /** @param {string} text */
  set title(text) { if (this.heading.textContent !== text) this.heading.textContent = text; }

  /**
   * @param {string} dot its class
   * @param {string} text
   */
  say(dot, text) {
    const key = `${dot} ${text}`;
    if (this.state.dataset["key"] === key) return;
    this.state.dataset["key"] = key;
    this.state.replaceChildren(element("span", `dot ${dot}`), element("span", "", text));
  }
}

/** Whether the browser shows a page on the whole screen. An iPhone does that for videos alone, without the page's controls. */
export function hasFullScreen() {
  return document.fullscreenEnabled === true && "requestFullscreen" in document.documentElement;
}

/** Shows the whole page on the whole screen, so that every control stays. */
export function fullScreen() {
  if (document.fullscreenElement) document.exitFullscreen();
  else if (hasFullScreen()) document.documentElement.requestFullscreen().catch(() => {});
}
