// A track: one SourceBuffer and the media playlist that it plays, part by part if the room offers low latency.

import { needsWhole, parseMedia, wholeURI } from "./playlist.js";
import { load, opened, pause } from "./requests.js";

/** One SourceBuffer and the media playlist whose segments it plays. */
export class Track {
  /** A list is loaded again after this time (ms) while nothing more is appended. */
  static age = 4000;
  /** The same for the list of a long window, which is large and written every 30 s. */
  static wholeAge = 30000;

  constructor(player, kind, mime, choose) {
    Object.assign(this, { player, kind, mime, choose });
    this.buffer = player.source.addSourceBuffer(mime);
    this.next = null;      // media sequence number of the next segment to append
    this.part = 0;         // index of the next part to append, within that segment
    this.needsKey = true;  // the next part must begin with a key frame
    this.caughtUp = false; // whether everything in the playlist has been appended
    this.list = null;      // latest playlist
    this.listedAt = 0;     // when it was received
    this.variant = null;   // the variant of the playlist
    this.map = null;       // the initialization segment that was appended last
    this.anchor = null;    // { media: s, date: ms } of the end of the last appended segment
    this.done = false;
    this.target = null;    // where to go on: a media time (s), or "live"; null: after what was appended last
    this.attempt = null;   // aborts the requests of the current step
    this.isWhole = false;  // whether it plays from the list of the whole window instead of the live list
    this.leftWholeAt = -Infinity;  // when it last returned to the live list
  }

  /** What to play: the chosen rendition, with the address of the list that it is played from. */
  chosen() {
    const variant = this.choose();
    return this.isWhole ? (variant.whole ||= { ...variant, uri: wholeURI(variant.uri) }) : variant;
  }

  update(change) {
    return new Promise((resolve, reject) => {
      const failed = () => { this.buffer.removeEventListener("updateend", finished); reject(new Error("the browser rejected the media data")); };
      const finished = () => { this.buffer.removeEventListener("error", failed); resolve(); };
      this.buffer.addEventListener("updateend", finished, { once: true });
      this.buffer.addEventListener("error", failed, { once: true });
      try { change(); } catch (error) {
        this.buffer.removeEventListener("updateend", finished);
        this.buffer.removeEventListener("error", failed);
        reject(error);
      }
    });
  }

  async append(bytes) {
    for (let attempt = 0; ; attempt += 1) {
      try { return await this.update(() => this.buffer.appendBuffer(bytes)); } catch (error) {
        if (error.name !== "QuotaExceededError" || attempt === 3) throw error;
        await this.evict(5 - attempt);
        await pause(500);
      }
    }
  }

  /** Removes media more than `keep` seconds before the playback position. */
  async evict(keep) {
    const { buffered } = this.buffer, limit = this.player.video.currentTime - keep;
    if (buffered.length && limit > buffered.start(0) + 1) await this.update(() => this.buffer.remove(0, limit));
  }

  ahead() {
    const { buffered } = this.buffer, now = this.player.video.currentTime;
    for (let i = 0; i < buffered.length; i += 1) {
      if (now < buffered.end(i) && now >= buffered.start(i) - 0.5) return buffered.end(i) - now;
    }
    // The media begins after the playback position: the room has run for a long time and the player is not positioned yet.
    const last = buffered.length - 1;
    return last >= 0 && buffered.start(last) > now ? buffered.end(last) - buffered.start(last) : 0;
  }

  /**
   * Chooses where to begin: at the start if the room has ended, otherwise about the hold-back before the live edge, at a part that
   * begins with a key frame or at a segment.
   */
  begin() {
    const { segments, tail, holdBack, partHoldBack, isLowLatency, ended } = this.list;
    this.part = 0;
    this.needsKey = true;
    const { startDate } = this.player;
    if (startDate !== null && segments.length) {
      const index = segments.findLastIndex(({ date }) => date !== null && date <= startDate);
      this.next = segments[Math.max(0, index)].sequence;
      return;
    }
    if (isLowLatency) {
      const parts = [...segments.flatMap((segment) => segment.parts), ...(tail?.parts || [])];
      let rest = 0;
      for (const { duration, isIndependent, sequence, index } of parts.reverse()) {
        rest += duration;
        if (rest < partHoldBack || !isIndependent) continue;
        this.next = sequence;
        this.part = index;
        return;
      }
    }
    if (!segments.length) { this.next = null; return; }
    let rest = 0, index = ended ? 0 : segments.length - 1;
    for (; index > 0; index -= 1) {
      rest += segments[index].duration;
      if (rest >= holdBack) break;
    }
    this.next = segments[index].sequence;
  }

  /** Goes on at a media time (s), or at the live edge ("live"). What is buffered is removed. */
  seek(target) {
    this.target = target;
    this.attempt?.abort();
    if (this.done) { this.done = false; this.run(this.player.abort.signal); }
  }

  async move(signal) {
    const { target, player } = this;
    this.isWhole = target !== "live" && player.isBeforeLive(player.dateOf(target));
    await this.refresh(signal);
    const { segments } = this.list, times = this.times();
    if (this.buffer.buffered.length) await this.update(() => this.buffer.remove(0, Infinity));
    this.part = 0;
    this.needsKey = true;
    this.caughtUp = false;
    const index = target === "live" || !times ? -1 : times.findLastIndex((time) => time <= target + 0.01);
    if (index >= 0) this.next = segments[index].sequence;
    else if (target === "live" || !segments.length) this.begin();
    else this.next = segments[0].sequence;
    if (this.target === target) this.target = null;
  }

  /** Media times (s) at which the listed segments begin; null if they are not known. */
  times() {
    const { list, anchor } = this;
    if (!list || !anchor || list.segments.some(({ date }) => date === null)) return null;
    return list.segments.map(({ date }) => anchor.media + (date - anchor.date) / 1000);
  }

  /** The next segment or part; null if it is not listed yet. */
  piece() {
    if (this.next === null) return null;
    const { segments, tail } = this.list;
    for (const segment of segments) {
      if (segment.sequence < this.next) continue;
      if (segment.sequence > this.next) { this.next = segment.sequence; this.part = 0; }
      // The whole segment, if its parts are no longer listed or if playback starts at its beginning.
      if (!this.part || !segment.parts.length) return segment;
      if (this.part < segment.parts.length) return this.decodable(segment.parts);
      this.next += 1;
      this.part = 0;
    }
    if (!tail || tail.sequence !== this.next || this.part >= tail.parts.length) return null;
    return this.decodable(tail.parts);
  }

  /** The current part; after a change of rendition, the latest part up to it that begins with a key frame. */
  decodable(parts) {
    while (this.needsKey && this.part > 0 && !parts[this.part].isIndependent) this.part -= 1;
    return parts[this.part];
  }

  /** Seconds of media that are listed but not appended yet. */
  rest() {
    const { segments, tail } = this.list;
    const whole = segments.filter(({ sequence }) => sequence > this.next || (sequence === this.next && !this.part));
    const begun = [...segments, ...(tail ? [tail] : [])].find(({ sequence }) => sequence === this.next);
    const parts = this.part && begun ? begun.parts.slice(this.part) : [];
    const making = tail && (tail !== begun || !this.part) ? tail.parts : [];
    return [...whole, ...parts, ...making].reduce((sum, { duration }) => sum + duration, 0);
  }

  /** Loads the playlist. With `isBlocking` the server responds when the next part is available (RFC 8216bis §6.2.5.2). */
  async refresh(signal, isBlocking = false) {
    const variant = this.chosen(), isOther = variant !== this.variant;
    let { uri } = variant;
    if (isBlocking && !isOther && this.list && this.next !== null) {
      uri += `${uri.includes("?") ? "&" : "?"}_HLS_msn=${this.next}&_HLS_part=${this.part}`;
    }
    let response;
    try { response = await load(uri, null, signal); } catch (error) { throw Object.assign(error, { isWholeList: this.isWhole }); }
    const list = parseMedia(await response.text(), response.url || uri);
    const isNew = isOther || this.list?.edge !== list.edge || list.ended;
    if (isOther) { this.variant = variant; this.map = null; this.needsKey = true; }
    this.list = list;
    this.loadedAt = performance.now();
    if (isNew) this.listedAt = this.loadedAt;
    this.player.refreshed(this);
    return isNew;
  }

  async run(signal) {
    let failures = 0;
    while (!signal.aborted && !this.done) {
      const attempt = this.attempt = new AbortController();
      const leave = () => attempt.abort();
      signal.addEventListener("abort", leave);
      try {
        if (this.target !== null) await this.move(attempt.signal);
        else await this.step(attempt.signal);
        failures = 0;
        this.player.recovered(this);
      } catch (error) {
        if (signal.aborted) return;
        if (attempt.signal.aborted) continue;
        if (error.isFinal || error.name === "QuotaExceededError" || !/TypeError|Error/.test(error.name) || this.player.source.readyState !== "open") {
          return this.player.failed(error);
        }
        failures += 1;
        this.list = null;
        // The room, or a server before it, has no list of the whole window. One that was there may come back.
        const isMissing = error.isWholeList && error.status >= 400 && error.status < 500 && error.status !== 429;
        if (isMissing && failures >= (this.chosen() === this.variant ? 10 : 1)) { this.isWhole = false; this.player.lackWhole(); }
        // A deleted segment does not come back: continue with the next one in the playlist.
        if (error.segment && failures >= 3) { this.next = error.segment.sequence + 1; this.part = 0; }
        this.player.interrupted(this, error, failures);
        await pause(Math.min(1000, 250 * failures));
      } finally { signal.removeEventListener("abort", leave); }
    }
  }

  /** Changes to the list that has the next segment, if the room has a long window. Returns whether it has. */
  changesList() {
    const { player, isWhole } = this;
    // The other track has found that there are no such lists.
    if (!player.wholeStart) { this.isWhole = false; return isWhole; }
    if (needsWhole(this.list, isWhole, this.next, player.liveStart()) === isWhole) return false;
    // A viewer at the live edge who has fallen behind returns to it. Lists that do not fit together must not make the player change forever.
    if (!isWhole && ((player.isFollowing && !player.video.paused) || performance.now() - this.leftWholeAt < 5000)) return false;
    if (isWhole) this.leftWholeAt = performance.now();
    this.isWhole = !isWhole;
    return true;
  }

  async step(signal) {
    if (this.chosen() !== this.variant || !this.list) {
      await this.refresh(signal);
      if (this.next === null && !this.isWhole && this.player.beginsInWhole(this.list)) { this.isWhole = true; return; }
      if (this.next === null) this.begin();
    }
    if (this.changesList()) return;
    const segment = this.piece();
    if (!segment) {
      this.caughtUp = true;
      this.player.appended();
      if (this.list.ended) { this.done = true; return this.player.trackDone(); }
      if (this.list.isLowLatency && this.next !== null) {
        // A server that responds at once without new media does not support blocking reload.
        if (!(await this.refresh(signal, true))) await pause(500 * this.list.partTarget);
      } else {
        await pause(this.isWhole ? Track.wholeAge / 3 : 500 * Math.min(this.list.targetDuration, 2));
        if (!(await this.refresh(signal))) await pause(250);
      }
      if (this.next === null) this.begin();
      // A new worker without the old state: its media sequence numbers are lower than ours.
      const last = this.list.tail || this.list.segments.at(-1);
      if (last && this.next !== null && last.sequence + 1 < this.next) this.begin();
      return;
    }
    if (this.ahead() > this.player.bufferGoal) {
      // The seek bar shows the window of this list.
      const age = !this.isWhole ? Track.age : this.player.video.paused ? Infinity : Track.wholeAge;
      return performance.now() - this.loadedAt > age && !this.list.ended ? this.refresh(signal) : pause(250);
    }
    if (segment.gap) { this.advance(segment); return; }
    try {
      const key = segment.map && segment.map.uri + (segment.map.range || "");
      if (segment.map && key !== this.map) {
        const response = await load(segment.map.uri, segment.map.range, signal);
        if (this.variant.mime && this.variant.mime !== this.mime && this.buffer.changeType) {
          this.buffer.changeType(this.variant.mime);
          this.mime = this.variant.mime;
        }
        await this.append(await response.arrayBuffer());
        this.map = key;
      }
      const begun = performance.now();
      const bytes = await (await load(segment.uri, segment.range, signal)).arrayBuffer();
      this.player.measured(bytes.byteLength, performance.now() - begun);
      await this.append(await opened(bytes, segment, signal));
    } catch (error) {
      if (error.status === 404 || error.status === 410) error.segment = segment;
      throw error;
    }
    this.needsKey = false;
    this.advance(segment);
    const { buffered } = this.buffer;
    if (buffered.length && segment.date !== null) {
      this.anchor = { media: buffered.end(buffered.length - 1), date: segment.date + segment.duration * 1000 };
    }
    this.player.appended();
    if (this.ahead() >= 0) await this.evict(30);
  }

  /** Moves on to what follows a segment or a part. */
  advance({ sequence, index }) {
    this.next = index === undefined ? sequence + 1 : sequence;
    this.part = index === undefined ? 0 : index + 1;
  }
}
