// The operators' page: polls the API every second, follows the event stream, and connects the parts of the page.
import { $, make, setText, tell, toast, undoNotice } from "./dom.js";
import { access, ask, command, Refusal, token } from "./api.js";
import { clip, loadClips, noteCapture, record, showCapture, startCapture, still } from "./capture.js";
import { Editor, watchEditor } from "./editor.js";
import { EventFeed, listEvent, startEventList } from "./events.js";
import { followLogs } from "./logs.js";
import { Inspector } from "./inspector.js";
import { choose, previewed, showPicture, showStage, startStage, take } from "./stage.js";
import { loadDocument, noteScores, onAir, store } from "./store.js";
import { noteRefusal, showTrouble } from "./trouble.js";
import { onSourceAction, showSources, showStills } from "./sources.js";
import { picture, startWatching } from "./watch.js";
import { showAddresses, showHeader } from "./header.js";
import { showLimits, showOutputs } from "./outputs.js";
import { showPK, startPK } from "./pk.js";
import { startInvite } from "./invite.js";
import { startKeys } from "./keys.js";
import { Stills } from "./stills.js";
import { Timeline } from "./timeline.js";

const timeline = new Timeline($("timeline"));
const stills = new Stills((key, url) => { showPicture(key, url); showStills(stills); });
const editor = new Editor($("preview"), { inspector: new Inspector(), changed: () => { showEditing(); showStage(); }, applied: async (id) => { await refresh(); choose(id); } });
let misses = 0, askedAt = 0, needsToken = false, incarnation = null;

// MARK: Once a second

let pending = null, next = null;

/** Reads the state of the room and shows it. A call while a request is under way waits for a new one, which all such calls share. */
function refresh() {
  if (pending) return (next ??= pending.then(() => { next = null; return refresh(); }));
  pending = update().finally(() => { pending = null; });
  return pending;
}

async function update() {
  askedAt = performance.now();
  try {
    if (store.isOver) await ask("v1/room");
    const [roomReply, sceneReply] = await Promise.all([ask("v1/room"), ask("v1/scenes")]);
    const mayCommand = roomReply.headers.get("Tandem-Access") !== "read", [room, list] = await Promise.all([roomReply.json(), sceneReply.json()]);
    Object.assign(store, { room, scenes: list.scenes, mayCommand });
    if (misses > 2 || needsToken || store.isOver) tell("");
    store.isOver = false;
    if (incarnation !== null && room.incarnation !== incarnation) toast(`Worker ${room.incarnation} continues the room.`, { tone: "good" });
    incarnation = room.incarnation;
    misses = 0;
    needsToken = false;
    await loadDocument();
    noteScores(list.scores);
    show();
    if (!feed.isFollowing) feed.follow();
    if (!picture.isStarted) picture.begin();
    loadClips();
  } catch (error) {
    if (!(error instanceof Refusal) && !(error instanceof TypeError) && error.name !== "AbortError") throw error;
    missed(error);
  }
}

function missed(error) {
  if (error.status === 401) {
    needsToken = true;
    store.mayCommand = false;
    showKey();
    if (!$("unlock").open && !$("unlock").dataset.refused) unlock();
    tell("This room needs a token.", "info");
  } else if (error.status === 410 || (store.room?.desired === "closed" && !error.status)) {
    // A worker that continues an unfinished end at this address is found by the slower requests.
    store.isOver = true;
    $("state").dataset.tone = store.room?.state === "failed" ? "bad" : "idle";
    setText($("state").querySelector("b"), "Ended");
    tell(`The room has ended, and its worker ${error.status ? "still serves viewers" : "has stopped"}. The events below are the last that this page has seen.`, "info");
  } else if (++misses > 2) {
    const { room } = store;
    $("state").dataset.tone = "bad";
    setText($("state").querySelector("b"), room && /clos|end|fail/.test(room.state) ? "Ended" : "No response");
    tell(error.status ? `The room responds with HTTP ${error.status}: ${error.message}`
      : room && room.state === "draining" ? "The worker has stopped. The page continues when its successor runs at this address." : "The room does not respond; trying again. Check that the worker runs and that this machine reaches it.");
  }
}

let drawnAt = 0;

function show() {
  const { room, scenes, mayCommand } = store, air = scenes.find(({ sceneId }) => sceneId === onAir());
  showHeader(room);
  showTrouble(room);
  showStage();
  showPK();
  stills.show(room.sources);
  showSources(room.sources, mayCommand, new Set(air?.uids || []));
  showStills(stills);
  showOutputs(room, mayCommand, refresh);
  showCapture();
  showLimits(room);
  showAddresses(room.addresses);
  showKey();
  watchEditor(editor);
  if (performance.now() - drawnAt < 1900 || document.visibilityState !== "visible") return;
  drawnAt = performance.now();
  timeline.draw(room, Date.parse(room.time));
}

function showKey() {
  $("key").hidden = store.mayCommand && !token.value;
  setText($("key"), token.value && store.mayCommand ? "Lock" : "Read-only · Unlock");
  $("more").hidden = !store.mayCommand || !store.room || store.room.desired !== "live";
}

function showEditing() {
  setText($("edit"), editor.isOpen ? "Close editor" : "Edit layout");
  $("edit").setAttribute("aria-pressed", String(editor.isOpen));
  setText($("edit-state"), editor.isOpen ? (editor.isDirty ? "changed, not applied" : "no changes") : "");
}

// MARK: The token

function unlock() {
  setText($("unlock-error"), "");
  if (!$("unlock").open) $("unlock").showModal();
}
access.needed = unlock;

$("unlock-form").addEventListener("submit", async (submission) => {
  submission.preventDefault();
  const before = token.value, couldLook = !needsToken;
  token.value = $("token").value.trim();
  try {
    const reply = await ask("v1/room");
    // If the page could already read, then a read token gains nothing; and if reads need no token, then any text is accepted.
    if (couldLook && reply.headers.get("Tandem-Access") === "read") throw new Refusal(403, { detail: "This token does not allow commands." });
    $("token").value = "";
    $("unlock").close();
    delete $("unlock").dataset.refused;
    refresh();
  } catch (error) {
    token.value = before;
    setText($("unlock-error"), error.status === 401 ? "This is not the token of this room." : error.message);
  }
});
$("unlock-cancel").addEventListener("click", () => { $("unlock").dataset.refused = "1"; $("unlock").close(); });
$("unlock").addEventListener("cancel", () => { $("unlock").dataset.refused = "1"; });
$("key").addEventListener("click", () => {
  if (token.value && store.mayCommand) { token.value = ""; location.reload(); } else unlock();
});
$("drain").addEventListener("click", () => {
  if (confirm("Stop this worker? Viewers wait until its successor runs.")) command("POST", "v1/room:drain");
  $("more").open = false;
});
$("end").addEventListener("click", () => {
  if (confirm("End the room for all viewers? This cannot be undone.")) command("POST", "v1/room:end");
  $("more").open = false;
});

// MARK: The editor

const toggleEditor = () => { if (editor.isOpen) editor.close(); else if (!$("edit").disabled) editor.open(previewed()); };
$("edit").addEventListener("click", toggleEditor);
$("apply").addEventListener("click", () => editor.apply());
$("discard").addEventListener("click", () => editor.close());
$("save-as").addEventListener("submit", (event) => {
  event.preventDefault();
  const id = $("save-name").value.trim();
  if (!/^[A-Za-z0-9_.-]{1,64}$/.test(id)) return tell("A scene's id has 1 to 64 letters, digits, _ . or -.");
  if (store.scenes.some(({ sceneId }) => sceneId === id) && !confirm(`Replace the scene ${id}?`)) return;
  $("save-name").value = "";
  editor.apply(id);
});

// MARK: Events

const feed = new EventFeed((event, isNew) => {
  timeline.add(event);
  noteRefusal(event);
  noteCapture(event);
  listEvent(event);
  if (isNew && /^(program\.|pk\.|scene\.|alarm\.|relay\.|output\.|ingest\.refused|source\.(live|lost|gone|changed|kicked|added|removed)|room\.|broadcast\.)/.test(event.type)) soon();
});

/** Refreshes the page shortly after an event instead of at the next second; several events cause one refresh. */
let isSoon = false;
function soon() {
  if (isSoon) return;
  isSoon = true;
  setTimeout(() => { isSoon = false; refresh(); }, 60);
}

// MARK: Go

for (const [name, word] of [["live", "live"], ["warn", "stalled or reconnecting"], ["bad", "lost"]]) $("legend").append(make("span", {}, make("i", { class: name }), word));
token.apply();
startEventList();
startCapture(refresh);
startPK(refresh);
startStage({ editor, stills, refresh });
onSourceAction({ done: refresh, invite: startInvite(refresh), enlarge: (key) => stills.enlarge(key) });
startWatching(() => !needsToken);
startKeys({ scene: (number) => choose(store.scenes[number - 1]?.sceneId), cut: () => take("cut"), transition: () => take("transition"), record, clip, still, edit: toggleEditor,
  undo: () => { if (editor.isOpen) editor.undo(); else undoNotice(); }, redo: () => { if (editor.isOpen) editor.redo(); } });
followLogs(ask, () => store.room && !needsToken && !store.isOver);
// For the browser's console and for tests.
globalThis.tandem = { feed, refresh, store };
refresh();
setInterval(() => { if (!pending && !(store.isOver && performance.now() - askedAt < 10_000)) refresh(); }, 1000);
