import { APIError, command, PageError } from "./api.js";
import { t } from "./text.js";

const trait = "WebRtcLiveView";

/**
 * Why a page that was opened without encryption has no microphone, and what to do.
 * @param {string} host
 * @param {number} [port] of HTTPS; none while it is switched off
 */
export function noMicrophoneHere(host, port) {
  const why = t("talk.needsEncryption");
  return new PageError("NO_MICROPHONE",
    `${why} ${port ? t("talk.open", { address: `https://${host}:${port}/` }) : t("talk.switchHTTPSOnInThe")}`);
}

/**
 * Why the browser did not open the microphone.
 * @param {unknown} error what getUserMedia threw
 */
export function microphoneFault(error) {
  const { name = "", message = "" } = error instanceof Error ? error : {};
  if (name === "NotAllowedError") {
    return new PageError("NO_MICROPHONE",
      t("talk.microphoneNotAllowed"));
  }
  if (name === "NotFoundError") return new PageError("NO_MICROPHONE", t("talk.thisDeviceHasNoMicrophone"));
  return new PageError("NO_MICROPHONE", t("talk.microphoneFailed"),
    message);
}

async function openMicrophone() {
  try {
    return await navigator.mediaDevices.getUserMedia({
      audio: { echoCancellation: true, noiseSuppression: true, autoGainControl: true },
    });
  } catch (error) {
    throw microphoneFault(error);
  }
}

/** What is said into this device's microphone, on its way to the camera of a live view. */
export class Talk {
  /** @param {import("./live-session.js").LiveSession} live */
  constructor(live) {
    this.live = live;
    this.isTalking = false;
    // The gateway is asking the camera whether it accepts the talk.
    this.isOpening = false;
    /** @type {MediaStream | null} */
    this.microphone = null;
    /**
     * How the talk has ended that is being opened. Whatever ended before it began does not count.
     * @type {{ hasBegun: boolean, end: import("./types").Talkback | null }}
     */
    this.opening = { hasBegun: false, end: null };
    /**
     * Why the viewer is no longer heard, for a person.
     * @type {import("./types").Fault | null}
     */
    this.fault = null;
  }

  /**
   * @param {"startTalkback" | "stopTalkback"} name
   * @param {{ patience?: number }} [options]
   */
  command(name, options) {
    return command(this.live.device.id, trait, name, { mediaSessionId: this.live.session }, options);
  }

  async start() {
    this.fault = null;
    const { live } = this;
    if (!navigator.mediaDevices) throw noMicrophoneHere(location.hostname, live.gateway.httpsPort);
    // The browser may ask the user first; the view may have started again until they answer.
    const generation = live.generation;
    const microphone = await openMicrophone();
    const release = () => {
      microphone.getTracks().forEach((track) => track.stop());
      if (this.microphone === microphone) this.microphone = null;
    };
    // If the view ends meanwhile, it closes the microphone without waiting for the camera.
    if (generation === live.generation) this.microphone = microphone;
    this.isOpening = true;
    this.opening = { hasBegun: false, end: null };
    live.onChange();
    const track = microphone.getAudioTracks()[0];
    try {
      if (generation === live.generation) await this.command("startTalkback");
      if (generation !== live.generation) {
        throw new PageError("RESTARTED", t("talk.viewRestarted"));
      }
      await live.audio?.sender.replaceTrack(track);
      // Its event came before anybody listened to it.
      if (generation === live.generation && track.readyState === "ended") {
        throw new PageError("NO_MICROPHONE", t("talk.theMicrophoneWasDisconnected"));
      }
    } catch (error) {
      release();
      // Unless the gateway itself has refused the talk, this view may have the floor: an answer may be lost on its way. The
      // end of a view releases its floor.
      const isRefused = error instanceof APIError && error.told;
      if (generation === live.generation && !isRefused) await this.giveBack();
      throw error;
    } finally {
      this.isOpening = false;
    }
    if (generation !== live.generation) return release();
    this.isTalking = true;
    track.addEventListener("ended", () => {
      if (this.microphone !== microphone) return;
      this.fault = { message: t("talk.theMicrophoneWasDisconnected"), mild: true };
      this.stop();
    });
    if (this.opening.end) return this.changed(this.opening.end);
    live.onChange();
  }

  /**
   * Handles the gateway's report about the talk: somebody else may have the floor, or the camera accepts no more.
   * @param {import("./types").Talkback} [talkback]
   */
  changed(talkback) {
    if (!talkback) return;
    const isOn = ["opening", "talking"].includes(talkback.state);
    if (this.isOpening) {
      this.opening.hasBegun ||= isOn;
      this.opening.end = isOn || !this.opening.hasBegun ? null : talkback;
    }
    if (!this.isTalking || isOn) return;
    this.fault = { message: t("talk.noLongerHeard"), details: talkback.reason, mild: true };
    this.stop();
  }

  // The view starts again. The microphone stays closed until the button is pressed again.
  interrupted() {
    if (!this.isTalking && !this.isOpening) return;
    this.fault = {
      message: t("talk.noLongerHeardByRestart"), mild: true,
    };
  }

  async stop() {
    const { live, isTalking } = this;
    this.drop();
    live.onChange();
    if (!isTalking) return;
    await this.giveBack();
  }

  // Ends the talk at the gateway, so that somebody else can talk.
  async giveBack() {
    const { live } = this;
    await live.audio?.sender.replaceTrack(null).catch(() => {});
    // A gateway that cannot be reached finds out by itself that nobody talks.
    if (live.session) await this.command("stopTalkback", { patience: 5000 }).catch(() => {});
  }

  // Closes the microphone without a report.
  drop() {
    this.isTalking = false;
    this.microphone?.getTracks().forEach((track) => track.stop());
    this.microphone = null;
  }
}
