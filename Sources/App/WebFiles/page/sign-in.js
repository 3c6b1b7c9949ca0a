import { signIn, statusOf } from "./api.js";
import { byID } from "./dom.js";
import { t } from "./text.js";
import { keepToken } from "./token.js";

/** The form that asks for a name and a password, or for a token alone. */
export class SignInForm {
  /** @param {() => void} onToken */
  constructor(onToken) {
    this.form = byID("sign-in", HTMLFormElement);
    this.token = byID("token", HTMLInputElement);
    this.name = byID("sign-in-name", HTMLInputElement);
    this.fault = byID("sign-in-error", HTMLElement);
    this.form.addEventListener("submit", async (event) => {
      event.preventDefault();
      const [name, secret] = [this.name.value.trim(), this.token.value];
      this.token.value = "";
      if (name !== "") {
        try {
          keepToken((await signIn(name, secret)).token);
        } catch (error) {
          this.show(statusOf(error) === "UNAUTHENTICATED" ? t("signIn.wrong") : error instanceof Error ? error.message : String(error));
          return;
        }
      } else {
        keepToken(secret);
      }
      onToken();
    });
  }

  /** @param {string} message why the form is there again, or "" */
  show(message) {
    this.form.hidden = false;
    this.fault.hidden = message === "";
    this.fault.textContent = message;
    this.token.focus();
  }

  /** Hides the form, and clears it: the next person must not see who was here. */
  hide() {
    this.form.hidden = true;
    this.name.value = "";
    this.token.value = "";
  }
}
