// The cards for outputs and log lines. Texts from the API are only set as text, never as HTML.

const outputTones = { live: "good", waiting: "idle", connecting: "warn", recovering: "warn", failed: "bad", stopped: "idle",
  recording: "good", stopping: "warn", suspended: "bad" };
const outputKinds = { hls: "HLS", rtmp: "RTMP", http: "HTTP upload", s3: "S3 upload", record: "recording", image: "stills", raw: "raw video" };
const size = (bytes) => (bytes >= 1e9 ? `${(bytes / 1e9).toFixed(2)} GB` : bytes >= 1e6 ? `${(bytes / 1e6).toFixed(1)} MB` : `${Math.round(bytes / 1000)} kB`);
const count = (number, one, many = `${one}s`) => (number ? `${number.toLocaleString()} ${number === 1 ? one : many}` : null);

function outputRow(output, restart) {
  const row = make("article", { class: "output", "data-output": output.outputId },
    make("div", { class: "top" }, make("span", { class: "badge", "data-part": "state" }, make("i", { class: "dot" }), make("b")),
      make("span", { class: "who" }, output.outputId), make("span", { class: "uid" }, outputKinds[output.type] || output.type), make("span", { class: "space" }),
      make("button", { class: "quiet", type: "button", "data-part": "restart" }, "Restart")),
    make("p", { class: "where mono" }), make("p", { class: "figures" }), make("p", { class: "causes" }));
  const button = row.querySelector("[data-part=restart]");
  button.addEventListener("click", () => restart(output.outputId, button));
  return row;
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
    default: return [];
  }
}

function showOutputs({ outputs, alarms, disk }, mayCommand, restart) {
  const box = $("outputs"), known = new Map([...box.children].map((row) => [row.dataset.output, row]));
  const rows = outputs.map((output) => known.get(output.outputId) || outputRow(output, restart));
  if (rows.length !== box.children.length || rows.some((row, index) => box.children[index] !== row)) box.replaceChildren(...rows);
  const set = alarms.filter(({ state, scope }) => state === "set" && scope.kind === "output");
  outputs.forEach((output, index) => {
    const row = rows[index], badge = row.querySelector("[data-part=state]"), hasState = output.state !== undefined;
    const isElsewhere = hasState && output.type !== "record";
    // An alarm without an output id is about the disk and applies to all outputs on it.
    const wrong = set.filter(({ scope }) => scope.id === output.outputId || (scope.id === null && !isElsewhere));
    badge.dataset.tone = hasState ? outputTones[output.state] || "idle" : wrong.length ? levelTones[wrong[0].severity] : "good";
    setText(badge.querySelector("b"), hasState ? output.state : wrong.length ? "alarm" : "written");
    row.querySelector("[data-part=restart]").hidden = !mayCommand || output.type !== "rtmp";
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

// MARK: Log lines

const severities = ["trace", "debug", "info", "notice", "warning", "error", "critical"];
const severityTones = { warning: "warn", error: "bad", critical: "bad" };
const plain = new Set(["ts", "level", "msg", "logger"]);

/** Shows the lines that match the filter, newest first. */
function showLogs(lines) {
  const least = severities.indexOf($("log-level").value), wanted = $("log-filter").value.trim().toLowerCase();
  const rows = lines.map((line) => ({ line, details: Object.entries(line).filter(([key]) => !plain.has(key)).map(([key, value]) => `${key}=${value}`).join(" ") }))
    .filter(({ line, details }) => severities.indexOf(line.level) >= least && `${line.msg} ${details}`.toLowerCase().includes(wanted));
  setText($("log-count"), `${rows.length} of the last ${lines.length}`);
  const box = $("log-lines"), key = JSON.stringify([lines.at(-1)?.ts, lines.length, least, wanted]);
  if (box.dataset.key === key) return;
  box.dataset.key = key;
  box.replaceChildren(...rows.reverse().map(({ line, details }) =>
    make("li", { tone: severityTones[line.level] || "" }, make("time", {}, clock(line.ts)), make("b", {}, line.level), make("span", {}, line.msg, details ? make("small", {}, ` ${details}`) : null))));
}

/** Requests the log lines every two seconds while the card is open. */
async function followLogs(ask, isReady) {
  let lines = [], wake = () => {};
  $("logs").addEventListener("toggle", () => wake());
  for (const id of ["log-filter", "log-level"]) $(id).addEventListener("input", () => showLogs(lines));
  for (;;) {
    if ($("logs").open && isReady() && document.visibilityState === "visible") {
      try {
        ({ lines } = await (await ask("v1/logs?tail=200")).json());
        showLogs(lines);
      } catch (error) { setText($("log-count"), { 401: "needs the token", 404: "not available" }[error.status] || "no response"); }
    }
    await Promise.race([pause(2000), new Promise((go) => { wake = go; })]);
  }
}
