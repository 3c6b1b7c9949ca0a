extension WebPage {
    /// The page as a whole: signing in, the list of cameras, visitors at the door.
    static let appScript = #"""
        import { APIError, get, setToken, takeToken, watch } from "./api.js";
        import { chime } from "./chime.js";
        import { Tile, element, icon } from "./tile.js";

        const byID = (id) => document.getElementById(id);
        const tiles = new Map();
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
          if (event === "device") {
            showDevice(data);
          } else if (event === "DoorbellPressed") {
            showVisitor(data);
          } else if (event === "session") {
            for (const tile of tiles.values()) {
              if (tile.live.session !== data.session.mediaSessionId) continue;
              if (data.change === "ended") {
                tile.live.ended("The gateway has ended the session.");
              } else {
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
          byID("sign-in-error").hidden = !message;
          byID("sign-in-error").textContent = message ?? "";
          setLink("", "Signed out");
          byID("token").focus();
        }

        async function open() {
          try {
            gateway = await get("/v1/gateway");
            byID("version").textContent = `${gateway.name} ${gateway.version}`;
            const { devices } = await get("/v1/devices");
            devices.forEach(showDevice);
            notice(devices.length === 0 ? "No camera yet. Add one under cameras: in the gateway's config." : null);
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
          watch(handle, (state) => {
            if (state === "connected") setLink("online", "Connected");
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
        setInterval(() => tiles.forEach((tile) => tile.tick()), 1000);
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
