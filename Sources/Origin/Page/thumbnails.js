// Thumbnails of the broadcast for the seek bar: a WebVTT index of rectangles in image sheets.

import { waitingFields } from "./requests.js";

const seconds = (text) => text.split(":").reduce((sum, part) => sum * 60 + Number(part), 0);

/** Parses the index: { start, end } in seconds since the start of the program, and the rectangle of an image. */
export function parseThumbnails(text, base) {
  const cues = [];
  for (const match of text.matchAll(/^([\d:.]+) --> ([\d:.]+)[^\n]*\n([^\n#]+)#xywh=(\d+),(\d+),(\d+),(\d+)/gm)) {
    const [x, y, width, height] = match.slice(4).map(Number);
    cues.push({ start: seconds(match[1]), end: seconds(match[2]), url: new URL(match[3].trim(), base).href, x, y, width, height });
  }
  // A sheet gets another address with each thumbnail that is added to it.
  const counts = {};
  for (const cue of cues) counts[cue.url] = (counts[cue.url] || 0) + 1;
  const { search } = new URL(base);
  for (const cue of cues) cue.image = `${cue.url}${search ? `${search}&` : "?"}v=${counts[cue.url]}`;
  return cues;
}

export class Thumbnails {
  /** How long (ms) an index is used before it is loaded again. */
  static age = 10000;

  constructor(url) { Object.assign(this, { url, cues: [], loadedAt: -Infinity }); }

  /** Loads the index if it is not there or old. Call it before thumbnails are shown. */
  async refresh() {
    if (!this.url || performance.now() - this.loadedAt < Thumbnails.age) return;
    this.loadedAt = performance.now();
    try {
      const response = await fetch(this.url, { headers: waitingFields, cache: "no-cache" });
      if (response.status === 200) this.cues = parseThumbnails(await response.text(), this.url);
    } catch { /* the seek bar works without pictures */ }
  }

  /** The thumbnail at a time in seconds since the start of the program; null for none. */
  at(time) { return this.cues.findLast(({ start }) => start <= time) || null; }
}
