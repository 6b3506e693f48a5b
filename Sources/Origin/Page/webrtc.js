// WHEPPlayer: plays one rendition over WebRTC (WHEP), with a delay of less than a second.

/** An error of a WHEP request. `status` is that of the reply, 0 if the session has died or the room cannot be reached. */
export class WHEPError extends Error {
  constructor(message, status = 0, retryAfter = 0) {
    super(message);
    this.status = status;
    this.retryAfter = retryAfter;
  }
}

export class WHEPPlayer {
  /** The session is dead after this time (ms) without a packet; the first packets may take longer. */
  static silence = 1500;
  static patience = 5000;
  static pace = 250;
  /** NTP counts from 1900, JavaScript from 1970 (ms). */
  static epoch = 2208988800000;

  static get isSupported() { return typeof RTCPeerConnection === "function" && typeof MediaStream === "function"; }

  /** `video` may be null: the session then plays nothing until `attach`. `heard` is called with "open" when packets arrive, and once with "failed" and a WHEPError, unless the player was stopped. */
  constructor(video, url, heard) {
    this.video = video;
    this.url = url;
    this.heard = heard;
    this.isOver = false;
    this.packets = 0;
    this.playout = null;
  }

  async start() {
    const peer = this.peer = new RTCPeerConnection({ bundlePolicy: "max-bundle" });
    const stream = new MediaStream();
    peer.ontrack = ({ track }) => {
      if (this.isOver) return;
      stream.addTrack(track);
      this.stream = stream;
      if (this.video && this.video.srcObject !== stream) this.video.srcObject = stream;
    };
    peer.onconnectionstatechange = () => { if (["failed", "closed"].includes(peer.connectionState)) this.fail(new WHEPError("the connection was closed")); };
    try {
      peer.addTransceiver("video", { direction: "recvonly" });
      peer.addTransceiver("audio", { direction: "recvonly" });
      const offer = await peer.createOffer();
      await peer.setLocalDescription({ type: "offer", sdp: WHEPPlayer.stereo(offer.sdp) });
      const answer = await this.post(peer.localDescription.sdp);
      if (this.isOver) return this.leave();
      await peer.setRemoteDescription({ type: "answer", sdp: answer });
    } catch (error) {
      this.fail(error instanceof WHEPError ? error : new WHEPError(error.message));
      return;
    }
    this.heardAt = performance.now() + WHEPPlayer.patience - WHEPPlayer.silence;
    this.timer = setInterval(() => this.look(), WHEPPlayer.pace);
  }

  /** Without this parameter of the player, browsers decode Opus as mono. */
  static stereo(sdp) {
    const type = sdp.match(/^a=rtpmap:(\d+) opus\/48000\/2/im)?.[1];
    return type ? sdp.replace(new RegExp(`^(a=fmtp:${type} (?!.*stereo=1).*?)(\r?)$`, "m"), "$1;stereo=1$2") : sdp;
  }

  async post(offer) {
    let response;
    try {
      response = await fetch(this.url, { method: "POST", headers: { "Content-Type": "application/sdp" }, body: offer });
    } catch { throw new WHEPError("the room cannot be reached"); }
    if (response.status !== 201) throw new WHEPError(`the room answered ${response.status}`, response.status, Number(response.headers.get("Retry-After")) || 0);
    // The path in Location is the room's own: a proxy may have another one in front of it.
    const session = response.headers.get("Location")?.match(/session\/\w+$/)?.[0];
    const endpoint = new URL(this.url);
    endpoint.search = "";
    if (session) this.session = `${endpoint.href.replace(/\/+$/, "")}/${session}`;
    return response.text();
  }

  async look() {
    let packets = 0;
    try {
      for (const report of (await this.peer.getStats()).values()) {
        if (report.type !== "inbound-rtp") continue;
        packets += report.packetsReceived || 0;
        if (report.kind === "video" && report.estimatedPlayoutTimestamp) this.playout = report.estimatedPlayoutTimestamp - WHEPPlayer.epoch;
      }
    } catch { return; }
    if (this.isOver) return;
    const now = performance.now();
    if (packets > this.packets) {
      if (this.packets === 0) this.heard("open");
      this.heardAt = now;
    } else if (now - this.heardAt > WHEPPlayer.silence) this.fail(new WHEPError("no media arrives"));
    this.packets = packets;
  }

  fail(error) {
    if (this.isOver) return;
    this.stop();
    this.heard("failed", error);
  }

  stop() {
    this.isOver = true;
    clearInterval(this.timer);
    if (this.video) this.video.srcObject = null;
    // The request comes first: a session whose connection is closed is unknown to the server at once.
    this.leave().finally(() => this.peer?.close());
  }

  /** Ends the session on the server; it would notice without this after some seconds. */
  async leave() {
    const { session } = this;
    this.session = null;
    if (session) await fetch(session, { method: "DELETE", keepalive: true }).catch(() => {});
  }

  /** Plays the session in a video element from now on. */
  attach(video) {
    this.video = video;
    if (this.stream) video.srcObject = this.stream;
  }

  // The interface of MSEPlayer.
  get isFollowing() { return true; }
  get isLive() { return true; }
  hurry() {}
  resumed() {}
  dateOf() { return null; }
  select() {}
  goLive() { this.video.play().catch(() => {}); }
  latency() { return this.playout === null ? null : (Date.now() - this.playout) / 1000; }
  liveEnd() { return this.video.paused ? null : this.video.currentTime; }
}
