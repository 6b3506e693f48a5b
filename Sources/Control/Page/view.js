// Displays the API's data. Texts from the API are only set as text, never as HTML.

const $ = (id) => document.getElementById(id);

/** Creates an element with attributes and children; strings become text nodes. */
function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "class") element.className = value;
    else if (key === "tone") element.dataset.tone = value;
    else if (value !== null && value !== undefined) element.setAttribute(key, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined).map((child) => (child instanceof Node ? child : String(child))));
  return element;
}

function setText(element, text) { if (element.textContent !== text) element.textContent = text; }

const bits = (value) => (value === null || value === undefined ? "–" : value >= 1e6 ? `${(value / 1e6).toFixed(2)} Mbit/s` : `${Math.round(value / 1000)} kbit/s`);
const clock = (text) => { const date = new Date(text); return Number.isNaN(date.getTime()) ? "" : date.toLocaleTimeString([], { hour12: false }); };
const since = (ms) => {
  const seconds = Math.max(0, Math.round(ms / 1000)), hours = Math.floor(seconds / 3600), minutes = Math.floor(seconds / 60) % 60;
  return hours ? `${hours} h ${minutes} min` : minutes ? `${minutes} min ${seconds % 60} s` : `${seconds} s`;
};

const roomTones = { live: "live", waiting: "warn", preparing: "warn", recovering: "warn", degraded: "warn", starting: "idle", ending: "warn", draining: "warn", failed: "bad", closed: "idle" };
const roomWords = { live: "Live", waiting: "Waiting for a source", preparing: "Preparing", recovering: "Recovering", degraded: "Degraded", starting: "Starting", ending: "Ending", draining: "Draining", failed: "Failed", closed: "Ended" };
const causeOfRoom = { media: "no source on air sends media", output: "an output is unreachable", overload: "the machine is overloaded" };
const sourceTones = { live: "good", publishing: "good", connected: "idle", idle: "idle", gone: "idle", ended: "idle", stalled: "warn", reconnecting: "warn", lost: "bad" };
const levelTones = { normal: "good", alert_1: "warn", alert_2: "warn", alert_3: "bad" };
const levelWords = { normal: "healthy", alert_1: "alert 1", alert_2: "alert 2", alert_3: "alert 3" };
const causeWords = {
  fps: "frame rate too low", gap: "gaps between packets", network: "network too slow", loss: "packets lost", bitrate: "bit rate too low", skew: "audio and video out of sync", keyInterval: "keyframe interval too long",
  jitterBuffer: "jitter", decodeErrors: "damaged packets", workerLag: "the worker is late", absent: "no media",
};

/** A level from −60 dB to 0 dB in percent of the meter. */
const share = (db) => `${Math.max(0, Math.min(100, ((db + 60) / 60) * 100)).toFixed(1)}%`;
function setMeter(meter, level) {
  meter.classList.toggle("off", !level);
  if (!level) return;
  meter.style.setProperty("--peak", share(level.peakDb));
  meter.style.setProperty("--loud", share(level.momentary));
  meter.title = `peak ${level.peakDb.toFixed(1)} dBFS, ${level.momentary.toFixed(1)} LUFS`;
}

function showHeader(room) {
  const title = room.title || `Room ${room.roomId}`;
  setText($("title"), title);
  document.title = `${title} · Tandem`;
  const facts = [causeOfRoom[room.cause], room.title ? `Room ${room.roomId}` : null, room.origin ? `on air ${since(Date.parse(room.time) - Date.parse(room.origin))}` : null,
    room.incarnation > 1 ? `worker ${room.incarnation}` : null, `revision ${room.revision}`, `${room.canvas.width}×${room.canvas.height} at ${room.canvas.fps}/s`];
  setText($("facts"), facts.filter(Boolean).join(" · "));
  $("state").dataset.tone = roomTones[room.state] || "idle";
  setText($("state").querySelector("b"), roomWords[room.state] || room.state);
  $("state").title = `since ${clock(room.since)}`;
  const isLow = room.disk && room.disk.level !== "normal";
  $("disk").hidden = !isLow;
  if (isLow) {
    $("disk").dataset.tone = levelTones[room.disk.level];
    setText($("disk").querySelector("b"), `Disk: ${size(room.disk.freeBytes)} free`);
    $("disk").title = room.disk.message;
  }
  setText($("on-air"), /live|recovering|degraded/.test(room.state) ? room.program.scene : "");
  $("stage").style.setProperty("--shape", `${room.canvas.width} / ${room.canvas.height}`);
  $("snapshot").style.setProperty("--shape", `${room.canvas.width} / ${room.canvas.height}`);
  $("stage").parentElement.classList.toggle("tall", room.canvas.height > room.canvas.width);
  setMeter($("program-level"), room.program.level);
  setText($("frames"), `${room.ticks.frames.toLocaleString()} frames, ${room.ticks.late} late, ${room.ticks.lost} lost`);
}

function showScenes(scenes, mayCommand, choose) {
  const box = $("scenes"), key = JSON.stringify([scenes.map(({ sceneId, uids, auto }) => [sceneId, uids, auto]), mayCommand]);
  if (box.dataset.key !== key) {
    box.dataset.key = key;
    box.replaceChildren(...scenes.map((scene) => {
      const button = make("button", { type: "button", "data-scene": scene.sceneId }, scene.sceneId, make("small"));
      button.disabled = !mayCommand;
      button.addEventListener("click", () => choose(scene.sceneId, button));
      return button;
    }));
  }
  for (const [index, scene] of scenes.entries()) {
    const button = box.children[index];
    button.setAttribute("aria-pressed", String(scene.onAir));
    setText(button.querySelector("small"), scene.onAir ? "on air" : scene.auto ? "automatic" : scene.uids.length === 1 ? "1 source" : `${scene.uids.length} sources`);
  }
}

/** The controls of a source: volume, mute, and kick the publisher. */
function sourceHands(source, { set, kick }) {
  const slider = make("input", { type: "range", min: "0", max: "200", step: "5", "aria-label": `Volume of ${source.name || source.uid}` }), figure = make("output", {}, "–");
  const mute = make("button", { class: "quiet", type: "button", "data-part": "mute", "aria-pressed": "false" }, "Mute"), away = make("button", { class: "quiet danger", type: "button", "data-part": "kick" }, "Kick");
  const hands = make("div", { class: "hands" }, make("label", {}, make("span", {}, "Volume"), slider, figure), mute, away);
  // While the user moves the slider, updates from the room do not change it.
  slider.addEventListener("input", () => { hands.dataset.held = "1"; setText(figure, `${slider.value} %`); });
  // A slider that ends where it started sends no change event.
  for (const type of ["pointerup", "blur"]) slider.addEventListener(type, () => setTimeout(() => delete hands.dataset.held, 1500));
  slider.addEventListener("change", async () => { await set(source, { volume: Number(slider.value) }); delete hands.dataset.held; });
  mute.addEventListener("click", () => set(source, { audioPush: mute.getAttribute("aria-pressed") === "true" }));
  away.addEventListener("click", () => kick(source));
  return hands;
}

function showHands(hands, source, mayCommand) {
  const slider = hands.querySelector("input"), [mute, away] = hands.querySelectorAll("button");
  slider.disabled = !mayCommand;
  mute.hidden = away.hidden = !mayCommand;
  away.disabled = !/connected|publishing|live|stalled/.test(source.state);
  mute.setAttribute("aria-pressed", String(!source.audioPush));
  setText(mute, source.audioPush ? "Mute" : "Muted");
  if (hands.dataset.held) return;
  slider.value = String(source.volume);
  setText(hands.querySelector("output"), source.audioPush || mayCommand ? `${source.volume} %` : "muted");
}

function sourceCard(source, act) {
  const card = make("article", { class: "source" },
    make("div", { class: "top" }, make("span", { class: "badge", "data-part": "state" }, make("i", { class: "dot" }), make("b")),
      make("span", { class: "who" }), make("span", { class: "uid mono" }), make("span", { class: "space" }), make("span", { class: "badge", "data-part": "health" })),
    make("div", { class: "meter off", "aria-label": "Loudness" }, make("i"), make("b")),
    make("dl", {}, ...[["picture", "Video size"], ["rate", "Frame rate"], ["buffer", "Jitter buffer"], ["gap", "Longest gap"], ["codec", "Codec"], ["key", "Key frames"], ["skew", "A/V offset"], ["again", "Reconnects"]]
      .map(([part, word]) => make("div", {}, make("dt", {}, word), make("dd", { "data-part": part }, "–")))),
    sourceHands(source, act), make("p", { class: "causes" }));
  card.dataset.key = `${source.uid}/${source.streamType}`;
  return card;
}

function showSources(sources, mayCommand, act) {
  const box = $("sources"), known = new Map([...box.children].map((card) => [card.dataset.key, card]));
  const cards = sources.map((source) => known.get(`${source.uid}/${source.streamType}`) || sourceCard(source, act));
  if (cards.length !== box.children.length || cards.some((card, index) => box.children[index] !== card)) box.replaceChildren(...cards);
  sources.forEach((source, index) => {
    const card = cards[index], part = (name) => card.querySelector(`[data-part=${name}]`), isThere = source.state === "live";
    setText(card.querySelector(".who"), source.name || source.uid);
    setText(card.querySelector(".uid"), [source.name ? source.uid : null, source.streamType === "sub" ? "sub" : null].filter(Boolean).join(" "));
    part("state").dataset.tone = sourceTones[source.state] || "idle";
    setText(part("state").querySelector("b"), source.state);
    const { level, causes } = source.health;
    part("health").hidden = !isThere && level === "normal";
    part("health").dataset.tone = levelTones[level];
    setText(part("health"), levelWords[level] || level);
    setMeter(card.querySelector(".meter"), isThere ? source.level : null);
    setText(part("picture"), source.picture ? source.picture.split(" ")[0].replace("x", "×") : "–");
    part("picture").title = source.picture || "";
    setText(part("rate"), isThere ? `${source.figures.fps.toFixed(1)}/s` : "–");
    part("rate").title = bits(source.figures.videoBitrate);
    setText(part("buffer"), isThere && source.bufferMs !== null ? `${source.bufferMs} ms` : "–");
    setText(part("gap"), isThere ? `${source.figures.gapMs} ms` : "–");
    setText(part("codec"), isThere ? [source.videoCodec, ...new Set(source.audioTracks.map(({ codec }) => codec))].filter(Boolean).join(" + ") || "–" : "–");
    setText(part("key"), isThere && source.figures.keyIntervalMs ? `${(source.figures.keyIntervalMs / 1000).toFixed(1)} s` : "–");
    setText(part("skew"), isThere ? `${source.figures.skewMs} ms` : "–");
    setText(part("again"), source.reconnects ? `${source.reconnects}×` : "none");
    showHands(card.querySelector(".hands"), source, mayCommand);
    const text = [...causes.map((cause) => causeWords[cause] || cause), source.refused ? `${source.refused.reason} until ${clock(source.refused.until)}` : null,
      !isThere ? source.lastError : null].filter(Boolean).join("; ");
    const line = card.querySelector(".causes");
    line.hidden = !text;
    line.dataset.tone = level === "alert_3" ? "bad" : "warn";
    setText(line, text);
  });
  setText($("source-count"), `${sources.filter(({ state }) => state === "live").length} of ${sources.length} live`);
}

/** A bar with its limit at four fifths of its width. */
function showGauge(box, id, { name, note, value, high, limit, text }) {
  let row = [...box.children].find((child) => child.dataset.id === id);
  if (!row) {
    row = make("div", { class: "gauge", "data-id": id }, make("div", { class: "row" }, make("span"), make("small"), make("span")),
      make("div", { class: "track" }, make("i", { class: "p95" }), make("i"), make("b")));
    box.append(row);
  }
  const [title, detail, figure] = row.firstChild.children;
  setText(title, name);
  setText(detail, note || "");
  setText(figure, text);
  const width = (number) => `${limit ? Math.min(100, (80 * (number || 0)) / limit).toFixed(1) : 0}%`;
  row.lastChild.style.setProperty("--value", width(value));
  row.lastChild.style.setProperty("--high", width(high ?? value));
  row.lastChild.lastChild.hidden = !limit;
  row.dataset.tone = limit && (high ?? value) > limit ? "bad" : "good";
}

function showLimits({ latency, renditions }) {
  const box = $("latencies"), ms = (value) => `${value < 10 && !Number.isInteger(value) ? value.toFixed(1) : Math.round(value)} ms`;
  const { program, sendToPart, sendToSegment, partEncode } = latency;
  showGauge(box, "program", { name: "Program lag", value: program.lagMs, limit: program.limitMs, text: `${ms(program.lagMs)} of ${ms(program.limitMs)}` });
  if (partEncode) showGauge(box, "encode", { name: "Encoding a part", value: partEncode.p50Ms, high: partEncode.p99Ms, limit: partEncode.limitMs, text: `${ms(partEncode.p50Ms)}, p99 ${ms(partEncode.p99Ms)} of ${ms(partEncode.limitMs)}` });
  if (sendToPart) showGauge(box, "part", { name: "Arrival to part", value: sendToPart.p50Ms, high: sendToPart.p95Ms, limit: sendToPart.limitMs, text: `${ms(sendToPart.p50Ms)}, p95 ${ms(sendToPart.p95Ms)} of ${ms(sendToPart.limitMs)}` });
  if (sendToSegment) showGauge(box, "segment", { name: "Arrival to segment", value: sendToSegment.p50Ms, high: sendToSegment.p95Ms, limit: sendToSegment.limitMs, text: `${ms(sendToSegment.p50Ms)}, p95 ${ms(sendToSegment.p95Ms)} of ${ms(sendToSegment.limitMs)}` });
  for (const rendition of renditions) {
    const { name, width, height, fps, measuredBitrate, maxBitrate } = rendition;
    showGauge($("renditions"), name, { name, note: width ? `${width}×${height} at ${fps}/s` : "audio only", value: measuredBitrate, limit: maxBitrate,
      text: measuredBitrate === null ? "–" : maxBitrate ? `${bits(measuredBitrate)} of ${bits(maxBitrate)}` : bits(measuredBitrate) });
  }
}

function showAlarms(alarms) {
  const set = alarms.filter(({ state }) => state === "set");
  setText($("alarm-count"), set.length ? `${set.length} active` : "none active");
  const rows = [...alarms].reverse().sort((one, other) => (one.state === other.state ? 0 : one.state === "set" ? -1 : 1)).slice(0, 8).map((alarm) => {
    const row = make("li", {}, make("span", { class: "badge", tone: alarm.state === "set" ? levelTones[alarm.severity] : "idle" }, alarm.state === "set" ? levelWords[alarm.severity] : "cleared"),
      make("span", {}, alarm.message), make("span", {}, `${alarm.type} · ${clock(alarm.setAt)}${alarm.clearedAt ? ` to ${clock(alarm.clearedAt)}` : ""}`));
    row.dataset.state = alarm.state;
    return row;
  });
  $("alarms").replaceChildren(...(rows.length ? rows : [make("li", { class: "empty" }, "No alarms in the last five minutes.")]));
}

/** A value as text: `fps 30.2, gapMs 41` for an object. */
function words(value) {
  if (Array.isArray(value)) return value.map(words).join(", ");
  if (value && typeof value === "object") return Object.entries(value).map(([key, part]) => `${key} ${words(part)}`).join(", ");
  return String(value);
}

function showAddresses(addresses) {
  const box = $("addresses"), key = JSON.stringify(addresses);
  if (box.dataset.key === key) return;
  box.dataset.key = key;
  const words = { rtmp: "Publish", rtmps: "Publish, TLS", srt: "Publish, SRT", viewer: "Watch", control: "Control" };
  box.replaceChildren(...Object.entries(addresses).map(([name, address]) => make("span", {}, `${words[name] || name} `, make("code", {}, address))));
}
