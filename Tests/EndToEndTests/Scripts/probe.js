// Put into every page before its own scripts: watches its video element, whichever player uses it, and keeps what a test asks
// for in `probe`. Times are milliseconds since the page was opened, media times seconds.
"use strict";
const probe = window.probe = {
  errors: [], waits: [], sizes: [], clock: [], latency: [], rates: [], late: [], id3: 0,
  // With `everyPicture`: where the clock lay in the picture each time it moved, and the cues, by ID and key.
  everyPicture: false, pane: null, layouts: [], ranges: {},
  firstPicture: null, startedAt: null, longestStandstill: 0, longestPictureGap: 0, unread: 0,
  now: () => Math.round(performance.now()),
  // Size of the pattern whose clock is read, and where it may lie in the picture (fractions of the picture).
  pattern: { width: 1280, height: 720 },
  panes: [{ x: 0, y: 0, w: 1, h: 1 }, { x: -0.25, y: 0, w: 1, h: 1 }, { x: 0.25, y: 0, w: 1, h: 1 }],
  tileEvery: 0,
};

// The clock of PatternClock.swift.
probe.readClock = (video) => {
  const { width, height } = probe.pattern, cells = 30, unit = 4;
  const side = Math.max(4, Math.min(Math.floor(width / 64), Math.floor(height / 24)) & ~1);
  const left = ((width - side * cells) >> 1) & ~1, top = ((Math.floor(height * 78 / 100) & ~1) + Math.floor(side * 3 / 2)) & ~1;
  const canvas = probe.strip ||= Object.assign(document.createElement("canvas"), { width: cells * unit, height: unit });
  const context = canvas.getContext("2d", { willReadFrequently: true });
  for (const [index, pane] of probe.panes.entries()) {
    const across = pane.w * video.videoWidth / width, down = pane.h * video.videoHeight / height;
    context.drawImage(video, pane.x * video.videoWidth + left * across, pane.y * video.videoHeight + top * down,
      side * cells * across, side * down, 0, 0, cells * unit, unit);
    const { data } = context.getImageData(0, 0, cells * unit, unit);
    const light = Array.from({ length: cells }, (_, cell) => {
      const at = 4 * (unit * cells + cell * unit + 1), below = at + 4 * unit * cells;
      return (data[at + 1] + data[at + 5] + data[below + 1] + data[below + 5]) / 4;
    });
    // Black or white: what lies between is no clock.
    if (light[0] < 128 || light[1] > 128 || light.some((value) => value > 80 && value < 175)) continue;
    const bits = light.map((value) => (value > 128 ? 1 : 0));
    const value = parseInt(bits.slice(2, 22).join(""), 2), check = parseInt(bits.slice(22).join(""), 2);
    let sum = 0x5a;
    for (let index = 0; index < 5; index += 1) sum += ((value >> (4 * index)) & 15) * (34 * index + 11);
    if ((sum & 255) === check) { probe.pane = index; return value; }
  }
  return null;
};

// Media times: of the picture that has the clock in another pane than the picture before it, whose time is kept, too; of
// each cue its start, when it was there first and when it was active first.
probe.follow = (video, mediaTime) => {
  if (probe.readClock(video) !== null) {
    const last = probe.layouts.at(-1);
    if (!last || last.pane !== probe.pane) probe.layouts.push({ pane: probe.pane, at: mediaTime, before: probe.lastRead ?? null });
    probe.lastRead = mediaTime;
  }
  for (const track of video.textTracks) {
    for (const cue of track.cues || []) {
      const { id, startTime, value } = cue, { key, data } = value || {};
      const range = probe.ranges[`${id} ${key}`] ||= { id, key, data: String(data), there: video.currentTime, active: null };
      range.start = startTime;
      if (range.active === null && [...track.activeCues].includes(cue)) range.active = video.currentTime;
    }
  }
};

probe.tile = (video) => {
  const across = 6, width = 192, height = 108, limit = 60;
  const canvas = probe.sheet ||= Object.assign(document.createElement("canvas"), { width: across * width, height: height * limit / across });
  probe.tiles = (probe.tiles || 0) + 1;
  if (probe.tiles > limit) return;
  const index = probe.tiles - 1;
  canvas.getContext("2d").drawImage(video, index % across * width, Math.floor(index / across) * height, width - 2, height - 2);
};

probe.watch = (video) => {
  probe.video = video;
  let lastPicture = null, lastClock = 0, lastTile = 0, open = null;
  const progress = () => { if (open) { open.seconds = (probe.now() - open.at) / 1000; open = null; } };
  video.addEventListener("playing", () => { probe.startedAt ??= probe.now(); progress(); });
  video.addEventListener("timeupdate", () => { if (video.readyState >= 3) progress(); });
  video.addEventListener("waiting", () => {
    // Browsers begin as soon as the first pictures are there, and may wait once more: that is still the start.
    if (probe.startedAt === null || video.seeking || video.ended) return;
    open = { at: probe.now(), media: video.currentTime, seconds: null, isStart: video.currentTime - probe.firstMedia < 0.5 };
    probe.waits.push(open);
  });
  video.addEventListener("resize", () => probe.sizes.push(`${video.videoWidth}x${video.videoHeight}`));
  video.addEventListener("error", () => { if (video.error) probe.errors.push({ at: probe.now(), type: "video", details: `${video.error.code} ${video.error.message}`, fatal: true }); });
  const picture = (now, data) => {
    video.requestVideoFrameCallback(picture);
    const at = performance.now();
    if (probe.firstPicture === null) { probe.firstPicture = Math.round(at); probe.firstMedia = data.mediaTime; }
    if (lastPicture !== null) probe.longestPictureGap = Math.max(probe.longestPictureGap, at - lastPicture);
    lastPicture = at;
    if (probe.everyPicture) probe.follow(video, data.mediaTime);
    if (at - lastClock >= 100) {
      lastClock = at;
      const shown = Date.now(), clock = probe.readClock(video);
      if (clock === null) probe.unread += 1;
      else probe.clock.push(((shown - clock) % 2 ** 20 + 2 ** 20) % 2 ** 20 / 1000);
      if (window.hls) probe.latency.push(window.hls.latency);
      probe.rates.push(video.playbackRate);
    }
    if (probe.tileEvery && at - lastTile >= probe.tileEvery) { lastTile = at; probe.tile(video); }
  };
  video.requestVideoFrameCallback(picture);
  let lastTime = -1, moved = performance.now();
  setInterval(() => {
    const now = performance.now();
    if (video.currentTime !== lastTime || probe.startedAt === null || video.paused || video.ended) { lastTime = video.currentTime; moved = now; }
    probe.longestStandstill = Math.max(probe.longestStandstill, now - moved);
  }, 50);
};

/** Forgets the samples so far: what is measured is what comes from here on. */
probe.mark = () => {
  Object.assign(probe, { clock: [], latency: [], rates: [], waits: [], unread: 0, longestStandstill: 0, longestPictureGap: 0 });
};

probe.report = () => {
  const { video } = probe, quality = video?.getVideoPlaybackQuality?.();
  const cues = [...(video?.textTracks || [])].flatMap((track) => {
    track.mode = track.mode === "disabled" ? "hidden" : track.mode;
    return [...(track.cues || [])].map((cue) => `${track.kind}/${cue.type || ""}/${cue.value?.key || ""}`);
  });
  const buffered = video?.buffered, last = (buffered?.length || 0) - 1;
  return JSON.stringify({
    now: probe.now(), time: (video?.currentTime ?? 0) - (probe.firstMedia ?? 0), paused: video?.paused, ready: video?.readyState, ended: video?.ended,
    ahead: last >= 0 ? buffered.end(last) - video.currentTime : 0, size: `${video?.videoWidth}x${video?.videoHeight}`,
    decoded: quality?.totalVideoFrames ?? 0, dropped: quality?.droppedVideoFrames ?? 0, corrupted: quality?.corruptedVideoFrames ?? 0,
    errors: probe.errors, waits: probe.waits, sizes: probe.sizes, clock: probe.clock, latency: probe.latency,
    rates: probe.rates, unread: probe.unread, id3: probe.id3, cues, firstPicture: probe.firstPicture, startedAt: probe.startedAt,
    longestStandstill: Math.round(probe.longestStandstill), longestPictureGap: Math.round(probe.longestPictureGap),
    target: window.hls?.targetLatency ?? null, layouts: probe.layouts, ranges: Object.values(probe.ranges),
  });
};

addEventListener("error", (event) => probe.errors.push({ at: probe.now(), type: "script", details: event.message }));
addEventListener("unhandledrejection", (event) => probe.errors.push({ at: probe.now(), type: "promise", details: String(event.reason) }));
new MutationObserver((_, observer) => {
  const video = document.querySelector("video");
  if (video) { observer.disconnect(); probe.watch(video); }
}).observe(document, { childList: true, subtree: true });
