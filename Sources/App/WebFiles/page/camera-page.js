import { getAccess, getDevices, getGateway, statusOf, whenRefused } from "./api.js";
import { byID, element, sayText, setText } from "./dom.js";
import { canChangeVolume } from "./kept-sound.js";
import { LiveSession } from "./live-session.js";
import { fallbackWord } from "./live-words.js";
import { whenNetworkChanges } from "./network-change.js";
import { pictureName, pictureOf, saveFile } from "./picture-file.js";
import { cameraOfPath, shareLink, tokenOfFragment } from "./share-link.js";
import { locale, t, translate } from "./text.js";
import { takeToken, useToken, whenTokenChanges } from "./token.js";
import { WakeLock } from "./wake-lock.js";

// The page of one camera, for share links and for frames in other pages. Its token is in the fragment of the address and
// stays there, so that a bookmark works. It is not stored: somebody who is signed in here stays signed in.

translate(document);
const video = byID("video", HTMLVideoElement);
const trouble = byID("trouble", HTMLElement);
const state = byID("state", HTMLElement);
const retry = byID("retry", HTMLButtonElement);
const sound = byID("sound", HTMLButtonElement);
const volume = byID("volume", HTMLInputElement);
const save = byID("save", HTMLButtonElement);
const full = byID("full", HTMLButtonElement);
const name = cameraOfPath(location.pathname);
const token = tokenOfFragment(location.hash);

/** @type {import("./types").KnownGateway} */
const gateway = {};
/** @type {import("./types").Link} */
const link = { isUp: true };
/** @type {LiveSession | null} */
let live = null;
let isOver = false;
const wakeLock = new WakeLock();
// An iPhone has its own whole screen, for videos alone.
const onlyVideoIsFull = !document.fullscreenEnabled && "webkitEnterFullscreen" in video;
const hasVolume = canChangeVolume(video);

/** A screen on a wall stays on while the camera is watched. */
function keepAwake() { wakeLock.keep(live !== null && !isOver); }

/** @param {string} message "" for none */
function say(message) {
  setText(trouble, message);
  trouble.hidden = message === "";
}

/** Says that the link opens nothing any more. */
function end() {
  isOver = true;
  live?.stop();
  keepAwake();
  state.textContent = "";
  retry.hidden = true;
  for (const one of [sound, volume, save, full]) one.hidden = true;
  say(t("cameraPage.linkHasEnded"));
}

function render() {
  if (!live || isOver) return;
  const { isLive, isStalled, text } = live.verdict;
  document.body.classList.toggle("stalled", isStalled);
  sayText(state, isLive ? [t("cameraPage.live"), fallbackWord(live.path)].filter(Boolean).join(" · ")
    : (live.hasShown ? live.fault?.message : null) ?? text ?? (live.state === "failed" ? "" : t("cameraPage.connecting")), isStalled);
  say(!isLive && !live.hasShown && live.fault ? live.fault.message : "");
  retry.hidden = live.state !== "failed";
  const { isImage } = live.fallback;
  const isShown = live.isActive && live.liveSince !== null && live.hasPicture;
  sound.hidden = isImage;
  sound.setAttribute("aria-pressed", String(!video.muted));
  volume.hidden = isImage || video.muted || !hasVolume;
  save.hidden = false;
  save.disabled = !isShown;
  full.hidden = onlyVideoIsFull ? isImage : !document.fullscreenEnabled;
  full.disabled = onlyVideoIsFull && !isShown;
}

/** @param {{ id: string, key?: string }} device */
function isThis({ id, key }) { return [id, key].includes(name); }

/** @param {string} text */
function showName(text) {
  byID("name", HTMLElement).textContent = text;
  document.title = text;
}

/**
 * Shows the camera's name, and until when and for what else the token is good. Returns the camera, if the token names it.
 * @param {import("./types").OwnAccess} own
 */
function describe(own) {
  const named = own.devices.find(isThis);
  showName(named?.name ?? name);
  const others = own.devices.filter((device) => device !== named);
  byID("others", HTMLElement).replaceChildren(...others.map((device) => {
    const anchor = element("a", "", device.name);
    anchor.href = shareLink("", device.key, token);
    return anchor;
  }));
  byID("others", HTMLElement).hidden = others.length === 0;
  const until = byID("until", HTMLElement);
  until.hidden = own.expiresAt === undefined;
  if (own.expiresAt) until.textContent = t("cameraPage.until", { time: new Date(own.expiresAt).toLocaleString(locale) });
  return named;
}

/**
 * Shows the name of a camera that the token does not name, because it is for a whole home. The picture does not wait for it.
 * @param {import("./types").OwnAccess} own
 */
async function askForName({ grants }) {
  if (!grants.some(({ scopes, deviceID }) => !deviceID && scopes.includes("read"))) return;
  try {
    const found = (await getDevices()).find(isThis);
    if (found && !isOver) showName(found.name);
  } catch {
    // The key of the address stays. Whether the gateway answers, the live view says.
  }
}

async function open() {
  if (isOver) return;
  if (token) useToken(token);
  else if (!takeToken()) {
    say(t("cameraPage.noToken"));
    return;
  }
  try {
    const [told, own] = await Promise.all([getGateway({ isFirst: true }), getAccess({ isFirst: true })]);
    // The person may have signed out meanwhile.
    if (isOver) return;
    Object.assign(gateway, told);
    const named = describe(own);
    start(named?.id ?? name);
    if (!named) askForName(own);
  } catch (error) {
    if (isOver) return;
    if (statusOf(error) === "UNAUTHENTICATED") end();
    else {
      say(t("cameraPage.noAnswer"));
      setTimeout(open, 2000 + 2000 * Math.random());
    }
  }
}

/** @param {string} id */
function start(id) {
  const source = { state: "flowing", tracks: [] };
  live = new LiveSession({ id, canTalk: false, source, flowingSince: performance.now() }, video, gateway, link, render,
    { persists: true });
  video.after(live.fallback.image);
  say("");
  live.start();
  keepAwake();
  setInterval(tick, 250);
  setInterval(look, 5000);
  whenNetworkChanges(look);
}

function tick() { if (live?.isActive) live.tick(); }

/** This page has no event stream to tell it that the gateway has gone or restarted, or that the link was revoked. */
async function look() {
  if (isOver) return;
  keepAwake();
  try {
    const { version, ...told } = await getGateway({ patience: 2000 });
    link.isUp = true;
    // The next connection needs the servers that the gateway names now. The version stays that of the page.
    Object.assign(gateway, told);
    // A newer gateway brings a newer page, and nobody loads a screen on a wall again by hand.
    if (version !== gateway.version && !live?.isInUse) location.reload();
    else live?.check();
  } catch {
    link.isUp = false;
  }
}

async function savePicture() {
  const blob = live && await pictureOf(live.picture);
  if (blob) saveFile(blob, pictureName(document.title, new Date()));
}

function showFull() {
  if (document.fullscreenElement) document.exitFullscreen();
  else if (onlyVideoIsFull) /** @type {any} */ (video).webkitEnterFullscreen();
  // A frame may not permit it.
  else live?.picture.requestFullscreen().catch(() => {});
}

whenRefused(end);
// Without a token in the address, it shows what the person may see who is signed in here.
if (!token) whenTokenChanges(() => {
  end();
  say(t("cameraPage.noToken"));
  // Whoever has just signed in has reached the gateway. Without it, a browser would show a page of its own about that.
  if (takeToken()) location.reload();
});
retry.addEventListener("click", () => live?.start());
sound.addEventListener("click", () => {
  video.muted = !video.muted;
  render();
});
volume.addEventListener("input", () => { video.volume = Number(volume.value) / 100; });
save.addEventListener("click", savePicture);
full.addEventListener("click", showFull);
document.addEventListener("visibilitychange", () => {
  keepAwake();
  // A view that rested goes on at once.
  tick();
});
// A browser that has refused to keep the screen on may need a touch.
addEventListener("pointerup", keepAwake);
addEventListener("hashchange", () => location.reload());
addEventListener("pagehide", () => live?.stop());
addEventListener("pageshow", (event) => {
  if (!event.persisted || isOver) return;
  live?.start();
  keepAwake();
});
open();
