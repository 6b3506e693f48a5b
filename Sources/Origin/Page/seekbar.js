// The seek bar over the window of the playlist, with thumbnails.

import { $ } from "./screen.js";
import { Thumbnails } from "./thumbnails.js";
import { clock, word } from "./words.js";

export class SeekBar {
  /** A window shorter than this (s) has no seek bar. */
  static shortest = 8;
  /** Seconds of an arrow key, and of page up and page down. */
  static step = 5;
  static leap = 30;

  constructor(session, thumbnailsURL) {
    this.session = session;
    this.thumbnails = new Thumbnails(thumbnailsURL);
    this.input = $("seek");
    this.isDragged = false;
    /** The window while the bar is dragged, so that it does not move under the pointer. */
    this.window = null;
    this.listen();
  }

  listen() {
    const { input } = this, bar = $("timeline");
    input.addEventListener("pointerdown", () => { this.isDragged = true; });
    input.addEventListener("input", () => { this.isDragged = true; this.paint(); this.preview(Number(input.value)); });
    input.addEventListener("change", () => {
      this.isDragged = false;
      if (this.window) this.session.seek(this.window.start + Number(input.value));
      $("preview").hidden = true;
    });
    for (const name of ["pointerup", "pointercancel"]) input.addEventListener(name, () => { this.isDragged = false; });
    // The browser's own steps of a range would be a hundredth of the window.
    input.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const action = {
        ArrowLeft: () => this.jump(-SeekBar.step), ArrowRight: () => this.jump(SeekBar.step),
        PageDown: () => this.jump(-SeekBar.leap), PageUp: () => this.jump(SeekBar.leap),
        Home: () => this.jump(-Infinity), End: () => this.session.goLive(),
      }[event.key];
      if (!action) return;
      event.preventDefault();
      event.stopPropagation();
      action();
    });
    bar.addEventListener("pointermove", (event) => {
      const { left, width } = input.getBoundingClientRect();
      if (this.window) this.preview(Math.min(1, Math.max(0, (event.clientX - left) / width)) * (this.window.end - this.window.start));
    });
    bar.addEventListener("pointerleave", () => { if (!this.isDragged) $("preview").hidden = true; });
  }

  /** Seeks by some seconds within the window. */
  jump(seconds) {
    const { session } = this, window = session.window();
    if (!window) return;
    session.seek(Math.min(window.end, Math.max(window.start, session.video.currentTime + seconds)));
    this.show();
  }

  /** Shows the window and the position. */
  show() {
    const { session, input } = this;
    if (this.isDragged) return;
    this.window = session.window();
    const length = this.window ? this.window.end - this.window.start : 0;
    $("timeline").hidden = !(session.hasPlayed || session.player) || length < SeekBar.shortest;
    $("position").textContent = this.words(length);
    if ($("timeline").hidden) return;
    // At the live edge the thumb is at the end: the distance that a live player keeps is no choice of the viewer.
    const isAtEdge = session.isLive && session.player?.isFollowing && !session.video.paused;
    const position = isAtEdge ? length : Math.min(length, Math.max(0, session.video.currentTime - this.window.start));
    input.max = String(length);
    input.value = String(position);
    input.setAttribute("aria-valuetext", $("position").textContent || word("atLive"));
    this.paint();
  }

  words(length) {
    const { session } = this, { player, video } = session;
    if (!this.window || !player || !session.hasPlayed) return "";
    if (session.isOver) return word("ofTotal", clock(video.currentTime - this.window.start), clock(length));
    if (player.isFollowing && !(video.paused && this.window.end - video.currentTime > SeekBar.step)) return "";
    const text = word("behind", clock(this.window.end - video.currentTime));
    return player.isHurrying ? `${word("catchingUp")} · ${text}` : text;
  }

  paint() {
    const { input } = this;
    input.style.setProperty("--played", `${(100 * Number(input.value)) / Math.max(0.001, Number(input.max))}%`);
  }

  /** Shows time and thumbnail of a place, in seconds from the start of the window. */
  preview(offset) {
    const { session, window } = this;
    if (!window) return;
    const box = $("preview"), image = $("thumbnail"), length = window.end - window.start;
    this.thumbnails.refresh();
    const date = session.player?.dateOf?.(window.start + offset), start = session.status.latest?.start;
    const cue = Number.isFinite(date) && start ? this.thumbnails.at((date - start) / 1000) : null;
    image.hidden = !cue;
    if (cue) {
      const { style } = image;
      style.width = `${cue.width}px`;
      style.height = `${cue.height}px`;
      style.backgroundImage = `url("${cue.image}")`;
      style.backgroundPosition = `-${cue.x}px -${cue.y}px`;
    }
    $("preview-time").textContent = session.isOver ? clock(offset) : `−${clock(length - offset)}`;
    box.hidden = false;
    const { width } = this.input.getBoundingClientRect(), half = box.offsetWidth / 2;
    box.style.left = `${Math.min(Math.max((width * offset) / length, half), width - half)}px`;
  }
}
