// The program as viewers see it, and the canvas as it is now. The player is the one of the viewers' page.
import { $, bits, setText, sleep } from "./dom.js";
import { ask } from "./api.js";
import { store } from "./store.js";

const video = $("video");

function notice(title, detail = "") {
  $("notice").hidden = !title;
  setText($("notice").querySelector("strong"), title || "");
  setText($("notice").querySelector("span"), detail);
}

export const picture = {
  player: null, isStarted: false, generation: 0, chosen: -1,

  async begin() {
    this.isStarted = true;
    const mine = ++this.generation, { room } = store;
    // An MPEG-TS output has the same type but no lowLatency member; the page cannot play it.
    const output = room.outputs.find(({ type, lowLatency }) => type === "hls" && lowLatency !== undefined);
    if (!output) return notice("Nothing to play", "This room has no HLS output.");
    if (!MSEPlayer.source) return notice("This browser cannot play the room", "It has no Media Source Extensions.");
    const uri = new URL(`media/${output.playlist || "index.m3u8"}`, location.href).href;
    for (;;) {
      if (mine !== this.generation) return;
      if (store.isOver) { notice("The room has ended"); await sleep(1000); continue; }
      try {
        const response = await load(uri, null, undefined, waitingFields);
        const multivariant = parseMultivariant(await response.text(), response.url || uri);
        if (multivariant.variants.length) return await this.play(multivariant, mine);
      } catch (error) {
        if (error.status && error.status !== 404 && error.status !== 503) notice("Cannot load the stream", `HTTP ${error.status}`);
      }
      const { state } = store.room;
      if (state === "waiting") notice("Waiting for the first source", "Playback starts automatically when someone publishes.");
      else if (state === "preparing") notice("A publisher is connected", "Playback starts when the first segment is complete.");
      else if (/clos|end/.test(state)) notice("The room has ended");
      else if (state === "failed") notice("The room has failed", "See its last events for the reason.");
      await sleep(1000);
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

/** Shows the canvas once a second, so that the operator sees a change at once, and encoder faults can be distinguished from player faults. */
async function snapshots(isAllowed) {
  let wait = 1000;
  for (;;) {
    // There is no snapshot before the first source.
    if (store.room && !store.isOver && !/starting|waiting/.test(store.room.state) && isAllowed() && document.visibilityState === "visible") {
      try {
        const blob = await (await ask("v1/snapshot?width=320")).blob();
        const old = $("snap").src;
        $("snap").src = URL.createObjectURL(blob);
        if (old.startsWith("blob:")) URL.revokeObjectURL(old);
        $("snapshot").hidden = false;
        setText($("snap-age"), "now");
        wait = 1000;
      } catch (error) {
        setText($("snap-age"), "no response");
        // A room without snapshots is asked every minute; one whose first publisher has just connected, every second.
        if (error.status === 404 || error.status === 405) { $("snapshot").hidden = true; wait = store.room.state === "preparing" ? 1000 : 60_000; }
      }
    }
    await sleep(wait);
  }
}

export function startWatching(isAllowed) {
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
  setInterval(() => {
    const latency = picture.player?.latency();
    const isKnown = latency !== null && latency !== undefined && latency > -1 && latency < 3600 && !video.paused;
    const shape = video.videoWidth ? `${video.videoWidth}×${video.videoHeight}` : null;
    setText($("latency"), [isKnown ? `≈ ${Math.max(0, latency).toFixed(1)} s behind` : null, shape].filter(Boolean).join(" · ") || "–");
  }, 500);
  snapshots(isAllowed);
}
