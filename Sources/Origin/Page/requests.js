// Requests of the page, and decryption.

export const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Headers for requests to the page's own origin, such as a token. Requests to other origins do not get them. */
export const requestFields = {};

/** With these headers, the room answers 204 instead of 404 until it has a playlist: browsers log every 404 as an error. */
export const waitingFields = { "Tandem-Waiting": "1" };

export async function load(uri, range, signal, fields = {}) {
  const isOwn = new URL(uri, location.href).origin === location.origin;
  const headers = { ...(isOwn ? { ...requestFields, ...fields } : {}), ...(range ? { Range: `bytes=${range[0]}-${range[1]}` } : {}) };
  const response = await fetch(uri, { headers, signal, cache: range ? "default" : "no-cache" });
  if (!response.ok) throw Object.assign(new Error(`${response.status} for ${uri}`), { status: response.status });
  return response;
}

/** The latest decryption keys, by URL. */
const keys = new Map();
const keptKeys = 16;

/** Decrypts a segment or part. RFC 8216bis §5.2: AES-128 in CBC mode. */
export async function opened(bytes, { key, sequence }, signal) {
  if (!key) return bytes;
  if (!crypto.subtle) {
    throw Object.assign(new Error("an encrypted room can be played only if this page is loaded over HTTPS or from localhost"),
      { isFinal: true, word: "needsHTTPS" });
  }
  if (!keys.has(key.uri)) {
    const raw = await (await load(key.uri, null, signal)).arrayBuffer();
    keys.set(key.uri, await crypto.subtle.importKey("raw", raw, "AES-CBC", false, ["decrypt"]));
    if (keys.size > keptKeys) keys.delete(keys.keys().next().value);
  }
  const digits = key.vector ? key.vector.slice(2) : sequence.toString(16).padStart(32, "0");
  const iv = Uint8Array.from(digits.match(/../g), (pair) => parseInt(pair, 16));
  return crypto.subtle.decrypt({ name: "AES-CBC", iv }, keys.get(key.uri), bytes);
}
