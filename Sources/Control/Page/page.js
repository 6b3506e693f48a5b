// The console page: polls the API every second, follows the event stream, plays the viewers' stream and sends commands.
"use strict";

const tokenName = "tandem.token";
let room = null, scenes = [], mayCommand = false, lastEvent = 0, isFollowing = false, needsToken = false;
const timeline = new Timeline($("timeline"));

// MARK: The API

/** The token is kept until the tab is closed. */
const token = {
  get value() { return sessionStorage.getItem(tokenName) || ""; },
  set value(text) { if (text) sessionStorage.setItem(tokenName, text); else sessionStorage.removeItem(tokenName); this.apply(); },
  apply() { if (this.value) requestFields.Authorization = `Bearer ${this.value}`; else delete requestFields.Authorization; },
};

class Refusal extends Error {
  constructor(status, problem) {
    super(problem?.detail || `HTTP ${status}`);
    Object.assign(this, { status, fix: problem?.fix || "" });
  }
}

async function ask(path, { method = "GET", body, signal, headers = {} } = {}) {
  const response = await fetch(path, {
    method, signal, cache: "no-store", body: body === undefined ? undefined : JSON.stringify(body),
    headers: { ...requestFields, ...headers, ...(body === undefined ? {} : { "Content-Type": "application/json" }) },
  });
  if (response.ok) return response;
  let problem = null;
  try { problem = await response.json(); } catch { /* no problem detail */ }
  throw new Refusal(response.status, problem);
}

async function command(method, path, body) {
  // With this key, a command that is repeated because its response was lost is carried out only once.
  const key = Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(36)).join("");
  try {
    await ask(path, { method, body, headers: { "Idempotency-Key": key } });
    tell("");
  } catch (error) {
    if (error.status === 401) unlock();
    tell(`${error.message}${error.fix ? `: ${error.fix}` : ""}`);
  }
}

function tell(text, tone = "bad") {
  $("banner").hidden = !text;
  $("banner").dataset.tone = tone;
  setText($("banner"), text);
}

// MARK: Once a second

let misses = 0;

async function refresh() {
  try {
    const [roomReply, sceneReply] = await Promise.all([ask("v1/room"), ask("v1/scenes")]);
    mayCommand = roomReply.headers.get("Tandem-Access") !== "read";
    room = await roomReply.json();
    ({ scenes } = await sceneReply.json());
    if (misses > 2 || needsToken) tell("");
    misses = 0;
    needsToken = false;
    show();
    if (!isFollowing) follow();
    if (!picture.isStarted) picture.begin();
  } catch (error) {
    if (error.status === 401) {
      needsToken = true;
      mayCommand = false;
      showKey();
      if (!$("unlock").open && !$("unlock").dataset.refused) unlock();
      tell("This room needs a token.", "info");
    } else if (++misses > 2) {
      $("state").dataset.tone = "bad";
      setText($("state").querySelector("b"), room && /clos|end|drain|fail/.test(room.state) ? "Ended" : "No response");
      tell(error.status ? `The room responds with HTTP ${error.status}: ${error.message}` : "The room does not respond; trying again.");
    }
  }
}

function show() {
  showHeader(room);
  showScenes(scenes, mayCommand, choose);
  showSources(room.sources, mayCommand, hands);
  showOutputs(room, mayCommand, restart);
  showLimits(room);
  showAlarms(room.alarms);
  showAddresses(room.addresses);
  showKey();
  timeline.draw(room, Date.parse(room.time));
}

function showKey() {
  $("key").hidden = mayCommand && !token.value;
  setText($("key"), token.value && mayCommand ? "Lock" : "Read-only · Unlock");
  $("more").hidden = !mayCommand || !room || room.desired !== "live";
}

async function choose(sceneId, button) {
  button.classList.add("busy");
  await command("PUT", "v1/program", { sceneId });
  button.classList.remove("busy");
  refresh();
}

const hands = {
  path: ({ uid, streamType }, verb = "") => `v1/sources/${encodeURIComponent(uid)}${verb}?streamType=${streamType}`,
  async set(source, change) { await command("PUT", hands.path(source), change); refresh(); },
  async kick(source) {
    if (!confirm(`Disconnect ${source.name || source.uid} and reject its stream key for one minute?`)) return;
    await command("POST", hands.path(source, ":kick"), { refuseSeconds: 60 });
    refresh();
  },
};

async function restart(outputId, button) {
  button.disabled = true;
  await command("POST", `v1/outputs/${encodeURIComponent(outputId)}:restart`);
  button.disabled = false;
  refresh();
}

// MARK: The token

function unlock() {
  setText($("unlock-error"), "");
  if (!$("unlock").open) $("unlock").showModal();
}

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
  if (token.value && mayCommand) { token.value = ""; location.reload(); } else unlock();
});
$("drain").addEventListener("click", () => {
  if (confirm("Stop this worker? Viewers wait until its successor runs.")) command("POST", "v1/room:drain");
  $("more").open = false;
});
$("end").addEventListener("click", () => {
  if (confirm("End the room for all viewers? This cannot be undone.")) command("POST", "v1/room:end");
  $("more").open = false;
});

// MARK: Events

const minor = /^(segment\.published|audio\.levels|recording\.progress)$/;
const common = new Set(["type", "time", "sequence", "roomId", "incarnation", "programTimeMs", "programDateTime", "compat"]);

function tone({ type, level, state, to }) {
  if (type === "room.state") return { failed: "bad", recovering: "warn", degraded: "warn", live: "good" }[to] || "";
  if (/failed|undecodable|refused|lost|stalled|superseded|disabled|quarantined/.test(type) || level === "alert_3") return "bad";
  if (/health|reconnecting|failing|overload|disk_low|flapping|kicked|alarm\.set/.test(type) && level !== "normal") return "warn";
  if (/\.(live|active|restored|ready|started)$/.test(type) || state === "live") return "good";
  return "";
}

function heard(event, isNew = true) {
  if (!event || typeof event.type !== "string" || event.sequence <= lastEvent) return;
  lastEvent = event.sequence;
  timeline.add(event);
  const isMinor = minor.test(event.type);
  if (isMinor && !$("all").checked) return;
  const text = Object.entries(event).filter(([key, value]) => !common.has(key) && value !== null && words(value) !== "")
    .map(([key, value]) => `${key} ${words(value)}`).join(" · ");
  const row = make("li", { tone: tone(event), title: text }, make("time", {}, clock(event.time)), make("b", {}, event.type), make("span", {}, text));
  $("events").prepend(row);
  while ($("events").children.length > 300) $("events").lastChild.remove();
  if (isNew && /^(program\.|source\.(live|lost|gone)|room\.|broadcast\.)/.test(event.type)) soon();
}

/** Refreshes the page shortly after an event instead of at the next second; several events cause one refresh. */
let isSoon = false;
function soon() {
  if (isSoon) return;
  isSoon = true;
  setTimeout(() => { isSoon = false; refresh(); }, 60);
}

/** Follows the event stream; polls if a stream does not work. */
async function follow() {
  isFollowing = true;
  let failures = 0;
  try {
    const { last } = await (await ask("v1/events?after=0&limit=1")).json();
    // After a new unlock, the page already has the earlier events.
    lastEvent = Math.max(reached(last), last - 1024);
    const { events } = await (await ask(`v1/events?after=${lastEvent}&limit=1024`)).json();
    for (const event of events) heard(event, false);
    if (room) timeline.draw(room, Date.parse(room.time));
  } catch { /* the stream sends these events again */ }
  for (;;) {
    const begun = performance.now();
    try {
      if (failures < 2) { setText($("feed"), "live"); await stream(); } else {
        setText($("feed"), "polled every 2 s");
        const { events, last } = await (await ask(`v1/events?after=${lastEvent}&limit=1024`)).json();
        lastEvent = reached(last);
        for (const event of events) heard(event);
      }
      if (performance.now() - begun > 5000 && failures < 2) failures = 0;
    } catch (error) {
      if (error.status === 401) { isFollowing = false; return; }
      failures += failures < 2 || performance.now() - begun > 5000 ? 1 : 0;
    }
    await pause(failures < 2 ? 500 : 2000);
  }
}

/** The sequence number to continue from: a worker that has lost its journal counts from 1 again. */
function reached(last) { return last < lastEvent ? 0 : lastEvent; }

/** Reads server-sent events with fetch, which can send a token. */
async function stream() {
  lastEvent = reached((await (await ask("v1/events?after=0&limit=1")).json()).last);
  const response = await ask(`v1/events?after=${lastEvent}`, { headers: { Accept: "text/event-stream" } });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    text += value;
    const blocks = text.split("\n\n");
    text = blocks.pop();
    for (const block of blocks) {
      const data = block.split("\n").filter((line) => line.startsWith("data: ")).map((line) => line.slice(6)).join("\n");
      if (data && !block.startsWith("event: missed")) heard(JSON.parse(data));
    }
  }
}

// MARK: The player

const video = $("video");

function notice(title, detail = "") {
  $("notice").hidden = !title;
  setText($("notice").querySelector("strong"), title || "");
  setText($("notice").querySelector("span"), detail);
}

const picture = {
  player: null, isStarted: false, generation: 0, chosen: -1,

  async begin() {
    this.isStarted = true;
    const mine = ++this.generation;
    // An MPEG-TS output has the same type but no lowLatency member; the page cannot play it.
    const output = room.outputs.find(({ type, lowLatency }) => type === "hls" && lowLatency !== undefined);
    if (!output) return notice("Nothing to play", "This room has no HLS output.");
    if (!MSEPlayer.source) return notice("This browser cannot play the room", "It has no Media Source Extensions.");
    const uri = new URL(`media/${output.playlist || "index.m3u8"}`, location.href).href;
    for (;;) {
      if (mine !== this.generation) return;
      try {
        const response = await load(uri, null, undefined, waitingFields);
        const multivariant = parseMultivariant(await response.text(), response.url || uri);
        if (multivariant.variants.length) return await this.play(multivariant, mine);
      } catch (error) {
        if (error.status && error.status !== 404 && error.status !== 503) notice("Cannot load the stream", `HTTP ${error.status}`);
      }
      if (room.state === "waiting") notice("Waiting for the first source", "Playback starts automatically when someone publishes.");
      else if (room.state === "preparing") notice("A publisher is connected", "Playback starts when the first segment is complete.");
      else if (/clos|end/.test(room.state)) notice("The room has ended");
      else if (room.state === "failed") notice("The room has failed", "See its last events for the reason.");
      await pause(1000);
    }
  },

  async play(multivariant, mine) {
    this.choices(multivariant.variants);
    this.player = new MSEPlayer(video, multivariant, (event, error) => {
      if (mine !== this.generation) return;
      if (event === "positioned") video.play().catch(() => notice("Click to play"));
      else if (event === "failed") { if (error?.isFinal) this.refuse(error); else this.again(); }
    });
    try {
      await this.player.start();
      if (this.chosen >= 0) this.player.select(this.chosen);
    } catch (error) { notice("This browser cannot play the room", error.message); }
  },

  /** Ends playback after an error that a retry cannot fix. */
  refuse(error) {
    this.generation += 1;
    this.player?.stop();
    this.player = null;
    notice("This page cannot play the room", error.message);
  },

  again() {
    const mine = ++this.generation;
    this.player?.stop();
    this.player = null;
    setTimeout(() => { if (mine === this.generation) this.begin(); }, 1500);
  },

  choices(variants) {
    $("rendition").replaceChildren(new Option("Auto", "-1"), ...variants.map(({ width, height, bandwidth }, index) =>
      new Option(`${height ? `${Math.min(width, height)}p` : "audio"} · ${bits(bandwidth)}`, String(index))));
    $("rendition").value = String(this.chosen);
    $("rendition").disabled = variants.length < 2;
  },
};

video.addEventListener("playing", () => notice(""));
video.addEventListener("ended", () => notice("The room has ended"));
video.addEventListener("error", () => { if (video.error && video.src) picture.again(); });
$("rendition").addEventListener("change", () => {
  picture.chosen = Number($("rendition").value);
  picture.player?.select(picture.chosen);
});
$("sound").addEventListener("click", () => {
  video.muted = !video.muted;
  setText($("sound"), video.muted ? "Audio off" : "Audio on");
  $("sound").setAttribute("aria-pressed", String(!video.muted));
});

// MARK: The snapshot

/** Shows the canvas once a second next to the viewers' stream, so that encoder faults can be distinguished from player faults. */
async function snapshots() {
  let wait = 1000;
  for (;;) {
    // There is no snapshot before the first source.
    if (room && !/starting|waiting/.test(room.state) && !needsToken && document.visibilityState === "visible") {
      try {
        const blob = await (await ask("v1/snapshot")).blob();
        const old = $("snap").src;
        $("snap").src = URL.createObjectURL(blob);
        if (old.startsWith("blob:")) URL.revokeObjectURL(old);
        $("snapshot").hidden = false;
        setText($("snap-age"), "now");
        wait = 1000;
      } catch (error) {
        setText($("snap-age"), "no response");
        // A room without snapshots is asked every minute; one whose first publisher has just connected, every second.
        if (error.status === 404 || error.status === 405) { $("snapshot").hidden = true; wait = room.state === "preparing" ? 1000 : 60_000; }
      }
      $("stage").parentElement.classList.toggle("two", !$("snapshot").hidden);
    }
    await pause(wait);
  }
}

// MARK: Go

for (const [name, word] of [["live", "live"], ["warn", "stalled or reconnecting"], ["bad", "lost"]]) $("legend").append(make("span", {}, make("i", { class: name }), word));
token.apply();
refresh();
setInterval(refresh, 1000);
setInterval(() => {
  const latency = picture.player?.latency();
  const isKnown = latency !== null && latency !== undefined && latency > -1 && latency < 3600 && !video.paused;
  const size = video.videoWidth ? `${video.videoWidth}×${video.videoHeight}` : null;
  setText($("latency"), [isKnown ? `≈ ${Math.max(0, latency).toFixed(1)} s behind` : null, size].filter(Boolean).join(" · ") || "–");
}, 500);
snapshots();
followLogs(ask, () => room && !needsToken);
