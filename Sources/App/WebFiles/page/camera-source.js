/**
 * The address of a camera, with a user name and a password from fields of their own. Everything that somebody types there
 * may be part of a password, so special characters are encoded.
 * @param {string} address as it was typed: a URL, or a host name or IP address alone, which is asked by ONVIF
 * @param {string} user
 * @param {string} password
 */
export function sourceWith(address, user, password) {
  const typed = address.trim();
  const isHost = /^(\[[0-9a-f:]+\]|[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?)(:\d+)?$/i.test(typed);
  // A name with a dot or a number cannot be taken for the word of a source, such as "publisher".
  const url = isHost && /[.:\d]/.test(typed) ? `onvif://${typed}` : typed;
  const [, scheme, rest] = /^([a-z][a-z0-9+.-]*:\/\/)(.*)$/i.exec(url) ?? [];
  if (!scheme || !takesLogin(url) || (user === "" && password === "")) return url;
  const end = rest.search(/[/?#]/);
  const authority = end < 0 ? rest : rest.slice(0, end);
  // What the fields say counts, and not what an example had in the address.
  const host = authority.slice(authority.lastIndexOf("@") + 1);
  const credentials = encoded(user) + (password === "" ? "" : ":" + encoded(password));
  return `${scheme}${credentials}@${host}${end < 0 ? "" : rest.slice(end)}`;
}

/**
 * Whether the gateway takes a user and a password in front of the host. RTMP has them in the query, under names that differ from
 * camera to camera; the others have none.
 * @param {string} address
 */
export function takesLogin(address) { return !/^\s*(?:(?:rtmps?|tcp|udp):\/\/|v4l2:|builtin:|(?:publisher|whip)\s*$)/i.test(address); }

/**
 * Whether the camera is asked by ONVIF for its streams.
 * @param {string} address as it was typed
 */
export function isAskedByONVIF(address) { return sourceWith(address, "", "").toLowerCase().startsWith("onvif://"); }

/**
 * The host of an address, without its port; empty if it has none.
 * @param {string} address as it was typed
 */
export function hostOf(address) {
  const authority = /^[a-z][a-z0-9+.-]*:\/\/([^/?#]*)/i.exec(sourceWith(address, "", ""))?.[1] ?? "";
  return /^(\[[^\]]*\]|[^:]*)/.exec(authority.slice(authority.lastIndexOf("@") + 1))?.[0].toLowerCase() ?? "";
}

/**
 * An address at the host to which its camera has moved, if it was at the camera's host before.
 * @param {string} address
 * @param {string} before the camera's address
 * @param {string} now
 */
export function movedWith(address, before, now) {
  const [from, to] = [hostOf(before), hostOf(now)];
  if (from === "" || to === "" || from === to || hostOf(address) !== from) return address;
  return address.replace(/^([a-z][a-z0-9+.-]*:\/\/(?:[^/?#]*@)?)(?:\[[^\]]*\]|[^/?#:]*)/i, (_, start) => start + to);
}

/** @param {string} text */
function encoded(text) {
  return encodeURIComponent(text).replaceAll(/[!'()*$]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);
}
