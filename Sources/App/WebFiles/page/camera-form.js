import { put } from "./api.js";
import { inWords, wordElements } from "./words.js";

const byID = (id) => document.getElementById(id);

// A name of the address for a name that people read.
export function identifier(name, taken) {
  const plain = name.normalize("NFKD").toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-+|-+$/g, "")
    .slice(0, 48) || "camera";
  let result = plain;
  for (let number = 2; taken.has(result); number += 1) result = `${plain}-${number}`;
  return result;
}

// taken: gives the identifiers that there are.
export function setUpCameraForm(taken) {
  const form = byID("add-camera");
  const fault = byID("add-camera-error");
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const button = form.querySelector("button");
    button.disabled = true;
    fault.hidden = true;
    const name = byID("camera-name").value.trim();
    try {
      await put("/v1/cameras/" + identifier(name, taken()), {
        name, source: byID("camera-source").value.trim(), type: byID("camera-type").value,
        pull: byID("camera-battery").checked ? "on-demand" : "always",
      });
      form.reset();
      form.closest("details").open = false;
    } catch (error) {
      fault.replaceChildren(...wordElements(inWords(error, "add")));
      fault.hidden = false;
    }
    button.disabled = false;
  });
}
