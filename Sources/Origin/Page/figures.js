// The engineers' figures below the video.

import { MSEPlayer } from "./player.js";
import { $ } from "./screen.js";

export const renditionName = ({ width, height, bandwidth }) =>
  (height ? `${Math.min(width, height)}p` : `${Math.round(bandwidth / 1000)} kbit/s`);

function show(id, text, isBad = false) {
  if ($(id).textContent !== text) $(id).textContent = text;
  $(id).classList.toggle("warn", isBad);
}

export function showFigures({ video, player, multivariant, hasPlayed, isLive, stalls, lowDelay }) {
  const latency = isLive && player ? player.latency() : null;
  // If the viewer's clock is wrong by more than the latency, then the value is meaningless.
  const isKnown = latency !== null && latency > -1 && latency < 86400;
  show("s-latency", isKnown ? `≈ ${Math.max(0, latency).toFixed(1)} s` : "–");
  const { videoWidth: width, videoHeight: height } = video;
  const rendition = multivariant?.variants.find((variant) => variant.height === height && variant.width === width);
  show("s-rendition", rendition && hasPlayed ? renditionName(rendition) : "–");
  show("s-picture", width ? `${width}×${height}` : "–");
  let ahead = 0;
  for (let i = 0; i < video.buffered.length; i += 1) {
    if (video.buffered.start(i) <= video.currentTime + 0.1) ahead = Math.max(ahead, video.buffered.end(i) - video.currentTime);
  }
  const isBuffered = hasPlayed && !lowDelay.isPlaying;
  show("s-buffer", isBuffered ? `${ahead.toFixed(1)} s` : "–", isBuffered && isLive && !video.paused && ahead < 0.5);
  show("s-stalls", String(stalls), stalls > 0);
  const quality = video.getVideoPlaybackQuality?.();
  show("s-dropped", quality && quality.totalVideoFrames ? `${quality.droppedVideoFrames} / ${quality.totalVideoFrames}` : "–",
    Boolean(quality) && quality.droppedVideoFrames > 0.01 * quality.totalVideoFrames);
  show("s-player", !player ? "–" : lowDelay.isPlaying ? "WebRTC" : player instanceof MSEPlayer ? "page" : "browser");
}
