import { decideLink, getAccess, getDevices, getLinkClient, getStructures, statusOf } from "./api.js";
import { byID } from "./dom.js";
import { GrantFields } from "./grant-fields.js";
import { SignInForm } from "./sign-in.js";
import { t, translate } from "./text.js";
import { forgetToken, takeToken, whenTokenChanges } from "./token.js";

// The page that a program opens to be linked to an account (OAuth 2). The gateway checks the request when the person has
// decided, and says where the browser goes. Nothing in the address is trusted before.

translate(document);
const query = new URLSearchParams(location.search);
const consent = byID("consent", HTMLFormElement);
const fault = byID("link-error", HTMLElement);
const fields = new GrantFields(byID("consent-grants", HTMLElement), ["read", "control", "media"]);
const signIn = new SignInForm(() => open());
// Counts the attempts to ask, so that an older one that is still running shows nothing.
let opening = 0;
// Whether a decision was sent. A second one would get the program another code.
let isDecided = false;

/** @param {string} message */
function say(message) {
  fault.textContent = message;
  fault.hidden = message === "";
}

/**
 * Shows the question, or the form that asks for the token.
 */
async function open() {
  opening += 1;
  const number = opening;
  say("");
  try {
    const client = await getLinkClient(query.get("client_id") ?? "");
    const [structures, devices, access] = await Promise.all([
      getStructures(), getDevices({ isFirst: true }), getAccess({ isFirst: true }),
    ]);
    if (number !== opening) return;
    signIn.hide();
    byID("consent-client", HTMLElement).textContent = client.name;
    byID("consent-principal", HTMLElement).textContent = t("link.whose", { name: access.principal });
    fields.show(structures, devices);
    consent.hidden = false;
  } catch (error) {
    if (number !== opening) return;
    const message = error instanceof Error ? error.message : String(error);
    if (statusOf(error) === "UNAUTHENTICATED") {
      forgetToken();
      signIn.show(t("link.refusedToken"));
    } else {
      say(message);
    }
  }
}

/** @param {import("./types").Grant[] | undefined} grants none when the person refuses */
async function decide(grants) {
  if (isDecided) return;
  isDecided = true;
  say("");
  try {
    const answer = await decideLink({
      clientID: query.get("client_id") ?? "", redirect: query.get("redirect_uri") ?? "",
      responseType: query.get("response_type") ?? "", state: query.get("state") ?? "",
      codeChallenge: query.get("code_challenge") ?? undefined,
      codeChallengeMethod: query.get("code_challenge_method") ?? undefined, grants,
    });
    location.assign(answer.location);
  } catch (error) {
    isDecided = false;
    say(error instanceof Error ? error.message : String(error));
  }
}

consent.addEventListener("submit", (event) => {
  event.preventDefault();
  const { grants } = fields;
  if (grants.length === 0) say(t("link.chooseAScope"));
  else decide(grants);
});
byID("consent-deny", HTMLButtonElement).addEventListener("click", () => decide(undefined));

// Whoever comes back to the question, from the browser's back/forward cache, may decide again.
addEventListener("pageshow", ({ persisted }) => { if (persisted) isDecided = false; });
// Nobody may answer for a person who has signed out.
whenTokenChanges(() => {
  opening += 1;
  consent.hidden = true;
  location.reload();
});
// Whoever made the address must not choose the account that is linked.
if (takeToken({ ignoresAddress: true })) open();
else signIn.show("");
