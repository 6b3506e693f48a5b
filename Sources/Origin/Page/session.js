// A viewer's session: waits for the room, chooses the player, starts it again after failures, and ends with the room.

import { LowDelay } from "./lowdelay.js";
import { MSEPlayer } from "./player.js";
import { NativePlayer } from "./native.js";
import { parseMultivariant, windowStart } from "./playlist.js";
import { pause, waitingFields } from "./requests.js";
import { $, say, setRoom, setState, state } from "./screen.js";
import { RoomStatus } from "./status.js";
import { word } from "./words.js";

export class Session {
  /**
   * @param urls addresses of `playlist`, `whep`, `status` and `recording`; null for what the room does not have
   * @param forced "mse", "native" or "webrtc" to choose the player, null for the best one
   * @param windowSeconds length of the window if the live lists do not have all of it; 0 if they do
   */
  constructor(video, urls, forced, windowSeconds = 0) {
    Object.assign(this, { video, urls, forced, windowSeconds });
    this.multivariant = null;
    this.player = null;
    /** The chosen rendition: -1 for automatic, "audio" for audio only, or an index. */
    this.choice = -1;
    this.audio = null;
    this.lowDelay = new LowDelay(this, [null, "webrtc"].includes(forced));
    this.hasPlayed = false;
    this.playedFrom = 0;
    this.isOver = false;
    this.wasLive = false;
    this.stalls = 0;
    this.attempts = 0;
    this.generation = 0;
    /** Called when the renditions or the player have changed. */
    this.changed = () => {};
    this.status = new RoomStatus(urls.status, (name) => { setRoom(name); this.changed(); });
    this.listen();
  }

  get isLive() { return state() === "live"; }

  listen() {
    const { video } = this;
    video.addEventListener("playing", () => {
      if (!this.hasPlayed) this.playedFrom = video.currentTime;
      this.hasPlayed = true;
      this.attempts = 0;
      say(null);
      this.onAir();
    });
    let isPaused = false;
    video.addEventListener("pause", () => { isPaused = this.hasPlayed; });
    video.addEventListener("play", () => {
      if (isPaused && this.hasPlayed) this.player?.resumed();
      isPaused = false;
    });
    video.addEventListener("waiting", () => {
      if (!this.hasPlayed || video.seeking || video.ended || this.player?.positioned === false) return;
      if (this.isOver && video.currentTime >= video.duration - 0.5) return;
      // Browsers begin with the first frames and often wait once more. This belongs to the start and is not a stall.
      if (video.currentTime > this.playedFrom + 1) this.stalls += 1;
      say("light", word("buffering"));
    });
    video.addEventListener("seeked", () => { this.playedFrom = video.currentTime; if (video.readyState >= 3) say(null); });
    video.addEventListener("ended", () => {
      if (this.lowDelay.isPlaying) return;
      setState("ended");
      say("still", word(this.wasLive ? "endedTitle" : "recordingEnded"), this.wasLive ? word("thanks") : "", this.again(), ...this.recording());
      // What plays from here on is a recording.
      this.wasLive = false;
    });
    video.addEventListener("error", () => { if (video.error && video.src) this.restart(video.error); });
  }

  again() {
    return {
      text: word("again"),
      run: () => {
        const window = this.player?.window();
        say(null);
        if (window) { this.player.seek(window.start); this.play(); } else this.begin();
      },
    };
  }

  recording() { return this.urls.recording ? [{ text: word("recording"), href: this.urls.recording }] : []; }

  over() {
    setState("ended");
    say("still", word("endedTitle"), word("nothingLeft"), ...this.recording(), { text: word("recheck"), run: () => this.begin() });
  }

  waitForStreamer() {
    setState("waiting");
    say("busy", word("waitingTitle"), word("waitingText"));
  }

  /** Called when the playlist is closed: a viewer who watched live sees the last seconds, a later viewer sees a recording. */
  closed() {
    if (this.isOver) return;
    this.isOver = true;
    this.status.stop();
    if (this.hasPlayed) setState(this.wasLive ? "ending" : "replay");
    this.changed();
  }

  onAir() { setState(!this.isOver ? "live" : this.wasLive ? "ending" : "replay"); }

  /** Asks for the playlist every second until it is available or the room has ended. */
  async begin() {
    const mine = ++this.generation;
    this.isOver = false;
    this.wasLive = false;
    for (;;) {
      try {
        if (await this.find(mine)) break;
        if (mine !== this.generation || state() === "ended") return;
      } catch {
        if (mine !== this.generation) return;
        setState("lost");
        say("busy", word("unreachableTitle"), word("unreachableText"));
      }
      await pause(1000);
      if (mine !== this.generation) return;
    }
    this.changed();
    this.status.watch();
    this.startPlayer(mine);
  }

  /** Gets the status, and the playlist if there is one. Returns whether there is. */
  async find(mine) {
    const status = await this.status.ask();
    if (mine !== this.generation) return false;
    if (status && !status.playable) {
      if (status.state === "ended") return this.over();
      if (status.state === "refused") {
        setState("failed");
        say("still", word("refusedTitle"), word("refusedText"), { text: word("recheck"), run: () => this.begin() });
        this.generation += 1;
        return false;
      }
      if (status.state === "waiting") return this.waitForStreamer();
      setState("waiting");
      say("busy", word("startingTitle"), word("startingText"));
    }
    const response = await fetch(this.urls.playlist, { cache: "no-store", headers: waitingFields });
    if (mine !== this.generation) return false;
    if (response.ok) {
      const parsed = parseMultivariant(await response.text(), response.url || this.urls.playlist);
      if (parsed.variants.length) { this.multivariant = parsed; return true; }
      if (!status) this.waitForStreamer();
    } else if (response.status === 404 && !/has ended/.test(await response.text())) this.waitForStreamer();
    else if (response.status === 404 || response.status === 410) this.over();
    else { setState("lost"); say("busy", word("unexpectedTitle"), word("unexpectedText", response.status)); }
    return false;
  }

  /** @param startDate where to begin (ms since 1970); null for the live edge */
  startPlayer(mine, startDate = null) {
    const { video, forced } = this;
    if (this.lowDelay.isUsed && startDate === null) return this.lowDelay.start(mine);
    this.lowDelay.comeBack(mine);
    const wantsOwn = forced === "mse" || this.choice !== -1 || startDate !== null || !NativePlayer.isPreferred(video);
    this.hasPlayed = false;
    setState("loading");
    say("busy", word("starting"));
    if (forced !== "native" && wantsOwn && MSEPlayer.source) this.startOwn(mine, startDate);
    else if (NativePlayer.canPlay(video)) {
      this.player = new NativePlayer(video, this.multivariant, this.urls.playlist, (event, error) => { if (mine === this.generation) this.heard(event, error); });
      this.player.start();
    } else {
      setState("failed");
      say("still", word("cannotTitle"), word("noPlayer"));
    }
    this.changed();
  }

  async startOwn(mine, startDate) {
    const { video, choice } = this;
    const player = this.player = new MSEPlayer(video, this.multivariant,
      (event, error) => { if (mine === this.generation) this.heard(event, error); },
      { audio: this.audio, isAudioOnly: choice === "audio", startDate, wholeStart: this.windowSeconds ? (end) => this.wholeStart(end) : null });
    try {
      await player.start();
      if (mine === this.generation && choice >= 0) player.select(choice);
      if (mine === this.generation) this.changed();
    } catch (error) {
      if (mine !== this.generation) return;
      setState("failed");
      say("still", word("cannotTitle"), error.word ? word(error.word) : error.message);
    }
  }

  heard(event, error) {
    if (event === "positioned") this.play();
    else if (event === "closed") this.closed();
    else if (event === "open") { this.wasLive = true; if (this.hasPlayed) setState("live"); }
    else if (event === "recovered") { this.onAir(); if (this.video.readyState >= 3) say(null); }
    else if (event === "interrupted") { if (!this.isOver) setState("lost"); say("light", word("lostTitle"), word("tryingAgain")); }
    else if (event === "failed") { if (error?.isFinal) this.refuse(error); else this.restart(error); }
  }

  /** Ends playback after an error that a retry cannot fix. */
  refuse(error) {
    this.generation += 1;
    this.dismantle();
    setState("failed");
    say("still", word("cannotTitle"), error.word ? word(error.word) : error.message);
  }

  /** Stops the player and starts again with the playlist, with a delay that doubles with each attempt. */
  restart(error) {
    if (error) console.info("player:", error.message || error);
    const mine = ++this.generation;
    this.dismantle();
    setState("lost");
    say("busy", word("restartTitle"), word("restartText"));
    this.attempts += 1;
    setTimeout(() => { if (mine === this.generation) this.begin(); }, Math.min(8000, 500 * 2 ** Math.min(this.attempts, 4)));
  }

  dismantle() {
    this.player?.stop();
    this.player = null;
    this.lowDelay.stop();
  }

  /** Starts the player again, with other settings or at another time. */
  rebuild(startDate = null) {
    const mine = ++this.generation;
    this.dismantle();
    this.startPlayer(mine, startDate);
  }

  async play() {
    const { video } = this;
    try { await video.play(); } catch (error) {
      if (error.name !== "NotAllowedError") return;
      // Browsers allow autoplay without a user gesture only if the video is muted.
      video.muted = true;
      $("unmute").hidden = false;
      video.play().catch(() => say("still", word("ready"), "", { text: word("play"), run: () => { say(null); this.play(); } }));
    }
  }

  toggle() { if (this.video.paused) this.play(); else this.video.pause(); }

  // MARK: Position

  /** When a long window that ends at a date begins (both ms); null if that is not known, or if only the browser's own player may play. */
  wholeStart(end) {
    const start = this.status.latest?.start, hasOwn = MSEPlayer.source && this.forced !== "native";
    return this.windowSeconds && start && hasOwn ? windowStart(start, end, this.windowSeconds) : null;
  }

  /** The window of the playlist in media time (s); null if it is not known. */
  window() {
    if (!this.lowDelay.isPlaying) {
      const window = this.player?.window() || null;
      if (!window || !(this.player instanceof NativePlayer)) return window;
      const end = this.player.dateOf(window.end), whole = end && this.wholeStart(end);
      return whole ? { start: Math.min(window.start, window.end - (end - whole) / 1000), end: window.end } : window;
    }
    const { currentTime } = this.video;
    return this.lowDelay.depth && this.hasPlayed ? { start: currentTime - this.lowDelay.depth, end: currentTime } : null;
  }

  seek(time) {
    const window = this.window();
    if (!window) return;
    if (!this.lowDelay.isPlaying) {
      // The browser's own player has only the live list.
      const { player } = this;
      if (!(player instanceof NativePlayer)) return player.seek(time);
      const { start } = player.window(), date = player.dateOf(time), isFar = time < start && date !== null && this.wholeStart(date) !== null;
      return isFar ? this.rebuild(date) : player.seek(Math.max(time, start));
    }
    // WebRTC has only the live edge.
    const behind = window.end - time;
    if (behind < 2) return;
    this.lowDelay.isUsed = false;
    this.rebuild(Date.now() - (this.player.latency() || 0) * 1000 - behind * 1000);
  }

  goLive() {
    const { lowDelay } = this;
    if (lowDelay.isWanted && lowDelay.hasWatched && !lowDelay.isPlaying && !this.isOver) {
      lowDelay.isUsed = true;
      this.rebuild();
    } else this.player?.goLive();
  }

  /** Plays the rendition with this index, "audio" or -1 for automatic. */
  select(choice) {
    const before = this.choice;
    this.choice = choice;
    const isRebuilt = choice === "audio" || before === "audio" || !(this.player instanceof MSEPlayer)
      || (choice === -1 && this.forced !== "mse" && NativePlayer.isPreferred(this.video));
    if (!isRebuilt) return this.player.select(choice);
    if (this.lowDelay.isPlaying) this.lowDelay.isUsed = this.lowDelay.isWanted = false;
    const isShifted = this.player && (!this.player.isFollowing || this.isOver);
    this.rebuild(isShifted ? this.player.dateOf(this.video.currentTime) : null);
  }

  selectAudio(rendition) { this.audio = rendition; this.player?.selectAudio(rendition); }
}
