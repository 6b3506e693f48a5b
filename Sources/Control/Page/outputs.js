// The outputs with their state, and the limits of the room.
import { $, bits, button, count, disable, keep, levelTones, make, setAttribute, setText, size } from "./dom.js";
import { command } from "./api.js";

const tones = { live: "good", waiting: "idle", connecting: "warn", recovering: "warn", failed: "bad", stopped: "idle", recording: "good", stopping: "warn", suspended: "bad" };
const names = { hls: "HLS", rtmp: "RTMP", http: "HTTP upload", s3: "S3 upload", record: "recording", image: "stills", raw: "raw video", webrtc: "WebRTC" };

async function run(outputId, verb, refresh, press) {
  disable(press, true);
  await command("POST", `v1/outputs/${encodeURIComponent(outputId)}:${verb}`);
  disable(press, false);
  refresh();
}

function outputRow(output, refresh) {
  const verb = (name, word) => button(word, { "data-part": name, "aria-label": `${word} ${output.outputId}` }, (press) => run(output.outputId, name, refresh, press));
  return make("article", { class: "output", "data-output": output.outputId },
    make("div", { class: "top" }, make("span", { class: "badge", "data-part": "state" }, make("i", { class: "dot" }), make("b")),
      make("span", { class: "who" }, output.outputId), make("span", { class: "uid" }, names[output.type] || output.type), make("span", { class: "space" }),
      verb("restart", "Restart"), verb("start", "Start"), verb("stop", "Stop")),
    make("p", { class: "where mono" }), make("p", { class: "figures" }), make("p", { class: "causes" }));
}

/** What an output has sent so far, and what is queued. */
function outputFigures(output, disk) {
  switch (output.type) {
    case "rtmp":
      return [output.rendition, output.bytes ? `${size(output.bytes)} sent` : null, output.queuedMs ? `${output.queuedMs} ms queued` : null,
        count(output.dropped, "packet dropped", "packets dropped"), count(output.retries, "retry", "retries")];
    case "http": case "s3":
      return [count(output.objects, "object"), output.bytes ? size(output.bytes) : null, count(output.queuedSegments, "segment queued", "segments queued"),
        count(output.lostSegments, "segment lost", "segments lost"), count(output.failures, "failed attempt", "failed attempts")];
    case "hls": return [output.lowLatency ? "low latency" : null, disk ? `${disk.percent} % of the disk space used` : null];
    case "webrtc": return [count(output.viewers, "viewer")];
    default: return [];
  }
}

export function showOutputs({ outputs, alarms, disk }, mayCommand, refresh) {
  const rows = keep($("outputs"), outputs, ({ outputId }) => outputId, (output) => outputRow(output, refresh));
  const set = alarms.filter(({ state, scope }) => state === "set" && scope.kind === "output");
  outputs.forEach((output, index) => {
    const row = rows[index], badge = row.querySelector("[data-part=state]"), hasState = output.state !== undefined;
    const isElsewhere = hasState && output.type !== "record";
    // An alarm without an output id is about the disk and applies to all outputs on it.
    const wrong = set.filter(({ scope }) => scope.id === output.outputId || (scope.id === null && !isElsewhere));
    badge.dataset.tone = hasState ? tones[output.state] || "idle" : wrong.length ? levelTones[wrong[0].severity] : "good";
    setText(badge.querySelector("b"), hasState ? output.state : wrong.length ? "alarm" : "written");
    const isRecord = output.type === "record", part = (name) => row.querySelector(`[data-part=${name}]`);
    part("restart").hidden = !mayCommand || output.type !== "rtmp";
    part("start").hidden = !mayCommand || !isRecord || output.state !== "stopped";
    part("stop").hidden = !mayCommand || !isRecord || output.state === "stopped";
    const parts = { where: output.url || output.target || output.playlist || "", figures: outputFigures(output, disk).filter(Boolean).join(" · "),
      causes: wrong.map(({ message }) => message).join("; ") || (/connecting|failed/.test(output.state) ? output.lastError : "") || "" };
    for (const [name, text] of Object.entries(parts)) {
      const line = row.querySelector(`.${name}`);
      line.hidden = !text;
      line.title = text;
      setText(line, text);
    }
    row.querySelector(".causes").dataset.tone = badge.dataset.tone;
  });
  const elsewhere = outputs.filter(({ state, type }) => state !== undefined && type !== "record");
  setText($("output-count"), elsewhere.length ? `${elsewhere.filter(({ state }) => state === "live").length} of ${elsewhere.length} remote outputs are live` : "");
}

// MARK: Limits

/** A bar with its limit at four fifths of its width. */
function showGauge(box, id, { name, note, value, high, limit, text }) {
  let row = [...box.children].find((child) => child.dataset.id === id);
  if (!row) {
    row = make("div", { class: "gauge", "data-id": id }, make("div", { class: "row" }, make("span"), make("small"), make("span")),
      make("div", { class: "track", role: "meter", "aria-label": name, "aria-valuemin": "0" }, make("i", { class: "p95" }), make("i"), make("b")));
    box.append(row);
  }
  const [title, detail, figure] = row.firstChild.children, track = row.lastChild, most = limit ? limit * 1.25 : Math.max(1, value || 0);
  setText(title, name);
  setText(detail, note || "");
  setText(figure, text);
  setAttribute(track, "aria-valuemax", Math.round(most));
  setAttribute(track, "aria-valuenow", Math.round(Math.min(most, value || 0)));
  setAttribute(track, "aria-valuetext", text);
  const width = (number) => `${limit ? Math.min(100, (80 * (number || 0)) / limit).toFixed(1) : 0}%`;
  track.style.setProperty("--value", width(value));
  track.style.setProperty("--high", width(high ?? value));
  track.lastChild.hidden = !limit;
  row.dataset.tone = limit && (high ?? value) > limit ? "bad" : "good";
}

export function showLimits({ latency, renditions, ticks }) {
  const box = $("latencies"), ms = (value) => `${value < 10 && !Number.isInteger(value) ? value.toFixed(1) : Math.round(value)} ms`;
  const { program, sendToPart, sendToSegment, partEncode } = latency;
  setText($("frames"), `${ticks.frames.toLocaleString()} frames, ${ticks.late} late, ${ticks.lost} lost`);
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
