// Publishes tracks by WHIP (RFC 9725), and again after the room's worker has ended.
"use strict";

/** An error with a problem as `problemOf` makes it. */
class Refusal extends Error {
  constructor(problem) { super(problem.title); this.problem = problem; }
}

/** The codecs that the browser can send, with `codec` such as "H264" alone or, for an empty one, all. */
function codecPreferences(codec) {
  const all = RTCRtpSender.getCapabilities("video")?.codecs || [];
  return codec ? all.filter(({ mimeType }) => [`video/${codec}`, "video/rtx"].includes(mimeType)) : all;
}
const canSend = (codec) => codecPreferences("").some(({ mimeType }) => mimeType === `video/${codec}`);

/** One peer connection with its WHIP resource. `ended` resolves with the reason: "silent", "lost", "closed" or "changed". */
class Link {
  constructor({ endpoint, key, codec, tracks, measured }) {
    Object.assign(this, { endpoint, key, measured, resource: null, stats: null, isConnected: false });
    this.ended = new Promise((resolve) => { this.end = resolve; });
    this.peer = new RTCPeerConnection({ bundlePolicy: "max-bundle" });
    const stream = new MediaStream();
    for (const track of tracks) {
      const transceiver = this.peer.addTransceiver(track, { direction: "sendonly", streams: [stream] });
      if (track.kind !== "video") continue;
      if (codec) {
        try { transceiver.setCodecPreferences(codecPreferences(codec)); } catch { /* the room chooses */ }
      }
    }
    this.peer.onconnectionstatechange = () => {
      const state = this.peer.connectionState;
      if (state === "connected") this.connected?.();
      else if (state === "closed") this.end("closed");
      else if (state === "failed" || state === "disconnected") this.end("lost");
    };
  }

  /** Sends the offer and waits for the media connection. */
  async open(signal) {
    await this.keepResolution();
    // The room takes addresses from connectivity checks, not from candidates. So the offer is sent first, and the browser looks for
    // candidates when it knows the room's STUN and TURN servers.
    const offer = await this.peer.createOffer();
    const answer = await this.post(offer.sdp, signal);
    try {
      if (answer.servers.length) this.peer.setConfiguration({ ...this.peer.getConfiguration(), iceServers: answer.servers });
    } catch { /* most networks need no such server */ }
    try {
      await this.peer.setLocalDescription(offer);
      await this.peer.setRemoteDescription({ type: "answer", sdp: answer.sdp });
    } catch (error) {
      throw new Refusal({ ...noMedia, title: "The browser does not accept the room's answer", detail: sentence(error.message), fix: "Choose another video codec." });
    }
    await this.untilConnected(signal);
    this.isConnected = true;
    for (const { transport } of this.peer.getSenders()) {
      // DTLS close_notify: the room has ended the session.
      transport?.addEventListener("statechange", () => { if (transport.state === "closed") this.end("closed"); });
    }
    const life = new SignsOfLife();
    let count = 0, isBusy = false;
    this.ticker = new Ticker(250, async () => {
      if (isBusy || this.isClosed) return;
      isBusy = true;
      const report = await this.peer.getStats().catch(() => null);
      isBusy = false;
      if (!report || this.isClosed) return;
      const now = readStats(report.values());
      if (life.isSilent(now, performance.now())) this.end("silent");
      // Rates are of half a second.
      if ((count += 1) % 2 === 0) {
        this.stats = readStats(report.values(), this.stats);
        this.measured(this.stats);
      }
    });
  }

  /** Asks the browser to send fewer frames instead of smaller ones; otherwise it starts with a small size and takes 20 s to the full one. */
  async keepResolution() {
    for (const sender of this.peer.getSenders()) {
      if (sender.track?.kind !== "video") continue;
      const parameters = sender.getParameters();
      parameters.degradationPreference = "maintain-resolution";
      await sender.setParameters(parameters).catch(() => {});
    }
  }

  async post(sdp, signal) {
    const limit = new AbortController(), timer = setTimeout(() => limit.abort(), 10_000), stop = () => limit.abort();
    signal.addEventListener("abort", stop);
    try {
      const reply = await fetch(this.endpoint, {
        method: "POST", body: sdp, cache: "no-store", signal: limit.signal,
        headers: { "Content-Type": "application/sdp", Authorization: `Bearer ${this.key}` },
      });
      const text = await reply.text();
      if (reply.status !== 201) {
        throw new Refusal(problemOf(reply.status, reply.headers.get("Content-Type"), text, reply.headers.get("Retry-After")));
      }
      const location = reply.headers.get("Location");
      if (location) this.resource = new URL(location, reply.url || this.endpoint).href;
      return { sdp: text, servers: iceServers(reply.headers.get("Link")) };
    } catch (error) {
      throw error instanceof Refusal ? error : new Refusal(unreachable);
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", stop);
    }
  }

  async untilConnected(signal) {
    let timer, stop;
    const isUp = await new Promise((resolve) => {
      this.connected = () => resolve(true);
      if (this.peer.connectionState === "connected") resolve(true);
      this.ended.then(() => resolve(false));
      timer = setTimeout(() => resolve(false), 10_000);
      stop = () => resolve(false);
      signal.addEventListener("abort", stop);
    });
    clearTimeout(timer);
    signal.removeEventListener("abort", stop);
    if (!isUp) throw new Refusal(noMedia);
  }

  replace(track) {
    return Promise.all(this.peer.getTransceivers()
      .filter(({ receiver }) => receiver.track.kind === track.kind).map(({ sender }) => sender.replaceTrack(track)));
  }

  /** Stops sending without a word to the room: it then waits for the publisher as after any lost connection. */
  silence() {
    this.ticker?.stop();
    for (const sender of this.peer.getSenders()) sender.replaceTrack(null).catch(() => {});
  }

  /** Ends the WHIP session. The request outlives the page. */
  delete() {
    if (!this.resource) return;
    fetch(this.resource, { method: "DELETE", keepalive: true, headers: { Authorization: `Bearer ${this.key}` } }).catch(() => {});
    this.resource = null;
  }

  close() {
    this.isClosed = true;
    this.ticker?.stop();
    this.peer.close();
  }
}

/**
 * Publishes until `stop()`. `tracks()` returns the tracks to send; `report` is called with { state, problem, pause } and `measured` with
 * the result of `readStats`.
 *
 * States: *connecting* → *onair* → *reconnecting* → *onair*; *connecting*, *reconnecting* → *failed*, if a repeated request would be
 * refused as well. All other errors lead to another request after a growing pause.
 */
class Publication {
  constructor(options) {
    Object.assign(this, options);
    this.abort = new AbortController();
    this.link = null;
    // The previous link that was on air. It is closed when the next one is connected, because closing it means "unpublished" to the room.
    this.former = null;
  }

  get isOver() { return this.abort.signal.aborted; }

  async run() {
    let failures = 0, wasOnAir = false, problem = null, pause = 0, closes = [];
    while (!this.isOver) {
      this.report({ state: wasOnAir ? "reconnecting" : "connecting", problem, pause });
      await this.wait(pause);
      if (this.isOver) return;
      const link = this.link = new Link({ ...this, tracks: this.tracks() });
      try {
        await link.open(this.abort.signal);
      } catch (error) {
        link.delete();
        link.close();
        if (this.isOver) return;
        problem = error.problem || { ...noMedia, title: "The browser cannot publish", detail: sentence(error.message), fix: "" };
        if (isFinal(problem, wasOnAir)) return this.fail(problem);
        pause = pauseBefore(failures, problem);
        failures += 1;
        continue;
      }
      this.former?.close();
      this.former = null;
      const begun = performance.now();
      wasOnAir = true;
      problem = null;
      this.report({ state: "onair", problem, pause: 0 });
      const reason = await link.ended;
      if (this.isOver) return;
      const now = performance.now();
      if (reason === "closed") closes = [...closes.filter((at) => now - at < 60_000), now];
      if (closes.length >= 3) { link.close(); return this.fail(closedAgain); }
      link.silence();
      this.former = link;
      // A connection that lasts less than 5 s counts as a failed request.
      failures = now - begun < 5000 && reason !== "changed" ? failures + 1 : 0;
      problem = reason === "changed" ? null : lost;
      pause = reason === "changed" ? 0 : pauseBefore(failures, null);
    }
  }

  fail(problem) {
    this.abort.abort();
    this.former?.close();
    this.report({ state: "failed", problem, pause: 0 });
  }

  /** Waits `ms`, or until `hurry()` or `stop()`. */
  wait(ms) {
    if (!ms) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.hurry = () => { clearTimeout(timer); resolve(); };
    });
  }

  /** Sends the tracks that `tracks()` returns now. */
  async update() {
    const tracks = this.tracks(), { link } = this;
    if (!link || this.isOver) return;
    const before = link.peer.getTransceivers().map(({ receiver }) => receiver.track.kind).sort().join();
    if (before !== tracks.map(({ kind }) => kind).sort().join()) link.end("changed");
    else await Promise.all(tracks.map((track) => link.replace(track)));
  }

  stop() {
    this.abort.abort();
    this.hurry?.();
    this.link?.delete();
    this.link?.close();
    this.former?.close();
  }
}
