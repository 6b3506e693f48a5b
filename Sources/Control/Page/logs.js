// The card with the worker's log lines.
import { $, clock, make, setText, sleep } from "./dom.js";

const severities = ["trace", "debug", "info", "notice", "warning", "error", "critical"];
const tones = { warning: "warn", error: "bad", critical: "bad" };
const plain = new Set(["ts", "level", "msg", "logger"]);

/** Shows the lines that match the filter, newest first. */
function show(lines) {
  const least = severities.indexOf($("log-level").value), wanted = $("log-filter").value.trim().toLowerCase();
  const rows = lines.map((line) => ({ line, details: Object.entries(line).filter(([key]) => !plain.has(key)).map(([key, value]) => `${key}=${value}`).join(" ") }))
    .filter(({ line, details }) => severities.indexOf(line.level) >= least && `${line.msg} ${details}`.toLowerCase().includes(wanted));
  setText($("log-count"), `${rows.length} of the last ${lines.length}`);
  const box = $("log-lines"), key = JSON.stringify([lines.at(-1)?.ts, lines.length, least, wanted]);
  if (box.dataset.key === key) return;
  box.dataset.key = key;
  box.replaceChildren(...rows.reverse().map(({ line, details }) =>
    make("li", { tone: tones[line.level] || "" }, make("time", {}, clock(line.ts)), make("b", {}, line.level), make("span", {}, line.msg, details ? make("small", {}, ` ${details}`) : null))));
}

/** Requests the log lines every two seconds while the card is open. */
export async function followLogs(ask, isReady) {
  let lines = [], wake = () => {};
  $("logs").addEventListener("toggle", () => wake());
  for (const id of ["log-filter", "log-level"]) $(id).addEventListener("input", () => show(lines));
  for (;;) {
    if ($("logs").open && isReady() && document.visibilityState === "visible") {
      try {
        ({ lines } = await (await ask("v1/logs?tail=200")).json());
        show(lines);
      } catch (error) { setText($("log-count"), { 401: "needs the token", 404: "not available" }[error.status] || "no response"); }
    }
    await Promise.race([sleep(2000), new Promise((go) => { wake = go; })]);
  }
}
