import { remove } from "./api.js";
import { ask } from "./ask.js";
import { Button, element } from "./dom.js";
import { oneAtATime } from "./one-at-a-time.js";
import { makeRecordingLink } from "./recordings-api.js";
import { t } from "./text.js";
import { downloadSpan, lengthText, recordingAt, shortClock, spanOf } from "./timeline.js";

/**
 * The dialog of the recordings of a camera, as far as the actions need it.
 * @typedef {object} Shown
 * @property {string} device
 * @property {HTMLElement} node
 * @property {import("./types").Recording[]} recordings of the day
 * @property {string} date
 * @property {import("./timeline.js").Span} day
 * @property {number} time that is shown
 * @property {boolean} isClosed
 * @property {(text: string) => void} say
 * @property {(action: () => Promise<unknown>, options?: { isChange?: boolean }) => Promise<void>} attempt
 * @property {(date: string) => Promise<void>} showDay
 */

/**
 * A time as an input for times takes it.
 * @param {number} time
 */
const inputTime = (time) => new Date(time).toTimeString().slice(0, 8);

/** What is done with the recording at the time that is shown: it is saved as a file, or deleted. */
export class RecordingActions {
  /** @param {Shown} view */
  constructor(view) {
    this.view = view;
    this.from = element("input");
    this.until = element("input");
    for (const input of [this.from, this.until]) {
      input.type = "time";
      input.step = "1";
      input.required = true;
    }
    const save = element("button", "button primary", t("recordings.saveAsAFile"));
    save.type = "submit";
    this.form = element("form", "download", element("label", "", `${t("recordings.from")} `, this.from),
      element("label", "", `${t("recordings.until")} `, this.until), save);
    this.form.hidden = true;
    const download = oneAtATime(() => view.attempt(() => this.download()));
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      download();
    });
    this.downloadButton = new Button("save", t("recordings.download"), () => this.openDownload());
    this.deleteButton = new Button("bin", t("recordings.delete"), oneAtATime(() => view.attempt(() => this.delete(), { isChange: true })));
  }

  /** The recording at the time that is shown. */
  get recording() { return recordingAt(this.view.recordings, this.view.time); }

  openDownload() {
    const { recording, view: { time, day } } = this;
    this.form.hidden = !this.form.hidden;
    const span = recording ? downloadSpan(recording, time) : { from: time, until: time + 60000 };
    this.from.value = inputTime(span.from);
    // The second in which the recording ends is a part of it.
    this.until.value = inputTime(Math.min(Math.ceil(span.until / 1000) * 1000, day.until - 1000));
  }

  async download() {
    const { view } = this;
    /** @param {HTMLInputElement} input */
    const time = ({ value }) => new Date(`${view.date}T${value.length === 5 ? `${value}:00` : value}`).getTime();
    const [from, until] = [time(this.from), time(this.until)];
    if (!(from < until)) {
      view.say(t("recordings.endBeforeBeginning"));
      return;
    }
    const link = await makeRecordingLink(view.device, from, until);
    if (view.isClosed) return;
    const anchor = element("a");
    anchor.href = link.export;
    anchor.download = "";
    view.node.append(anchor);
    anchor.click();
    anchor.remove();
    const isHeld = this.form.contains(document.activeElement);
    this.form.hidden = true;
    if (isHeld) this.downloadButton.node.focus();
    view.say("");
  }

  async delete() {
    const { recording, view } = this;
    if (!recording) {
      view.say(t("recordings.chooseARecordingFirst"));
      return;
    }
    const question = t("recordings.askDelete", { length: lengthText(recording.durationSeconds), time: shortClock(spanOf(recording).from) });
    if (await ask({ question, yes: t("recordings.delete"), isDangerous: true }) === null) return;
    await remove(`/v1/devices/${encodeURIComponent(view.device)}/recordings/${encodeURIComponent(recording.id)}`);
    if (view.isClosed) return;
    await view.showDay(view.date);
    view.say(t("recordings.theRecordingWasDeleted"));
  }
}
