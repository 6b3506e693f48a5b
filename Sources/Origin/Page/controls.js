// Buttons, menus and keys.

import { renditionName } from "./figures.js";
import { MSEPlayer } from "./player.js";
import { waitingFields } from "./requests.js";
import { $ } from "./screen.js";
import { label, word } from "./words.js";

export class Controls {
  /** The controls over the video (full screen, embedded) are hidden after this time (ms) without a pointer or a key. */
  static patience = 3000;
  /** How often the still of audio-only playback is loaded again (ms). */
  static stillPace = 10000;

  /** @param stillURL a still image of the program for audio-only playback; null for none */
  constructor(session, seekBar, captions, stillURL) {
    Object.assign(this, { session, seekBar, captions, stillURL, stillAt: -Infinity, hidesAt: 0 });
    this.listen();
  }

  listen() {
    const { session } = this, { video } = session;
    $("play").onclick = () => session.toggle();
    $("mute").onclick = () => this.toggleSound();
    $("unmute").onclick = () => { video.muted = false; $("unmute").hidden = true; };
    $("volume").oninput = (event) => { video.volume = Number(event.target.value); video.muted = !video.volume; };
    $("edge").onclick = () => session.goLive();
    $("hurry").onclick = () => session.player?.hurry();
    $("settings").onclick = () => this.openMenu($("menu").hidden);
    $("figures").onclick = () => this.toggleFigures();
    $("pip").onclick = () => this.togglePiP();
    $("full").onclick = () => this.toggleFull();
    $("delay").onclick = () => session.lowDelay.set(!session.lowDelay.isPlaying);
    $("rendition").onchange = ({ target: { value } }) => session.select(value === "audio" ? value : Number(value));
    $("audio").onchange = ({ target }) => session.selectAudio(this.audioChoices()[target.value]);
    $("captions").onchange = ({ target }) => this.captions.select(this.captions.choices[target.value] || null);
    $("copy").onclick = async () => {
      try { await navigator.clipboard.writeText(session.urls.playlist); $("copy").textContent = word("copied"); } catch { getSelection().selectAllChildren($("url")); }
      setTimeout(() => { $("copy").textContent = word("copy"); }, 1500);
    };
    $("url").textContent = session.urls.playlist;
    $("pip").hidden = !document.pictureInPictureEnabled && !video.webkitSetPresentationMode;
    for (const name of ["volumechange", "play", "pause"]) video.addEventListener(name, () => this.show());
    video.addEventListener("click", () => { if (!matchMedia("(pointer: coarse)").matches) session.toggle(); });
    video.addEventListener("resize", () => {
      if (video.videoHeight) $("stage").style.setProperty("--ratio", `${video.videoWidth} / ${video.videoHeight}`);
    });
    document.addEventListener("fullscreenchange", () => label($("full"), document.fullscreenElement ? "exitFull" : "full"));
    for (const name of ["pointermove", "pointerdown", "keydown", "focusin"]) document.addEventListener(name, () => this.wake());
    document.addEventListener("keydown", (event) => this.pressed(event));
    document.addEventListener("pointerdown", ({ target }) => {
      if (!$("menu").contains(target) && !$("settings").contains(target)) this.openMenu(false);
    });
    this.wake();
  }

  // MARK: Keys

  pressed(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    // The keys of a menu belong to it, but Escape closes what it is in.
    if (event.target.tagName === "SELECT" && event.key !== "Escape") return;
    const { session, seekBar } = this, isButton = event.target.closest("button, a") !== null;
    const isVolume = event.target === $("volume");
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    // On a button, space presses it. On the volume, the arrows are the browser's.
    if (isButton && (key === " " || key === "Enter")) return;
    if (isVolume && key.startsWith("Arrow")) return;
    const action = {
      " ": () => session.toggle(), k: () => session.toggle(), m: () => this.toggleSound(), f: () => this.toggleFull(), l: () => session.goLive(),
      i: () => this.toggleFigures(), p: () => this.togglePiP(), ArrowLeft: () => seekBar.jump(-5), ArrowRight: () => seekBar.jump(5),
      ArrowUp: () => this.changeVolume(0.1), ArrowDown: () => this.changeVolume(-0.1),
      Escape: () => { if (!$("menu").hidden) { this.openMenu(false); $("settings").focus(); } },
    }[key];
    if (!action) return;
    event.preventDefault();
    action();
  }

  // MARK: Actions

  toggleSound() {
    const { video } = this.session;
    video.muted = !video.muted;
    if (!video.muted && !video.volume) video.volume = 1;
  }

  changeVolume(change) {
    const { video } = this.session;
    video.volume = Math.min(1, Math.max(0, (video.muted ? 0 : video.volume) + change));
    video.muted = !video.volume;
  }

  toggleFull() {
    const { video } = this.session;
    if (document.fullscreenElement) document.exitFullscreen();
    else if ($("player").requestFullscreen) $("player").requestFullscreen().catch(() => {});
    else video.webkitEnterFullscreen?.();
  }

  togglePiP() {
    const { video } = this.session;
    if (document.pictureInPictureElement) document.exitPictureInPicture().catch(() => {});
    else if (video.requestPictureInPicture) video.requestPictureInPicture().catch(() => {});
    else video.webkitSetPresentationMode?.(video.webkitPresentationMode === "picture-in-picture" ? "inline" : "picture-in-picture");
  }

  toggleFigures() {
    const isShown = $("stats").hidden;
    $("stats").hidden = !isShown;
    $("figures").setAttribute("aria-pressed", String(isShown));
    document.querySelector("footer").hidden = !isShown || document.body.classList.contains("embed");
  }

  openMenu(isOpen) {
    if (isOpen) this.show();
    $("menu").hidden = !isOpen;
    $("settings").setAttribute("aria-expanded", String(isOpen));
    if (isOpen) $("menu").querySelector("button:not([hidden]), label:not([hidden]) select:not([disabled])")?.focus();
  }

  wake() {
    this.hidesAt = performance.now() + Controls.patience;
    $("player").classList.remove("idle");
  }

  // MARK: Display

  /** Shows what follows from the renditions, the player and the video element. */
  show() {
    const { session } = this, { video, player, lowDelay } = session;
    this.draw($("play"), video.paused ? "play" : "pause", video.paused ? "play" : "pause");
    const isSilent = video.muted || !video.volume;
    this.draw($("mute"), isSilent ? "silent" : "sound", isSilent ? "unmute" : "mute");
    $("volume").value = video.muted ? 0 : video.volume;
    if (!video.muted) $("unmute").hidden = true;
    $("delay").hidden = !lowDelay.isOffered || session.isOver;
    $("delay").setAttribute("aria-pressed", String(lowDelay.isPlaying));
    $("listening").hidden = session.choice !== "audio" || !player || lowDelay.isPlaying;
    this.showChoices();
  }

  draw(button, symbol, name) {
    button.querySelector("use").setAttribute("href", `#i-${symbol}`);
    label(button, name);
  }

  /** The audio renditions that the room offers. */
  audioChoices() {
    const { multivariant } = this.session;
    const first = multivariant?.variants.find(({ videoCodecs }) => videoCodecs.length) || multivariant?.variants[0];
    return (multivariant?.audio[first?.audioGroup] || []).filter(({ uri }) => uri);
  }

  showChoices() {
    const { session } = this, { multivariant, player } = session;
    if (!multivariant) return;
    const audio = this.audioChoices(), isOwn = Boolean(MSEPlayer.source);
    const videos = multivariant.variants.map((variant, index) => ({ variant, index })).filter(({ variant }) => variant.videoCodecs.length);
    const playable = videos.filter(({ variant }) => !isOwn || !player?.variants || player.variants.includes(variant) || session.choice === "audio");
    const options = [["-1", word("auto")], ...playable.map(({ variant }, index) => [
      String(player?.variants?.includes(variant) ? player.variants.indexOf(variant) : index),
      `${renditionName(variant)} · ${(variant.bandwidth / 1e6).toFixed(1)} Mbit/s`,
    ])];
    if (audio.length && isOwn) options.push(["audio", word("audioOnly")]);
    this.fill($("rendition"), options, String(session.choice));
    $("rendition").disabled = !isOwn || options.length < 3;
    const names = (choices) => choices.map(({ name, language }, index) => [String(index), name || language || word("track", index + 1)]);
    const chosen = audio.indexOf(session.audio || player?.audio);
    this.fill($("audio"), names(audio), String(Math.max(0, chosen)));
    $("audio").parentElement.hidden = audio.length < 2 || session.lowDelay.isPlaying;
    const captions = this.captions.choices;
    this.fill($("captions"), [["", word("off")], ...names(captions)],
      String(captions.findIndex(({ uri, track }) => this.captions.chosen && (uri ? uri === this.captions.chosen.uri : track === this.captions.chosen.track))).replace("-1", ""));
    $("captions").parentElement.hidden = !captions.length || session.lowDelay.isPlaying;
  }

  fill(select, options, value) {
    const key = JSON.stringify(options);
    if (select.dataset.options !== key) {
      select.dataset.options = key;
      select.replaceChildren(...options.map(([name, text]) => new Option(text, name)));
    }
    if (document.activeElement !== select || select.value === "") select.value = value;
  }

  /** Shows what changes with time. Called four times a second. */
  follow() {
    const { session } = this, { player, video } = session;
    const isLive = session.isLive && Boolean(player), isFollowing = isLive && player.isFollowing;
    $("edge").hidden = session.isOver;
    $("edge").classList.toggle("on", isFollowing && !video.paused);
    $("edge").disabled = !isLive;
    $("hurry").hidden = !isLive || isFollowing || player.isHurrying;
    if (!video.paused && performance.now() > this.hidesAt && $("menu").hidden && $("notice").hidden) $("player").classList.add("idle");
    if (!$("listening").hidden) this.showStill();
  }

  async showStill() {
    if (!this.stillURL || performance.now() - this.stillAt < Controls.stillPace) return;
    this.stillAt = performance.now();
    try {
      const response = await fetch(this.stillURL, { headers: waitingFields, cache: "no-cache" });
      if (response.status !== 200) return;
      const before = $("still").src;
      $("still").src = URL.createObjectURL(await response.blob());
      $("still").hidden = false;
      if (before) URL.revokeObjectURL(before);
    } catch { /* audio goes on without a picture */ }
  }
}
