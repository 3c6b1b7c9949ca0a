import { command, PageError } from "./api.js";

const trait = "WebRtcLiveView";

export class Talk {
  constructor(live) {
    this.live = live;
    this.isTalking = false;
    // The camera is being asked whether it takes what is said.
    this.isOpening = false;
    // Why nobody is heard any more, for a person.
    this.fault = null;
  }

  command(name) {
    return command(this.live.device.id, trait, name, { mediaSessionId: this.live.session });
  }

  async start() {
    this.fault = null;
    const { live } = this;
    if (!navigator.mediaDevices?.getUserMedia) {
      const port = live.gateway.httpsPort;
      throw new PageError("NO_MICROPHONE", port
        ? `The browser gives no microphone to a page without encryption. Open https://${location.hostname}:${port}/ instead.`
        : "The browser gives no microphone to a page without encryption. Switch HTTPS on in the gateway’s config.");
    }
    // The browser may ask the user first; the view may have started again until they answer.
    const generation = live.generation;
    let microphone;
    try {
      microphone = await navigator.mediaDevices.getUserMedia({
        audio: { echoCancellation: true, noiseSuppression: true, autoGainControl: true },
      });
    } catch (error) {
      throw error.name === "NotAllowedError"
        ? new PageError("NO_MICROPHONE",
          "The microphone is not allowed for this page. Allow it in the browser’s settings for this site.")
        : error.name === "NotFoundError" ? new PageError("NO_MICROPHONE", "This device has no microphone.")
        : new PageError("NO_MICROPHONE", "The microphone could not be opened. Another program may be using it.",
          error.message);
    }
    const release = () => microphone.getTracks().forEach((track) => track.stop());
    this.isOpening = true;
    live.onChange();
    try {
      if (generation === live.generation) await this.command("startTalkback");
      if (generation !== live.generation) {
        throw new PageError("RESTARTED", "The view was started again meanwhile. Press Talk again.");
      }
      await live.audio.sender.replaceTrack(microphone.getAudioTracks()[0]);
    } catch (error) {
      release();
      throw error;
    } finally {
      this.isOpening = false;
    }
    if (generation !== live.generation) return release();
    this.microphone = microphone;
    this.isTalking = true;
    microphone.getAudioTracks()[0].addEventListener("ended", () => {
      if (this.microphone !== microphone) return;
      this.fault = { message: "The microphone is not there any more.", mild: true };
      this.stop();
    });
    live.onChange();
  }

  // What the gateway tells of the talk: somebody else may have the floor now, or the camera takes no more.
  changed(talkback) {
    if (!this.isTalking || !talkback || ["opening", "talking"].includes(talkback.state)) return;
    this.fault = { message: "You are not heard any more. Press Talk to go on.", details: talkback.reason, mild: true };
    this.stop();
  }

  // The view starts again. The microphone stays closed until the button is pressed again.
  interrupted() {
    if (!this.isTalking && !this.isOpening) return;
    this.fault = { message: "You are not heard any more: the view was started again. Press Talk to go on.", mild: true };
  }

  async stop() {
    const { live, isTalking } = this;
    this.drop();
    live.onChange();
    if (!isTalking) return;
    await live.audio?.sender.replaceTrack(null).catch(() => {});
    if (live.session) await this.command("stopTalkback").catch(() => {});
  }

  // Closes the microphone, and tells nobody.
  drop() {
    this.isTalking = false;
    this.microphone?.getTracks().forEach((track) => track.stop());
    this.microphone = null;
  }
}
