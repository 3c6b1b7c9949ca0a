import { getCameras, getConfiguration, statusOf } from "./api.js";
import { t } from "./text.js";

/**
 * What the page says about the config of the gateway, or null.
 * @param {import("./types").Configuration} configuration
 * @returns {import("./types").Fault | null}
 */
export function configurationFault({ problems, needsRestart }) {
  if (problems.length > 0) {
    const { file, line, key, reason } = problems[0];
    return { message: t("configuration.hasProblem"),
      details: `${file}, line ${line}: ${key} ${reason}` };
  }
  if (needsRestart.length === 0) return null;
  return { message: t("configuration.needsRestart"),
    details: needsRestart.join(", ") };
}

/** The settings of the cameras, and what is wrong with the config. */
export class ConfigurationWatch {
  /**
   * @param {import("./home.js").Home} home
   * @param {import("./notice.js").Notice} notice
   * @param {() => void} [described] the settings of the cameras are known
   */
  constructor(home, notice, described = () => {}) {
    this.home = home;
    this.notice = notice;
    this.described = described;
    /** @type {number | undefined} */
    this.timer = undefined;
    this.looks = 0;
    /** The newest look has failed, so a change may not be shown. */
    this.isBehind = false;
  }

  /** Reads the settings and what is wrong. A look that began later knows more: then this one shows nothing. */
  async look() {
    const number = ++this.looks;
    this.isBehind = false;
    /** @type {import("./types").Fault | null} */
    let fault = null;
    try {
      const cameras = await getCameras();
      if (number !== this.looks) return;
      this.home.describe(cameras);
      this.described();
      fault = configurationFault(await getConfiguration());
    } catch (error) {
      // A token that may watch a camera need not see its settings, nor those that it could see before.
      if (statusOf(error) === "PERMISSION_DENIED") {
        if (number === this.looks) this.home.describe([]);
      } else {
        if (number === this.looks) this.isBehind = true;
        throw error;
      }
    }
    if (number !== this.looks) return;
    if (fault) this.notice.show(fault.message, fault.details);
    else this.notice.show(this.home.emptyWords);
  }

  /** Nobody is signed in: what was asked for is not shown. */
  forget() {
    clearTimeout(this.timer);
    this.looks += 1;
    this.isBehind = false;
  }

  /** Looks once after several changes; a gateway that does not answer is somebody else's news. */
  lookSoon() {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.look().catch(() => {}), 300);
  }
}
