import { put, remove } from "./api.js";
import { sourceWith } from "./camera-source.js";
import { trial } from "./camera-trial.js";
import { openDoctor } from "./doctor-dialog.js";
import { Button, byID, element, faultElements } from "./dom.js";
import { inWords } from "./words.js";

/**
 * A name of the address for a name that people read.
 * @param {string} name
 * @param {Set<string>} taken
 */
export function identifier(name, taken) {
  const plain = name.normalize("NFKD").toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-+|-+$/g, "")
    .slice(0, 48) || "camera";
  let result = plain;
  for (let number = 2; taken.has(result); number += 1) result = `${plain}-${number}`;
  return result;
}

/**
 * @param {() => Set<string>} taken gives the identifiers that there are
 * @param {(key: string) => import("./types").Source | undefined} sourceOf what the page knows about a camera
 */
export function setUpCameraForm(taken, sourceOf) { return new CameraForm(taken, sourceOf); }

/** The form that adds a camera, and says whether it works. Until it does, the form changes that camera. */
class CameraForm {
  /**
   * @param {() => Set<string>} taken gives the identifiers that there are
   * @param {(key: string) => import("./types").Source | undefined} sourceOf what the page knows about a camera
   */
  constructor(taken, sourceOf) {
    this.taken = taken;
    this.sourceOf = sourceOf;
    this.form = byID("add-camera", HTMLFormElement);
    this.card = byID("add", HTMLDetailsElement);
    this.button = byID("add-camera-button", HTMLButtonElement);
    this.fault = byID("add-camera-error", HTMLElement);
    this.state = byID("add-camera-state", HTMLElement);
    this.fields = {
      name: byID("camera-name", HTMLInputElement),
      source: byID("camera-source", HTMLInputElement),
      user: byID("camera-user", HTMLInputElement),
      password: byID("camera-password", HTMLInputElement),
      type: byID("camera-type", HTMLSelectElement),
      battery: byID("camera-battery", HTMLInputElement),
    };
    this.keepButton = new Button("save", "Keep it", () => this.finish(""));
    this.removeButton = new Button("bin", "Remove it again", () => this.takeBack(), "button danger");
    this.doctorButton = new Button("help", "Why?", () => openDoctor(this.fields.name.value.trim()));
    this.answers = element("div", "buttons", this.keepButton.node, this.removeButton.node, this.doctorButton.node);
    this.answers.hidden = true;
    this.state.after(this.answers);
    /**
     * The camera that was added and does not work yet.
     * @type {string | null}
     */
    this.added = null;
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.attempt(() => this.add());
    });
  }

  async add() {
    const { name, source, user, password, type, battery } = this.fields;
    const called = name.value.trim();
    const key = this.added ?? identifier(called, this.taken());
    await put("/v1/cameras/" + encodeURIComponent(key), {
      name: called, source: sourceWith(source.value, user.value, password.value), type: type.value,
      // Otherwise the gateway chooses: a camera that sends JPEG is not pulled without need either.
      ...(battery.checked ? { pull: "on-demand" } : {}),
    });
    this.added = key;
    // A camera on a battery is not woken up to be tried, one that sends JPEG rests until somebody watches, and one that is
    // published to waits for its publisher.
    if (battery.checked || /^(whip$|https?:)/iu.test(source.value.trim())) return this.finish(`${called} was added.`);
    this.say("The camera was added. Connecting to it …");
    const outcome = await trial(() => this.sourceOf(key), second);
    if (outcome.isGood) return this.finish(outcome.message);
    this.say(outcome.message, outcome.details);
    this.answers.hidden = false;
    this.button.textContent = "Try again";
  }

  async takeBack() {
    await this.attempt(async () => {
      if (this.added) await remove("/v1/cameras/" + encodeURIComponent(this.added));
      this.added = null;
      this.answers.hidden = true;
      this.say("The camera was removed again.");
      this.button.textContent = "Add";
    });
  }

  /** @param {string} message */
  finish(message) {
    this.added = null;
    this.answers.hidden = true;
    this.button.textContent = "Add";
    this.form.reset();
    this.say(message);
    if (message === "") this.card.open = false;
  }

  /**
   * @param {string} message
   * @param {string | null} details
   */
  say(message, details = null) { this.state.replaceChildren(...message ? faultElements({ message, details }) : []); }

  /** @param {() => Promise<void>} run */
  async attempt(run) {
    this.button.disabled = true;
    this.fault.hidden = true;
    this.say("");
    try {
      await run();
    } catch (error) {
      this.fault.replaceChildren(...faultElements(inWords(error, "add")));
      this.fault.hidden = false;
    }
    this.button.disabled = false;
  }
}

/** @returns {Promise<void>} */
function second() { return new Promise((resolve) => { setTimeout(resolve, 1000); }); }
