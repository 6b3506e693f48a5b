// Requests to the control API. `requestFields` belongs to player.js, which sends the same token with its requests for media.
import { tell } from "./dom.js";

const tokenName = "tandem.token";

/** The token is kept until the tab is closed. */
export const token = {
  get value() { return sessionStorage.getItem(tokenName) || ""; },
  set value(text) { if (text) sessionStorage.setItem(tokenName, text); else sessionStorage.removeItem(tokenName); this.apply(); },
  apply() { if (this.value) requestFields.Authorization = `Bearer ${this.value}`; else delete requestFields.Authorization; },
};

export class Refusal extends Error {
  constructor(status, problem) {
    super(problem?.detail || `HTTP ${status}`);
    Object.assign(this, { status, fix: problem?.fix || "" });
  }
  get text() { return `${this.message}${this.fix ? `: ${this.fix}` : ""}`; }
}

export async function ask(path, { method = "GET", body, signal, headers = {}, type = "application/json" } = {}) {
  const response = await fetch(path, {
    method, signal, cache: "no-store", priority: method === "GET" ? "auto" : "high", body: body === undefined ? undefined : JSON.stringify(body),
    headers: { ...requestFields, ...headers, ...(body === undefined ? {} : { "Content-Type": type }) },
  });
  if (response.ok) return response;
  let problem = null;
  try { problem = await response.json(); } catch { /* no problem detail */ }
  throw new Refusal(response.status, problem);
}

/** What the page does if a command needs a token. */
export const access = { needed() {} };

/** Sends a command. Shows its error in the banner, unless the caller does so itself. */
export async function command(method, path, body, { quiet = false, ...more } = {}) {
  // With this key, a command that is repeated because its response was lost is carried out only once.
  const key = Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(36)).join("");
  const headers = { "Idempotency-Key": key, ...more.headers };
  try {
    let response;
    try { response = await ask(path, { ...more, method, body, headers }); } catch (error) {
      // Without an answer it is unknown whether the command has arrived.
      if (error instanceof Refusal) throw error;
      response = await ask(path, { ...more, method, body, headers });
    }
    if (!quiet) tell("");
    return await response.json().catch(() => ({}));
  } catch (error) {
    if (error.status === 401) access.needed();
    if (quiet) throw error;
    tell(error.text || "The room does not respond, and it is unknown whether the command was carried out.");
    return null;
  }
}

export const sourcePath = ({ uid, streamType }, verb = "", query = "") => `v1/sources/${encodeURIComponent(uid)}${verb}?streamType=${streamType}${query}`;
export const sourceKey = ({ uid, streamType }) => (!streamType || streamType === "main" ? uid : `${uid}/${streamType}`);
