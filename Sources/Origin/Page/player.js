// A small HLS player based on Media Source Extensions. It plays one video rendition and the audio group at the live edge, part by
// part if the room offers low latency.

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Headers for requests to the page's own origin, such as a token. Requests to other origins do not get them. */
const requestFields = {};

/** With these headers, the room answers 204 instead of 404 until it has a playlist: browsers log every 404 as an error. */
const waitingFields = { "Tandem-Waiting": "1" };

async function load(uri, range, signal, fields = {}) {
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
async function opened(bytes, { key, sequence }, signal) {
  if (!key) return bytes;
  if (!crypto.subtle) {
    throw Object.assign(new Error("an encrypted room can be played only if this page is loaded over HTTPS or from localhost"), { isFinal: true });
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

/** One SourceBuffer and the media playlist whose segments it plays. */
class Track {
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
    const variant = this.choose();
    if (variant !== this.variant) { this.variant = variant; this.list = null; this.map = null; this.needsKey = true; }
    let { uri } = variant;
    if (isBlocking && this.list && this.next !== null) {
      uri += `${uri.includes("?") ? "&" : "?"}_HLS_msn=${this.next}&_HLS_part=${this.part}`;
    }
    const response = await load(uri, null, signal);
    const list = parseMedia(await response.text(), response.url || uri);
    const isNew = this.list?.edge !== list.edge || list.ended;
    this.list = list;
    if (isNew) this.listedAt = performance.now();
    this.player.refreshed(this);
    return isNew;
  }

  async run(signal) {
    let failures = 0;
    while (!signal.aborted && !this.done) {
      try {
        await this.step(signal);
        failures = 0;
        this.player.recovered(this);
      } catch (error) {
        if (signal.aborted) return;
        if (error.isFinal || error.name === "QuotaExceededError" || !/TypeError|Error/.test(error.name) || this.player.source.readyState !== "open") {
          return this.player.failed(error);
        }
        failures += 1;
        this.list = null;
        // A deleted segment does not come back: continue with the next one in the playlist.
        if (error.segment && failures >= 3) { this.next = error.segment.sequence + 1; this.part = 0; }
        this.player.interrupted(this, error, failures);
        await pause(Math.min(1000, 250 * failures));
      }
    }
  }

  async step(signal) {
    if (this.choose() !== this.variant || !this.list) {
      await this.refresh(signal);
      if (this.next === null) this.begin();
    }
    const segment = this.piece();
    if (!segment) {
      this.caughtUp = true;
      this.player.appended();
      if (this.list.ended) { this.done = true; return this.player.trackDone(); }
      if (this.list.isLowLatency && this.next !== null) {
        // A server that responds at once without new media does not support blocking reload.
        if (!(await this.refresh(signal, true))) await pause(500 * this.list.partTarget);
      } else {
        await pause(500 * Math.min(this.list.targetDuration, 2));
        if (!(await this.refresh(signal))) await pause(250);
      }
      if (this.next === null) this.begin();
      // A new worker without the old state: its media sequence numbers are lower than ours.
      const last = this.list.tail || this.list.segments.at(-1);
      if (last && this.next !== null && last.sequence + 1 < this.next) this.begin();
      return;
    }
    if (this.ahead() > this.player.bufferGoal) return pause(250);
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

/** Plays a multivariant playlist in a video element. Calls `report` with events for the user interface. */
class MSEPlayer {
  static get source() { return window.ManagedMediaSource || window.MediaSource; }

  constructor(video, multivariant, report) {
    Object.assign(this, { video, report, multivariant });
    this.variants = multivariant.variants;
    this.wanted = -1;             // index of a variant; -1: chosen by throughput
    this.current = 0;
    this.throughput = 0;          // bit/s, smoothed
    this.bufferGoal = 20;         // s
    this.slack = 0;               // additional distance from the live edge in s, after stalls
    this.tracks = [];
    this.abort = new AbortController();
  }

  async start() {
    const first = this.variants[0], group = this.multivariant.audio[first.audioGroup];
    const shared = group?.find(({ isDefault }) => isDefault) || group?.[0];
    const hasOwnAudio = !(shared && shared.uri);
    const mime = (type, codecs) => `${type}${codecs.length ? `; codecs="${codecs.join(",")}"` : ""}`;
    for (const variant of this.variants) {
      variant.mime = mime("video/mp4", hasOwnAudio ? [...variant.videoCodecs, ...variant.audioCodecs] : variant.videoCodecs);
    }
    this.variants = this.variants.filter((variant) => variant.videoCodecs.length && MSEPlayer.source.isTypeSupported(variant.mime));
    if (!this.variants.length) throw new Error("this browser cannot decode any rendition of this room");
    this.source = new MSEPlayer.source();
    if (window.ManagedMediaSource) this.video.disableRemotePlayback = true;
    this.video.src = URL.createObjectURL(this.source);
    await new Promise((resolve) => this.source.addEventListener("sourceopen", resolve, { once: true }));
    URL.revokeObjectURL(this.video.src);
    // The player was stopped while the browser opened the media source.
    if (this.abort.signal.aborted) return;
    this.tracks.push(new Track(this, "video", this.variants[0].mime, () => this.variants[this.current]));
    if (!hasOwnAudio) {
      this.tracks.push(new Track(this, "audio", mime("audio/mp4", first.audioCodecs), () => shared));
    }
    for (const track of this.tracks) track.run(this.abort.signal);
    this.timer = setInterval(() => this.tick(), 250);
    // After a stall, play further from the live edge.
    this.video.addEventListener("waiting", () => {
      if (this.positioned && !this.video.seeking && this.isLowLatency) this.slack = Math.min(3, this.slack + 0.5);
    }, { signal: this.abort.signal });
  }

  stop() {
    this.abort.abort();
    clearInterval(this.timer);
    this.video.removeAttribute("src");
    this.video.load();
  }

  /** The track of the chosen rendition; undefined until the browser has opened the media source. */
  get main() { return this.tracks[0]; }
  get isLive() { return Boolean(this.main?.list) && !this.main.list.ended; }

  get isLowLatency() { return Boolean(this.main?.list?.isLowLatency); }
  /** Target distance from the live edge, in seconds. */
  get holdBack() {
    const { list } = this.main;
    return list.isLowLatency ? list.partHoldBack + this.slack : list.holdBack;
  }

  /** Media time (s) of the live edge. */
  liveEnd() {
    if (!this.main?.list || !this.main.buffer.buffered.length) return null;
    const { buffer } = this.main;
    return buffer.buffered.end(buffer.buffered.length - 1) + this.main.rest();
  }

  /** Age of the frame on screen in seconds, by its program date-time. */
  latency() {
    const anchor = this.main?.anchor;
    return anchor ? (Date.now() - anchor.date) / 1000 + anchor.media - this.video.currentTime : null;
  }

  goLive() {
    const end = this.liveEnd();
    if (end === null || !this.isLive) return;
    const target = end - this.holdBack;
    const { buffered } = this.main.buffer;
    if (buffered.end(buffered.length - 1) <= target) for (const track of this.tracks) { track.list = null; track.next = null; track.part = 0; }
    this.video.currentTime = Math.max(this.video.currentTime, target);
    this.video.play().catch(() => {});
  }

  select(index) { this.wanted = index; this.adapt(); }

  measured(bytes, ms) {
    if (bytes < 2000) return;
    const sample = (bytes * 8000) / Math.max(ms, 1);
    this.throughput = this.throughput ? 0.7 * this.throughput + 0.3 * sample : sample;
    this.adapt();
  }

  /** Selects the rendition with the highest bit rate that fits into 70 % of the throughput and is not larger than the screen needs. */
  adapt() {
    if (this.wanted >= 0) { this.current = Math.min(this.wanted, this.variants.length - 1); return; }
    if (!this.throughput) return;
    const pixels = Math.max(this.video.clientHeight, this.video.clientWidth) * (window.devicePixelRatio || 1);
    const longSide = (variant) => Math.max(variant.width, variant.height);
    const enough = Math.min(...this.variants.map(longSide).filter((side) => side >= pixels), Infinity);
    let best = null;
    this.variants.forEach((variant, index) => {
      const fits = variant.bandwidth <= 0.7 * this.throughput && longSide(variant) <= enough;
      if (fits && (best === null || variant.bandwidth > this.variants[best].bandwidth)) best = index;
    });
    if (best === null) best = this.variants.reduce((low, { bandwidth }, index, all) => (bandwidth < all[low].bandwidth ? index : low), 0);
    this.current = best;
  }

  appended() {
    const { video } = this;
    if (this.positioned || !this.tracks.every((track) => track.buffer.buffered.length)) return;
    // Both tracks have media: begin where they overlap; with low latency, at the target distance from the live edge.
    const start = Math.max(...this.tracks.map((track) => track.buffer.buffered.start(0)));
    const end = Math.min(...this.tracks.map((track) => track.buffer.buffered.end(0)));
    if (this.isLowLatency && end - start < this.holdBack && !this.tracks.every((track) => track.caughtUp)) return;
    const begin = this.isLowLatency ? Math.max(start, end - this.holdBack) : start;
    this.positioned = true;
    if (video.currentTime < begin) video.currentTime = begin + 0.001;
    this.report("positioned");
  }

  refreshed(track) { if (track === this.main) this.report(track.list.ended ? "closed" : "open"); }
  recovered(track) { if (track.troubled) { track.troubled = false; this.report("recovered"); } }
  interrupted(track, error, failures) { if (failures >= 2) { track.troubled = true; this.report("interrupted", error); } }
  failed(error) { this.report("failed", error); }

  trackDone() {
    if (this.tracks.every(({ done }) => done) && this.source.readyState === "open") this.source.endOfStream();
  }

  /** Skips gaps in the buffer and keeps the distance from the live edge. */
  tick() {
    const { video } = this, { buffered } = video;
    if (video.paused || video.seeking || !this.positioned) { this.stuckAt = null; return; }
    const end = this.liveEnd();
    if (!this.isLive) video.playbackRate = 1;
    if (end !== null && this.isLive) {
      const { holdBack } = this, { targetDuration, partTarget } = this.main.list;
      if (this.isLowLatency) {
        // The live edge has advanced since the playlist was received.
        const age = Math.min((performance.now() - this.main.listedAt) / 1000, 2 * partTarget);
        const excess = end + age - video.currentTime - holdBack;
        if (excess > Math.max(4, 2 * holdBack)) this.goLive();
        this.isCatchingUp = excess > (this.isCatchingUp ? 0.05 : 0.2);
        video.playbackRate = this.isCatchingUp ? Math.min(1.1, 1.02 + excess / 4) : excess < -0.3 ? 0.97 : 1;
        this.slack = Math.max(0, this.slack - 0.0005);
      } else {
        const behind = end - video.currentTime;
        if (behind > Math.max(15, 3 * holdBack)) this.goLive();
        video.playbackRate = behind > holdBack + 1.5 * targetDuration ? 1.06 : 1;
      }
    }
    if (video.readyState >= 3) { this.stuckAt = null; return; }
    this.stuckAt ??= performance.now();
    if (performance.now() - this.stuckAt < 750) return;
    for (let i = 0; i < buffered.length; i += 1) {
      if (buffered.start(i) > video.currentTime && buffered.end(i) > video.currentTime + 0.5) {
        video.currentTime = buffered.start(i) + 0.01;
        break;
      }
    }
    this.stuckAt = null;
  }
}
