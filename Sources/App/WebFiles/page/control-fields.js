import { element } from "./dom.js";
import { t } from "./text.js";

// Milliseconds after the last step of a key or a press until the value is sent.
const pause = 250;

/** A switch. */
export class Toggle {
  /**
   * @param {string} label for those who hear the page
   * @param {(isOn: boolean) => void} changed
   */
  constructor(label, changed) {
    this.node = element("button", "toggle", element("span", "knob"));
    this.node.type = "button";
    this.node.setAttribute("role", "switch");
    this.node.setAttribute("aria-label", label);
    this.isOn = false;
    this.node.addEventListener("click", () => changed(!this.isOn));
    this.show(false, true);
  }

  /**
   * @param {boolean} isOn
   * @param {boolean} isEnabled
   */
  show(isOn, isEnabled) {
    this.isOn = isOn;
    this.node.setAttribute("aria-checked", String(isOn));
    this.node.disabled = !isEnabled;
  }
}

/** A value on a scale. What arrives while somebody moves it is shown when they let go. */
export class Slider {
  /**
   * @param {{ title: string, label: string, minimum: number, maximum: number, step?: number, className?: string,
   *   words: (value: number) => string, changed: (value: number) => void }} options the title is seen, the label is heard
   */
  constructor({ title, label, minimum, maximum, step = 1, className = "", words, changed }) {
    this.words = words;
    this.changed = changed;
    this.output = element("output");
    // The slider itself says its value.
    this.output.setAttribute("aria-live", "off");
    this.input = element("input", className);
    Object.assign(this.input, { type: "range", step: String(step) });
    this.limit(minimum, maximum);
    this.input.setAttribute("aria-label", label);
    this.node = element("div", "slider", element("span", "", title), this.output, this.input);
    /** @type {number | undefined} */
    this.timer = undefined;
    this.isHeld = false;
    // Whether somebody moves it by hand: then only letting go sends the value.
    this.isDragged = false;
    /** @type {number | null} what was reported last */
    this.reported = null;
    this.input.addEventListener("pointerdown", () => { this.isDragged = true; });
    for (const name of ["pointerup", "pointercancel"]) {
      this.input.addEventListener(name, () => {
        this.isDragged = false;
        // The browser reports no change for a slider that is back where it began.
        if (this.isHeld && this.timer === undefined) this.timer = setTimeout(() => this.release(), pause);
      });
    }
    this.input.addEventListener("input", () => {
      this.isHeld = true;
      this.describe();
      clearTimeout(this.timer);
      this.timer = this.isDragged ? undefined : setTimeout(() => this.send(), pause);
    });
    this.input.addEventListener("change", () => {
      clearTimeout(this.timer);
      if (this.isDragged) this.send();
      else this.timer = setTimeout(() => this.send(), pause);
    });
  }

  /**
   * The ends of the scale, which a device may report later than its value.
   * @param {number} minimum
   * @param {number} maximum
   */
  limit(minimum, maximum) { Object.assign(this.input, { min: String(minimum), max: String(maximum) }); }

  send() {
    this.isHeld = false;
    this.changed(Number(this.input.value));
  }

  release() {
    this.isHeld = false;
    this.show(this.reported, !this.input.disabled);
  }

  describe() {
    const text = this.words(Number(this.input.value));
    this.output.textContent = text;
    this.input.setAttribute("aria-valuetext", text);
  }

  /**
   * @param {number | null} value null while it is not known
   * @param {boolean} isEnabled
   */
  show(value, isEnabled) {
    this.input.disabled = !isEnabled;
    this.reported = value;
    if (this.isHeld) return;
    if (value !== null) this.input.value = String(value);
    this.describe();
    if (value === null) this.output.textContent = "–";
  }
}

/** A value with a button for less and one for more. */
export class Stepper {
  /**
   * @param {{ title: string, label: string, step: number, words: (value: number) => string,
   *   changed: (value: number) => void }} options
   */
  constructor({ title, label, step, words, changed }) {
    this.words = words;
    this.changed = changed;
    this.value = 0;
    this.minimum = -Infinity;
    this.maximum = Infinity;
    this.isHeld = false;
    /** @type {number | undefined} */
    this.timer = undefined;
    this.output = element("output");
    this.less = this.button("−", t("control.lower", { name: label }), -step);
    this.more = this.button("+", t("control.higher", { name: label }), step);
    this.node = element("div", "stepper", element("span", "", title), this.less, this.output, this.more);
  }

  /**
   * @param {string} text
   * @param {string} label
   * @param {number} by
   */
  button(text, label, by) {
    const button = element("button", "button compact", text);
    button.type = "button";
    button.setAttribute("aria-label", label);
    button.addEventListener("click", () => {
      this.isHeld = true;
      this.value = Math.min(this.maximum, Math.max(this.minimum, this.value + by));
      this.describe(true);
      clearTimeout(this.timer);
      this.timer = setTimeout(() => {
        this.isHeld = false;
        this.changed(this.value);
      }, pause * 2);
    });
    return button;
  }

  /** @param {boolean} isEnabled */
  describe(isEnabled) {
    this.output.textContent = this.words(this.value);
    this.less.disabled = !isEnabled || this.value <= this.minimum;
    this.more.disabled = !isEnabled || this.value >= this.maximum;
  }

  /**
   * @param {number} value
   * @param {[number, number]} limits
   * @param {boolean} isEnabled
   */
  show(value, limits, isEnabled) {
    [this.minimum, this.maximum] = limits;
    if (!this.isHeld) this.value = value;
    this.describe(isEnabled);
  }
}

/** One of several. */
export class Choice {
  /**
   * @param {string} title
   * @param {string} label
   * @param {(value: string) => void} changed
   */
  constructor(title, label, changed) {
    this.select = element("select");
    this.select.setAttribute("aria-label", label);
    this.select.addEventListener("change", () => changed(this.select.value));
    this.node = element("div", "choice", element("span", "", title), this.select);
    this.key = "";
  }

  /**
   * @param {string} value
   * @param {[string, string][]} options values with their words
   * @param {boolean} isEnabled
   */
  show(value, options, isEnabled) {
    const all = options.some(([one]) => one === value) ? options : [...options, /** @type {[string, string]} */ ([value, value])];
    const key = JSON.stringify(all);
    if (key !== this.key) {
      this.key = key;
      this.select.replaceChildren(...all.map(([one, words]) => new Option(words, one)));
    }
    this.select.value = value;
    this.select.disabled = !isEnabled;
  }
}
