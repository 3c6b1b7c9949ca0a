extension WebPage {
    /// One camera on the page: its picture, its controls, and what there is to say about it.
    static let tileScript = #"""
        import { command, post, remove } from "./api.js";
        import { LiveSession } from "./live-session.js";

        const shapes = {
          camera: '<path d="M3 8.5A2.5 2.5 0 0 1 5.5 6h9A2.5 2.5 0 0 1 17 8.5v7a2.5 2.5 0 0 1-2.5 2.5h-9A2.5 2.5 0 0 1 3 15.5z"/><path d="m17 11 4-2.5v7L17 13"/>',
          bell: '<path d="M6 10a6 6 0 0 1 12 0c0 5 2 6 2 7H4c0-1 2-2 2-7z"/><path d="M10 20a2.2 2.2 0 0 0 4 0"/>',
          play: '<path d="M8 5.5v13l10.5-6.5z" fill="currentColor"/>',
          stop: '<rect x="6.5" y="6.5" width="11" height="11" rx="2" fill="currentColor"/>',
          microphone: '<rect x="9" y="3" width="6" height="11" rx="3"/><path d="M5.5 11.5a6.5 6.5 0 0 0 13 0M12 18v3"/>',
          sound: '<path d="M4 9.5v5h3.5L12 18V6L7.5 9.5z"/><path d="M15.5 9a4.2 4.2 0 0 1 0 6M18 6.5a8 8 0 0 1 0 11"/>',
          muted: '<path d="M4 9.5v5h3.5L12 18V6L7.5 9.5z"/><path d="m16 9.5 5 5m0-5-5 5"/>',
          full: '<path d="M9 4H4v5M15 4h5v5M9 20H4v-5M15 20h5v-5"/>',
        };

        export function icon(name) {
          const holder = document.createElement("template");
          holder.innerHTML = `<svg viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="1.8"
            stroke-linecap="round" stroke-linejoin="round" aria-hidden="true">${shapes[name]}</svg>`;
          return holder.content.firstChild;
        }

        // Texts of the gateway and of cameras are only ever set as text, never as markup.
        export function element(tag, className, ...content) {
          const made = document.createElement(tag);
          if (className) made.className = className;
          made.append(...content);
          return made;
        }

        const sourceWords = {
          idle: "Not started", resolving: "Looking up the camera", connecting: "Connecting to the camera",
          authenticating: "Signing in to the camera", describing: "Asking what it sends", settingUp: "Setting up",
          flowing: "Online", stalled: "No pictures", backingOff: "Offline", givenUp: "Given up for now",
          stopped: "Offline",
        };
        const stateWords = {
          starting: "Starting", connecting: "Connecting", live: "Live", reconnecting: "Reconnecting", failed: "Failed",
          stopped: "",
        };
        const eventWords = {
          DoorbellPressed: "Rang", Motion: "Motion", Person: "Person", Face: "Face", Vehicle: "Vehicle",
          Animal: "Animal", Package: "Package", Sound: "Sound",
        };

        // Whether the stream's event of this name is something that happened at a camera.
        export function happens(event) { return event in eventWords; }

        const gatewayStepWords = {
          offer: "offer read", answer: "answer ready", firstCheck: "first connectivity check", pair: "path chosen",
          dtls: "encryption agreed", firstPacket: "first packet sent", firstKeyFrame: "first key frame sent",
        };

        export class Tile {
          constructor(device, gateway) {
            this.video = element("video");
            this.video.playsInline = true;
            this.video.autoplay = true;
            this.video.disablePictureInPicture = false;
            this.poster = element("canvas");
            this.poster.hidden = true;
            this.picture = element("img", "picture");
            this.picture.hidden = true;
            this.picture.alt = "";
            this.stateChip = element("span", "chip");
            this.timerChip = element("span", "chip right");
            this.spinner = element("span", "spinner");
            this.empty = element("span", "empty", icon(device.type === "GoogleDoorbellDeviceType" ? "bell" : "camera"));
            this.watchButton = element("button", "watch", element("span", "", icon("play"), "Watch"));
            this.watchButton.type = "button";
            this.unmuteButton = this.button("sound", "Turn sound on", () => {
              this.video.muted = false;
              this.live.needsTap = false;
              this.video.play();
              this.render();
            }, "button on-screen unmute");
            this.screen = element("div", "screen", this.empty, this.poster, this.picture, this.video, this.spinner, this.watchButton,
              this.unmuteButton, element("div", "chips", this.stateChip, this.timerChip));

            this.title = element("h2");
            this.subtitle = element("p");
            this.happening = element("p", "happening");
            this.happening.hidden = true;
            this.dot = element("span", "dot");
            this.about = element("div", "about", this.dot, element("div", "", this.title, this.subtitle, this.happening));

            this.talkButton = this.button("microphone", "Talk", () => this.toggleTalk(), "button talk");
            this.muteButton = this.button("sound", "Sound", () => {
              this.video.muted = !this.video.muted;
              this.render();
            }, "button compact");
            this.fullButton = this.button("full", "Full screen", () => this.fullScreen(), "button compact");
            this.stopButton = this.button("stop", "Stop", () => this.live.stop(), "button compact");
            this.ringButton = this.button("bell", "Ring", () => this.ring(), "button compact");
            this.connectButton = this.button("camera", "Connect now", () => this.connect(), "button compact");
            this.controls = element("div", "controls", this.talkButton, this.muteButton, this.fullButton, this.stopButton,
              this.ringButton, this.connectButton);

            this.fault = element("p", "fault");
            this.fault.setAttribute("role", "alert");
            this.steps = element("ol", "steps");
            this.details = element("details", "", element("summary", "", "How the start went"), this.steps);
            this.settings = element("div", "settings");
            this.settingsDetails = element("details", "", element("summary", "", "Settings"), this.settings);
            this.node = element("article", "card tile", this.screen, this.about, this.controls, this.fault, this.details,
              this.settingsDetails);
            this.live = new LiveSession({ id: device.id, canTalk: false }, this.video, gateway, () => this.render());
            this.watchButton.addEventListener("click", () => this.watch());
            this.update(device);
          }

          button(shape, label, action, className = "button") {
            const made = element("button", className, icon(shape), element("span", "", label));
            made.type = "button";
            made.title = label;
            made.addEventListener("click", action);
            return made;
          }

          update(device) {
            this.device = device;
            this.live.device.canTalk = Boolean(device.traits.WebRtcLiveView?.supportedTalkbackType);
            this.node.id = "camera-" + device.id;
            this.render();
          }

          // A camera that is pulled on demand is not woken up for a tile.
          get wantsPicture() {
            return !this.live.isActive && this.camera !== undefined && this.camera.pull !== "on-demand"
              && this.device.source.state === "flowing";
          }

          showPicture(blob, age) {
            const before = this.pictureURL;
            this.pictureURL = URL.createObjectURL(blob);
            this.pictureTime = performance.now() - age;
            this.picture.onload = () => { if (before) URL.revokeObjectURL(before); };
            this.picture.onerror = () => this.forgetPicture();
            this.picture.src = this.pictureURL;
            this.render();
          }

          forgetPicture() {
            if (!this.pictureURL) return;
            URL.revokeObjectURL(this.pictureURL);
            this.pictureURL = null;
            this.picture.removeAttribute("src");
            this.render();
          }

          // What happened at the camera last; one that comes late from a list does not replace a newer one.
          showEvent({ event, timestamp }) {
            const time = new Date(timestamp);
            if (this.event && this.event.time > time) return;
            this.event = { name: event, time };
            this.render();
          }

          renderEvent() {
            const now = (this.device.activeDetections ?? []).map((kind) => kind[0].toUpperCase() + kind.slice(1));
            const last = this.event;
            this.happening.hidden = now.length === 0 && !last;
            this.happening.classList.toggle("now", now.length > 0);
            if (now.length > 0) {
              this.happening.textContent = "Now: " + now.map((name) => eventWords[name] ?? name).join(" · ");
            } else if (last) {
              const isToday = last.time.toDateString() === new Date().toDateString();
              const time = last.time.toLocaleString([], isToday ? { hour: "2-digit", minute: "2-digit" }
                : { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit" });
              this.happening.textContent = `Last: ${eventWords[last.name] ?? last.name}, ${time}`;
            }
          }

          // What GET /v1/cameras tells of the camera.
          describe(camera) {
            this.camera = camera;
            this.settings.replaceChildren(element("p", "", camera.source));
            const words = [camera.pull === "on-demand" ? "pulled while somebody watches" : null,
              camera.transport === "auto" ? null : "over " + camera.transport,
              camera.origin === "api" ? null : "changed in the config file"].filter(Boolean).join(" · ");
            if (words) this.settings.append(element("p", "", words));
            if (camera.origin !== "file") {
              this.settings.append(this.button("stop", "Remove this camera", async () => {
                if (!confirm(`Remove ${this.device.name}? Whoever watches it is cut off.`)) return;
                await this.attempt(() => remove("/v1/cameras/" + encodeURIComponent(camera.id)));
              }));
            }
            this.render();
          }

          watch() {
            this.message = null;
            this.video.muted = false;
            this.live.start();
          }

          async toggleTalk() {
            this.message = null;
            this.talkButton.disabled = true;
            try {
              if (this.live.isTalking) await this.live.stopTalking();
              else await this.live.startTalking();
            } catch (error) {
              this.message = { message: error.message, mild: true };
            }
            this.talkButton.disabled = false;
            this.render();
          }

          async ring() {
            await this.attempt(() => command(this.device.id, "DoorbellPress", "press"));
          }

          // Does not wait for the next attempt, which may be an hour away.
          async connect() {
            await this.attempt(() => post(`/v1/cameras/${encodeURIComponent(this.camera.id)}/reconnect`));
          }

          async attempt(action) {
            this.message = null;
            try {
              await action();
            } catch (error) {
              this.message = { message: error.message, mild: true };
            }
            this.render();
          }

          fullScreen() {
            if (document.fullscreenElement) document.exitFullscreen();
            else if (this.screen.requestFullscreen) this.screen.requestFullscreen();
            else this.video.webkitEnterFullscreen?.();
          }

          // The last picture stays behind the button, so that the tile is not black between two looks.
          keepPicture() {
            if (!this.video.videoWidth) return;
            this.poster.width = 480;
            this.poster.height = Math.round(480 * this.video.videoHeight / this.video.videoWidth);
            try {
              this.poster.getContext("2d").drawImage(this.video, 0, 0, this.poster.width, this.poster.height);
              this.poster.hidden = false;
            } catch {
              this.poster.hidden = true;
            }
          }

          render() {
            const { device, live } = this;
            const active = live.isActive;
            const isLive = live.state === "live";
            const busy = ["starting", "connecting", "reconnecting"].includes(live.state);
            this.node.classList.toggle("live", active);
            this.node.classList.toggle("playing", active && live.steps.some((step) => step.name === "first picture"));
            const hasPicture = Boolean(this.pictureURL) && !active;
            this.picture.hidden = !hasPicture;
            this.node.classList.toggle("has-poster", !this.poster.hidden || hasPicture);
            this.settingsDetails.hidden = this.camera === undefined;
            this.title.textContent = device.name;
            const tracks = device.source.tracks.map((track) => track.codec).join(" · ");
            const onDemand = this.camera?.pull === "on-demand" && ["idle", "stopped"].includes(device.source.state);
            this.subtitle.textContent = device.source.state === "flowing"
              ? ["Online", tracks].filter(Boolean).join(" · ")
              : onDemand ? "On demand: starts when somebody watches"
              : [sourceWords[device.source.state] ?? device.source.state, device.source.reason].filter(Boolean).join(": ");
            this.renderEvent();
            this.dot.className = "dot " + (device.connectivityState === "online" ? "online"
              : device.connectivityState === "offline" ? "offline" : "waiting");

            this.watchButton.hidden = active;
            this.watchButton.lastChild.lastChild.textContent = live.state === "failed" ? "Try again" : "Watch";
            this.watchButton.setAttribute("aria-label", `Watch ${device.name}`);
            this.empty.hidden = active || !this.poster.hidden || hasPicture;
            this.spinner.hidden = !busy;
            this.stateChip.hidden = !active && !hasPicture;
            if (active) {
              this.stateChip.replaceChildren(element("span", "dot " + (isLive ? "online" : "waiting")),
                stateWords[live.state]);
            }
            this.timerChip.hidden = !active || !live.session;
            this.unmuteButton.hidden = !(active && live.needsTap);

            // A publisher comes by itself.
            const waits = ["backingOff", "givenUp"].includes(device.source.state)
              && this.camera !== undefined && this.camera.source !== "whip";
            this.connectButton.hidden = !waits;
            this.controls.hidden = !active && !waits && device.traits.DoorbellPress === undefined;
            this.talkButton.hidden = !active || !live.device.canTalk;
            this.talkButton.disabled = !isLive && !live.isTalking;
            this.talkButton.setAttribute("aria-pressed", String(live.isTalking));
            if (live.isOpeningTalk) this.talkButton.disabled = true;
            this.talkButton.lastChild.textContent = live.isTalking ? "Stop talking"
              : live.isOpeningTalk ? "Opening…" : "Talk";
            for (const one of [this.muteButton, this.fullButton, this.stopButton]) one.hidden = !active;
            this.muteButton.replaceChildren(icon(this.video.muted ? "muted" : "sound"),
              element("span", "", this.video.muted ? "Sound off" : "Sound"));
            this.ringButton.hidden = device.traits.DoorbellPress === undefined;

            const fault = this.message ?? live.fault;
            this.fault.hidden = !fault;
            this.fault.classList.toggle("mild", Boolean(fault?.mild));
            this.fault.replaceChildren();
            if (fault) {
              if (live.state === "failed") this.fault.append(element("strong", "", "The live view could not start"));
              this.fault.append(fault.message);
            }
            this.renderSteps();
            this.tick();
          }

          renderSteps() {
            const { live } = this;
            this.details.hidden = live.steps.length === 0;
            if (this.details.hidden) return;
            const rows = [];
            const longest = Math.max(1, ...live.steps.map((step) => step.milliseconds));
            const add = (heading, steps, words) => {
              if (steps.length === 0) return;
              rows.push(element("li", "heading", heading));
              for (const step of steps) {
                const line = element("i");
                line.style.width = Math.min(100, 100 * step.milliseconds / longest) + "%";
                rows.push(element("li", "", element("span", "", words[step.name] ?? step.name),
                  element("span", "", step.milliseconds.toFixed(step.milliseconds < 10 ? 1 : 0) + " ms"),
                  element("span", "bar-line", line)));
              }
            };
            add("In this browser", live.steps, {});
            add("In the gateway, from the offer on", live.gatewaySteps, gatewayStepWords);
            for (const note of live.notes) rows.push(element("li", "", note));
            this.steps.replaceChildren(...rows);
          }

          // Once a second: only what changes with time.
          tick() {
            if (this.pictureURL && !this.live.isActive) {
              const seconds = Math.max(0, Math.round((performance.now() - this.pictureTime) / 1000));
              this.stateChip.replaceChildren(seconds < 60 ? `${seconds} s ago` : seconds < 3600
                ? `${Math.floor(seconds / 60)} min ago` : `${Math.floor(seconds / 3600)} h ago`);
              this.picture.classList.toggle("stale", seconds > 60);
            }
            if (!this.live.session || !this.live.isActive) return;
            const left = this.live.secondsLeft;
            this.timerChip.classList.toggle("talking", this.live.isTalking);
            this.timerChip.textContent = (this.live.isTalking ? "On air · " : "")
              + Math.floor(left / 60) + ":" + String(left % 60).padStart(2, "0");
            this.timerChip.title = "Time until the lease ends; it is extended by itself";
            if (this.live.state === "live" && left % 5 === 0) this.keepPicture();
          }
        }
        """#
}
