// A small HLS player based on Media Source Extensions. It plays one video rendition and one audio rendition at the live edge, or
// anywhere in the playlist's window.

import { Track } from "./track.js";

/** Plays a multivariant playlist in a video element. Calls `report` with events for the user interface. */
export class MSEPlayer {
  /** Up to this time (s) behind its distance from the live edge, playback returns to it by playing faster. */
  static near = 4;

  static get source() { return window.ManagedMediaSource || window.MediaSource; }

  /**
   * `report` is called with events. `audio` is the audio rendition, null for the default one; with `isAudioOnly` no video is loaded;
   * `startDate` is where to begin (ms since 1970), null for the live edge. `wholeStart` is for rooms with lists of the whole window: it
   * returns when the window begins (ms; null: not known) if it ends at a date.
   */
  constructor(video, multivariant, report, { audio = null, isAudioOnly = false, startDate = null, wholeStart = null } = {}) {
    Object.assign(this, { video, report, multivariant, isAudioOnly, startDate, wholeWindow: wholeStart });
    this.lacksWholeUntil = 0;     // until when (performance.now) the lists of the whole window are not asked for
    /** The end of the newest live list: { date: ms, at: when it was received, depth: s, holdBack: s, isFinal }; null before that. */
    this.edge = null;
    this.audio = audio;
    this.isFollowing = startDate === null;   // keeps the distance from the live edge
    this.isHurrying = false;                 // plays faster until it is at the live edge again
    this.variants = multivariant.variants;
    this.wanted = -1;             // index of a variant; -1: chosen by throughput
    this.current = 0;
    this.throughput = 0;          // bit/s, smoothed
    this.bufferGoal = 20;         // s
    this.slack = 0;               // additional distance from the live edge in s, after stalls
    this.tracks = [];
    this.positioned = false;      // whether playback has been moved to where it begins
    this.sought = null;           // where the viewer seeks to (s) while that is not buffered
    this.abort = new AbortController();
  }

  async start() {
    const first = this.variants.find(({ videoCodecs }) => videoCodecs.length) || this.variants[0];
    const group = this.multivariant.audio[first.audioGroup];
    this.audio ||= group?.find(({ isDefault }) => isDefault) || group?.[0] || null;
    const hasOwnAudio = !(this.audio && this.audio.uri);
    const mime = (type, codecs) => `${type}${codecs.length ? `; codecs="${codecs.join(",")}"` : ""}`;
    for (const variant of this.variants) {
      variant.mime = mime("video/mp4", hasOwnAudio ? [...variant.videoCodecs, ...variant.audioCodecs] : variant.videoCodecs);
    }
    this.variants = this.variants.filter((variant) => variant.videoCodecs.length && MSEPlayer.source.isTypeSupported(variant.mime));
    if (hasOwnAudio) this.isAudioOnly = false;
    if (!this.variants.length && !this.isAudioOnly) {
      throw Object.assign(new Error("this browser cannot decode any rendition of this room"), { word: "noRendition" });
    }
    this.source = new MSEPlayer.source();
    if (window.ManagedMediaSource) this.video.disableRemotePlayback = true;
    this.video.src = URL.createObjectURL(this.source);
    await new Promise((resolve) => this.source.addEventListener("sourceopen", resolve, { once: true }));
    URL.revokeObjectURL(this.video.src);
    // The player was stopped while the browser opened the media source.
    if (this.abort.signal.aborted) return;
    if (!this.isAudioOnly) this.tracks.push(new Track(this, "video", this.variants[0].mime, () => this.variants[this.current]));
    if (!hasOwnAudio) this.tracks.push(new Track(this, "audio", mime("audio/mp4", first.audioCodecs), () => this.audio));
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
    this.video.playbackRate = 1;
    this.video.removeAttribute("src");
    this.video.load();
  }

  /** The track of the chosen rendition; undefined until the browser has opened the media source. */
  get main() { return this.tracks[0]; }
  get isLive() { return Boolean(this.main?.list) && !this.main.list.ended; }

  get isLowLatency() { return Boolean(this.main?.list?.isLowLatency); }
  /** Target distance from the live edge, in seconds. */
  get holdBack() {
    const { list, isWhole } = this.main;
    if (isWhole && this.edge) return this.edge.holdBack;
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
    if (!this.isLive) return;
    this.isFollowing = true;
    this.isHurrying = false;
    this.sought = null;
    const end = this.tracks.some(({ isWhole }) => isWhole) ? null : this.liveEnd(), { buffered } = this.main.buffer;
    const target = end === null ? Infinity : end - this.holdBack;
    if (buffered.length && buffered.end(buffered.length - 1) > target) this.video.currentTime = Math.max(this.video.currentTime, target);
    else { this.positioned = false; this.startDate = null; for (const track of this.tracks) track.seek("live"); }
    this.video.play().catch(() => {});
  }

  /** What the playlist lists, in media time (s): { start, end }, where `end` is the live edge; null if it is not known. */
  window() {
    const { main } = this, times = main?.times();
    if (!times?.length) return null;
    const age = this.isLive ? Math.min((performance.now() - main.listedAt) / 1000, 2 * main.list.targetDuration) : 0;
    const { segments, tail } = main.list;
    const rest = (tail?.parts || []).reduce((sum, { duration }) => sum + duration, 0);
    // A young playlist does not slide yet.
    const slides = this.isLive && segments[0].sequence > 0;
    const start = times[0] + (slides ? age : 0), end = times.at(-1) + segments.at(-1).duration + rest + age;
    const mediaTime = (date) => main.anchor.media + (date - main.anchor.date) / 1000;
    if (main.isWhole && this.edge) return { start, end: Math.max(end - age, mediaTime(this.edgeDate())) };
    const whole = this.edge && this.wholeStart?.(this.edgeDate());
    return { start: Number.isFinite(whole) ? Math.min(start, mediaTime(whole)) : start, end };
  }

  // MARK: Long windows

  /** See the constructor; null while the lists of the whole window are not to be had. */
  get wholeStart() { return performance.now() < this.lacksWholeUntil ? null : this.wholeWindow; }

  /** The list of the whole window is missing: for a minute, the live lists have to do. */
  lackWhole() { this.lacksWholeUntil = performance.now() + 60000; }

  /** The date (ms) of the live edge. The list of the whole window is older than the live list that was loaded before it. */
  edgeDate() {
    const { edge, main } = this, date = edge.isFinal ? edge.date : edge.date + performance.now() - edge.at;
    return main.isWhole && main.list?.endDate ? Math.min(date, main.list.endDate + 60000) : date;
  }

  /** The date (ms) at which the live list begins; −∞ if it is not known. */
  liveStart() { return this.edge ? this.edgeDate() - this.edge.depth * 1000 : -Infinity; }

  /** Whether a date (ms) has to be played from the list of the whole window. The live list moves on while the player starts there. */
  isBeforeLive(date) { return Boolean(this.wholeStart) && date !== null && date < this.liveStart() + 10000; }

  /** Whether playback begins in the list of the whole window: before the live list, or at the start of an ended room. */
  beginsInWhole(list) { return this.startDate === null ? Boolean(this.wholeStart) && list.ended : this.isBeforeLive(this.startDate); }

  noteEdge({ list, isWhole, listedAt }) {
    if (list.endDate === null || (isWhole && !list.ended)) return;
    const rest = (list.tail?.parts || []).reduce((sum, { duration }) => sum + duration, 0);
    this.edge = {
      date: list.endDate + rest * 1000, at: listedAt, isFinal: list.ended, depth: isWhole ? this.edge?.depth ?? 0 : list.duration,
      holdBack: list.isLowLatency ? list.partHoldBack : list.holdBack,
    };
  }

  /** The program date-time (ms) of a media time (s); null if it is not known. */
  dateOf(time) {
    const anchor = this.main?.anchor;
    return anchor ? anchor.date + (time - anchor.media) * 1000 : null;
  }

  /** Plays at a media time (s) within the window, or at the live edge if it is as near as that. */
  seek(time) {
    const window = this.window();
    if (!window) return;
    if (this.isLive && time > window.end - this.holdBack - 1) return this.goLive();
    this.isFollowing = false;
    this.isHurrying = false;
    const target = Math.min(Math.max(time, window.start + 0.1), window.end - 0.1);
    const isBuffered = this.tracks.every(({ buffer: { buffered } }) => {
      for (let i = 0; i < buffered.length; i += 1) if (target >= buffered.start(i) && target < buffered.end(i) - 0.1) return true;
      return false;
    });
    if (!isBuffered) for (const track of this.tracks) track.seek(target);
    this.sought = isBuffered ? null : target;
    this.video.currentTime = target;
  }

  /** Plays faster until the live edge is reached. */
  hurry() { if (this.isLive && !this.isFollowing) this.isHurrying = true; }

  /** Called when playback continues after a pause: it stays where it was if that is well behind the live edge. */
  resumed() {
    const window = this.window();
    if (this.isLive && window && window.end - this.video.currentTime > this.holdBack + MSEPlayer.near) this.isFollowing = false;
  }

  /** Changes the audio rendition. */
  selectAudio(audio) {
    const track = this.tracks.find(({ kind }) => kind === "audio");
    if (!track || !audio?.uri || audio === this.audio) return;
    this.audio = audio;
    track.seek(this.video.currentTime);
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

  /** Seeks again when the media is there: browsers seek no further than to the end of what was buffered before. */
  settle() {
    const { video, tracks } = this;
    if (this.sought === null || !tracks.every((track) => track.target === null && track.buffer.buffered.length)) return;
    const time = Math.max(this.sought, ...tracks.map(({ buffer: { buffered } }) => buffered.start(0)));
    if (tracks.some(({ buffer: { buffered } }) => time >= buffered.end(buffered.length - 1))) return;
    this.sought = null;
    if (Math.abs(video.currentTime - time) > 0.1) video.currentTime = time + 0.001;
  }

  appended() {
    const { video } = this;
    this.settle();
    if (this.positioned || !this.tracks.every((track) => track.target === null && track.buffer.buffered.length)) return;
    // Both tracks have media: begin where they overlap; with low latency, at the target distance from the live edge.
    const start = Math.max(...this.tracks.map((track) => track.buffer.buffered.start(0)));
    const end = Math.min(...this.tracks.map((track) => track.buffer.buffered.end(0)));
    if (this.startDate === null && this.isLowLatency && end - start < this.holdBack && !this.tracks.every((track) => track.caughtUp)) return;
    let begin = this.isLowLatency ? Math.max(start, end - this.holdBack) : start;
    if (this.startDate !== null) begin = Math.max(start, this.main.anchor ? this.main.anchor.media + (this.startDate - this.main.anchor.date) / 1000 : start);
    this.positioned = true;
    this.startDate = null;
    if (video.currentTime < begin) video.currentTime = begin + 0.001;
    this.report("positioned");
  }

  refreshed(track) {
    this.noteEdge(track);
    if (track === this.main) this.report(track.list.ended ? "closed" : "open");
  }
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
    else if (!this.isFollowing) this.shifted();
    else if (end !== null) this.follow(end);
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
  /** Keeps the distance from the live edge `end` (s). */
  follow(end) {
    const { video, holdBack } = this, { targetDuration, partTarget } = this.main.list;
    if (this.isLowLatency) {
      // The live edge has advanced since the playlist was received.
      const age = Math.min((performance.now() - this.main.listedAt) / 1000, 2 * partTarget);
      const excess = end + age - video.currentTime - holdBack;
      if (excess > Math.max(MSEPlayer.near, 2 * holdBack)) this.goLive();
      this.isCatchingUp = excess > (this.isCatchingUp ? 0.05 : 0.2);
      video.playbackRate = this.isCatchingUp ? Math.min(1.1, 1.02 + excess / 4) : excess < -0.3 ? 0.97 : 1;
      this.slack = Math.max(0, this.slack - 0.0005);
    } else {
      const behind = end - video.currentTime;
      if (behind > Math.max(15, 3 * holdBack)) this.goLive();
      video.playbackRate = behind > holdBack + 1.5 * targetDuration ? 1.06 : 1;
    }
  }

  /** Plays behind the live edge: at normal speed, or faster if the viewer wants to catch up. */
  shifted() {
    const { video } = this, window = this.window();
    if (!window) return;
    // What was to be played next is no longer listed.
    if (video.currentTime < window.start - this.main.list.targetDuration && !this.main.buffer.updating && this.main.target === null) {
      return this.seek(window.start + this.main.list.targetDuration);
    }
    if (window.end - video.currentTime <= this.holdBack + 0.5) { this.isFollowing = true; this.isHurrying = false; }
    video.playbackRate = this.isHurrying ? 1.5 : 1;
  }
}
