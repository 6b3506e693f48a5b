// What the page knows of the room, and the room's document.
import { ask, token } from "./api.js";
import { resolvedPanes } from "./geometry.js";

/** `isOver`: the room has ended, and its worker does not serve operators any more. The page then asks only every ten seconds. */
export const store = { room: null, scenes: [], document: null, tag: null, mayCommand: false, scores: new Map(), isOver: false };

let loadedAt = null;

/** Loads the document if the room has changed since; always, if `fresh`. Clients that may not read it, get none. */
export async function loadDocument(fresh = false) {
  const state = `${store.room?.incarnation}.${store.room?.revision}.${store.mayCommand}`;
  if (!fresh && loadedAt === state) return false;
  // Without a token, the room refuses the document even if it allows other reads.
  if (!fresh && !store.mayCommand && !token.value) { store.document = null; return false; }
  loadedAt = state;
  try {
    const response = await ask("v1/document");
    store.tag = response.headers.get("ETag");
    store.document = await response.json();
    return true;
  } catch (error) {
    if (error.status === 401 || error.status === 403 || error.status === 404) store.document = null;
    if (fresh) throw error;
    return false;
  }
}

const sameRectangles = (some, others) => some.length === others.length && some.every((pane, index) =>
  ["uid", "x", "y", "width", "height"].every((name) => String(pane[name] ?? 0) === String(others[index][name] ?? 0)));

/** The document of a scene, as far as it is known: as it is in the room's document, or as the room shows it. */
export function sceneOf(id) {
  const row = store.scenes.find(({ sceneId }) => sceneId === id), written = store.document?.scenes?.find(({ sceneId }) => sceneId === id);
  if (!row) return written || null;
  if (!row.panes || row.auto) return written || { sceneId: id, uids: row.uids, auto: row.auto };
  if (written && sameRectangles(resolvedPanes(written, store.room.canvas), row.panes)) return written;
  // A command has replaced the scene of the document.
  const { layout, uids, ...rest } = written || { sceneId: id };
  return { ...rest, panes: row.panes };
}

export const liveUids = () => (store.room?.sources || []).filter(({ state, streamType }) => state === "live" && streamType === "main").map(({ uid }) => uid);
export const onAir = () => store.scenes.find((scene) => scene.onAir)?.sceneId ?? store.room?.program.scene ?? null;
export const nameOfUid = (uid) => store.room?.sources.find((source) => source.uid === String(uid))?.name || String(uid);

/** The scores of the room by id: as the room reports them, or as the document begins. */
export function noteScores(reported) {
  if (reported) store.scores = new Map(reported.map(({ scoreId, left, right }) => [scoreId, { left, right }]));
  for (const scene of store.document?.scenes || []) {
    for (const { scoreId, left = 0, right = 0 } of scene.scoreBars || []) if (!store.scores.has(scoreId)) store.scores.set(scoreId, { left, right });
  }
}
