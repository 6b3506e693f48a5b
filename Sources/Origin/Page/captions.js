// Captions: plays a subtitle rendition of the playlist (segments of WebVTT) as a text track.

import { NativePlayer } from "./native.js";
import { parseMedia } from "./playlist.js";
import { load, opened, pause } from "./requests.js";

const seconds = (text) => text.split(":").reduce((sum, part) => sum * 60 + Number(part), 0);

/** Parses a segment of WebVTT: cues with media times (s). RFC 8216 §3.5: X-TIMESTAMP-MAP maps the times of the cues to those of the media. */
export function parseCues(text) {
  const map = text.match(/X-TIMESTAMP-MAP=([^\n\r]*)/)?.[1] || "";
  const local = map.match(/LOCAL:([\d:.]+)/)?.[1], ticks = map.match(/MPEGTS:(\d+)/)?.[1];
  let shift = local && ticks ? Number(ticks) / 90000 - seconds(local) : 0;
  // MPEG-2 times have 33 bits, those of the media do not start again at 0.
  const wrap = 2 ** 33 / 90000;
  if (shift < -1) shift += Math.ceil((-1 - shift) / wrap) * wrap;
  // A cue that spans segments must get the same times from each of them.
  shift = Math.round(shift * 1e6) / 1e6;
  const cues = [];
  for (const block of text.replace(/\r\n?/g, "\n").split(/\n{2,}/)) {
    const match = block.match(/^(?:[^\n]*\n)??([\d:.]+) --> ([\d:.]+)[^\n]*\n([\s\S]+)$/);
    if (match) cues.push({ start: seconds(match[1]) + shift, end: seconds(match[2]) + shift, text: match[3].trim() });
  }
  return cues;
}

export class Captions {
  constructor(session) { Object.assign(this, { session, track: null, generation: 0, chosen: null }); }

  /** The subtitle renditions of the room, or the text tracks that the browser's own player has found. */
  get choices() {
    const { multivariant, player, video } = this.session;
    if (player instanceof NativePlayer) {
      return [...video.textTracks].filter(({ kind }) => /^(subtitles|captions)$/.test(kind))
        .map((track) => ({ track, name: track.label, language: track.language }));
    }
    const group = multivariant?.variants.find(({ subtitleGroup }) => subtitleGroup)?.subtitleGroup;
    return (multivariant?.subtitles[group] || []).filter(({ uri }) => uri);
  }

  /** Shows a choice; null: no captions. */
  select(choice) {
    const mine = ++this.generation;
    this.chosen = choice;
    for (const track of this.session.video.textTracks) if (track.mode === "showing") track.mode = "disabled";
    if (!choice) return;
    if (choice.track) { choice.track.mode = "showing"; return; }
    this.track ||= this.session.video.addTextTrack("subtitles", "", "");
    this.track.mode = "showing";
    for (const cue of [...this.track.cues]) this.track.removeCue(cue);
    this.follow(choice.uri, mine);
  }

  /** Loads the segments around the playback position. */
  async follow(uri, mine) {
    const loaded = new Set(), { session } = this;
    while (mine === this.generation) {
      try {
        const list = parseMedia(await (await load(uri)).text(), uri);
        for (const segment of list.segments) {
          if (mine !== this.generation) return;
          if (loaded.has(segment.uri) || segment.gap || !this.isNear(segment)) continue;
          loaded.add(segment.uri);
          const bytes = await opened(await (await load(segment.uri, segment.range)).arrayBuffer(), segment);
          for (const { start, end, text } of parseCues(new TextDecoder().decode(bytes))) {
            if (mine === this.generation && ![...this.track.cues].some((cue) => cue.startTime === start && cue.text === text)) {
              this.track.addCue(new VTTCue(start, end, text));
            }
          }
        }
        if (list.ended && session.isOver && loaded.size === list.segments.length) return;
        await pause(Math.max(500, list.targetDuration * 500));
      } catch { await pause(2000); }
    }
  }

  /** Whether a segment is within half a minute of the playback position. */
  isNear({ date, duration }) {
    const now = this.session.player?.dateOf?.(this.session.video.currentTime);
    if (!Number.isFinite(now) || date === null) return true;
    return date + duration * 1000 > now - 5000 && date < now + 30000;
  }
}
