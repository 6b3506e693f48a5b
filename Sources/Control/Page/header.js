// The head of the page: title, facts, state, disk, and the room's addresses.
import { $, clock, levelTones, make, setMeter, setText, since, size } from "./dom.js";

const tones = { live: "live", waiting: "warn", preparing: "warn", recovering: "warn", degraded: "warn", starting: "idle", ending: "warn", draining: "warn", failed: "bad", closed: "idle" };
const names = { live: "Live", waiting: "Waiting for a source", preparing: "Preparing", recovering: "Recovering", degraded: "Degraded", starting: "Starting", ending: "Ending", draining: "Draining", failed: "Failed", closed: "Ended" };
const causes = { media: "no source on air sends media", output: "an output is unreachable", overload: "the machine is overloaded" };

export function showHeader(room) {
  const title = room.title || `Room ${room.roomId}`;
  setText($("title"), title);
  document.title = `${title} · Tandem`;
  const facts = [causes[room.cause], room.title ? `Room ${room.roomId}` : null, room.origin ? `on air ${since(Date.parse(room.time) - Date.parse(room.origin))}` : null,
    room.incarnation > 1 ? `worker ${room.incarnation}` : null, `revision ${room.revision}`, `${room.canvas.width}×${room.canvas.height} at ${room.canvas.fps}/s`];
  setText($("facts"), facts.filter(Boolean).join(" · "));
  $("state").dataset.tone = tones[room.state] || "idle";
  setText($("state").querySelector("b"), names[room.state] || room.state);
  $("state").title = `since ${clock(room.since)}`;
  const isLow = room.disk && room.disk.level !== "normal";
  $("disk").hidden = !isLow;
  if (isLow) {
    $("disk").dataset.tone = levelTones[room.disk.level];
    setText($("disk").querySelector("b"), `Disk: ${size(room.disk.freeBytes)} free`);
    $("disk").title = room.disk.message;
  }
  const isOnAir = /live|recovering|degraded/.test(room.state);
  setText($("on-air"), isOnAir ? room.program.scene : "");
  for (const id of ["stage", "snapshot"]) $(id).style.setProperty("--shape", `${room.canvas.width} / ${room.canvas.height}`);
  $("stage").parentElement.classList.toggle("tall", room.canvas.height > room.canvas.width);
  setMeter($("program-level"), room.program.level);
}

export function showAddresses(addresses) {
  const box = $("addresses"), key = JSON.stringify(addresses);
  if (box.dataset.key === key) return;
  box.dataset.key = key;
  const words = { rtmp: "Publish", rtmps: "Publish, TLS", srt: "Publish, SRT", whip: "Publish, WHIP", viewer: "Watch", whep: "Watch, WHEP", control: "Control" };
  box.replaceChildren(...Object.entries(addresses).map(([name, address]) => make("span", {}, `${words[name] || name} `, make("code", {}, address))));
}
