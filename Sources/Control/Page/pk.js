// The PK: phase and time that is left, scores, start, punishment and end.
import { $, button, keep, make, minutes, setAttribute, setText } from "./dom.js";
import { command } from "./api.js";
import { canvasOf, resolvedPanes } from "./geometry.js";
import { liveUids, nameOfUid, sceneOf, store } from "./store.js";

const phases = { idle: "No PK", countdown: "Starts in", pk: "PK", punish: "Punishment" };
const shown = { phase: null, until: null, whole: 0, refresh() {} };
const steps = [1, 10, 100];

export function startPK(refresh) {
  shown.refresh = refresh;
  $("pk-start").addEventListener("click", () => {
    const ms = (id, factor) => Math.round(Number($(id).value) * factor);
    send("v1/pk:start", { scene: $("pk-scene").value, durationMs: ms("pk-minutes", 60_000), countdownMs: ms("pk-countdown", 1000), punishMs: ms("pk-punish-seconds", 1000) });
  });
  $("pk-punish").addEventListener("click", () => send("v1/pk:punish", {}));
  $("pk-end").addEventListener("click", () => send("v1/pk:end", {}));
  setInterval(tick, 200);
}

/** Chooses the scene for the next PK. */
export function propose(sceneId) {
  if ([...$("pk-scene").options].some(({ value }) => value === sceneId)) $("pk-scene").value = sceneId;
  showPK();
}

async function send(path, body) {
  await command("POST", path, body);
  shown.refresh();
}

/** The remaining time runs on between two replies of the room. */
function tick() {
  const left = shown.until === null ? null : Math.max(0, shown.until - performance.now());
  const text = shown.phase === "idle" || shown.phase === null ? "" : left === null ? "no limit" : minutes(left);
  setText($("pk-left"), text);
  setText($("pk-mini-left"), text);
  $("pk-progress").style.setProperty("--value", left !== null && shown.whole ? (left / shown.whole).toFixed(3) : "0");
}

/** The two uids of the PK's scene, from left to right. */
function sides() {
  const scene = sceneOf($("pk-scene").value || store.room.pk?.scene);
  if (!scene) return [null, null];
  return [...resolvedPanes(scene, canvasOf(scene, store.room.canvas), liveUids())].sort((one, other) => one.x - other.x || one.y - other.y).map(({ uid }) => uid);
}

async function addScore(id, side, points) {
  const score = store.scores.get(id);
  setScore(id, side, Math.max(0, score[side] + points));
}

async function setScore(id, side, value) {
  store.scores.set(id, { ...store.scores.get(id), [side]: value });
  showPK();
  const reply = await command("PUT", `v1/scores/${encodeURIComponent(id)}`, { [side]: value });
  if (reply) store.scores.set(id, { left: reply.left, right: reply.right });
  shown.refresh();
}

function scoreRow([id]) {
  const half = (side) => {
    const input = make("input", { type: "number", min: "0", max: "1000000000", step: "1", inputmode: "numeric", "data-side": side });
    input.addEventListener("change", () => { if (Number.isFinite(input.valueAsNumber)) setScore(id, side, Math.max(0, Math.round(input.valueAsNumber))); });
    return make("div", { class: "half", "data-half": side }, make("span", { class: "who" }), input,
      make("div", { class: "steps" }, ...steps.map((points) => button(`+${points}`, { "data-step": points }, () => addScore(id, side, points)))));
  };
  return make("div", { class: "score", "data-score": id }, half("left"), half("right"), make("div", { class: "ratio", "aria-hidden": "true" }, make("i")));
}

export function showPK() {
  const { room, mayCommand } = store, pk = room.pk, phase = pk?.phase ?? "idle";
  const isNew = shown.phase !== phase;
  shown.phase = phase;
  shown.until = pk && pk.remainingMs !== null ? performance.now() + pk.remainingMs : null;
  shown.whole = isNew ? pk?.remainingMs ?? 0 : Math.max(shown.whole, pk?.remainingMs ?? 0);
  $("pk").dataset.phase = phase;
  setText($("pk-phase"), phases[phase] || phase);
  $("pk-mini").hidden = phase === "idle";
  setText($("pk-mini").querySelector("b"), phases[phase] || phase);
  const scenes = store.scenes.map(({ sceneId }) => sceneId), key = scenes.join("\n");
  if ($("pk-scene").dataset.key !== key) {
    const chosen = $("pk-scene").value;
    $("pk-scene").dataset.key = key;
    $("pk-scene").replaceChildren(...scenes.map((id) => new Option(id, id)));
    const wanted = scenes.includes(chosen) && chosen ? chosen : pk?.scene ?? store.scenes.find(({ uids }) => uids.length === 2)?.sceneId;
    if (scenes.includes(wanted)) $("pk-scene").value = wanted;
  }
  usual();
  const isRunning = phase !== "idle";
  for (const name of ["pk-scene", "pk-minutes", "pk-countdown", "pk-punish-seconds"]) $(name).disabled = !mayCommand || isRunning;
  $("pk-start").disabled = !mayCommand || isRunning;
  $("pk-punish").disabled = !mayCommand || phase !== "pk";
  $("pk-end").disabled = !mayCommand || !isRunning;
  $("pk-invite").disabled = !mayCommand;
  showReady();
  showScores(mayCommand);
  tick();
}

/** The first values of the form: those of the room's document. */
function usual() {
  const pk = store.document?.pk;
  if (!pk || $("pk").dataset.usual) return;
  $("pk").dataset.usual = "1";
  const put = (id, value) => {
    if (value === undefined) return;
    const text = String(value);
    if (![...$(id).options].some((option) => option.value === text)) $(id).append(new Option(id === "pk-minutes" ? `${Math.round(value * 100) / 100} min` : `${value} s`, text));
    $(id).value = text;
  };
  put("pk-minutes", pk.durationMs === undefined ? undefined : pk.durationMs / 60_000);
  put("pk-countdown", pk.countdownMs === undefined ? undefined : pk.countdownMs / 1000);
  put("pk-punish-seconds", pk.punishMs === undefined ? undefined : pk.punishMs / 1000);
}

/** Shows which sources are not live yet for the PK. */
function showReady() {
  const uids = sides().filter(Boolean), live = liveUids(), missing = uids.filter((uid) => !live.includes(uid));
  const text = store.room.pk && store.room.pk.phase !== "idle" ? "" : missing.length ? `Not live yet: ${missing.map(nameOfUid).join(", ")}` : uids.length ? `Ready: ${uids.map(nameOfUid).join(" and ")}` : "";
  setText($("pk-ready"), text);
  $("pk-ready").dataset.tone = missing.length ? "warn" : "good";
}

function showScores(mayCommand) {
  const list = [...store.scores], rows = keep($("scores"), list, ([id]) => id, scoreRow), names = sides();
  list.forEach(([id, score], index) => {
    for (const [place, side] of ["left", "right"].entries()) {
      const half = rows[index].querySelector(`[data-half=${side}]`), input = half.querySelector("input"), name = names[place] ? nameOfUid(names[place]) : side;
      setText(half.querySelector(".who"), list.length > 1 ? `${name} (${id})` : name);
      setAttribute(input, "aria-label", `Points of ${name} in the score ${id}`);
      for (const step of half.querySelectorAll("button")) { step.disabled = !mayCommand; setAttribute(step, "aria-label", `${step.dataset.step} more points for ${name}`); }
      input.disabled = !mayCommand;
      if (document.activeElement !== input) input.value = String(score[side]);
    }
    rows[index].querySelector(".ratio").style.setProperty("--value", `${score.left + score.right ? ((100 * score.left) / (score.left + score.right)).toFixed(1) : 50}%`);
  });
}
