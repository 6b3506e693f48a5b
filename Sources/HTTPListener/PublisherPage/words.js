// Pure functions: stream key, problems in words, pauses, statistics.
"use strict";

/** The key in a URL's fragment, `#key=KEY`; null if there is none. A signed key may have its `?`, `&` and `=` as they are. */
function keyInFragment(fragment) {
  const text = /^#key=(.+)$/.exec(fragment)?.[1];
  if (!text) return null;
  try { return decodeURIComponent(text); } catch { return text; }
}

/** A request can only have keys of visible ASCII characters. The limit is the room's. */
const isKey = (text) => /^[\x21-\x7e]{1,512}$/.test(text);

/** Makes a sentence of a text such as "the stream key is not valid". A first word such as `ingest.codecs` keeps its case. */
function sentence(text) {
  const words = String(text ?? "").trim();
  if (!words) return "";
  const begun = /^[a-z]+(?=[\s,]|$)/.test(words) ? words[0].toUpperCase() + words.slice(1) : words;
  return /[.!?…]$/.test(begun) ? begun : `${begun}.`;
}

/** Describes a reply that is not 201. `body` is its text, which may be problem details (RFC 9457) or anything else. */
function problemOf(status, contentType, body, retryAfter) {
  let details = null;
  if (/^application\/(problem\+)?json/i.test(contentType || "")) {
    try { details = JSON.parse(body); } catch { /* not JSON: only the status is known */ }
  }
  const text = (name) => (typeof details?.[name] === "string" ? details[name] : "");
  const seconds = Number(retryAfter || NaN);
  return {
    status, title: text("title") || "Unexpected reply from the room",
    detail: sentence(text("detail")) || `The status is ${status}.`, fix: sentence(text("fix")),
    retryAfter: Number.isFinite(seconds) && seconds >= 0 ? seconds : null,
  };
}

const unreachable = {
  status: 0, title: "The room cannot be reached", detail: "There was no reply to the request.",
  fix: "Check the network and whether the room is running.", retryAfter: null,
};
const noMedia = {
  status: 0, title: "No media connection", detail: "The room accepted the request, but no connection for media was made within 10 s.",
  fix: "Check that the firewalls allow the room's ingest.webrtc.udp port, and that ingest.webrtc.publicAddresses lists the address of the room's machine.",
  retryAfter: null,
};
const closedAgain = {
  status: 0, title: "The room has closed the connection again", detail: "It did so three times within a minute.",
  fix: "Check whether another publisher uses the same stream key, then go on air again.", retryAfter: null,
};
const lost = { status: 0, title: "The connection to the room is lost", detail: "", fix: "", retryAfter: null };

/**
 * True if the same request would be refused again. After a time on air, 404 and 409 are temporary: another worker is starting, or the
 * room has not yet noticed that the previous connection is dead.
 */
function isFinal(problem, wasOnAir) {
  const { status } = problem;
  if (status < 400 || status >= 500 || status === 408 || status === 425 || status === 429) return false;
  return !(wasOnAir && (status === 404 || status === 409));
}

/** Pause (ms) before the next request after `failures` failed ones: 0.3 s, twice as long each time, at most 5 s; longer if the room asks for it. */
function pauseBefore(failures, problem) {
  const own = Math.min(5000, 300 * 2 ** Math.min(failures, 10));
  return Math.max(own, Math.min(60, problem?.retryAfter ?? 0) * 1000);
}

/** The STUN and TURN servers in `Link` fields. Spec: RFC 9725 §4.6. */
function iceServers(link) {
  const servers = [];
  for (const [, url, rest] of (link || "").matchAll(/<([^<>]*)>((?:\s*;\s*[\w-]+\s*=\s*(?:"(?:[^"\\]|\\.)*"|[^\s",;]*))*)/g)) {
    const parameters = {};
    for (const [, name, quoted, plain] of rest.matchAll(/([\w-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s",;]*))/g)) {
      parameters[name.toLowerCase()] = quoted === undefined ? plain : quoted.replace(/\\(.)/g, "$1");
    }
    if (parameters.rel !== "ice-server" || !/^(stun|turn)s?:/.test(url)) continue;
    const { username, credential } = parameters;
    servers.push(username === undefined ? { urls: url } : { urls: url, username, credential });
  }
  return servers;
}

/**
 * Reads a statistics report. `before` is the previous result, for rates. `sign` grows with every packet that arrives from the room, also
 * with answers to connectivity checks. Spec: webrtc-stats.
 */
function readStats(report, before = null) {
  const now = { at: 0, bytes: 0, sign: 0, rate: null, frames: null, width: 0, height: 0, codec: "", trip: null, loss: null, limit: "" };
  const codecs = new Map(), used = [];
  for (const item of report) {
    if (item.type === "codec") codecs.set(item.id, item.mimeType);
    else if (item.type === "outbound-rtp") {
      now.at = Math.max(now.at, item.timestamp);
      now.bytes += item.bytesSent || 0;
      used.push(item.codecId);
      if (item.kind !== "video" || item.frameWidth === undefined && now.width) continue;
      now.frames = item.framesPerSecond ?? null;
      now.width = item.frameWidth || 0;
      now.height = item.frameHeight || 0;
      now.limit = item.qualityLimitationReason || "";
    } else if (item.type === "remote-inbound-rtp") {
      now.sign += item.timestamp;
      if (Number.isFinite(item.roundTripTime)) now.trip = Math.max(now.trip ?? 0, item.roundTripTime);
      if (Number.isFinite(item.fractionLost)) now.loss = Math.max(now.loss ?? 0, item.fractionLost);
    } else if (item.type === "transport") now.sign += item.packetsReceived || 0;
    else if (item.type === "candidate-pair") {
      now.sign += (item.bytesReceived || 0) + (item.responsesReceived || 0);
      if (item.state === "succeeded" && Number.isFinite(item.currentRoundTripTime)) now.trip ??= item.currentRoundTripTime;
    }
  }
  now.codec = used.map((id) => codecText(codecs.get(id))).filter(Boolean).reverse().join(" + ");
  if (before && now.at > before.at) now.rate = Math.max(0, now.bytes - before.bytes) * 8000 / (now.at - before.at);
  return now;
}

/** Notices that the room has stopped sending. */
class SignsOfLife {
  constructor() { Object.assign(this, { sign: null, at: 0, bytes: 0, sentAt: 0, heard: 0 }); }

  /**
   * A room sends feedback several times a second while it receives media, so 1.5 s of silence mean that its worker is dead. Before the first
   * feedback, or if nothing is sent, only answers to connectivity checks arrive: then it takes 8 s. What counts is whether the browser was
   * sending at the last sign of life, because it stops sending soon after the feedback stops.
   */
  isSilent({ sign, bytes }, now) {
    if (bytes !== this.bytes) Object.assign(this, { bytes, sentAt: now });
    // It becomes smaller when the browser drops an item of its report.
    if (this.sign === null || sign > this.sign) {
      this.at = now;
      this.heard += 1;
    }
    this.sign = sign;
    const isFlowing = this.heard > 3 && this.at - this.sentAt < 1000;
    return now - this.at >= (isFlowing ? 1500 : 8000);
  }
}

const rateText = (value) => (value === null ? "–" : value >= 1e6 ? `${(value / 1e6).toFixed(2)} Mbit/s` : `${Math.round(value / 1000)} kbit/s`);
const timeText = (ms) => {
  const seconds = Math.floor(ms / 1000), two = (value) => String(value).padStart(2, "0");
  const minutes = `${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
  return seconds >= 3600 ? `${Math.floor(seconds / 3600)}:${minutes}` : minutes;
};
/** The name of a codec by its media type, such as "H.264". */
const codecText = (type = "") => ({ h264: "H.264", opus: "Opus" }[type.toLowerCase().split("/")[1]] ?? type.split("/")[1]);
const limitText = { none: "nothing", cpu: "this machine", bandwidth: "the network", other: "other" };
