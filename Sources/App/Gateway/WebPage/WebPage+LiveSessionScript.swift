extension WebPage {
    /// One live view: offer, answer, lease, talkback, reconnection, and how long each step took.
    static let liveSessionScript = #"""
        import { command, get, APIError } from "./api.js";

        const trait = "WebRtcLiveView";

        // States: starting, connecting, live, reconnecting, stopped, failed.
        export class LiveSession {
          constructor(device, video, gateway, onChange) {
            this.device = device;
            this.video = video;
            this.gateway = gateway;
            this.onChange = onChange;
            this.state = "stopped";
            this.fault = null;
            this.steps = [];
            this.gatewaySteps = [];
            this.notes = [];
            this.isTalking = false;
            // The camera is being asked whether it takes what is said.
            this.isOpeningTalk = false;
            this.attempt = 0;
            this.generation = 0;
          }

          get isActive() {
            return !["stopped", "failed"].includes(this.state);
          }

          change(state, fault = this.fault) {
            this.state = state;
            this.fault = fault;
            this.onChange();
          }

          step(name) {
            if (this.steps.some((step) => step.name === name)) return;
            this.steps.push({ name, milliseconds: performance.now() - this.begin });
            this.onChange();
          }

          async start() {
            this.attempt = 0;
            await this.connect("starting");
          }

          async connect(state) {
            const generation = ++this.generation;
            this.steps = [];
            this.gatewaySteps = [];
            this.notes = [];
            this.begin = performance.now();
            this.change(state, null);
            try {
              if (!("RTCPeerConnection" in window)) {
                throw new APIError(12, "NO_WEBRTC", "This browser has no WebRTC, or it is switched off.");
              }
              const pc = new RTCPeerConnection({ iceServers: this.gateway.iceServers ?? [], bundlePolicy: "max-bundle" });
              this.pc = pc;
              // Sound goes both ways from the start, so that talking needs no second negotiation and no permission yet.
              this.audio = pc.addTransceiver("audio", { direction: this.device.canTalk ? "sendrecv" : "recvonly" });
              pc.addTransceiver("video", { direction: "recvonly" });
              const stream = new MediaStream();
              pc.addEventListener("track", ({ track, receiver }) => {
                // Live means now: the browser should hold back as little as the network allows.
                if ("playoutDelayHint" in receiver) receiver.playoutDelayHint = 0;
                stream.addTrack(track);
                this.video.srcObject = stream;
                this.play();
              });
              pc.addEventListener("iceconnectionstatechange", () => {
                if (["connected", "completed"].includes(pc.iceConnectionState)) this.step("path found");
              });
              pc.addEventListener("connectionstatechange", () => this.connectionChanged(pc, generation));
              await pc.setLocalDescription();
              this.step("offer made");
              const answer = await command(this.device.id, trait, "startLiveView", { offerSdp: pc.localDescription.sdp });
              if (generation !== this.generation) {
                this.release(answer.mediaSessionId);
                pc.close();
                return;
              }
              this.session = answer.mediaSessionId;
              this.answer = answer.answerSdp;
              this.notes = answer.notes ?? [];
              this.step("answer received");
              this.change("connecting");
              this.armLease(answer.liveSessionDurationSeconds);
              await pc.setRemoteDescription({ type: "answer", sdp: answer.answerSdp });
              this.watchFirstPicture(generation);
            } catch (error) {
              if (generation !== this.generation) return;
              await this.failed(error);
            }
          }

          async play() {
            this.needsTap = false;
            try {
              await this.video.play();
            } catch (error) {
              if (error.name !== "NotAllowedError") return;
              // Some browsers let nothing sound before a tap: pictures first, then a button.
              this.video.muted = true;
              this.needsTap = true;
              await this.video.play().catch(() => {});
            }
            this.onChange();
          }

          watchFirstPicture(generation) {
            const seen = () => {
              if (generation !== this.generation) return;
              clearTimeout(this.pictureTimer);
              this.attempt = 0;
              this.step("first picture");
              this.change("live", null);
              this.readGatewaySteps();
            };
            if (this.video.requestVideoFrameCallback) this.video.requestVideoFrameCallback(seen);
            else this.video.addEventListener("playing", seen, { once: true });
            this.pictureTimer = setTimeout(() => this.explainSilence(generation), 8000);
          }

          connectionChanged(pc, generation) {
            if (generation !== this.generation) return;
            const state = pc.connectionState;
            if (state === "connected") {
              this.step("encryption agreed");
              clearTimeout(this.lostTimer);
              if (this.state === "reconnecting" && this.steps.some((step) => step.name === "first picture")) this.change("live");
            } else if (state === "disconnected") {
              this.change("reconnecting");
              this.lostTimer = setTimeout(() => this.reconnect(generation), 5000);
            } else if (state === "failed") {
              if (this.steps.some((step) => step.name === "path found")) this.reconnect(generation);
              else this.failed(new APIError(14, "NO_PATH", this.noPathMessage()));
            }
          }

          noPathMessage() {
            const offered = [...(this.answer ?? "").matchAll(/^a=candidate:\S* 1 udp \d+ (\S+) (\d+)/gim)]
              .map(([, host, port]) => (host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`));
            return offered.length === 0
              ? "The gateway offered no address for the pictures."
              : "No way for the pictures from the gateway to this browser. The gateway can be reached by UDP at "
                + offered.slice(0, 4).join(", ") + "; a firewall, a VPN or another network is in between.";
          }

          async explainSilence(generation) {
            if (generation !== this.generation || this.state === "live") return;
            const stats = await this.pc.getStats().catch(() => new Map());
            let received = 0, decoded = 0, codec = "";
            stats.forEach((entry) => {
              if (entry.type !== "inbound-rtp" || entry.kind !== "video") return;
              received = entry.packetsReceived ?? 0;
              decoded = entry.framesDecoded ?? 0;
              codec = stats.get(entry.codecId)?.mimeType?.split("/")[1] ?? "";
            });
            if (generation !== this.generation || decoded > 0) return;
            const message = !this.steps.some((step) => step.name === "encryption agreed") ? this.noPathMessage()
              : received > 0 ? `Pictures arrive${codec ? " as " + codec : ""}, but this browser cannot decode them.`
              : this.notes[0] ?? "The connection stands, but the camera sends no pictures.";
            this.change(this.state, { message, mild: true });
            this.readGatewaySteps();
          }

          async readGatewaySteps() {
            try {
              const session = await get("/v1/sessions/" + encodeURIComponent(this.session));
              this.gatewaySteps = session.steps;
              this.codecs = session.codecs;
              this.onChange();
            } catch {
              // The session has ended meanwhile; its steps are of no more use.
            }
          }

          // The lease is extended 30 seconds before it ends; a failure is tried again until it has ended.
          armLease(seconds) {
            this.leaseEnd = performance.now() + seconds * 1000;
            clearTimeout(this.leaseTimer);
            this.leaseTimer = setTimeout(() => this.extend(), (seconds > 35 ? seconds - 30 : seconds / 2) * 1000);
          }

          async extend() {
            const generation = this.generation;
            try {
              const granted = await command(this.device.id, trait, "extendLiveView", { mediaSessionId: this.session });
              if (generation === this.generation) this.armLease(granted.liveSessionDurationSeconds);
            } catch (error) {
              if (generation !== this.generation) return;
              const ended = error.status === "NOT_FOUND" || performance.now() > this.leaseEnd;
              if (ended) this.ended("The session has ended.");
              else this.leaseTimer = setTimeout(() => this.extend(), 5000);
            }
          }

          get secondsLeft() {
            return Math.max(0, Math.round((this.leaseEnd - performance.now()) / 1000));
          }

          // The gateway ended the session: its longest time was reached, or it goes down.
          ended(message) {
            if (!this.isActive) return;
            // There is nothing to give back.
            this.session = null;
            this.close();
            this.change("stopped", { message, mild: true });
          }

          async failed(error) {
            // A camera that is only away for a moment, or a gateway that restarts, is worth waiting for.
            const isPassing = ["UNAVAILABLE", "UNREACHABLE", "DEADLINE_EXCEEDED"].includes(error.status);
            if (isPassing && this.state === "reconnecting" && this.attempt < 8) {
              const generation = this.generation;
              this.close();
              this.change("reconnecting", { message: error.message, mild: true });
              this.generation = generation + 1;
              return this.retryLater();
            }
            this.close();
            this.change("failed", { message: error.message ?? String(error), status: error.status });
          }

          async reconnect(generation) {
            if (generation !== this.generation || !this.isActive) return;
            this.close();
            this.change("reconnecting", null);
            await this.retryLater();
          }

          async retryLater() {
            const generation = this.generation;
            const pause = Math.min(1000 * 2 ** this.attempt++, 30000);
            if (this.attempt > 1) await new Promise((resolve) => setTimeout(resolve, pause));
            if (generation === this.generation && this.state === "reconnecting") await this.connect("reconnecting");
          }

          async startTalking() {
            if (!navigator.mediaDevices?.getUserMedia) {
              const port = this.gateway.httpsPort;
              throw new APIError(9, "NO_MICROPHONE", "The browser gives no microphone to plain HTTP pages. "
                + (port ? `Open https://${location.hostname}:${port}/ instead.` : "Switch HTTPS on in the gateway's config."));
            }
            let microphone;
            try {
              microphone = await navigator.mediaDevices.getUserMedia({
                audio: { echoCancellation: true, noiseSuppression: true, autoGainControl: true },
              });
            } catch (error) {
              throw new APIError(7, "NO_MICROPHONE", error.name === "NotAllowedError"
                ? "The microphone is not allowed for this page. Allow it in the browser's site settings."
                : "No microphone could be opened: " + error.message);
            }
            const generation = this.generation;
            this.isOpeningTalk = true;
            this.onChange();
            try {
              await command(this.device.id, trait, "startTalkback", { mediaSessionId: this.session });
            } catch (error) {
              microphone.getTracks().forEach((track) => track.stop());
              throw error;
            } finally {
              this.isOpeningTalk = false;
            }
            if (generation !== this.generation) {
              microphone.getTracks().forEach((track) => track.stop());
              return;
            }
            this.microphone = microphone;
            await this.audio.sender.replaceTrack(microphone.getAudioTracks()[0]);
            this.isTalking = true;
            this.onChange();
          }

          // The gateway has taken the floor back, or the camera takes no more; answers why.
          talkEnded(talkback) {
            if (!this.isTalking || !talkback || ["opening", "talking"].includes(talkback.state)) return null;
            this.isTalking = false;
            this.stopTalking();
            this.audio?.sender.replaceTrack(null).catch(() => {});
            return talkback.reason ?? "The talk has ended.";
          }

          async stopTalking() {
            const wasTalking = this.isTalking;
            this.isTalking = false;
            this.microphone?.getTracks().forEach((track) => track.stop());
            this.microphone = null;
            this.onChange();
            if (!wasTalking) return;
            await this.audio?.sender.replaceTrack(null).catch(() => {});
            if (this.session) {
              await command(this.device.id, trait, "stopTalkback", { mediaSessionId: this.session }).catch(() => {});
            }
          }

          stop() {
            this.close();
            this.change("stopped", null);
          }

          close() {
            this.generation++;
            for (const timer of [this.leaseTimer, this.pictureTimer, this.lostTimer]) clearTimeout(timer);
            this.isTalking = false;
            this.microphone?.getTracks().forEach((track) => track.stop());
            this.microphone = null;
            const pc = this.pc;
            this.pc = null;
            this.video.srcObject = null;
            // The session ends before its connection: the goodbye of a connection that is closed ends the session too, and
            // the request would not find it any more. A gateway that does not answer is not waited for.
            const released = this.session ? this.release(this.session) : Promise.resolve();
            const patience = new Promise((resolve) => setTimeout(resolve, 2000));
            Promise.race([released, patience]).then(() => pc?.close());
            this.session = null;
          }

          // Also while the page goes away: keepalive lets the request outlive it.
          async release(session) {
            try {
              await command(this.device.id, trait, "stopLiveView", { mediaSessionId: session }, { keepalive: true });
            } catch {
              // A gateway that cannot be reached finds out by itself that nobody watches.
            }
          }
        }
        """#
}
