// The last ten minutes of the room as an SVG: scenes on air, states of the room and of all sources, and faults. Built from events.

const timelineSpan = 600_000;   // ms
const shades = { live: "live", publishing: "soft", connected: "soft", stalled: "warn", reconnecting: "warn", lost: "bad" };
const trouble = /^(output\.(failed|stalled|disk_low)|source\.(undecodable|failed|quarantined)|webhook\.(failing|disabled|lost)|ingest\.refused|encoder\.overload_step|room\.superseded)/;

class Timeline {
  constructor(box) {
    this.box = box;
    this.scenes = [];            // { at, scene }
    this.states = [];            // { at, state, cause } of the room
    this.sources = new Map();    // uid → [{ at, state }]
    this.health = new Map();     // uid → [{ at, level }]
    this.marks = [];             // { at, text }
    this.colors = new Map();
  }

  add(event) {
    const at = Date.parse(event.time), { type } = event;
    if (!Number.isFinite(at)) return;
    const keep = (list, entry) => { list.push(entry); while (list.length > 400) list.shift(); };
    const of = (map, uid) => { if (!map.has(uid)) map.set(uid, []); return map.get(uid); };
    if (type === "program.scene") keep(this.scenes, { at, scene: event.scene });
    else if (type === "room.ready") {
      keep(this.scenes, { at, scene: event.scene || "" });
      for (const list of this.sources.values()) keep(list, { at, state: "idle" });
    } else if (type === "room.closed") keep(this.scenes, { at, scene: null });
    else if (type === "room.state") keep(this.states, { at, state: event.to, cause: event.cause });
    else if (type === "source.health") keep(of(this.health, event.uid), { at, level: event.level });
    else if (event.state && type.startsWith("source.")) keep(of(this.sources, event.uid), { at, state: event.state });
    if (trouble.test(type)) keep(this.marks, { at, text: `${type}${event.reason ? `: ${event.reason}` : ""}` });
  }

  /** The color of a scene, from a fixed palette. */
  color(scene) {
    const round = ["#2f7fd1", "#8a5cd0", "#0f9a8a", "#c2571a", "#b83a7a", "#5f7d1f", "#4b5fc9", "#9a6b12"];
    if (!this.colors.has(scene)) this.colors.set(scene, round[this.colors.size % round.length]);
    return this.colors.get(scene);
  }

  draw(room, now) {
    const width = Math.max(320, this.box.clientWidth || 720), left = width < 520 ? 76 : 112, right = 6, row = 26, top = 4;
    const names = room.sources.map((source) => ({ id: source.streamType === "main" ? source.uid : `${source.uid}/${source.streamType}`, name: source.name || source.uid, state: source.state }));
    const height = top + row * (names.length + 1) + 22, from = now - timelineSpan;
    const x = (at) => left + ((Math.max(from, Math.min(now, at)) - from) / timelineSpan) * (width - left - right);
    const node = (name, attributes, ...children) => {
      const element = document.createElementNS("http://www.w3.org/2000/svg", name);
      for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
      element.append(...children);
      return element;
    };
    const title = (text) => node("title", {}, text);
    const svg = node("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": "Scenes and sources of the last ten minutes" });
    for (let minute = 0; minute <= 10; minute += width < 520 ? 5 : 2) {
      const at = x(now - minute * 60_000);
      svg.append(node("line", { class: "grid", x1: at, x2: at, y1: top, y2: height - 18 }),
        node("text", { x: at, y: height - 4, "text-anchor": minute === 0 ? "end" : minute === 10 ? "start" : "middle" }, minute === 0 ? "now" : `−${minute} min`));
    }
    const short = (text) => (text.length > left / 7 ? `${text.slice(0, Math.floor(left / 7) - 1)}…` : text);
    const track = (index, name) => {
      const y = top + index * row;
      svg.append(node("text", { class: "row", x: 0, y: y + 15 }, short(name), title(name)), node("rect", { class: "track", x: left, y: y + 3, width: width - left - right, height: row - 8, rx: 3 }));
      return y + 3;
    };
    /** Converts a list of changes to time spans within the window. */
    const spans = (list) => list.map((entry, index) => ({ ...entry, to: list[index + 1]?.at ?? now })).filter(({ to }) => to > from);
    let y = track(0, "Program");
    const known = this.scenes.length ? this.scenes : [{ at: room.origin ? Date.parse(room.origin) : now, scene: room.program.scene }];
    for (const { at, to, scene } of spans(known)) {
      if (!scene) continue;
      const begin = x(at), end = x(to);
      const block = node("rect", { class: "scene", x: begin, y, width: Math.max(2, end - begin), height: row - 8, rx: 3 }, title(`${scene}, ${new Date(at).toLocaleTimeString()}`));
      block.style.fill = this.color(scene);
      svg.append(block);
      if (end - begin > scene.length * 7 + 10) svg.append(node("text", { class: "label", x: begin + 6, y: y + 13 }, scene));
    }
    for (const { at, to, state, cause } of spans(this.states)) {
      const shade = { recovering: "warn", degraded: "warn", failed: "bad" }[state];
      if (!shade) continue;
      svg.append(node("rect", { class: shade, x: x(at), y: y + row - 14, width: Math.max(2, x(to) - x(at)), height: 6 }, title(`room ${[state, cause].filter(Boolean).join(": ")}`)));
    }
    names.forEach(({ id, name, state }, index) => {
      y = track(index + 1, name);
      const list = this.sources.get(id) || [{ at: room.origin ? Date.parse(room.origin) : now, state }];
      for (const span of spans(list)) {
        const shade = shades[span.state];
        if (!shade) continue;
        svg.append(node("rect", { class: shade, x: x(span.at), y, width: Math.max(2, x(span.to) - x(span.at)), height: row - 8, rx: 3 }, title(`${name}: ${span.state}, ${new Date(span.at).toLocaleTimeString()}`)));
      }
      for (const span of spans(this.health.get(id) || [])) {
        if (span.level === "normal") continue;
        svg.append(node("rect", { class: span.level === "alert_3" ? "bad" : "warn", x: x(span.at), y: y + row - 14, width: Math.max(2, x(span.to) - x(span.at)), height: 6 }, title(`${name}: ${span.level}`)));
      }
    });
    for (const { at, text } of this.marks) {
      if (at > from) svg.append(node("line", { class: "tick", x1: x(at), x2: x(at), y1: top, y2: height - 18 }, title(text)));
    }
    this.box.replaceChildren(svg);
  }
}
