// What the page says: the state beside the title and the notice over the video.

import { word } from "./words.js";

export const $ = (id) => document.getElementById(id);

const stateWords = {
  loading: "starting", waiting: "waiting", live: "live", lost: "lost", ending: "ending", ended: "ended", replay: "replay", failed: "failed",
  left: "left", interrupted: "interrupted",
};

/** The state of playback. A live room without media is shown as `left` or `interrupted`. */
let playback = "loading", room = null;

export const state = () => playback;

export function setState(name) {
  playback = name;
  const shown = name === "live" && (room === "left" || room === "interrupted") ? room : name;
  const pill = $("state");
  if (pill.dataset.state === shown && pill.dataset.worded) return;
  pill.dataset.state = shown;
  pill.dataset.worded = "yes";
  pill.querySelector("b").textContent = word(stateWords[shown]);
  $("banner").hidden = shown !== "left" && shown !== "interrupted";
  if (!$("banner").hidden) {
    $("banner").querySelector("strong").textContent = word(`${shown}Title`);
    $("banner").querySelector("span").textContent = word(`${shown}Text`);
  }
}

/** The state of the room, from its status. */
export function setRoom(name) { room = name; setState(playback); }

/**
 * Shows a notice. `kind`: "busy" has a spinner, "still" has none, "light" leaves the video visible; null hides the notice. `actions`
 * are buttons ({ text, run }) or links ({ text, href }).
 */
export function say(kind, title = "", detail = "", ...actions) {
  const notice = $("notice");
  notice.hidden = kind === null;
  notice.className = kind === "still" ? "still" : kind === "light" ? "light" : "";
  notice.querySelector("strong").textContent = title;
  notice.querySelector("p").textContent = detail;
  notice.querySelector("div.actions").replaceChildren(...actions.map(({ text, run, href }) => {
    const element = document.createElement(href ? "a" : "button");
    element.textContent = text;
    if (href) Object.assign(element, { href, target: "_top", rel: "noopener" });
    else { element.type = "button"; element.onclick = run; }
    return element;
  }));
}
