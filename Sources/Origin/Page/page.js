// The viewer page: status texts, choice of the player, controls and statistics.

const $ = (id) => document.getElementById(id);
const video = $("v"), notice = $("notice"), choice = $("rendition");
const query = new URLSearchParams(location.search);
// The player's requests use the signature of the page's own URL.
const signed = new URLSearchParams([...query].filter(([name]) => ["exp", "scope", "sig"].includes(name))).toString();
const whepURL = video.dataset.whep ? new URL(`./${video.dataset.whep}${signed ? `?${signed}` : ""}`, location.href).href : null;
const playlistURL = new URL(`./${video.dataset.playlist}${signed ? `?${signed}` : ""}`, location.href).href;
const icons = {
  play: "M6 4l14 8-14 8z", pause: "M6 4h4v16H6zM14 4h4v16h-4z",
  sound: "M4 9v6h4l5 5V4L8 9zM16 8a5 5 0 010 8M16 5a9 9 0 010 14",
  silent: "M4 9v6h4l5 5V4L8 9zM16 9l5 6M21 9l-5 6",
  full: "M4 9V4h5v2H6v3zM15 4h5v5h-2V6h-3zM20 15v5h-5v-2h3v-3zM9 20H4v-5h2v3h3z",
};
const icon = (name) => {
  const stroke = name === "sound" || name === "silent" ? ' stroke="currentColor" stroke-width="2" stroke-linecap="round"' : "";
  return `<svg viewBox="0 0 24 24"${stroke}><path d="${icons[name]}"/></svg>`;
};

let multivariant = null;   // parsed multivariant playlist
let player = null;         // MSEPlayer or WHEPPlayer, or null if the browser's native HLS player is used
/** Whether the viewer wants WebRTC: true unless the room has no such output, the browser cannot play it, or it was tried in vain. */
let wantsWebRTC = false;
let webRTCTries = 0, hasWatched = false;
let hasPlayed = false, playedFrom = 0, isOver = false, wasLive = false, stalls = 0, attempts = 0, nativeEdge = null, generation = 0;

const words = {
  loading: "Starting", waiting: "Waiting", live: "Live", lost: "Reconnecting", ending: "Ending", ended: "Ended",
  replay: "Recording", failed: "Cannot play",
};
function setState(state) { $("state").dataset.state = state; $("state").querySelector("b").textContent = words[state]; }

/** Shows a notice. `kind`: "busy" has a spinner, "still" has none, "light" leaves the video visible; null hides the notice. */
function say(kind, title = "", detail = "", action = null) {
  notice.hidden = kind === null;
  notice.className = kind === "still" ? "still" : kind === "light" ? "light" : "";
  notice.querySelector("strong").textContent = title;
  notice.querySelector("p").textContent = detail;
  const button = notice.querySelector("button");
  button.hidden = !action;
  if (action) { button.textContent = action.text; button.onclick = action.run; }
}

/** Called when the playlist is closed: a viewer who watched live sees the last seconds, a later viewer sees a recording. */
function closed() {
  if (isOver) return;
  isOver = true;
  if (hasPlayed) setState(wasLive ? "ending" : "replay");
}
const onAir = () => setState(!isOver ? "live" : wasLive ? "ending" : "replay");

function waitForStreamer() {
  setState("waiting");
  say("busy", "Waiting for the first streamer", "The room is open. Playback starts automatically when someone publishes.");
}

/** Requests the playlist every second until it is available or the room has ended. */
async function begin() {
  const mine = ++generation;
  isOver = false; wasLive = false;
  for (;;) {
    try {
      const response = await fetch(playlistURL, { cache: "no-store", headers: waitingFields });
      if (mine !== generation) return;
      if (response.ok) {
        const parsed = parseMultivariant(await response.text(), response.url || playlistURL);
        if (parsed.variants.length) { multivariant = parsed; break; }
        waitForStreamer();
      } else if (response.status === 404 && !/has ended/.test(await response.text())) waitForStreamer();
      else if (response.status === 404 || response.status === 410) {
        setState("ended");
        say("still", "The room has ended", "There is nothing left to play.", { text: "Check again", run: begin });
        return;
      } else { setState("lost"); say("busy", "Unexpected response from the room", `HTTP ${response.status}; trying again.`); }
    } catch {
      if (mine !== generation) return;
      setState("lost");
      say("busy", "The room cannot be reached", "Check the network and whether the room is still running. Trying again every second.");
    }
    await pause(1000);
  }
  fillChoice();
  startPlayer(mine);
}

function fillChoice() {
  const kept = choice.value;
  choice.replaceChildren(new Option("Auto", "auto"));
  multivariant.variants.forEach((variant, index) => {
    choice.append(new Option(`${renditionName(variant)} · ${(variant.bandwidth / 1e6).toFixed(1)} Mbit/s`, String(index)));
  });
  choice.value = [...choice.options].some(({ value }) => value === kept) ? kept : "auto";
  choice.disabled = !MSEPlayer.source || multivariant.variants.length < 2;
}

const renditionName = ({ width, height, bandwidth }) => (height ? `${Math.min(width, height)}p` : `${Math.round(bandwidth / 1000)} kbit/s`);
/** True in Safari: its native player supports parts and is the only one that reports the program date-time. Chromium's native player starts three segments behind the live edge. */
const prefersNative = () => playsNatively() && typeof video.getStartDate === "function";
const playsNatively = () => Boolean(video.canPlayType("application/vnd.apple.mpegurl"));

function startPlayer(mine) {
  const forced = query.get("player");
  showDelay();
  if (wantsWebRTC) return startWebRTC(mine);
  const wantsOwn = forced === "mse" || choice.value !== "auto" || !prefersNative();
  hasPlayed = false;
  setState("loading");
  say("busy", "Starting");
  if (forced !== "native" && wantsOwn && MSEPlayer.source) startOwn(mine);
  else if (playsNatively()) startNative(mine);
  else {
    setState("failed");
    say("still", "This browser cannot play the room", "It supports neither HLS nor Media Source Extensions. Use a current browser, or open the playlist URL below in VLC or ffplay.");
  }
}

/** Plays over WebRTC. If that fails or the session dies, then the page tries once more, and then plays HLS. */
async function startWebRTC(mine) {
  hasPlayed = false; wasLive = true;
  setState("loading");
  say("busy", "Starting");
  $("s-player").textContent = "WebRTC";
  choice.disabled = true;
  const whep = new WHEPPlayer(video, whepURL, (event, error) => {
    if (mine !== generation || player !== whep) return;
    if (event === "open") hasWatched = true;
    else lostWebRTC(error);
  });
  player = whep;
  video.addEventListener("loadedmetadata", () => { if (player === whep) play(); }, { once: true });
  // A session that has lasted is not the fault of WebRTC: when it dies, WebRTC is tried again.
  setTimeout(() => { if (player === whep) webRTCTries = 0; }, 10000);
  await whep.start();
}

/** Starts WebRTC again, or HLS, after the player has failed. */
async function lostWebRTC(error) {
  console.warn("WebRTC:", error.message);
  const mine = ++generation;
  dismantle();
  // Nothing is live yet: the reply says when to ask again.
  const isEarly = error.status === 409;
  webRTCTries += 1;
  if (webRTCTries < (isEarly ? 5 : 2) && (isEarly || error.status === 0)) {
    if (isEarly) setState("loading");
    else { setState("lost"); say("busy", "Connection lost", "Trying again."); }
    await pause(isEarly ? Math.min(5000, 1000 * (error.retryAfter || 1)) : 100);
    if (mine === generation) startPlayer(mine);
    return;
  }
  wantsWebRTC = false;
  fillChoice();
  if (hasWatched && await hasEnded()) {
    if (mine !== generation) return;
    isOver = true;
    showDelay();
    setState("ended");
    say("still", "The room has ended", "Thank you for watching.", { text: "Watch again", run: () => { say(null); begin(); } });
  } else if (mine === generation) startPlayer(mine);
}

/** Whether the room's playlists are closed. */
async function hasEnded() {
  try {
    const { uri } = multivariant.variants[0];
    return parseMedia(await (await load(uri)).text(), uri).ended;
  } catch (error) { return error.status === 404 || error.status === 410; }
}

function showDelay() {
  $("delay").hidden = !whepURL || !WHEPPlayer.isSupported || isOver;
  $("delay").classList.toggle("on", wantsWebRTC);
  $("delay").setAttribute("aria-pressed", String(wantsWebRTC));
}

function startNative(mine) {
  $("s-player").textContent = "browser";
  nativeEdge = null;
  video.src = playlistURL;
  play();
  watchEdge(mine);
}

async function startOwn(mine) {
  $("s-player").textContent = "page";
  player = new MSEPlayer(video, multivariant, (event, error) => { if (mine === generation) heard(event, error); });
  try {
    await player.start();
    if (mine === generation && choice.value !== "auto") player.select(Number(choice.value));
  } catch (error) {
    if (mine !== generation) return;
    setState("failed");
    say("still", "This browser cannot play the room", error.message);
  }
}

function heard(event, error) {
  if (event === "positioned") play();
  else if (event === "closed") closed();
  else if (event === "open") { wasLive = true; if (hasPlayed) setState("live"); }
  else if (event === "recovered") { onAir(); if (video.readyState >= 3) say(null); }
  else if (event === "interrupted") { setState("lost"); say("light", "Connection lost", "Trying again."); }
  else if (event === "failed") { if (error?.isFinal) refuse(error); else restart(error); }
}

/** Ends playback after an error that a retry cannot fix. */
function refuse(error) {
  generation += 1;
  dismantle();
  setState("failed");
  say("still", "This page cannot play the room", error.message);
}

/** Stops the player and starts again with the playlist, with a delay that doubles with each attempt. */
function restart(error) {
  if (error) console.warn("player:", error.message || error);
  const mine = ++generation;
  dismantle();
  setState("lost");
  say("busy", "Playback was interrupted", "Starting it again.");
  attempts += 1;
  setTimeout(() => { if (mine === generation) begin(); }, Math.min(8000, 500 * 2 ** Math.min(attempts, 4)));
}

function dismantle() {
  if (player) player.stop();
  else { video.removeAttribute("src"); video.load(); }
  player = null;
}

/** URLs that the browser's native player has requested recently. */
const fetched = [];
try {
  new PerformanceObserver((list) => {
    for (const { name, initiatorType } of list.getEntries()) {
      if (initiatorType === "video" && fetched.push(name) > 40) fetched.shift();
    }
  }).observe({ type: "resource", buffered: true });
} catch { /* without it, the latency is known only if the browser reports the program date-time */ }

/** In native mode the page also reads a media playlist: the latency is computed from its program date-times. */
async function watchEdge(mine) {
  // All renditions have the same audio, so audio segments show the browser's position whichever rendition it has chosen.
  const sound = Object.values(multivariant.audio).flat().find(({ uri }) => uri);
  const { uri } = sound || multivariant.variants[0];
  let failures = 0;
  while (mine === generation && !player) {
    try {
      noteEdge(parseMedia(await (await load(uri)).text(), uri));
      if (nativeEdge.ended) closed();
      else wasLive = true;
      if (failures > 1 && hasPlayed && !video.ended) onAir();
      if (nativeEdge.ended) return;
      failures = 0;
      await pause(Math.max(1000, nativeEdge.targetDuration * 500));
    } catch {
      failures += 1;
      if (failures > 1 && hasPlayed && !isOver && mine === generation) setState("lost");
      await pause(1000);
    }
  }
}

/**
 * Finds the date (ms) of media time zero. The newest requested segment ends where the buffer ends, or later if the browser has not
 * appended it yet. So the smallest of the latest differences is the right one.
 */
function noteEdge(list) {
  const { buffered } = video, samples = nativeEdge?.samples || [];
  const newest = list.segments.findLast((segment) => fetched.includes(segment.uri));
  if (newest && newest.date !== null && buffered.length && hasPlayed) {
    samples.push(newest.date + newest.duration * 1000 - buffered.end(buffered.length - 1) * 1000);
    if (samples.length > 12) samples.shift();
  }
  nativeEdge = { ...list, samples };
}

function nativeLatency() {
  let zero = video.getStartDate?.().getTime();
  if (!Number.isFinite(zero)) zero = nativeEdge?.samples.length ? Math.min(...nativeEdge.samples) : NaN;
  return Number.isFinite(zero) ? (Date.now() - zero) / 1000 - video.currentTime : null;
}

/** Media time (s) of the live edge in native mode. */
function nativeEnd() {
  if (video.seekable.length && Number.isFinite(video.seekable.end(0))) return video.seekable.end(video.seekable.length - 1);
  return video.buffered.length ? video.buffered.end(video.buffered.length - 1) : null;
}

async function play() {
  try { await video.play(); } catch (error) {
    if (error.name !== "NotAllowedError") return;
    // Browsers allow autoplay without a user gesture only if the video is muted.
    video.muted = true;
    $("unmute").hidden = false;
    video.play().catch(() => say("still", "Ready", "", { text: "Play", run: () => { say(null); play(); } }));
  }
}

video.addEventListener("playing", () => {
  if (!hasPlayed) playedFrom = video.currentTime;
  hasPlayed = true; attempts = 0;
  say(null);
  onAir();
});
video.addEventListener("waiting", () => {
  if (!hasPlayed || video.seeking || video.ended || isOver && video.currentTime >= video.duration - 0.5) return;
  // Browsers begin with the first frames and often wait once more. This belongs to the start and is not a stall.
  if (video.currentTime > playedFrom + 1) stalls += 1;
  say("light", "Buffering");
});
video.addEventListener("seeked", () => { if (video.readyState >= 3) say(null); });
video.addEventListener("ended", () => {
  if (player instanceof WHEPPlayer) return;
  setState("ended");
  const again = { text: "Watch again", run: () => { say(null); video.currentTime = video.seekable.length ? video.seekable.start(0) : 0; play(); } };
  say("still", wasLive ? "The room has ended" : "The recording has ended", wasLive ? "Thank you for watching." : "", again);
});
video.addEventListener("error", () => { if (video.error && video.src) restart(video.error); });
video.addEventListener("volumechange", showControls);
video.addEventListener("play", showControls);
video.addEventListener("pause", showControls);

function showControls() {
  $("play").innerHTML = icon(video.paused ? "play" : "pause");
  $("mute").innerHTML = icon(video.muted || !video.volume ? "silent" : "sound");
  $("volume").value = video.muted ? 0 : video.volume;
  if (!video.muted) $("unmute").hidden = true;
}

function toggle() { if (video.paused) play(); else video.pause(); }
function toggleSound() { video.muted = !video.muted; if (!video.muted && !video.volume) video.volume = 1; }
function goLive() {
  if (player) player.goLive();
  else if (nativeEnd() !== null && nativeEdge) {
    video.currentTime = Math.max(video.currentTime, nativeEnd() - nativeEdge.holdBack);
    play();
  }
}
function toggleFull() {
  if (document.fullscreenElement) document.exitFullscreen();
  else if ($("stage").requestFullscreen) $("stage").requestFullscreen().catch(() => {});
  else video.webkitEnterFullscreen?.();
}
$("play").onclick = toggle;
$("mute").onclick = toggleSound;
$("unmute").onclick = () => { video.muted = false; $("unmute").hidden = true; };
$("volume").oninput = (event) => { video.volume = Number(event.target.value); video.muted = !video.volume; };
$("edge").onclick = goLive;
$("full").onclick = toggleFull;
$("copy").onclick = async () => {
  try { await navigator.clipboard.writeText(playlistURL); $("copy").textContent = "Copied"; } catch { getSelection().selectAllChildren($("url")); }
  setTimeout(() => { $("copy").textContent = "Copy"; }, 1500);
};
$("delay").onclick = () => {
  wantsWebRTC = !wantsWebRTC;
  webRTCTries = 0;
  const mine = ++generation;
  dismantle();
  fillChoice();
  startPlayer(mine);
};
addEventListener("pagehide", () => { if (player instanceof WHEPPlayer) player.leave(); });
choice.onchange = () => {
  if (player && !(choice.value === "auto" && prefersNative() && query.get("player") !== "mse")) {
    player.select(choice.value === "auto" ? -1 : Number(choice.value));
    return;
  }
  // The browser's native player has no choice of renditions: a chosen rendition is played by MSEPlayer, Auto returns to the native one.
  const mine = ++generation;
  dismantle();
  startPlayer(mine);
};
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || /^(SELECT|INPUT|BUTTON)$/.test(event.target.tagName)) return;
  const action = { " ": toggle, k: toggle, m: toggleSound, f: toggleFull, l: goLive }[event.key.toLowerCase()];
  if (action) { event.preventDefault(); action(); }
});

function show(id, text, isBad = false) {
  if ($(id).textContent !== text) $(id).textContent = text;
  $(id).classList.toggle("warn", isBad);
}

setInterval(() => {
  const isLive = $("state").dataset.state === "live";
  const latency = isLive ? (player ? player.latency() : nativeLatency()) : null;
  // If the viewer's clock is wrong by more than the latency, then the value is meaningless.
  const isKnown = latency !== null && latency > -1 && latency < 3600;
  show("s-latency", isKnown ? `≈ ${Math.max(0, latency).toFixed(1)} s` : "–");
  const { videoWidth: width, videoHeight: height } = video;
  const rendition = multivariant?.variants.find((variant) => variant.height === height && variant.width === width);
  show("s-rendition", rendition && hasPlayed ? renditionName(rendition) : "–");
  show("s-picture", width ? `${width}×${height}` : "–");
  let ahead = 0;
  for (let i = 0; i < video.buffered.length; i += 1) {
    if (video.buffered.start(i) <= video.currentTime + 0.1) ahead = Math.max(ahead, video.buffered.end(i) - video.currentTime);
  }
  const isBuffered = hasPlayed && !(player instanceof WHEPPlayer);
  show("s-buffer", isBuffered ? `${ahead.toFixed(1)} s` : "–", isBuffered && isLive && !video.paused && ahead < 0.5);
  show("s-stalls", String(stalls), stalls > 0);
  const quality = video.getVideoPlaybackQuality?.();
  show("s-dropped", quality && quality.totalVideoFrames ? `${quality.droppedVideoFrames} / ${quality.totalVideoFrames}` : "–",
    Boolean(quality) && quality.droppedVideoFrames > 0.01 * quality.totalVideoFrames);
  const edge = player ? player.liveEnd() : nativeEnd();
  const hold = (player?.main?.list ? player.holdBack : nativeEdge?.holdBack) ?? 9;
  $("edge").classList.toggle("on", isLive && edge !== null && edge - video.currentTime < hold + 4);
  $("edge").hidden = isOver;
}, 500);

$("url").textContent = playlistURL;
$("full").innerHTML = icon("full");
wantsWebRTC = Boolean(whepURL) && WHEPPlayer.isSupported && [null, "webrtc"].includes(query.get("player"));
showDelay();
showControls();
say("busy", "Connecting");
begin();
