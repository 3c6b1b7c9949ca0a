import { setToken } from "./api.js";
import { byID } from "./dom.js";

/** The form that asks for the token. */
export class SignInForm {
  /** @param {() => void} onToken */
  constructor(onToken) {
    this.form = byID("sign-in", HTMLFormElement);
    this.token = byID("token", HTMLInputElement);
    this.fault = byID("sign-in-error", HTMLElement);
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      setToken(this.token.value);
      this.token.value = "";
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

  hide() { this.form.hidden = true; }
}
