// The latest picture of each source: polled while the page is visible. Of an enlarged source the room decodes all frames.
import { sleep } from "./dom.js";
import { sourceKey, sourcePath } from "./api.js";
import { store } from "./store.js";

const usual = 2000, enlarged = 400, absent = 10_000;   // ms between requests
const sends = /^(connected|publishing|live|stalled)$/;

export class Stills {
  constructor(onChange) {
    Object.assign(this, { onChange, known: new Map(), sources: [], large: null });   // known: key → { url, tag, shownAt, due }
    this.run();
  }

  /** `{ url, ageMs }` of a source's picture; null if there is none. */
  get(key) {
    const still = this.known.get(key);
    return still?.url ? { url: still.url, ageMs: Date.now() - still.shownAt } : null;
  }

  show(sources) {
    this.sources = sources;
    const keys = new Set(sources.map(sourceKey));
    for (const [key, still] of this.known) {
      if (keys.has(key)) continue;
      if (still.url) URL.revokeObjectURL(still.url);
      this.known.delete(key);
    }
  }

  enlarge(key) { this.large = key; if (key && this.known.has(key)) this.known.get(key).due = 0; }

  async run() {
    for (;;) {
      await sleep(this.large ? 100 : 250);
      if (document.visibilityState !== "visible" || store.isOver) continue;
      // One request at a time: a browser has only six connections to the room, and commands need one.
      for (const source of this.sources) {
        await this.loadIfDue(source);
        const large = this.large && this.sources.find(other => sourceKey(other) === this.large);
        if (large && large !== source) await this.loadIfDue(large);
      }
    }
  }

  async loadIfDue(source) {
    const key = sourceKey(source);
    if (!sends.test(source.state)) return;
    if (!this.known.has(key)) this.known.set(key, { url: null, tag: null, shownAt: 0, due: 0 });
    const still = this.known.get(key);
    if (performance.now() >= still.due) await this.load(source, key, still);
  }

  async load(source, key, still) {
    const isLarge = this.large === key;
    still.due = performance.now() + (isLarge ? enlarged : usual);
    try {
      const headers = { ...requestFields, ...waitingFields, ...(still.tag && still.isLarge === isLarge ? { "If-None-Match": still.tag } : {}) };
      const response = await fetch(sourcePath(source, "/still.jpg", isLarge ? "&width=960&live=true" : ""), { headers, cache: "no-store", priority: "low" });
      const age = Number(response.headers.get("X-Tandem-Age-Ms") ?? 0);
      if (response.status === 304) { still.shownAt = Date.now() - age; return; }
      if (response.status !== 200) { if (!still.url) still.due = performance.now() + absent; return; }
      const url = URL.createObjectURL(await response.blob());
      if (!this.known.has(key)) return URL.revokeObjectURL(url);
      const old = still.url;
      Object.assign(still, { url, tag: response.headers.get("ETag"), isLarge, shownAt: Date.now() - age });
      this.onChange(key, url);
      if (old) setTimeout(() => URL.revokeObjectURL(old), 1000);
    } catch { still.due = performance.now() + absent; }
  }
}
