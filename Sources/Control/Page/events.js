// The room's events: followed as they happen, and listed with a search.
import { $, clock, make, setText, sleep, words } from "./dom.js";
import { ask } from "./api.js";
import { store } from "./store.js";

const minor = /^(segment\.published|audio\.levels|recording\.progress)$/;
const common = new Set(["type", "time", "sequence", "roomId", "incarnation", "programTimeMs", "programDateTime", "compat"]);
const page = 1024, mostPages = 12, span = 600_000;   // events, pages, ms
const kept = 600;   // events in the list

/** Follows the event stream; polls if a stream does not work. */
export class EventFeed {
  /** `heard(event, isNew)`: called once for each event, in order. */
  constructor(heard) { Object.assign(this, { heard, last: 0, isFollowing: false }); }

  take(event, isNew = true) {
    if (!event || typeof event.type !== "string" || event.sequence <= this.last) return;
    this.last = event.sequence;
    this.heard(event, isNew);
  }

  async page(after, limit = page) { return (await ask(`v1/events?after=${after}&limit=${limit}`)).json(); }

  /** The sequence number to continue from: a worker that has lost its journal counts from 1 again. */
  reached(last) { return last < this.last ? 0 : this.last; }

  /** The events of the last ten minutes, also if there are many. */
  async before(last) {
    const first = this.reached(last), pages = [];
    let end = last;
    while (end > first && pages.length < mostPages) {
      const after = Math.max(first, end - page), { events } = await this.page(after, end - after);
      pages.unshift(events.filter(({ sequence }) => sequence <= end));
      end = after;
      if (!events.length || Date.now() - Date.parse(events[0].time) > span) break;
    }
    return pages.flat();
  }

  async follow() {
    this.isFollowing = true;
    let failures = 0, polledSince = 0;
    try {
      const { last } = await this.page(0, 1);
      for (const event of await this.before(last)) this.take(event, false);
    } catch { /* the stream sends these events again */ }
    for (;;) {
      while (store.isOver) { setText($("feed"), "ended"); await sleep(1000); }
      const begun = performance.now();
      try {
        if (failures < 2) { setText($("feed"), "live"); await this.stream(); } else {
          setText($("feed"), "polled every 2 s");
          const { events, last } = await this.page(this.last);
          this.last = this.reached(last);
          for (const event of events) this.take(event);
        }
        if (performance.now() - begun > 5000 && failures < 2) failures = 0;
        // A successor's stream works, although that of the worker before has ended: the stream is tried again after half a minute.
        if (failures < 2) polledSince = 0; else if (!polledSince) polledSince = begun; else if (begun - polledSince > 30_000) { failures = 1; polledSince = 0; }
      } catch (error) {
        if (error.status === 401) { this.isFollowing = false; return; }
        setText($("feed"), "reconnecting");
        failures += failures < 2 || performance.now() - begun > 5000 ? 1 : 0;
      }
      await sleep(failures < 2 ? 500 : 2000);
    }
  }

  /** Reads server-sent events with fetch, which can send a token. */
  async stream() {
    this.last = this.reached((await this.page(0, 1)).last);
    const response = await ask(`v1/events?after=${this.last}`, { headers: { Accept: "text/event-stream" } });
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      text += value;
      const blocks = text.split("\n\n");
      text = blocks.pop();
      for (const block of blocks) {
        const data = block.split("\n").filter((line) => line.startsWith("data: ")).map((line) => line.slice(6)).join("\n");
        if (data && !block.startsWith("event: missed")) this.take(JSON.parse(data));
      }
    }
  }
}

function tone({ type, level, state, to }) {
  if (type === "room.state") return { failed: "bad", recovering: "warn", degraded: "warn", live: "good" }[to] || "";
  if (/failed|undecodable|refused|lost|stalled|superseded|disabled|quarantined/.test(type) || level === "alert_3") return "bad";
  if (/health|reconnecting|failing|overload|disk_low|flapping|kicked|moderated|recording_(skipped|dropped)|alarm\.set/.test(type) && level !== "normal") return "warn";
  if (/\.(live|active|restored|ready|started)$/.test(type) || state === "live") return "good";
  return "";
}

const isFound = (row, wanted) => !wanted || row.textContent.toLowerCase().includes(wanted);
const search = () => $("event-filter").value.trim().toLowerCase();

export function listEvent(event) {
  const isMinor = minor.test(event.type);
  if (isMinor && !$("all").checked) return;
  const text = Object.entries(event).filter(([key, value]) => !common.has(key) && value !== null && words(value) !== "")
    .map(([key, value]) => `${key} ${words(value)}`).join(" · ");
  const row = make("li", { tone: tone(event), title: text }, make("time", {}, clock(event.time)), make("b", {}, event.type), make("span", {}, text));
  row.hidden = !isFound(row, search());
  $("events").prepend(row);
  while ($("events").children.length > kept) $("events").lastChild.remove();
}

export function startEventList() {
  $("event-filter").addEventListener("input", () => {
    const wanted = search();
    for (const row of $("events").children) row.hidden = !isFound(row, wanted);
    setText($("event-count"), wanted ? `${[...$("events").children].filter((row) => !row.hidden).length} of ${$("events").children.length}` : "");
  });
}
