// Parses playlists. Spec: RFC 8216 §4.

/** The NAME=value attributes of a tag, without quotes. */
export function parseAttributes(text) {
  const attributes = {};
  for (const match of text.matchAll(/([A-Z0-9-]+)=("[^"]*"|[^",]*)/g)) attributes[match[1]] = match[2].replace(/^"|"$/g, "");
  return attributes;
}

/** Parses the multivariant playlist: variants in file order, audio and subtitle renditions by group. */
export function parseMultivariant(text, base) {
  const variants = [], groups = { AUDIO: {}, SUBTITLES: {} };
  let pending = null;
  for (const line of text.split(/\r?\n/)) {
    if (line.startsWith("#EXT-X-STREAM-INF:")) pending = parseAttributes(line.slice(18));
    else if (line.startsWith("#EXT-X-MEDIA:")) {
      const media = parseAttributes(line.slice(13));
      const group = groups[media.TYPE];
      if (!group) continue;
      (group[media["GROUP-ID"]] ||= []).push({
        uri: media.URI ? new URL(media.URI, base).href : null, isDefault: media.DEFAULT === "YES",
        name: media.NAME || "", language: media.LANGUAGE || "",
      });
    } else if (line && !line.startsWith("#") && pending) {
      const [width, height] = (pending.RESOLUTION || "0x0").split("x").map(Number);
      const codecs = (pending.CODECS || "").split(",").map((codec) => codec.trim()).filter(Boolean);
      const isAudioCodec = (codec) => /^(mp4a|opus|flac|ac-3|ec-3)/i.test(codec);
      variants.push({
        uri: new URL(line.trim(), base).href, bandwidth: Number(pending.BANDWIDTH) || 0, width, height,
        frameRate: Number(pending["FRAME-RATE"]) || 0, audioGroup: pending.AUDIO || null,
        subtitleGroup: pending.SUBTITLES || null,
        videoCodecs: codecs.filter((codec) => !isAudioCodec(codec)), audioCodecs: codecs.filter(isAudioCodec),
      });
      pending = null;
    }
  }
  return { variants, audio: groups.AUDIO, subtitles: groups.SUBTITLES };
}

/**
 * Parses a media playlist: segments with media sequence number, duration (s), initialization segment, program date-time (ms) and
 * parts; `tail` has the parts of the unfinished last segment. RFC 8216bis §4.4.4.9 (EXT-X-PART).
 */
export function parseMedia(text, base) {
  const list = { segments: [], tail: null, targetDuration: 2, holdBack: 0, partTarget: 0, partHoldBack: 0, canBlock: false, ended: false, type: null };
  let sequence = 0, duration = 0, key = null, map = null, date = null, gap = false, range = null, rangeEnd = 0, parts = [], partDate = null;
  const byteRange = (value) => {
    const [length, offset] = value.split("@").map(Number);
    const start = Number.isFinite(offset) ? offset : rangeEnd;
    rangeEnd = start + length;
    return [start, rangeEnd - 1];
  };
  for (const line of text.split(/\r?\n/)) {
    const value = line.slice(line.indexOf(":") + 1);
    if (line.startsWith("#EXTINF:")) duration = parseFloat(value);
    else if (line.startsWith("#EXT-X-TARGETDURATION:")) list.targetDuration = Number(value) || 2;
    else if (line.startsWith("#EXT-X-MEDIA-SEQUENCE:")) sequence = Number(value) || 0;
    else if (line.startsWith("#EXT-X-PLAYLIST-TYPE:")) list.type = value;
    else if (line.startsWith("#EXT-X-SERVER-CONTROL:")) {
      const control = parseAttributes(value);
      list.holdBack = Number(control["HOLD-BACK"]) || 0;
      list.partHoldBack = Number(control["PART-HOLD-BACK"]) || 0;
      list.canBlock = control["CAN-BLOCK-RELOAD"] === "YES";
    } else if (line.startsWith("#EXT-X-PART-INF:")) list.partTarget = Number(parseAttributes(value)["PART-TARGET"]) || 0;
    else if (line.startsWith("#EXT-X-MAP:")) {
      const attributes = parseAttributes(value);
      map = { uri: new URL(attributes.URI, base).href, range: attributes.BYTERANGE ? byteRange(attributes.BYTERANGE) : null };
    } else if (line.startsWith("#EXT-X-KEY:")) {
      const attributes = parseAttributes(value);
      key = attributes.METHOD === "AES-128" ? { uri: new URL(attributes.URI, base).href, vector: attributes.IV || null } : null;
    } else if (line.startsWith("#EXT-X-PROGRAM-DATE-TIME:")) date = Date.parse(value);
    else if (line.startsWith("#EXT-X-BYTERANGE:")) range = byteRange(value);
    else if (line.startsWith("#EXT-X-GAP")) gap = true;
    else if (line.startsWith("#EXT-X-PART:")) {
      const attributes = parseAttributes(value), seconds = Number(attributes.DURATION) || 0;
      if (!parts.length) partDate = date;
      parts.push({
        uri: new URL(attributes.URI, base).href, sequence, index: parts.length, duration: seconds, map, key, date: partDate,
        range: attributes.BYTERANGE ? byteRange(attributes.BYTERANGE) : null, gap: attributes.GAP === "YES",
        isIndependent: attributes.INDEPENDENT === "YES",
      });
      if (partDate !== null) partDate += seconds * 1000;
    } else if (line.startsWith("#EXT-X-ENDLIST")) list.ended = true;
    else if (line && !line.startsWith("#")) {
      list.segments.push({ uri: new URL(line.trim(), base).href, sequence, duration, map, key, date, gap, range, parts });
      if (date !== null) date += duration * 1000;
      sequence += 1; gap = false; range = null; parts = [];
    }
  }
  if (parts.length) list.tail = { sequence, parts };
  // Without blocking reload, parts do not lower the latency. A closed playlist is not live.
  list.isLowLatency = list.partTarget > 0 && list.canBlock && !list.ended;
  list.holdBack ||= 3 * list.targetDuration;
  list.partHoldBack ||= 3 * list.partTarget;
  list.duration = list.segments.reduce((sum, segment) => sum + segment.duration, 0);
  const last = list.segments.at(-1);
  list.endDate = last && last.date !== null ? last.date + last.duration * 1000 : null;
  /** Identifies the end of the list: two lists with the same value have the same last part. */
  list.edge = `${sequence}.${parts.length}`;
  return list;
}

// MARK: Long windows

/** The playlist of the whole window beside a live media playlist of a long window: NAME-dvr.m3u8 beside NAME.m3u8. */
export function wholeURI(uri) {
  const url = new URL(uri);
  url.pathname = url.pathname.replace(/\.m3u8$/, "-dvr.m3u8");
  return url.href;
}

/**
 * Which playlist of a long window has the segment that a player needs next: true for that of the whole window, which is up to half a
 * minute old, false for the live one, which lists the last minute.
 *
 * `list` is the list that the player has, `isWhole` which one it is, `next` the media sequence number that it needs, and `liveStart`
 * the date (ms) at which the live list begins.
 */
export function needsWhole(list, isWhole, next, liveStart) {
  const { segments } = list;
  if (!segments.length || next === null) return isWhole;
  if (!isWhole) return segments[0].sequence > next;
  const segment = segments.find(({ sequence }) => sequence >= next);
  // With a margin, since the other track needs a segment beside this one, and the live list moves on.
  return segment !== undefined && segment.date < liveStart + 15000;
}

/** When a window of `seconds` begins (ms), if the program runs since `programStart` and has reached `end` (both ms). */
export const windowStart = (programStart, end, seconds) => Math.max(programStart, end - seconds * 1000);
