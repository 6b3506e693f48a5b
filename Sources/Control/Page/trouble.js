// Alarms, the worst first and causes before consequences, each with its cause, a remedy and the guide's page.
import { $, clock, keep, levelTones, levelWords, make, setText, tell } from "./dom.js";

/** By alarm type: the usual cause, and what to do. The reference of alarms has the same in more words. */
const remedies = {
  "source.lost": ["The connection ended, or the publisher is connected and sends nothing.", "Wait: the source is on air again at its next key frame. Otherwise ask the streamer to start the encoder again."],
  "source.gap": ["The network delayed media, or the encoder sent none.", "Network: raise jitterBufferMs, lower the publisher's bit rate. Encoder: close other programs on that machine."],
  "source.network_slow": ["The publisher's uplink is slower than its bit rate.", "Lower the bit rate at the encoder."],
  "source.packet_loss": ["The network loses packets of this publisher.", "Use a wired network at the publisher, or lower its bit rate."],
  "source.fps_low": ["The publisher's encoder sends too few frames.", "Choose a smaller size or a faster preset at the encoder."],
  "source.bitrate_low": ["The encoder adapts to a bad network, or `expected` is wrong.", "Check the publisher's network."],
  "source.long_gop": ["Key frames are too far apart, so viewers and scene changes wait.", "Set the keyframe interval of the encoder to 2 s."],
  "source.av_skew": ["Audio and video of the publisher have moved apart.", "Restart the encoder; correct a constant offset with offsetMs."],
  "source.jitter": ["Media arrives in bursts.", "Nothing if it clears; otherwise check the publisher's network."],
  "source.decode_errors": ["Packets of this publisher are damaged.", "Check the publisher's network and encoder; with SRT raise latencyMs."],
  "source.recording": ["The recording of this source loses frames: its disk is slow, nearly full or not writable.", "Free space, or put the recording on a faster disk. It continues by itself."],
  "moderation.failing": ["The moderation webhook gives no valid answer, so sources are not moderated.", "Repair the service, its URL or its answer."],
  "encoder.lagging": ["The program is behind its clock.", "Run fewer rooms on the machine, use a cheaper preset or fewer renditions."],
  "encoder.overload_step": ["This machine cannot keep up, and the room leaves work out.", "Run fewer rooms on the machine, use a cheaper preset or fewer renditions, or remove a CPU limit."],
  "encoder.fallback": ["libx264 encodes a rendition because its hardware encoder did not open or has failed.", "Look at the GPU's kernel log and driver, then restart the room. Until then it needs more CPU time."],
  "output.unreachable": ["The server of the output is not reached, or refuses.", "Check its address, credentials and clock. The room tries again by itself."],
  "output.refused": ["The server rejects the stream, mostly because of its key.", "Set a new key, then restart the output."],
  "output.stalled": ["The server, or without an id the disk, accepts no data.", "Server: the room tries again by itself. Disk: repair the storage."],
  "output.disk_low": ["The disk, or limits.maxDiskBytes, is nearly used up.", "Free space, lower windowSeconds, or put the recording on another disk."],
  "output.damaged": ["Segments could not be written and are permanently missing.", "Repair the storage."],
  "output.moved": ["The output directory was moved, emptied or mounted over.", "Nothing: everything is written again."],
  "config.invalid": ["The pipeline file has changed and cannot be applied.", "Correct the file; the room keeps the old version."],
  "commands.not_durable": ["The disk does not accept commands.json.", "Repair the storage: a successor would not restore the last commands."],
  "commands.set_aside": ["commands.json could not be restored.", "Repeat the commands that the event room.resumed lists in notRestored."],
  "tls.certificate": ["The certificate of a listener ends soon, has ended, or is not valid yet.", "Write a new certificate and key over the files; they are used within seconds."],
  "ingest.refused": ["Somebody tried to publish and was refused.", "Compare the stream key and the address in the streamer's encoder with those of the room."],
};

const order = ["alert_3", "alert_2", "alert_1", "normal"];

/** By alarm type: types of alarms that may cause it. There are no circles. */
const causedBy = {
  "source.lost": ["ingest.refused", "tls.certificate"],
  "source.gap": ["source.network_slow", "source.packet_loss"],
  "source.jitter": ["source.network_slow", "encoder.overload_step", "encoder.lagging"],
  "source.decode_errors": ["source.packet_loss"],
  "source.bitrate_low": ["source.network_slow", "source.packet_loss"],
  "source.recording": ["output.disk_low"],
  "commands.not_durable": ["output.disk_low"],
  "output.stalled": ["output.disk_low"],
  "output.damaged": ["output.disk_low", "output.stalled", "output.unreachable", "output.refused"],
};

/** Whether an alarm may have caused another one: both are about the same source or output, or the cause is about the whole room. */
function isCause(cause, effect) {
  if (!causedBy[effect.type]?.includes(cause.type)) return false;
  // A stranger who tries keys has not ended a publication, and clients accept a certificate until it has ended.
  if (cause.type === "ingest.refused") return Date.parse(cause.setAt) >= Date.parse(effect.setAt);
  if (cause.type === "tls.certificate") return cause.severity === "alert_3";
  return !cause.scope?.id || cause.scope.id === effect.scope?.id;
}

/** The alarms that are set and the refusals: the worst first, a cause before what it causes, and among equals the newest first. */
export function troubles(alarms, refusals = []) {
  const list = [...alarms.filter(({ state }) => state === "set"), ...refusals];
  const own = ({ severity }) => { const index = order.indexOf(severity); return index < 0 ? order.length : index; };
  // A cause is at least as bad as what it causes.
  const rank = (alarm) => Math.min(own(alarm), ...list.filter((other) => isCause(alarm, other)).map(rank));
  const ranked = list.map((alarm) => ({ alarm, rank: rank(alarm), causes: list.filter((other) => isCause(other, alarm)).length }));
  return ranked.sort((one, other) => one.rank - other.rank || one.causes - other.causes || Date.parse(other.alarm.setAt) - Date.parse(one.alarm.setAt))
    .map(({ alarm }) => alarm);
}

/** The usual cause of a type of alarm, and what to do; empty texts for an unknown type. */
export function explanation(type) {
  const [cause, remedy] = remedies[type] || ["", ""];
  return { cause, remedy };
}

/** Publishers that were refused within this time are trouble, although they raise no alarm. */
const refusalSpan = 60_000;   // ms
export const refusals = [];

export function noteRefusal(event) {
  if (event.type !== "ingest.refused") return;
  const id = `refused ${event.remote.replace(/:\d+$/, "")} ${event.reason}`, known = refusals.findIndex((refusal) => refusal.id === id);
  if (known >= 0) refusals.splice(known, 1);
  refusals.push({ id, type: event.type, severity: "alert_2", state: "set", scope: { kind: "listener", id: null }, setAt: event.time,
    message: `${event.remote} was refused: ${event.reason}` });
  while (refusals.length > 5) refusals.shift();
}

function row(alarm) {
  const { cause, remedy } = explanation(alarm.type);
  return make("li", {}, make("span", { class: "badge", "data-part": "level" }), make("strong", { "data-part": "message" }),
    make("p", {}, cause ? `${cause} ` : "", remedy ? make("b", {}, `What to do: ${remedy}`) : null),
    make("p", { class: "fine" }, make("a", { href: `guide.html#${alarm.type}`, target: "_blank", rel: "noopener" }, "Guide"), ` ${alarm.type} `, make("span", { "data-part": "when" })));
}

export function showTrouble(room) {
  const now = Date.parse(room.time);
  const list = troubles(room.alarms, refusals.filter(({ setAt }) => now - Date.parse(setAt) < refusalSpan));
  const rows = keep($("trouble-list"), list, ({ id }) => id, row);
  list.forEach((alarm, index) => {
    const part = (name) => rows[index].querySelector(`[data-part=${name}]`);
    rows[index].dataset.tone = levelTones[alarm.severity] || "warn";
    part("level").dataset.tone = levelTones[alarm.severity] || "warn";
    setText(part("level"), levelWords[alarm.severity] || alarm.severity);
    setText(part("message"), alarm.message);
    setText(part("when"), `since ${clock(alarm.setAt)}`);
  });
  $("trouble").hidden = !list.length;
  const worst = list[0] ? levelTones[list[0].severity] : "good";
  $("trouble-count").dataset.tone = worst;
  setText($("trouble-count").querySelector("b"), list.length ? String(list.length) : "0");
  setText($("trouble-count").querySelector(".word"), list.length === 1 ? "alarm" : "alarms");
  $("trouble-count").setAttribute("aria-label", list.length === 1 ? "1 alarm: go to it" : list.length ? `${list.length} alarms: go to them` : "No alarms");
  showHistory(room.alarms);
}

/** The alarms that were cleared within the last five minutes. */
function showHistory(alarms) {
  const cleared = alarms.filter(({ state }) => state === "cleared").reverse().slice(0, 8);
  setText($("alarm-count"), cleared.length ? "cleared in the last five minutes" : "");
  const rows = keep($("alarms"), cleared.length ? cleared : [{ id: "none" }], ({ id }) => id, ({ id, message, type, setAt, clearedAt }) =>
    (id === "none" ? make("li", { class: "empty" }, "No alarm was cleared in the last five minutes.")
      : make("li", {}, make("span", { class: "badge" }, "cleared"), make("span", {}, message), make("span", {}, `${type} · ${clock(setAt)} to ${clock(clearedAt)}`))));
  return rows;
}

$("trouble-count")?.addEventListener("click", () => {
  if ($("trouble").hidden) return tell("There is no alarm.", "info");
  $("trouble").scrollIntoView({ behavior: "smooth", block: "start" });
  $("trouble").focus();
});
