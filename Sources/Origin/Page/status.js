// The room's status: what the room says about itself at status.json.

import { load, pause } from "./requests.js";

export class RoomStatus {
  /** How often to ask (ms) while the room plays. */
  static pace = 3000;

  /** `heard` is called with each status that differs from the one before. */
  constructor(url, heard) {
    Object.assign(this, { url, heard, latest: null, isKnown: true, isWatching: false });
  }

  /** Asks once. Returns the status; null if the server has none. Throws if the room cannot be reached. */
  async ask() {
    if (!this.isKnown) return null;
    let response;
    try { response = await load(this.url); } catch (error) {
      // A server of the same files that is no worker has no status.
      if (error.status === 404 || error.status === 403) { this.isKnown = false; return null; }
      throw error;
    }
    if (!/json/.test(response.headers.get("Content-Type") || "")) { this.isKnown = false; return null; }
    const status = await response.json();
    const start = status.programStart ? Date.parse(status.programStart) : NaN;
    const before = this.latest?.state;
    this.latest = { state: status.state, playable: Boolean(status.playable), start: Number.isFinite(start) ? start : null };
    if (before !== this.latest.state) this.heard(this.latest.state);
    return this.latest;
  }

  /** Asks again and again while the page is visible, until the room has ended. */
  async watch() {
    if (this.isWatching) return;
    this.isWatching = true;
    while (this.isKnown && this.isWatching && this.latest?.state !== "ended") {
      await pause(RoomStatus.pace);
      if (document.hidden || !this.isWatching) continue;
      // The player reports a room that cannot be reached.
      try { await this.ask(); } catch { await pause(RoomStatus.pace); }
    }
    this.isWatching = false;
  }

  /** Ends `watch`: nothing changes any more. */
  stop() { this.isWatching = false; }
}
