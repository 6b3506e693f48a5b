// The last ten minutes of the room as an SVG: scenes on air, states of the room and of all sources, and faults. Built from events.
import { draw } from "./dom.js";

export const timelineSpan = 600_000;   // ms
const shades = { live: "live", publishing: "soft", connected: "soft", stalled: "warn", reconnecting: "warn", lost: "bad" };
const trouble = /^(output\.(failed|stalled|disk_low)|source\.(undecodable|failed|quarantined)|webhook\.(failing|disabled|lost)|ingest\.refused|encoder\.(overload_step|fallback)|room\.superseded)/;
const most = 400, mostMarks = 200;

/**
 * Appends a change to a list. The list always begins before the timeline does: entries that have ended before it are dropped, and if
 * there are still too many, the shortest one of them is merged with the one before it.
 */
export function keepChange(list, entry) {
  list.push(entry);
  while (list.length > 1 && list[1].at < entry.at - timelineSpan) list.shift();
  if (list.length <= most) return;
  let shortest = 1;
  for (let index = 1; index < list.length - 1; index += 1) {
    if (list[index + 1].at - list[index].at < list[shortest + 1].at - list[shortest].at) shortest = index;
  }
  list.splice(shortest, 1);
}

/** Appends a mark; of marks with the same text that follow within five seconds, the first one stays. */
export function keepMark(list, mark) {
  const same = list.findLast(({ text }) => text === mark.text);
  if (same && mark.at - same.last < 5000) { same.last = mark.at; same.times += 1; return; }
  list.push({ ...mark, last: mark.at, times: 1 });
  while (list.length && list[0].at < mark.at - timelineSpan) list.shift();
  // The first and the last marks stay.
  if (list.length > mostMarks) list.splice(Math.floor(mostMarks / 2), 1);
}

export class Timeline {
  constructor(box) {
    this.box = box;
    this.scenes = [];            // { at, scene }
    this.states = [];            // { at, state, cause } of the room
    this.sources = new Map();    // uid → [{ at, state }]
    this.health = new Map();     // uid → [{ at, level }]
    this.marks = [];             // { at, text, last, times }
    this.colors = new Map();
  }

  add(event) {
    const at = Date.parse(event.time), { type } = event;
    if (!Number.isFinite(at)) return;
    const of = (map, uid) => { if (!map.has(uid)) map.set(uid, []); return map.get(uid); };
    if (type === "program.scene") keepChange(this.scenes, { at, scene: event.scene });
    else if (type === "room.ready") {
      keepChange(this.scenes, { at, scene: event.scene || "" });
      for (const list of this.sources.values()) keepChange(list, { at, state: "idle" });
    } else if (type === "room.closed") keepChange(this.scenes, { at, scene: null });
    else if (type === "room.state") keepChange(this.states, { at, state: event.to, cause: event.cause });
    else if (type === "source.health") keepChange(of(this.health, event.uid), { at, level: event.level });
    else if (event.state && type.startsWith("source.")) keepChange(of(this.sources, event.uid), { at, state: event.state });
    if (trouble.test(type)) keepMark(this.marks, { at, text: `${type}${event.reason ? `: ${event.reason}` : ""}` });
  }

  /** The color of a scene, from a fixed palette. */
  color(scene) {
    const round = ["#2f7fd1", "#8a5cd0", "#0b7d70", "#b8511a", "#b83a7a", "#5a771d", "#4b5fc9", "#8f6210"];
    if (!this.colors.has(scene)) this.colors.set(scene, round[this.colors.size % round.length]);
    return this.colors.get(scene);
  }

  draw(room, now) {
    const width = Math.max(300, this.box.clientWidth || 720), left = width < 520 ? 76 : 112, right = 6, row = 28, top = 4, lane = 16;
    const names = room.sources.map((source) => ({ id: source.streamType === "main" ? source.uid : `${source.uid}/${source.streamType}`, name: source.name || source.uid, state: source.state }));
    const height = top + row * (names.length + 1) + 22, from = now - timelineSpan;
    const x = (at) => left + ((Math.max(from, Math.min(now, at)) - from) / timelineSpan) * (width - left - right);
    const title = (text) => { const element = draw("title"); element.textContent = text; return element; };
    const label = (attributes, text, more = null) => { const element = draw("text", attributes, text); if (more) element.append(more); return element; };
    const svg = draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "Scenes and sources of the last ten minutes" });
    for (let minute = 0; minute <= 10; minute += width < 520 ? 5 : 2) {
      const at = x(now - minute * 60_000);
      svg.append(draw("line", { class: "grid", x1: at, x2: at, y1: top, y2: height - 18 }),
        label({ x: at, y: height - 4, "text-anchor": minute === 0 ? "end" : minute === 10 ? "start" : "middle" }, minute === 0 ? "now" : `−${minute} min`));
    }
    const short = (text) => (text.length > left / 7 ? `${text.slice(0, Math.floor(left / 7) - 1)}…` : text);
    const track = (index, name) => {
      const y = top + index * row;
      svg.append(label({ class: "row", x: 0, y: y + 15 }, short(name), title(name)), draw("rect", { class: "track", x: left, y: y + 3, width: width - left - right, height: lane, rx: 3 }));
      return y + 3;
    };
    /** Converts a list of changes to time spans within the window. */
    const spans = (list) => list.map((entry, index) => ({ ...entry, to: list[index + 1]?.at ?? now })).filter(({ to }) => to > from);
    /** A state beside a lane, which it does not cover. */
    const below = (shade, y, { at, to }, text) => svg.append(draw("rect", { class: shade, x: x(at), y: y + lane + 2, width: Math.max(2, x(to) - x(at)), height: 4, rx: 1 }, title(text)));
    let y = track(0, "Program");
    const known = this.scenes.length ? this.scenes : [{ at: room.origin ? Date.parse(room.origin) : now, scene: room.program.scene }];
    for (const { at, to, scene } of spans(known)) {
      if (!scene) continue;
      const begin = x(at), end = x(to);
      const block = draw("rect", { class: "scene", x: begin, y, width: Math.max(2, end - begin), height: lane, rx: 3 }, title(`${scene}, ${new Date(at).toLocaleTimeString()}`));
      block.style.fill = this.color(scene);
      svg.append(block);
      if (end - begin > scene.length * 7 + 10) svg.append(label({ class: "label", x: begin + 6, y: y + 12 }, scene));
    }
    for (const span of spans(this.states)) {
      const shade = { recovering: "warn", degraded: "warn", failed: "bad" }[span.state];
      if (shade) below(shade, y, span, `room ${[span.state, span.cause].filter(Boolean).join(": ")}`);
    }
    names.forEach(({ id, name, state }, index) => {
      y = track(index + 1, name);
      const list = this.sources.get(id) || [{ at: room.origin ? Date.parse(room.origin) : now, state }];
      for (const span of spans(list)) {
        const shade = shades[span.state];
        if (shade) svg.append(draw("rect", { class: shade, x: x(span.at), y, width: Math.max(2, x(span.to) - x(span.at)), height: lane, rx: 3 }, title(`${name}: ${span.state}, ${new Date(span.at).toLocaleTimeString()}`)));
      }
      for (const span of spans(this.health.get(id) || [])) if (span.level !== "normal") below(span.level === "alert_3" ? "bad" : "warn", y, span, `${name}: ${span.level}`);
    });
    for (const { at, text, times } of this.marks) {
      if (at > from) svg.append(draw("path", { class: "tick", d: `M ${x(at)} ${height - 24} l -4 7 h 8 z` }, title(times > 1 ? `${text} (${times} times)` : text)));
    }
    this.box.replaceChildren(svg);
  }
}
