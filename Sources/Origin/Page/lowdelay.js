// Low delay: plays over WebRTC, changes to HLS when WebRTC fails, and comes back to it by itself.

import { parseMedia } from "./playlist.js";
import { load, pause } from "./requests.js";
import { say, setState } from "./screen.js";
import { WHEPPlayer } from "./webrtc.js";
import { word } from "./words.js";

export class LowDelay {
  /** After WebRTC has failed, it is tried again beside HLS after this time (ms), and then after twice the time, at most `longest`. */
  static firstReturn = 2000;
  static longest = 60000;
  /** How often WebRTC is tried again if it has never played. */
  static returnsInVain = 3;

  /** `session.urls.whep` is null if the room has no WebRTC output. */
  constructor(session, isWanted) {
    this.session = session;
    /** Whether the viewer wants it, and whether it is to be used now: after failures, the page plays HLS for some time. */
    this.isWanted = isWanted && this.isOffered;
    this.isUsed = this.isWanted;
    this.tries = 0;
    this.returns = 0;
    this.hasWatched = false;
    /** Length (s) of the playlist's window while WebRTC plays. */
    this.depth = 0;
    /** A session that is tried beside HLS. */
    this.trial = null;
    addEventListener("pagehide", () => { if (this.isPlaying) this.session.player.leave(); });
  }

  get isOffered() { return Boolean(this.session.urls.whep) && WHEPPlayer.isSupported; }
  get isPlaying() { return this.session.player instanceof WHEPPlayer; }

  /** Ends the session that is tried. */
  stop() {
    this.trial?.stop();
    this.trial = null;
  }

  set(isWanted) {
    this.isWanted = this.isUsed = isWanted;
    this.tries = this.returns = 0;
    if (isWanted) this.session.choice = -1;
    this.session.rebuild();
  }

  /** Plays over WebRTC. If that fails or the session dies, then the page tries once more, and then plays HLS. */
  async start(mine) {
    this.session.hasPlayed = false;
    this.session.wasLive = true;
    setState("loading");
    say("busy", word("starting"));
    const whep = new WHEPPlayer(this.session.video, this.session.urls.whep, (event, error) => this.heard(whep, mine, event, error));
    this.adopt(whep);
    this.session.video.addEventListener("loadedmetadata", () => { if (this.session.player === whep) this.session.play(); }, { once: true });
    await whep.start();
  }

  adopt(whep) {
    this.session.player = whep;
    // A session that has lasted is not the fault of WebRTC: when it dies, WebRTC is tried again.
    setTimeout(() => { if (this.session.player === whep) this.tries = this.returns = 0; }, 10000);
    this.measure(whep);
    this.session.changed();
  }

  heard(whep, mine, event, error) {
    if (mine !== this.session.generation || this.session.player !== whep) return;
    if (event === "open") this.hasWatched = true;
    else this.lost(error);
  }

  /** Follows the length of the playlist's window while WebRTC plays. */
  async measure(whep) {
    while (this.session.player === whep) {
      try {
        const { uri } = this.session.multivariant.variants[0];
        const { duration, endDate } = parseMedia(await (await load(uri)).text(), uri), whole = endDate && this.session.wholeStart(endDate);
        this.depth = whole ? Math.max(duration, (endDate - whole) / 1000) : duration;
      } catch { this.depth = 0; }
      await pause(10000);
    }
  }

  /** Starts WebRTC again, or HLS, after the player has failed. */
  async lost(error) {
    console.info("WebRTC:", error.message);
    const mine = ++this.session.generation;
    this.session.dismantle();
    // Nothing is live yet: the reply says when to ask again.
    const isEarly = error.status === 409;
    this.tries += 1;
    if (this.tries < (isEarly ? 5 : 2) && (isEarly || error.status === 0)) {
      if (isEarly) setState("loading");
      else { setState("lost"); say("busy", word("lostTitle"), word("tryingAgain")); }
      await pause(isEarly ? Math.min(5000, 1000 * (error.retryAfter || 1)) : 100);
      if (mine === this.session.generation) this.session.startPlayer(mine);
      return;
    }
    this.isUsed = false;
    // A repeated request can succeed only after 409 and 429; other 4xx statuses stay.
    if (error.status >= 400 && error.status < 500 && ![409, 429].includes(error.status)) this.isWanted = false;
    if (this.hasWatched && await this.hasEnded()) {
      if (mine !== this.session.generation) return;
      this.session.isOver = true;
      this.session.status.stop();
      this.session.changed();
      setState("ended");
      say("still", word("endedTitle"), word("thanks"), { text: word("again"), run: () => { say(null); this.session.begin(); } }, ...this.session.recording());
    } else if (mine === this.session.generation) this.session.startPlayer(mine);
  }

  /** While HLS plays instead of WebRTC: tries WebRTC beside it, and changes to it without a break when its media arrives. */
  async comeBack(mine) {
    if (!this.isWanted) return;
    for (;;) {
      if (!this.hasWatched && this.returns >= LowDelay.returnsInVain) return;
      await pause(Math.min(LowDelay.longest, LowDelay.firstReturn * 2 ** this.returns));
      const isCurrent = () => mine === this.session.generation && this.isWanted && !this.session.isOver;
      if (!isCurrent()) return;
      // Beside a viewer who has gone back or paused, or while the room is silent, nothing is tried.
      if (!this.session.player?.isFollowing || !this.session.isLive || this.session.video.paused || document.hidden) continue;
      this.returns += 1;
      const arrives = await new Promise((done) => {
        const trial = this.trial = new WHEPPlayer(null, this.session.urls.whep, (event, error) => {
          if (this.session.player === trial) this.heard(trial, this.session.generation, event, error);
          else done(event === "open");
        });
        trial.start();
      });
      const { trial } = this;
      if (!isCurrent() || !arrives || !trial) { trial?.stop(); continue; }
      this.trial = null;
      this.session.generation += 1;
      this.session.player.stop();
      this.hasWatched = this.isUsed = true;
      this.tries = 0;
      this.session.hasPlayed = false;
      this.adopt(trial);
      trial.attach(this.session.video);
      this.session.play();
      return;
    }
  }

  /** Whether the room's playlists are closed. */
  async hasEnded() {
    try {
      if ((await this.session.status.ask())?.state === "ended") return true;
      const { uri } = this.session.multivariant.variants[0];
      return parseMedia(await (await load(uri)).text(), uri).ended;
    } catch (error) { return error.status === 404 || error.status === 410; }
  }
}
