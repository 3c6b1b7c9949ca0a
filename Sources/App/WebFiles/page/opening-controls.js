import { accepts } from "./accepted.js";
import { ask } from "./ask.js";
import { Slider } from "./control-fields.js";
import { Button, element } from "./dom.js";
import { loweredPercent } from "./readings.js";
import { lower, t } from "./text.js";

/** @typedef {import("./controls.js").ControlKind} ControlKind */

/** @param {number} hundredths of a percent that a blind is to be lowered */
function position(hundredths) {
  return {
    WindowCovering: { targetPositionLiftPercent100ths: hundredths, currentPositionLiftPercent100ths: hundredths },
  };
}

/** @type {ControlKind} */
const cover = {
  name: "cover",
  fits: ({ WindowCovering }) => WindowCovering !== undefined,
  make: (part) => {
    const open = new Button("up", t("openingControls.open"), () => part.send("WindowCovering", "upOrOpen", {}, position(0)));
    const stop = new Button("stop", t("openingControls.stop"), () => part.send("WindowCovering", "stopMotion", {}, {}));
    const close = new Button("down", t("openingControls.close"), () => part.send("WindowCovering", "downOrClose", {}, position(10000)));
    for (const button of [open, stop, close]) {
      button.node.setAttribute("aria-label", `${part.name}: ${lower(button.node.title)}`);
    }
    const slider = new Slider({
      title: t("openingControls.open"), label: t("control.position", { name: part.name }), minimum: 0, maximum: 100, words: (value) => `${value} %`,
      changed: (value) => {
        const hundredths = (100 - value) * 100;
        part.send("WindowCovering", "goToLiftPercentage", { liftPercent100thsValue: hundredths }, position(hundredths));
      },
    });
    return {
      node: element("div", "cover", element("div", "buttons", open.node, stop.node, close.node), slider.node),
      update: ({ WindowCovering }, isEnabled) => {
        const lowered = loweredPercent(WindowCovering);
        slider.node.hidden = lowered === null || !accepts(WindowCovering, 5);
        slider.show(lowered === null ? null : 100 - lowered, isEnabled);
        open.node.disabled = !isEnabled || lowered === 0;
        close.node.disabled = !isEnabled || lowered === 100;
        stop.node.disabled = !isEnabled;
        stop.node.hidden = !accepts(WindowCovering, 2);
      },
    };
  },
};

/** @type {ControlKind} */
const tilt = {
  name: "tilt",
  fits: ({ WindowCovering }) => WindowCovering?.currentPositionTiltPercent100ths !== undefined && accepts(WindowCovering, 8),
  make: (part) => {
    const title = t("openingControls.slats");
    const slider = new Slider({
      title, label: `${part.name}: ${lower(title)}`, minimum: 0, maximum: 100, words: (value) => `${value} %`,
      changed: (value) => {
        const hundredths = (100 - value) * 100;
        part.send("WindowCovering", "goToTiltPercentage", { tiltPercent100thsValue: hundredths },
          { WindowCovering: { currentPositionTiltPercent100ths: hundredths } });
      },
    });
    return {
      node: slider.node,
      update: ({ WindowCovering }, isEnabled) => {
        const closed = WindowCovering?.currentPositionTiltPercent100ths;
        slider.show(typeof closed === "number" ? 100 - Math.round(closed / 100) : null, isEnabled);
      },
    };
  },
};

/**
 * The JSON form of octets: Base64.
 * @param {string} text
 */
export function octets(text) { return btoa(String.fromCharCode(...new TextEncoder().encode(text))); }

/** @type {ControlKind} */
const lock = {
  name: "lock",
  fits: ({ DoorLock }) => DoorLock !== undefined && (accepts(DoorLock, 0) || accepts(DoorLock, 1)),
  make: (part) => {
    const needsPIN = () => part.traits().DoorLock?.requirePINforRemoteOperation === true;
    /** @type {(question: string, yes: string) => Promise<object | null>} */
    const question = async (text, yes) => {
      const pin = await ask({ question: text, yes, isDangerous: true,
        ...(needsPIN() ? { field: { label: "PIN", type: /** @type {const} */ ("password") } } : {}) });
      return pin === null ? null : needsPIN() ? { pinCode: octets(pin) } : {};
    };
    const button = new Button("unlock", t("openingControls.unlock"), async () => {
      const isLocked = part.traits().DoorLock?.lockState === "locked";
      const parameters = isLocked ? await question(t("openingControls.unlockName", { name: part.name }), t("openingControls.unlock"))
        : needsPIN() ? await question(t("openingControls.lockName", { name: part.name }), t("openingControls.lock")) : {};
      if (!parameters) return;
      part.send("DoorLock", isLocked ? "unlockDoor" : "lockDoor", parameters,
        { DoorLock: { lockState: isLocked ? "unlocked" : "locked" } });
    });
    return {
      node: button.node,
      update: ({ DoorLock }, isEnabled) => {
        const isLocked = DoorLock?.lockState === "locked";
        button.shape = isLocked ? "unlock" : "lock";
        button.label = isLocked ? t("openingControls.unlock") : t("openingControls.lock");
        button.node.title = isLocked ? t("openingControls.unlock") : t("openingControls.lock");
        button.node.setAttribute("aria-label", `${isLocked ? t("openingControls.unlock") : t("openingControls.lock")} ${part.name}`);
        button.node.disabled = !isEnabled || !accepts(DoorLock, isLocked ? 1 : 0);
      },
    };
  },
};

/** @type {ControlKind[]} */
export const openingControls = [cover, tilt, lock];
