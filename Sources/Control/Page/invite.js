// Invitations: a streamer of this room is relayed to another room, and a streamer of another room comes into this one.
import { $, button, make, setText, toast } from "./dom.js";
import { command, sourceKey, sourcePath } from "./api.js";
import { loadDocument, store } from "./store.js";
import { nameOf } from "./sources.js";
import { propose } from "./pk.js";

const secret = () => Array.from(crypto.getRandomValues(new Uint8Array(18)), (byte) => "abcdefghijkmnpqrstuvwxyz23456789"[byte & 31]).join("");

/** The address at which a publisher with this key comes into the room, by protocol. The page's host replaces a local address. */
export function publishAddresses(addresses, key, host) {
  const outside = (address) => address.replace(/\/\/(0\.0\.0\.0|\[::\])(?=[:/]|$)/, `//${host.includes(":") && !host.startsWith("[") ? `[${host}]` : host}`);
  return ["rtmp", "rtmps"].filter((name) => addresses[name]).map((name) => `${outside(addresses[name])}/live/${key}`);
}

export function startInvite(refresh) {
  const open = (source) => {
    $("invite-source").replaceChildren(...store.room.sources.map((one) => new Option(nameOf(one), sourceKey(one))));
    if (source) $("invite-source").value = sourceKey(source);
    $("invite-host").replaceChildren(new Option("no scene", ""), ...store.room.sources.filter(({ streamType }) => streamType === "main").map(({ uid, name }) => new Option(`beside ${name || uid}`, uid)));
    $("invite-host").selectedIndex = Math.min(1, $("invite-host").options.length - 1);
    $("invite-address").replaceChildren();
    setText($("invite-error"), "");
    $("invite").showModal();
    if (source) $("invite-url").focus();
  };
  $("pk-invite").addEventListener("click", () => open(null));
  $("invite-close").addEventListener("click", () => $("invite").close());
  $("invite-out").addEventListener("submit", async (event) => { event.preventDefault(); await relay(refresh); });
  $("invite-in").addEventListener("submit", async (event) => { event.preventDefault(); await addGuest(refresh); });
  return open;
}

async function relay(refresh) {
  const source = store.room.sources.find((one) => sourceKey(one) === $("invite-source").value), taken = new Set(source.relays.map(({ id }) => id));
  let number = 1;
  while (taken.has(`room-${number}`)) number += 1;
  try {
    await command("PUT", sourcePath(source, `/relays/room-${number}`), { url: $("invite-url").value.trim() }, { quiet: true });
    $("invite").close();
    $("invite-url").value = "";
    toast(`${nameOf(source)} is sent to the other room.`, { tone: "good", label: "Undo", act: () => command("DELETE", sourcePath(source, `/relays/room-${number}`)).then(refresh) });
  } catch (error) { setText($("invite-error"), error.text || "The room does not respond."); }
  refresh();
}

/** Adds a source with a new stream key, and a scene beside a source of this room. */
async function addGuest(refresh) {
  const name = $("invite-name").value.trim(), key = secret();
  let added = null;
  setText($("invite-error"), "");
  try {
    for (let attempt = 0; ; attempt += 1) {
      await loadDocument(true);
      const written = store.document.sources || [], uids = new Set(written.map(({ uid }) => String(uid)));
      let number = uids.size + 1;
      while (uids.has(`guest-${number}`)) number += 1;
      const uid = `guest-${number}`, host = $("invite-host").value, scenes = store.document.scenes || [], sceneId = `pk-${uid}`;
      const change = { sources: [...written, { uid, ...(name ? { name } : {}), streamKey: key }] };
      added = host && !scenes.some((scene) => scene.sceneId === sceneId) ? sceneId : null;
      if (added) change.scenes = [...scenes, besides(scenes, sceneId, host, uid)];
      try {
        await command("PATCH", "v1/room", change, { quiet: true, type: "application/merge-patch+json", headers: store.tag ? { "If-Match": store.tag } : {} });
        break;
      } catch (error) { if (error.status !== 412 || attempt > 4) throw error; }
    }
    showAddress(key);
    $("invite-name").value = "";
  } catch (error) { setText($("invite-error"), error.text || "The room does not respond."); }
  await refresh();
  if (added) propose(added);
}

/** A PK scene of two users. If the room has a scene with two panes, then its decorations are copied, without its texts. */
function besides(scenes, sceneId, host, guest) {
  const model = scenes.find(({ panes }) => panes?.length === 2);
  if (!model) return { sceneId, layout: "sideBySide", uids: [host, guest] };
  const scene = structuredClone(model);
  delete scene.revision;
  delete scene.texts;
  delete scene.audioOverrides;
  scene.panes = scene.panes.map((pane, index) => { const { streamType, ...rest } = pane; return { ...rest, uid: index ? guest : host }; });
  return { ...scene, sceneId };
}

function showAddress(key) {
  const list = publishAddresses(store.room.addresses, key, location.hostname);
  $("invite-address").replaceChildren(make("p", {}, "The guest publishes to this address, from OBS or as the relay of another room. It is shown only once:"),
    ...list.map((address) => make("p", { class: "address" }, make("code", {}, address), button("Copy", {}, async (copy) => {
      try { await navigator.clipboard.writeText(address); setText(copy, "Copied"); } catch { getSelection().selectAllChildren(copy.previousSibling); }
    }))));
}
