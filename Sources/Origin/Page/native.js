// NativePlayer: the browser's own HLS player, with the interface of MSEPlayer.

import { parseMedia } from "./playlist.js";
import { load, pause } from "./requests.js";

/** URLs that the browser's native player has requested recently. */
const fetched = [];
try {
  new PerformanceObserver((list) => {
    for (const { name, initiatorType } of list.getEntries()) {
      if (initiatorType === "video" && fetched.push(name) > 40) fetched.shift();
    }
  }).observe({ type: "resource", buffered: true });
} catch { /* without it, the latency is known only if the browser reports the program date-time */ }

export class NativePlayer {
  static canPlay(video) { return Boolean(video.canPlayType("application/vnd.apple.mpegurl")); }

  /** True in Safari: its native player supports parts and is the only one that reports the program date-time. Chromium's native player starts three segments behind the live edge. */
  static isPreferred(video) { return this.canPlay(video) && typeof video.getStartDate === "function"; }

  constructor(video, multivariant, url, report) {
    Object.assign(this, { video, multivariant, url, report, edge: null, isOver: false, isHurrying: false });
  }

  start() {
    this.video.src = this.url;
    this.report("positioned");
    this.watch();
  }

  stop() {
    this.isOver = true;
    this.video.removeAttribute("src");
    this.video.load();
  }

  /** The page also reads a media playlist: latency and window follow from its program date-times. */
  async watch() {
    // All renditions have the same audio, so audio segments show the browser's position whichever rendition it has chosen.
    const sound = Object.values(this.multivariant.audio).flat().find(({ uri }) => uri);
    const { uri } = sound || this.multivariant.variants[0];
    let failures = 0;
    while (!this.isOver) {
      try {
        this.note(parseMedia(await (await load(uri)).text(), uri));
        if (this.isOver) return;
        this.report(this.edge.ended ? "closed" : "open");
        if (failures > 1) this.report("recovered");
        if (this.edge.ended) return;
        failures = 0;
        await pause(Math.max(1000, this.edge.targetDuration * 500));
      } catch (error) {
        failures += 1;
        if (failures > 1 && !this.isOver) this.report("interrupted", error);
        await pause(1000);
      }
    }
  }

  /**
   * Finds the date (ms) of media time zero. The newest requested segment ends where the buffer ends, or later if the browser has not
   * appended it yet. So the smallest of the latest differences is the right one.
   */
  note(list) {
    const { buffered } = this.video, samples = this.edge?.samples || [];
    const newest = list.segments.findLast((segment) => fetched.includes(segment.uri));
    if (newest && newest.date !== null && buffered.length) {
      samples.push(newest.date + newest.duration * 1000 - buffered.end(buffered.length - 1) * 1000);
      if (samples.length > 12) samples.shift();
    }
    this.edge = { ...list, samples };
  }

  /** The date (ms) of media time zero; NaN if it is not known. */
  zero() {
    const date = this.video.getStartDate?.().getTime();
    if (Number.isFinite(date)) return date;
    return this.edge?.samples.length ? Math.min(...this.edge.samples) : NaN;
  }

  get isLive() { return Boolean(this.edge) && !this.edge.ended; }
  get holdBack() { return this.edge?.holdBack ?? 9; }
  get isFollowing() {
    const end = this.liveEnd();
    return end === null || end - this.video.currentTime < this.holdBack + 4;
  }

  latency() {
    const zero = this.zero();
    return Number.isFinite(zero) ? (Date.now() - zero) / 1000 - this.video.currentTime : null;
  }

  liveEnd() {
    const { seekable, buffered } = this.video;
    if (seekable.length && Number.isFinite(seekable.end(0))) return seekable.end(seekable.length - 1);
    return buffered.length ? buffered.end(buffered.length - 1) : null;
  }

  window() {
    const { seekable } = this.video;
    if (!seekable.length || !Number.isFinite(seekable.end(seekable.length - 1))) return null;
    return { start: seekable.start(0), end: seekable.end(seekable.length - 1) };
  }

  dateOf(time) {
    const zero = this.zero();
    return Number.isFinite(zero) ? zero + time * 1000 : null;
  }

  seek(time) { this.video.currentTime = time; }

  goLive() {
    const end = this.liveEnd();
    if (end === null || !this.edge) return;
    this.video.playbackRate = 1;
    this.isHurrying = false;
    this.video.currentTime = Math.max(this.video.currentTime, end - this.holdBack);
    this.video.play().catch(() => {});
  }

  hurry() {
    if (this.isFollowing) return;
    this.isHurrying = true;
    this.video.playbackRate = 1.5;
    const timer = setInterval(() => {
      if (this.isHurrying && !this.isFollowing && !this.isOver) return;
      clearInterval(timer);
      this.isHurrying = false;
      this.video.playbackRate = 1;
    }, 500);
  }

  resumed() {}
  select() {}
  selectAudio() {}
}
