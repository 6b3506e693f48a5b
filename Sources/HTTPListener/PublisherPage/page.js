// The publisher page: settings, states and meters.
"use strict";

const $ = (id) => document.getElementById(id);
const endpoint = new URL(document.body.dataset.endpoint, location.href).href;
const isSecure = window.isSecureContext && Boolean(navigator.mediaDevices?.getUserMedia);
const canShare = isSecure && Boolean(navigator.mediaDevices.getDisplayMedia);
const meter = new LevelMeter();

let media = { video: null, audio: null };   // open parts
let opened = null;                          // settings of the open parts: { kind, camera, size, audio }
let publication = null, onAirSince = null, lock = null, state = "idle", opening = 0;

const words = { idle: "Not on air", opening: "Opening the source", connecting: "Connecting", onair: "On air", reconnecting: "Reconnecting", failed: "Not on air" };
const openWords = { camera: "Open the camera", screen: "Choose the screen", pattern: "Show the test pattern" };

function setText(element, text) { if (element.textContent !== text) element.textContent = text; }

function setState(next) {
  state = next;
  $("state").dataset.state = next;
  setText($("state").querySelector("b"), words[next]);
  const isBusy = publication !== null;
  $("air").hidden = isBusy;
  $("stop").hidden = !isBusy;
  for (const id of ["key", "codec"]) $(id).disabled = isBusy;
  if (next !== "onair") {
    for (const id of ["rate", "frames", "size", "codec", "trip", "loss", "limit"]) show(`s-${id}`, "–");
  }
}

/** Shows a problem; null hides it. */
function tell(problem, more = "") {
  $("problem").hidden = !problem;
  if (!problem) return;
  setText($("problem").querySelector("strong"), problem.title);
  setText($("problem").querySelector(".detail"), [problem.detail, more].filter(Boolean).join(" "));
  setText($("problem").querySelector(".fix"), problem.fix);
}

const note = (title, detail = "", fix = "") => tell({ title, detail, fix });

// Settings

const chosenKind = () => document.querySelector("[name=source]:checked").value;
const settings = () => ({ kind: chosenKind(), camera: $("camera").value, size: $("size").value, audio: $("audio").value });

/** Fills a list and keeps the choice if it still exists. */
function fill(list, options) {
  const kept = list.value;
  list.replaceChildren(...options.map(([value, text, isOff]) => { const option = new Option(text, value); option.disabled = Boolean(isOff); return option; }));
  if (options.some(([value, , isOff]) => value === kept && !isOff)) list.value = kept;
}

/** Lists the devices. Browsers hide the names until the user has allowed access. */
async function listDevices() {
  const devices = isSecure ? await navigator.mediaDevices.enumerateDevices().catch(() => []) : [];
  const named = (kind, word) => devices.filter((device) => device.kind === kind && device.deviceId && device.deviceId !== "default")
    .map(({ deviceId, label }, index) => [deviceId, label || `${word} ${index + 1}`]);
  fill($("camera"), [["", "Default camera"], ...named("videoinput", "Camera")]);
  fill($("audio"), [
    ["mic:", "Default microphone", !isSecure], ...named("audioinput", "Microphone").map(([id, label]) => [`mic:${id}`, label]),
    ["screen", "Audio of the screen", chosenKind() !== "screen"], ["tone", "Test tone"], ["none", "No audio"],
  ]);
}

async function chooseKind() {
  const kind = chosenKind();
  setText($("open"), openWords[kind]);
  $("camera-row").hidden = kind !== "camera";
  if (kind === "pattern") $("audio").value = "tone";
  else if ($("audio").value === "tone") $("audio").value = "mic:";
  await listDevices();
}

/** Opens what the settings ask for and is not open yet. With `isNew`, the video is opened again in any case. */
async function open(isNew) {
  const mine = opening += 1, wanted = settings(), before = opened;
  const needsVideo = isNew || !media.video || ["kind", "camera", "size"].some((name) => wanted[name] !== before[name]);
  const needsAudio = wanted.audio === "screen" ? needsVideo || before?.audio !== "screen" : wanted.audio !== before?.audio || !media.audio;
  const [width, height] = wanted.size.split("x").map(Number);
  const request = {
    video: needsVideo || wanted.audio === "screen" && needsAudio ? { kind: wanted.kind, camera: wanted.camera, width, height } : null,
    audio: needsAudio ? { choice: wanted.audio } : null,
  };
  if (!publication) setState("opening");
  audioContext();
  let parts;
  try {
    parts = await openMedia(request).catch((error) => {
      // Many devices cannot be opened twice.
      if (error.name !== "NotReadableError" || !media.video) throw error;
      media.video.stop();
      return openMedia(request);
    });
  } catch (error) {
    if (mine === opening) {
      tell(mediaProblem(error, wanted.kind));
      if (!publication) setState("idle");
    }
    return false;
  }
  if (mine !== opening) { parts.video?.stop(); parts.audio?.stop(); return false; }
  const old = media;
  media = { video: request.video ? parts.video : old.video, audio: request.audio ? parts.audio : old.audio };
  opened = wanted;
  for (const part of [parts.video, parts.audio]) {
    part?.track.addEventListener("ended", () => {
      if (media.video !== part && media.audio !== part) return;
      const kind = part.track.kind === "video" ? "video" : "audio";
      note(`The ${kind} source has ended`, "The device was removed, or sharing was stopped.", "Open a source again.");
    });
  }
  if (media.audio) media.audio.track.enabled = $("mute").ariaPressed !== "true";
  $("preview").srcObject = media.video ? new MediaStream([media.video.track]) : null;
  $("empty").hidden = true;
  $("mute").disabled = !media.audio;
  meter.watch(media.audio?.track ?? null);
  tell(null);
  if (!publication) setState("idle");
  await publication?.update().catch((error) => note("The source cannot be changed", sentence(error.message), "Stop, then go on air again."));
  if (old.video !== media.video) old.video?.stop();
  if (old.audio !== media.audio) old.audio?.stop();
  listDevices();
  return true;
}

/** Applies a changed setting to media that is already open. */
function changed() {
  if (opened && chosenKind() === opened.kind && !(opened.kind === "screen" && $("size").value !== opened.size)) open(false);
}

// On air

async function goOnAir() {
  if (publication) return;
  const key = $("key").value.trim();
  if (!isKey(key)) {
    note(key ? "The stream key has characters that no key has" : "The stream key is missing", key ? "A key has letters, digits and signs without spaces." : "",
      "Enter the key that the operator of the room gave you.");
    $("key").focus();
    return;
  }
  const isOpen = media.video && opened.kind === chosenKind() && media.video.track.readyState === "live";
  if (!isOpen && !await open(true) || publication) return;
  tell(null);
  publication = new Publication({
    endpoint, key, codec: $("codec").value, report, measured,
    tracks: () => [media.audio, media.video].filter(Boolean).map(({ track }) => track),
  });
  $("stop").hidden = false;
  publication.run();
  $("stop").focus();
}

function report({ state: next, problem, pause }) {
  if (next === "onair") onAirSince ??= performance.now();
  if (next === "failed") { publication = null; onAirSince = null; release(); }
  if (next === "onair") keepAwake();
  setState(next);
  tell(problem, pause && next !== "failed" ? `Trying again in ${(pause / 1000).toFixed(1)} s.` : "");
}

function stop() {
  if (!publication) return;
  publication.stop();
  publication = null;
  onAirSince = null;
  release();
  setState("idle");
  tell(null);
  $("air").focus();
}

/** Keeps a phone's screen on. */
async function keepAwake() {
  try { lock ??= await navigator.wakeLock?.request("screen"); } catch { /* the device may sleep */ }
  lock?.addEventListener("release", () => { lock = null; });
}
function release() { lock?.release().catch(() => {}); lock = null; }

// Meters

function show(id, text, isBad = false) {
  setText($(id), text);
  $(id).classList.toggle("warn", isBad);
}

function measured(stats) {
  if (state !== "onair") return;
  show("s-rate", rateText(stats.rate));
  show("s-frames", stats.frames === null ? "–" : String(Math.round(stats.frames)));
  show("s-size", stats.width ? `${stats.width}×${stats.height}` : "–");
  show("s-codec", stats.codec || "–");
  show("s-trip", stats.trip === null ? "–" : `${Math.round(stats.trip * 1000)} ms`, stats.trip > 0.4);
  show("s-loss", stats.loss === null ? "–" : `${(stats.loss * 100).toFixed(1)} %`, stats.loss > 0.05);
  show("s-limit", limitText[stats.limit] || "–", stats.limit === "cpu" || stats.limit === "bandwidth");
}

setInterval(() => {
  const level = media.audio?.track.enabled ? meter.level : -60;
  $("level").value = level;
  setText($("level"), `${Math.round(level)} dBFS`);
  show("s-time", onAirSince === null ? "–" : timeText(performance.now() - onAirSince));
}, 100);

// Controls

$("air").onclick = goOnAir;
$("stop").onclick = stop;
$("open").onclick = () => open(true);
$("mute").onclick = () => {
  const isMuted = $("mute").ariaPressed !== "true";
  $("mute").ariaPressed = String(isMuted);
  if (media.audio) media.audio.track.enabled = !isMuted;
};
$("reveal").onclick = () => {
  const isShown = $("key").type === "password";
  $("key").type = isShown ? "text" : "password";
  $("reveal").ariaPressed = String(isShown);
  setText($("reveal"), isShown ? "Hide" : "Show");
};
$("key").onkeydown = (event) => { if (event.key === "Enter") goOnAir(); };
for (const id of ["camera", "audio", "size"]) $(id).onchange = changed;
for (const button of document.querySelectorAll("[name=source]")) button.onchange = chooseKind;
navigator.mediaDevices?.addEventListener?.("devicechange", listDevices);
addEventListener("online", () => publication?.hurry?.());
addEventListener("pagehide", stop);
addEventListener("hashchange", takeKey);

/** Takes the key from the fragment and removes it from the address, which a shared screen shows. The history entry keeps it for a reload. */
function takeKey() {
  const key = keyInFragment(location.hash) ?? history.state?.key;
  if (typeof key !== "string" || publication) return;
  $("key").value = key;
  history.replaceState({ key }, "", location.pathname + location.search);
}

function begin() {
  takeKey();
  for (const codec of ["H264", "VP8", "VP9"]) {
    const option = new Option(codecText(`video/${codec}`), codec);
    option.disabled = typeof RTCRtpSender === "undefined" || !canSend(codec);
    if (option.disabled) option.text += " (not in this browser)";
    $("codec").append(option);
  }
  if (typeof RTCPeerConnection === "undefined") {
    note("This browser cannot publish", "It does not support WebRTC.", "Use a current browser.");
    $("air").disabled = true;
  }
  const [camera, screen, pattern] = document.querySelectorAll("[name=source]");
  camera.disabled = !isSecure;
  screen.disabled = !canShare;
  if (!isSecure) {
    pattern.checked = true;
    $("insecure").hidden = false;
    setText($("insecure"), window.isSecureContext
      ? "This browser gives no access to cameras and microphones. The test pattern works."
      : "Browsers give access to camera, microphone and screen only to pages that are loaded over HTTPS or from this machine (localhost). "
        + "The operator of the room can set ingest.webrtc.tls to a certificate; then open this page with https://. "
        + "The test pattern works here, but the stream key is sent without encryption.");
  }
  chooseKind();
}

begin();
