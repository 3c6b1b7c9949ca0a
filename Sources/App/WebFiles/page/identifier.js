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
