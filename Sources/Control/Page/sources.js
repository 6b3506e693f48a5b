// Sources as tiles: picture, state, level, trouble in words, and the commands for a source.
import { $, bits, button, clock, keep, levelTones, levelWords, make, makeMeter, setAttribute, setMeter, setText, since, toast } from "./dom.js";
import { command, sourceKey, sourcePath } from "./api.js";

const tones = { live: "good", publishing: "good", connected: "idle", idle: "idle", gone: "idle", ended: "idle", stalled: "warn", reconnecting: "warn", lost: "bad" };
const causeWords = {
  fps: "frame rate too low", gap: "gaps between packets", network: "network too slow", loss: "packets lost", bitrate: "bit rate too low", skew: "audio and video out of sync", keyInterval: "keyframe interval too long",
  jitterBuffer: "jitter", decodeErrors: "damaged packets", workerLag: "the worker is late", absent: "no media",
};
const figures = [["picture", "Video size"], ["rate", "Frame rate"], ["bits", "Bit rate"], ["buffer", "Jitter buffer"], ["gap", "Longest gap"], ["codec", "Codec"], ["key", "Key frames"], ["skew", "A/V offset"], ["again", "Reconnects"]];
export const nameOf = ({ name, uid }) => name || uid;

const act = { done() {}, invite() {}, enlarge() {} };
export function onSourceAction(actions) { Object.assign(act, actions); }

const set = async (source, change) => { const reply = await command("PUT", sourcePath(source), change); act.done(); return reply; };

/** A kick with 0 seconds ends the refusal of an earlier kick. */
async function allow(source) {
  if (await command("POST", sourcePath(source, ":kick"), { refuseSeconds: 0 })) toast(`${nameOf(source)} may publish again.`, { tone: "good" });
  act.done();
}

async function kick(source) {
  if (await command("POST", sourcePath(source, ":kick"), { refuseSeconds: 60 })) {
    toast(`${nameOf(source)} was disconnected and is refused for one minute.`, { act: () => allow(source), label: "Undo: allow again" });
  }
  act.done();
}

/** A slider that the room's replies do not move while the user does. */
function slider(label, change) {
  const input = make("input", { type: "range", min: "0", max: "200", step: "5", "aria-label": label }), output = make("output", {}, "–");
  const row = make("label", { class: "slider" }, make("span", {}, "Volume"), input, output);
  input.addEventListener("input", () => { row.dataset.held = "1"; setText(output, `${input.value} %`); });
  // A slider that ends where it started sends no change event.
  for (const type of ["pointerup", "blur"]) input.addEventListener(type, () => setTimeout(() => delete row.dataset.held, 1500));
  input.addEventListener("change", async () => { await change(Number(input.value)); delete row.dataset.held; });
  return row;
}

function showSlider(row, volume, mayCommand) {
  const input = row.querySelector("input");
  input.disabled = !mayCommand;
  if (row.dataset.held) return;
  input.value = String(volume);
  setText(row.querySelector("output"), `${volume} %`);
}

function tile(source) {
  const name = nameOf(source), of = () => tile.sources.get(card.dataset.key) || source;
  const card = make("article", { class: "source", "aria-label": `Source ${name}`, "data-uid": source.uid },
    make("button", { class: "picture", type: "button", "data-part": "enlarge", "aria-pressed": "false", "aria-label": `Enlarge ${name}` },
      make("img", { alt: "", hidden: "" }), make("span", { class: "empty" }, "No picture"), make("span", { class: "age", hidden: "" })),
    make("div", { class: "top" }, make("span", { class: "badge", "data-part": "state" }, make("i", { class: "dot" }), make("b")),
      make("span", { class: "who" }), make("span", { class: "uid mono" }), make("span", { class: "tag", "data-part": "air" }), make("span", { class: "space" }), make("span", { class: "badge", "data-part": "health" })),
    makeMeter(`Audio level of ${name}`), make("p", { class: "causes" }),
    make("div", { class: "hands" }, slider(`Volume of ${name}`, (volume) => set(of(), { volume })),
      make("div", { class: "buttons" },
        button("Mute", { "data-part": "mute", "aria-pressed": "false" }, (b) => set(of(), { audioPush: b.getAttribute("aria-pressed") === "true" })),
        button("Cover", { "data-part": "cover", "aria-pressed": "false", title: "Hide the video; the pane shows its background" }, (b) => set(of(), { videoPush: b.getAttribute("aria-pressed") === "true" })),
        button("Send to…", { "data-part": "invite", title: "Relay this source to another room" }, () => act.invite(of())),
        button("Kick", { class: "quiet danger", "data-part": "kick" }, () => kick(of())),
        button("Allow again", { "data-part": "allow" }, () => allow(of())))),
    make("div", { class: "tracks" }), make("ul", { class: "relays" }),
    make("details", {}, make("summary", {}, "Figures"), make("dl", {}, ...figures.map(([part, word]) => make("div", {}, make("dt", {}, word), make("dd", { "data-part": part }, "–"))))));
  card.querySelector(".picture").addEventListener("click", () => enlarge(card));
  return card;
}
tile.sources = new Map();

function enlarge(card) {
  const isLarge = !card.classList.contains("large");
  for (const other of card.parentElement.children) {
    other.classList.toggle("large", other === card && isLarge);
    setAttribute(other.querySelector(".picture"), "aria-pressed", String(other === card && isLarge));
  }
  act.enlarge(isLarge ? card.dataset.key : null);
}

/** The trouble of a source in words. */
function trouble({ state, health, refused, lastError }) {
  const found = new Set(health.findings.map(({ cause }) => cause));
  return [...health.findings.map(({ message }) => message), ...health.causes.filter((cause) => !found.has(cause)).map((cause) => causeWords[cause] || cause),
    refused ? `${refused.reason} until ${clock(refused.until)}` : null, state !== "live" ? lastError : null].filter(Boolean).join("; ");
}

function showTracks(box, source, mayCommand) {
  const tracks = source.audioTracks.length > 1 ? source.audioTracks : [];
  const rows = keep(box, tracks, ({ track }) => String(track), ({ track, codec }) => {
    const row = slider(`Volume of audio track ${track} of ${nameOf(source)}`, (volume) => set(source, { audioTrack: track, volume }));
    setText(row.querySelector("span"), `Track ${track}${codec ? `, ${codec}` : ""}`);
    return row;
  });
  tracks.forEach(({ volume }, index) => showSlider(rows[index], volume, mayCommand));
}

function showRelays(box, source, mayCommand) {
  const rows = keep(box, source.relays, ({ id }) => id, ({ id, url }) => make("li", {}, make("span", { class: "badge", "data-part": "state" }, make("i", { class: "dot" }), make("b")),
    make("span", { class: "where" }, `to ${url}`), button("End", { "data-part": "end", "aria-label": `End the relay ${id}` }, async () => {
      await command("DELETE", sourcePath(source, `/relays/${encodeURIComponent(id)}`));
      act.done();
    })));
  source.relays.forEach(({ state, lastError }, index) => {
    const badge = rows[index].querySelector("[data-part=state]");
    badge.dataset.tone = { live: "good", connecting: "warn", failed: "bad" }[state] || "idle";
    setText(badge.querySelector("b"), state);
    rows[index].title = lastError || "";
    rows[index].querySelector("[data-part=end]").hidden = !mayCommand;
  });
}

/** Shows the tiles. `onAir`: the uids of the scene on air. */
export function showSources(sources, mayCommand, onAir) {
  tile.sources = new Map(sources.map((source) => [sourceKey(source), source]));
  const cards = keep($("sources"), sources, sourceKey, tile);
  sources.forEach((source, index) => {
    const card = cards[index], part = (name) => card.querySelector(`[data-part=${name}]`), isLive = source.state === "live";
    setText(card.querySelector(".who"), nameOf(source));
    setText(card.querySelector(".uid"), [source.name ? source.uid : null, source.streamType === "sub" ? "sub" : null].filter(Boolean).join(" "));
    setText(part("air"), onAir.has(source.uid) ? "on air" : "");
    part("state").dataset.tone = tones[source.state] || "idle";
    setText(part("state").querySelector("b"), source.state);
    const { level } = source.health;
    part("health").hidden = !isLive && level === "normal";
    part("health").dataset.tone = levelTones[level];
    setText(part("health"), levelWords[level] || level);
    setMeter(card.querySelector(".meter"), isLive ? source.level : null);
    const line = card.querySelector(".causes"), text = trouble(source);
    line.hidden = !text;
    line.dataset.tone = level === "alert_3" ? "bad" : "warn";
    setText(line, text);
    showSlider(card.querySelector(".hands .slider"), source.volume, mayCommand);
    for (const name of ["mute", "cover", "kick", "invite", "allow"]) part(name).hidden = !mayCommand;
    part("kick").hidden = !mayCommand || Boolean(source.refused);
    part("allow").hidden = !mayCommand || !source.refused;
    part("kick").disabled = !/connected|publishing|live|stalled/.test(source.state);
    setAttribute(part("mute"), "aria-pressed", String(!source.audioPush));
    setText(part("mute"), source.audioPush ? "Mute" : "Muted");
    setAttribute(part("cover"), "aria-pressed", String(!source.videoPush));
    setText(part("cover"), source.videoPush ? "Cover" : "Covered");
    showTracks(card.querySelector(".tracks"), source, mayCommand);
    showRelays(card.querySelector(".relays"), source, mayCommand);
    showFigures(part, source, isLive);
  });
  setText($("source-count"), `${sources.filter(({ state }) => state === "live").length} of ${sources.length} live`);
}

function showFigures(part, source, isLive) {
  const { figures: values } = source;
  setText(part("picture"), source.picture ? source.picture.split(" ")[0].replace("x", "×") : "–");
  part("picture").title = source.picture || "";
  setText(part("rate"), isLive ? `${values.fps.toFixed(1)}/s` : "–");
  setText(part("bits"), isLive ? bits(values.videoBitrate) : "–");
  setText(part("buffer"), isLive && source.bufferMs !== null ? `${source.bufferMs} ms` : "–");
  setText(part("gap"), isLive ? `${values.gapMs} ms` : "–");
  setText(part("codec"), isLive ? [source.videoCodec, ...new Set(source.audioTracks.map(({ codec }) => codec))].filter(Boolean).join(" + ") || "–" : "–");
  setText(part("key"), isLive && values.keyIntervalMs ? `${(values.keyIntervalMs / 1000).toFixed(1)} s` : "–");
  setText(part("skew"), isLive ? `${values.skewMs} ms` : "–");
  setText(part("again"), source.reconnects ? `${source.reconnects}×` : "none");
}

/** Shows the pictures, and how old they are: of a source off air, each key frame's age. */
export function showStills(stills) {
  for (const card of $("sources").children) {
    const still = stills.get(card.dataset.key), image = card.querySelector("img"), age = card.querySelector(".age");
    image.hidden = !still;
    card.querySelector(".picture .empty").hidden = Boolean(still);
    // A source on air, or enlarged, has newer frames than its tile at most times; then only an unusual age is shown.
    const isOnAir = card.querySelector("[data-part=air]").textContent !== "", isLarge = card.classList.contains("large");
    age.hidden = !still || still.ageMs < (isOnAir ? 3000 : isLarge ? 1500 : 0);
    if (!still) continue;
    if (image.getAttribute("src") !== still.url) image.src = still.url;
    setText(age, `${since(Math.max(1000, still.ageMs))} old`);
  }
}
