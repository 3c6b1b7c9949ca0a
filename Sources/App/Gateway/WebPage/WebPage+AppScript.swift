extension WebPage {
    /// The page as a whole: signing in, the list of cameras, visitors at the door.
    static let appScript = #"""
        import { APIError, get, setToken, takeToken, watch } from "./api.js";
        import { setUpCameraForm } from "./camera-form.js";
        import { chime } from "./chime.js";
        import { Snapshots } from "./snapshots.js";
        import { Tile, element, happens, icon } from "./tile.js";

        const byID = (id) => document.getElementById(id);
        const tiles = new Map();
        const snapshots = new Snapshots(() => tiles.values());
        let gateway = {};

        function setLink(state, text) {
          byID("link").className = "link " + state;
          byID("link-text").textContent = text;
        }

        function notice(text) {
          byID("notice").hidden = !text;
          byID("notice").textContent = text ?? "";
        }

        function showDevice(device) {
          const tile = tiles.get(device.id);
          if (tile) return tile.update(device);
          const made = new Tile(device, gateway);
          tiles.set(device.id, made);
          byID("cameras").append(made.node);
          snapshots.add(made);
          notice(null);
        }

        function removeDevice(id) {
          const tile = tiles.get(id);
          if (!tile) return;
          tiles.delete(id);
          snapshots.remove(tile);
          if (tile.live.isActive) tile.live.stop();
          tile.node.remove();
          if (tiles.size === 0) notice(emptyHome);
        }

        const emptyHome = "No camera yet. Add one below, or under cameras: in the gateway's config.";

        // The devices that there are, also after a time without a connection; then their settings.
        async function lookAtHome() {
          const { devices } = await get("/v1/devices");
          const known = new Set(devices.map((device) => device.id));
          for (const id of [...tiles.keys()]) if (!known.has(id)) removeDevice(id);
          devices.forEach(showDevice);
          // The order of the home, without moving what stands right: a moved video would stop.
          devices.forEach((device, place) => {
            const node = tiles.get(device.id)?.node;
            const there = byID("cameras").children[place];
            if (node && there !== node && !tiles.get(device.id).live.isActive) byID("cameras").insertBefore(node, there);
          });
          await lookAtSettings();
          await Promise.all([...tiles.keys()].map(lookAtEvents));
        }

        // What happened last at a camera; the event stream tells what comes.
        async function lookAtEvents(id) {
          const { events } = await get(`/v1/devices/${encodeURIComponent(id)}/events?limit=1`);
          if (events.length > 0) tiles.get(id)?.showEvent(events[0]);
        }

        async function lookAtSettings() {
          const { cameras } = await get("/v1/cameras");
          for (const camera of cameras) tiles.get(camera.id)?.describe(camera);
          const { problems, needsRestart } = await get("/v1/configuration");
          if (problems.length > 0) {
            const { file, line, key, reason } = problems[0];
            notice(`The config has a problem and was not read again: ${file}, line ${line}: ${key} ${reason}`);
          } else if (needsRestart.length > 0) {
            notice(`Changed in the config, and in force after a restart of the gateway: ${needsRestart.join(", ")}`);
          } else {
            notice(tiles.size === 0 ? emptyHome : null);
          }
        }

        let settingsTimer;
        function lookAtSettingsSoon() {
          clearTimeout(settingsTimer);
          settingsTimer = setTimeout(() => lookAtSettings().catch(() => {}), 300);
        }

        function showVisitor(press) {
          const tile = tiles.get(press.deviceID);
          const name = tile?.device.name ?? press.deviceID;
          const time = new Date(press.timestamp).toLocaleTimeString([], { hour: "2-digit", minute: "2-digit" });
          const answer = element("button", "button", "Answer");
          answer.type = "button";
          const banner = element("div", "visitor", icon("bell"),
            element("p", "", `Somebody is at ${name}`, element("small", "", time)), answer);
          answer.addEventListener("click", () => {
            banner.remove();
            tile?.node.scrollIntoView({ behavior: "smooth", block: "center" });
            if (tile && !tile.live.isActive) tile.watch();
          });
          byID("visitors").replaceChildren(banner);
          setTimeout(() => banner.remove(), 45000);
          chime();
        }

        function handle(event, data) {
          if (happens(event)) tiles.get(data.deviceID)?.showEvent({ event, timestamp: data.timestamp });
          if (event === "device") {
            showDevice(data);
          } else if (event === "deviceAdded") {
            showDevice(data);
            lookAtSettingsSoon();
          } else if (event === "deviceRemoved") {
            removeDevice(data.deviceID);
          } else if (event === "DoorbellPressed") {
            showVisitor(data);
          } else if (event === "session") {
            for (const tile of tiles.values()) {
              if (tile.live.session !== data.session.mediaSessionId) continue;
              if (data.change === "ended") {
                tile.live.ended("The gateway has ended the session.");
              } else {
                const ended = tile.live.talkEnded(data.session.talkback);
                if (ended) tile.message = { message: ended, mild: true };
                tile.live.gatewaySteps = data.session.steps;
                tile.render();
              }
            }
          }
        }

        function signIn(message) {
          setToken("");
          for (const tile of tiles.values()) tile.live.stop();
          byID("sign-in").hidden = false;
          byID("cameras").hidden = true;
          byID("add").hidden = true;
          byID("sign-in-error").hidden = !message;
          byID("sign-in-error").textContent = message ?? "";
          setLink("", "Signed out");
          byID("token").focus();
        }

        async function open() {
          try {
            gateway = await get("/v1/gateway");
            byID("version").textContent = `${gateway.name} ${gateway.version}`;
            await lookAtHome();
          } catch (error) {
            if (error instanceof APIError && error.status === "UNAUTHENTICATED") {
              return signIn("This token is not known to the gateway.");
            }
            setLink("offline", "Gateway not reached");
            notice(error.message);
            setTimeout(open, 3000);
            return;
          }
          byID("sign-in").hidden = true;
          byID("cameras").hidden = false;
          byID("add").hidden = false;
          watch(handle, (state) => {
            if (state === "connected") {
              setLink("online", "Connected");
              lookAtHome().catch(() => {});
            }
            else if (state === "refused") signIn("The gateway does not take this token any more.");
            else if (state === "disconnected") setLink("waiting", "Reconnecting");
          });
        }

        byID("sign-in").addEventListener("submit", (event) => {
          event.preventDefault();
          setToken(byID("token").value);
          byID("token").value = "";
          open();
        });
        // A config that has become wrong changes nothing, so no event tells of it.
        setInterval(() => {
          if (document.visibilityState === "visible" && !byID("cameras").hidden) lookAtSettingsSoon();
        }, 20000);
        setUpCameraForm(() => new Set(tiles.keys()));
        setInterval(() => {
          tiles.forEach((tile) => tile.tick());
          snapshots.tick();
        }, 1000);
        // A page that goes away gives its sessions back; one that comes back from the cache starts fresh.
        addEventListener("pagehide", () => tiles.forEach((tile) => tile.live.isActive && tile.live.stop()));

        if (takeToken()) open();
        else signIn();
        """#

    /// The sound of the doorbell: two tones made by the browser, so that no file is needed.
    static let chimeScript = #"""
        let context;

        // Browsers let a page sound only after a tap.
        addEventListener("pointerdown", () => {
          context ??= new AudioContext();
          if (context.state === "suspended") context.resume();
        });

        export function chime() {
          if (context?.state !== "running") return;
          [[659.25, 0], [523.25, 0.55]].forEach(([frequency, delay]) => {
            const start = context.currentTime + delay;
            const oscillator = context.createOscillator();
            const gain = context.createGain();
            oscillator.frequency.value = frequency;
            gain.gain.setValueAtTime(0, start);
            gain.gain.linearRampToValueAtTime(0.22, start + 0.015);
            gain.gain.exponentialRampToValueAtTime(0.0008, start + 1.3);
            oscillator.connect(gain).connect(context.destination);
            oscillator.start(start);
            oscillator.stop(start + 1.35);
          });
        }
        """#
}
