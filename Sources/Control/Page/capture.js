// Recording, clips and stills, each with one click, and what exists so far.
import { $, button, clock, disable, keep, make, setAttribute, setText, since, size, tell, toast } from "./dom.js";
import { ask, command } from "./api.js";
import { store } from "./store.js";

const capture = { edge: null, from: null, clips: [], stills: [], recordings: [], asked: "", refresh() {} };
const stamp = (ms) => new Date(ms).toISOString();

export function startCapture(refresh) {
  capture.refresh = refresh;
  $("record").addEventListener("click", record);
  $("clip").addEventListener("click", clip);
  $("still").addEventListener("click", still);
}

const recorder = () => store.room?.outputs.find(({ type }) => type === "record");

export async function record() {
  const output = recorder();
  if (!output || !store.mayCommand) return;
  await command("POST", `v1/outputs/${encodeURIComponent(output.outputId)}:${output.state === "stopped" ? "start" : "stop"}`);
  capture.refresh();
}

/** Cuts the last seconds that viewers can see. */
export async function clip() {
  if (!store.mayCommand) return;
  const origin = Date.parse(store.room.origin), length = Number($("clip-seconds").value) * 1000;
  if (!Number.isFinite(origin)) return tell("There is nothing to cut yet.", "info");
  // The dates are computed from rounded ones, so the clip begins and ends a frame inside of what can be cut.
  const { program, canvas } = store.room, frame = 1000 / canvas.fps, start = origin + frame, to = (capture.edge ?? origin + program.tick * frame - 4000) - frame;
  const cut = (from, end) => command("POST", "v1/clips", { from: stamp(from), to: stamp(end) }, { quiet: true });
  try {
    try { await cut(Math.max(start, to - length), to); } catch (error) {
      // The refusal names the range that is available.
      const [first, last] = [...error.message.matchAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g)].map(([date]) => Date.parse(date));
      if (error.status !== 422 || !(last > first)) throw error;
      const end = Math.min(last - frame, to > first ? to : last);
      await cut(Math.max(first + frame, end - length), end);
    }
    toast("The clip is being cut.");
  } catch (error) { tell(error.text || "The room does not respond."); }
  loadClips(true);
}

export async function still() {
  try {
    const blob = await (await ask("v1/snapshot")).blob();
    const name = `still-${store.room.roomId}-${stamp(Date.now()).replace(/[:.]/g, "-")}.jpg`;
    capture.stills.unshift({ id: name, name, url: URL.createObjectURL(blob), at: Date.now(), bytes: blob.size });
    while (capture.stills.length > 12) URL.revokeObjectURL(capture.stills.pop().url);
    showCapture();
  } catch (error) { tell(error.text || "The room does not respond."); }
}

/** Notes what the events say about segments, clips and recordings. */
export function noteCapture(event) {
  const origin = Date.parse(store.room?.origin);
  if (event.type === "segment.published" && Number.isFinite(origin)) {
    // The window's media can be cut up to the end of the last segment.
    capture.edge = Math.floor(origin + (1000 * (event.firstTick + event.ticks)) / store.room.canvas.fps);
  } else if (event.type === "room.ready") capture.edge = null;
  else if (event.type.startsWith("clip.")) loadClips(true);
  else if (event.type === "recording.ready") {
    capture.recordings.unshift({ id: `recording ${event.sequence}`, at: Date.parse(event.time), path: event.path, ms: event.recording?.durationMs ?? 0,
      bytes: (event.recording?.files || []).reduce((sum, file) => sum + file.bytes, 0), names: (event.recording?.files || []).map((file) => file.name).join(", ") });
    capture.recordings.splice(8);
  }
}

export async function loadClips(isChanged = false) {
  const isBusy = capture.clips.some(({ state }) => state === "pending" || state === "working");
  if (!isChanged && !isBusy && capture.asked === String(store.room?.incarnation)) return;
  capture.asked = String(store.room?.incarnation);
  try { ({ clips: capture.clips } = await (await ask("v1/clips")).json()); } catch { /* the next event asks again */ }
  showCapture();
}

/** A clip is fetched with the token, which a plain link could not send. */
async function save(id, name, press) {
  disable(press, true);
  try {
    const url = URL.createObjectURL(await (await ask(`v1/clips/${encodeURIComponent(id)}/file`)).blob());
    const link = make("a", { href: url, download: `${name}.mp4` });
    link.click();
    setTimeout(() => URL.revokeObjectURL(url), 60_000);
  } catch (error) { tell(error.text || "The room does not respond."); }
  disable(press, false);
}

function item(entry) {
  if (entry.sort === "still") {
    return make("li", { "data-sort": "still" }, make("img", { src: entry.url, alt: `Still of ${clock(entry.at)}` }), make("span", {}, "Still ", make("small", {}, `${clock(entry.at)} · ${size(entry.bytes)}`)),
      make("a", { class: "quiet", href: entry.url, download: entry.name }, "Save"));
  }
  if (entry.sort === "clip") {
    return make("li", { "data-sort": "clip" }, make("span", { class: "badge", "data-part": "state" }), make("span", { "data-part": "text" }), button("Save", { "data-part": "save", "aria-label": `Save the clip ${entry.name}` }, (press) => save(entry.clip.id, entry.name, press)));
  }
  return make("li", { "data-sort": "recording", title: entry.names }, make("span", { class: "badge", tone: "good" }, "recorded"),
    make("span", {}, entry.path, make("small", {}, ` ${since(entry.ms)} · ${size(entry.bytes)}`)));
}

export function showCapture() {
  const { room, mayCommand } = store, output = recorder(), isRunning = Boolean(output) && output.state !== "stopped";
  if (!room) return;
  disable($("record"), !mayCommand || !output || output.state === "stopping");
  setAttribute($("record"), "aria-pressed", String(isRunning));
  setText($("record").querySelector("b"), !output ? "No recording" : output.state === "stopping" ? "Stopping…" : isRunning ? "Stop recording" : "Record");
  $("record").title = output ? "" : "The pipeline file has no output of the type record";
  $("clip").disabled = $("clip-seconds").disabled = !mayCommand;
  $("rec").hidden = !isRunning;
  const list = [...capture.stills.map((entry) => ({ ...entry, sort: "still" })), ...[...capture.clips].reverse().map((entry) => ({ id: `clip ${entry.id}`, name: entry.name, at: Date.parse(entry.to), clip: entry, sort: "clip" })),
    ...capture.recordings.map((entry) => ({ ...entry, sort: "recording" }))].sort((one, other) => other.at - one.at).slice(0, 16);
  const rows = keep($("captured"), list, ({ id }) => id, item);
  list.forEach(({ sort, clip: one }, index) => {
    if (sort !== "clip") return;
    const part = (name) => rows[index].querySelector(`[data-part=${name}]`);
    part("state").dataset.tone = { ready: "good", failed: "bad" }[one.state] || "warn";
    setText(part("state"), { ready: "clip", failed: "failed" }[one.state] || "cutting…");
    setText(part("text"), [one.name, one.durationMs ? since(one.durationMs) : null, one.bytes ? size(one.bytes) : null, one.reason].filter(Boolean).join(" · "));
    rows[index].title = one.path || "";
    part("save").hidden = one.state !== "ready" || !mayCommand;
  });
  $("captured").hidden = !list.length;
  $("captured-none").hidden = list.length > 0;
}
