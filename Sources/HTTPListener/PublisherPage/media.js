// Sources of video and audio: camera, screen, microphone, test pattern and test tone; the level of the audio.
"use strict";

/** Calls `run` every `ms`, also while the page is in the background. */
class Ticker {
  constructor(ms, run) {
    const fallBack = () => { if (!this.isStopped) this.timer ??= setInterval(run, ms); };
    try {
      this.worker = new Worker("ticker.js");
      this.worker.onmessage = () => run();
      this.worker.onerror = fallBack;
      this.worker.postMessage(ms);
    } catch { fallBack(); }
  }

  stop() {
    this.isStopped = true;
    this.worker?.terminate();
    clearInterval(this.timer);
  }
}

let sharedContext = null;
/** The page's audio context. Browsers start it only after the user has clicked or pressed a key. */
function audioContext() {
  sharedContext ??= new AudioContext();
  if (sharedContext.state === "suspended") sharedContext.resume().catch(() => {});
  return sharedContext;
}
/** Time (s) of flash and beep: both begin with each full second. */
const patternTime = () => (sharedContext?.state === "running" ? sharedContext.currentTime : performance.now() / 1000);

/** Color bars with a clock and a moving bar; a white square flashes for 100 ms each second. */
function openPattern(width, height) {
  const canvas = document.createElement("canvas");
  Object.assign(canvas, { width, height });
  const context = canvas.getContext("2d", { alpha: false });
  const colors = ["#c0c0c0", "#c0c000", "#00c0c0", "#00c000", "#c000c0", "#c00000", "#0000c0"], unit = width / 7;
  const draw = () => {
    const seconds = patternTime(), isFlash = seconds % 1 < 0.1;
    colors.forEach((color, index) => {
      context.fillStyle = color;
      context.fillRect(Math.floor(index * unit), 0, Math.ceil(unit), height);
    });
    context.fillStyle = "#101014";
    context.fillRect(0, height * 0.7, width, height * 0.3);
    context.fillStyle = "#fff";
    context.fillRect((seconds % 4) / 4 * width, height * 0.66, width / 40, height * 0.04);
    if (isFlash) context.fillRect(width - height * 0.25, height * 0.75, height * 0.2, height * 0.2);
    context.font = `${Math.round(height / 9)}px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace`;
    context.textBaseline = "middle";
    context.fillText(new Date().toISOString().slice(11, 22), height * 0.08, height * 0.85);
  };
  draw();
  const track = canvas.captureStream(30).getVideoTracks()[0];
  const ticker = new Ticker(1000 / 30, draw);
  return { track, stop() { ticker.stop(); track.stop(); } };
}

/** A beep of 100 ms at the start of each second: 1 kHz, peak level -12 dBFS. */
function openTone() {
  const context = audioContext(), tone = context.createOscillator(), gain = context.createGain();
  const destination = context.createMediaStreamDestination();
  tone.frequency.value = 1000;
  gain.gain.value = 0;
  tone.connect(gain).connect(destination);
  tone.start();
  let next = Math.ceil(context.currentTime);
  // Beeps are scheduled two seconds ahead, so that a late timer is not audible.
  const schedule = () => {
    next = Math.max(next, Math.floor(context.currentTime));
    for (; next < context.currentTime + 2; next += 1) {
      gain.gain.setValueAtTime(0.25, next);
      gain.gain.setValueAtTime(0, next + 0.1);
    }
  };
  schedule();
  const ticker = new Ticker(500, schedule), track = destination.stream.getAudioTracks()[0];
  return { track, stop() { ticker.stop(); track.stop(); tone.stop(); tone.disconnect(); } };
}

const partOf = (track) => (track ? { track, stop() { track.stop(); } } : null);

/**
 * Opens what is asked for; camera and microphone together, so that the browser asks the user once.
 *
 * `video`: { kind: "camera" | "screen" | "pattern", camera: device or "", width, height }; `audio`: { choice: "mic:DEVICE" | "tone" |
 * "screen" | "none" }; null: not to be opened. Returns { video, audio }: each { track, stop() } or null.
 */
async function openMedia({ video, audio }) {
  const opened = { video: null, audio: null };
  const size = video && { width: { ideal: video.width }, height: { ideal: video.height }, frameRate: { ideal: 30 } };
  try {
    // First, since a browser allows it only shortly after the user's click.
    if (video?.kind === "screen") {
      const stream = await navigator.mediaDevices.getDisplayMedia({ video: size, audio: audio?.choice === "screen" });
      opened.video = partOf(stream.getVideoTracks()[0]);
      opened.audio = partOf(stream.getAudioTracks()[0]);
      if (audio?.choice === "screen" && !opened.audio) throw new DOMException("", "NoScreenAudio");
    }
    const microphone = audio?.choice.startsWith("mic:") ? audio.choice.slice(4) : null;
    const isCamera = video?.kind === "camera";
    if (isCamera || microphone !== null) {
      const stream = await navigator.mediaDevices.getUserMedia({
        video: isCamera && { ...size, ...(video.camera ? { deviceId: { exact: video.camera } } : {}) },
        audio: microphone !== null && (microphone ? { deviceId: { exact: microphone } } : true),
      });
      if (isCamera) opened.video = partOf(stream.getVideoTracks()[0]);
      if (microphone !== null) opened.audio = partOf(stream.getAudioTracks()[0]);
    }
    if (audio?.choice === "tone") opened.audio = openTone();
    if (video?.kind === "pattern") opened.video = openPattern(video.width, video.height);
  } catch (error) {
    opened.video?.stop();
    opened.audio?.stop();
    throw error;
  }
  return opened;
}

/** Describes an error of `openMedia` in the form of `problemOf`. */
function mediaProblem(error, kind) {
  const problem = (title, detail, fix) => ({ status: 0, title, detail, fix, retryAfter: null });
  const what = kind === "screen" ? "the screen" : kind === "camera" ? "the camera or microphone" : "the microphone";
  switch (error.name) {
    case "NotAllowedError":
    case "SecurityError":
      return kind === "screen"
        ? problem("No screen was chosen", "The browser did not give access to a screen or window.", "Open the screen again and choose one.")
        : problem(`The browser does not allow access to ${what}`, "", "Allow it in the settings of this page, left of the address, then open the source again.");
    case "NotFoundError":
    case "OverconstrainedError":
      return problem(`The browser cannot find ${what}`, "", "Connect the device, choose another one, or choose No audio.");
    case "NotReadableError":
    case "AbortError":
      return problem(`The browser cannot open ${what}`, "Another program may be using the device.", "Close the other program, then open the source again.");
    case "NoScreenAudio":
      return problem("The chosen screen or window has no audio", "The browser shares audio only if you tick the box for it.", "Choose a microphone or No audio, or open the screen again with its audio.");
    default:
      return problem(`The browser cannot open ${what}`, sentence(error.message), "");
  }
}

/** Measures the peak level of an audio track. */
class LevelMeter {
  /** `track`: null for none. */
  watch(track) {
    this.input?.disconnect();
    this.input = null;
    if (!track) return;
    const context = audioContext();
    this.analyser ??= new AnalyserNode(context, { fftSize: 4096 });
    this.samples ??= new Float32Array(this.analyser.fftSize);
    this.input = context.createMediaStreamSource(new MediaStream([track]));
    this.input.connect(this.analyser);
  }

  /** Peak level of the last 85 ms in dBFS, -60 to 0. */
  get level() {
    if (!this.input) return -60;
    this.analyser.getFloatTimeDomainData(this.samples);
    const peak = this.samples.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0);
    return Math.min(0, Math.max(-60, 20 * Math.log10(peak || 1e-6)));
  }
}
