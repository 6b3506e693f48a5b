// Preview and program: a scene is chosen, perhaps edited, and then put on air by a cut or a transition.
import { $, draw, keep, make, setAttribute, setText, toast } from "./dom.js";
import { command } from "./api.js";
import { liveUids, nameOfUid, onAir, sceneOf, store } from "./store.js";
import { drawScene, setPicture } from "./scene.js";
import { minutes } from "./dom.js";

const stage = { preview: null, editor: null, stills: null, refresh() {} };

export function startStage(parts) {
  Object.assign(stage, parts);
  $("cut").addEventListener("click", () => take("cut"));
  $("take").addEventListener("click", () => take("transition"));
}

const previewContext = () => ({
  names: nameOfUid, live: liveUids(), scores: store.scores, remaining: minutes(store.room.pk?.remainingMs ?? 0),
  pictures: (source) => stage.stills.get(source)?.url,
  sizes: (source) => {
    const [uid, type = "main"] = source.split("/"), match = /^(\d+)x(\d+)/.exec(store.room.sources.find((one) => one.uid === uid && one.streamType === type)?.picture || "");
    return match ? { width: Number(match[1]), height: Number(match[2]) } : null;
  },
});

export function choose(id) {
  if (!store.scenes.some(({ sceneId }) => sceneId === id)) return;
  if (stage.editor.isOpen && stage.preview !== id && !stage.editor.close()) return;
  stage.preview = id;
  showStage();
}

export const previewed = () => stage.preview;

/** Puts the previewed scene on air. The scene that was on air is previewed then. */
export async function take(kind) {
  const id = stage.preview, before = onAir();
  if (!id || !store.mayCommand) return;
  if (stage.editor.isOpen && stage.editor.isDirty && !(await stage.editor.apply())) return;
  const body = { sceneId: id }, own = sceneOf(id)?.transition, chosen = $("transition").value, durationMs = Number($("transition-ms").value);
  if (kind === "cut") body.transition = { type: "cut" };
  else if (chosen !== "own") body.transition = { type: chosen, durationMs };
  else if (!own || own.type === "cut" || !own.type) body.transition = { type: "crossfade", durationMs };
  for (const name of ["cut", "take"]) $(name).classList.add("busy");
  const reply = await command("PUT", "v1/program", body);
  for (const name of ["cut", "take"]) $(name).classList.remove("busy");
  if (!reply) return;
  if (before && before !== id) { stage.editor.close(true); stage.preview = before; }
  if (!reply.changed) toast(`${id} is on air already.`);
  stage.refresh();
}

function thumbnail({ sceneId }) {
  const button = make("button", { type: "button", class: "thumb", "data-scene": sceneId },
    draw("svg", { "aria-hidden": "true" }), make("span", { class: "name" }), make("small"), make("kbd", { "aria-hidden": "true" }));
  button.addEventListener("click", () => choose(sceneId));
  button.addEventListener("dblclick", () => take("cut"));
  return button;
}

function redraw(svg, scene, context, key) {
  if (svg.dataset.drawn === key) return;
  svg.dataset.drawn = key;
  drawScene(svg, scene, store.room, context);
}

export function showStage() {
  const { room, scenes, mayCommand } = store, air = onAir(), live = liveUids();
  if (!room) return;
  if (!scenes.some(({ sceneId }) => sceneId === stage.preview)) stage.preview = scenes.find((scene) => !scene.onAir)?.sceneId ?? air;
  const names = Object.fromEntries(room.sources.map(({ uid, name }) => [uid, name])), buttons = keep($("scenes"), scenes, ({ sceneId }) => sceneId, thumbnail);
  scenes.forEach((row, index) => {
    const element = buttons[index], scene = sceneOf(row.sceneId);
    element.disabled = !mayCommand;
    setAttribute(element, "aria-pressed", String(row.sceneId === stage.preview));
    element.dataset.air = row.sceneId === air ? "1" : "0";
    setText(element.querySelector(".name"), row.sceneId);
    setText(element.querySelector("kbd"), index < 9 ? String(index + 1) : "");
    setText(element.querySelector("small"), row.sceneId === air ? "on air" : row.sceneId === stage.preview ? "preview" : row.auto ? "automatic" : row.uids.length === 1 ? "1 source" : `${row.uids.length} sources`);
    redraw(element.querySelector("svg"), scene, { names: nameOfUid, live, scores: store.scores }, JSON.stringify([scene, names, row.auto ? live : 0, [...store.scores]]));
  });
  const scene = stage.editor.isOpen ? stage.editor.scene : sceneOf(stage.preview);
  $("preview-name").textContent = stage.preview ?? "";
  if (scene) redraw($("preview"), scene, previewContext(), JSON.stringify([scene, names, live, [...store.scores], room.pk?.phase === "idle" ? 0 : minutes(room.pk?.remainingMs ?? 0)]));
  setAttribute($("preview"), "aria-label", `Preview of the scene ${stage.preview}`);
  for (const name of ["cut", "take"]) $(name).disabled = !mayCommand || !stage.preview;
  $("edit").disabled = !mayCommand || !store.document || !stage.preview;
  $("edit").title = store.document ? "" : "The layout can be edited if the room was made from a pipeline file, with the token for commands";
}

export function showPicture(source, url) {
  const isDrawn = [...$("preview").querySelectorAll("image")].some((picture) => picture.dataset.source === source);
  if (isDrawn) setPicture($("preview"), source, url);
}
