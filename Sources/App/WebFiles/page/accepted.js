/**
 * Whether a trait accepts a command. A device that does not list its commands is asked.
 * @param {any} attributes
 * @param {number} command its number
 */
export function accepts(attributes, command) {
  if (!attributes) return false;
  const { acceptedCommandList } = attributes;
  return !Array.isArray(acceptedCommandList) || acceptedCommandList.includes(command);
}
