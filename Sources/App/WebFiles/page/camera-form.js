import { put } from "./api.js";
import { byID, faultElements } from "./dom.js";
import { inWords } from "./words.js";

/**
 * A name of the address for a name that people read.
 * @param {string} name
 * @param {Set<string>} taken
 */
export function identifier(name, taken) {
  const plain = name.normalize("NFKD").toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-+|-+$/g, "")
    .slice(0, 48) || "camera";
  let result = plain;
  for (let number = 2; taken.has(result); number += 1) result = `${plain}-${number}`;
  return result;
}

/** @param {() => Set<string>} taken gives the identifiers that there are */
export function setUpCameraForm(taken) {
  const form = byID("add-camera", HTMLFormElement);
  const card = byID("add", HTMLDetailsElement);
  const button = byID("add-camera-button", HTMLButtonElement);
  const fault = byID("add-camera-error", HTMLElement);
  const fields = {
    name: byID("camera-name", HTMLInputElement),
    source: byID("camera-source", HTMLInputElement),
    type: byID("camera-type", HTMLSelectElement),
    battery: byID("camera-battery", HTMLInputElement),
  };
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    button.disabled = true;
    fault.hidden = true;
    const name = fields.name.value.trim();
    try {
      await put("/v1/cameras/" + identifier(name, taken()), {
        name, source: fields.source.value.trim(), type: fields.type.value,
        pull: fields.battery.checked ? "on-demand" : "always",
      });
      form.reset();
      card.open = false;
    } catch (error) {
      fault.replaceChildren(...faultElements(inWords(error, "add")));
      fault.hidden = false;
    }
    button.disabled = false;
  });
}
