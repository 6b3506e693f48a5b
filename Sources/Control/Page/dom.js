// Elements and text. Texts from the API are only set as text, never as HTML.

export const $ = (id) => document.getElementById(id);

/** Creates an element with attributes and children; strings become text nodes. */
export function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key === "class") element.className = value;
    else if (key === "tone") element.dataset.tone = value;
    else if (value !== null && value !== undefined) element.setAttribute(key, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined).map((child) => (child instanceof Node ? child : String(child))));
  return element;
}

/** Creates an SVG element. */
export function draw(name, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) if (value !== null && value !== undefined) element.setAttribute(key, value);
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

export function button(text, attributes = {}, act = null) {
  const element = make("button", { type: "button", class: "quiet", ...attributes }, text);
  if (act) element.addEventListener("click", () => act(element));
  return element;
}

export function setText(element, text) { if (element.textContent !== text) element.textContent = text; }

/** Sets an attribute only if it changes, which spares screen readers and the style engine work. */
export function setAttribute(element, name, value) {
  if (value === null) element.removeAttribute(name);
  else if (element.getAttribute(name) !== String(value)) element.setAttribute(name, value);
}

/** Shows one element for each item: keeps those of known keys, adds and removes others, and puts them in order. */
export function keep(box, items, key, create) {
  const known = new Map([...box.children].map((element) => [element.dataset.key, element]));
  const elements = items.map((item) => {
    const element = known.get(key(item)) || create(item);
    element.dataset.key = key(item);
    return element;
  });
  // Elements that stay in their order are not moved: a moved one would lose the focus.
  for (const element of [...box.children]) if (!elements.includes(element)) element.remove();
  elements.forEach((element, index) => { if (box.children[index] !== element) box.insertBefore(element, box.children[index] ?? null); });
  return elements;
}

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

// MARK: Text

export const bits = (value) => (value === null || value === undefined ? "–" : value >= 1e6 ? `${(value / 1e6).toFixed(2)} Mbit/s` : `${Math.round(value / 1000)} kbit/s`);
export const size = (bytes) => (bytes >= 1e9 ? `${(bytes / 1e9).toFixed(2)} GB` : bytes >= 1e6 ? `${(bytes / 1e6).toFixed(1)} MB` : `${Math.round(bytes / 1000)} kB`);
export const count = (number, one, many = `${one}s`) => (number ? `${number.toLocaleString()} ${number === 1 ? one : many}` : null);
export const clock = (text) => { const date = new Date(text); return Number.isNaN(date.getTime()) ? "" : date.toLocaleTimeString([], { hour12: false }); };
export const since = (ms) => {
  const seconds = Math.max(0, Math.round(ms / 1000)), hours = Math.floor(seconds / 3600), minutes = Math.floor(seconds / 60) % 60;
  return hours ? `${hours} h ${minutes} min` : minutes ? `${minutes} min ${seconds % 60} s` : `${seconds} s`;
};
/** Minutes and seconds, rounded up as in the video's countdown. */
export const minutes = (ms) => {
  const seconds = Math.max(0, Math.ceil(ms / 1000));
  return `${String(Math.floor(seconds / 60)).padStart(2, "0")}:${String(seconds % 60).padStart(2, "0")}`;
};

/** A value as text: `fps 30.2, gapMs 41` for an object. */
export function words(value) {
  if (Array.isArray(value)) return value.map(words).join(", ");
  if (value && typeof value === "object") return Object.entries(value).map(([key, part]) => `${key} ${words(part)}`).join(", ");
  return String(value);
}

export const levelTones = { normal: "good", alert_1: "warn", alert_2: "warn", alert_3: "bad" };
export const levelWords = { normal: "healthy", alert_1: "alert 1", alert_2: "alert 2", alert_3: "alert 3" };

// MARK: Meters

/** A level from −60 dB to 0 dB in percent of the meter. */
const share = (db) => `${Math.max(0, Math.min(100, ((db + 60) / 60) * 100)).toFixed(1)}%`;

/** A level meter with the peak as its value, in dB below full scale. */
export function makeMeter(label, attributes = {}) {
  return make("div", { class: "meter off", role: "meter", "aria-label": label, "aria-valuemin": "-60", "aria-valuemax": "0", "aria-valuenow": "-60", ...attributes }, make("i"), make("b"));
}

export function setMeter(meter, level) {
  meter.classList.toggle("off", !level);
  const peak = level ? Math.max(-60, Math.min(0, level.peakDb)) : -60;
  setAttribute(meter, "aria-valuenow", peak.toFixed(0));
  setAttribute(meter, "aria-valuetext", level ? `${peak.toFixed(0)} decibels` : "no audio");
  if (!level) return;
  meter.style.setProperty("--peak", share(level.peakDb));
  meter.style.setProperty("--loud", share(level.momentary));
  meter.title = `peak ${level.peakDb.toFixed(1)} dBFS, ${level.momentary.toFixed(1)} LUFS`;
}

/** A control that was disabled while it had the focus: browsers take the focus away. */
let unfocused = null;

/** Disables or enables a control. One that had the focus when it was disabled gets it back, unless the user has moved it. */
export function disable(control, isDisabled) {
  if (isDisabled === control.disabled) return;
  if (isDisabled && document.activeElement === control) unfocused = control;
  control.disabled = isDisabled;
  if (isDisabled || unfocused !== control) return;
  unfocused = null;
  if ([control, document.body].includes(document.activeElement)) control.focus();
}

// MARK: Notices

/** Shows a notice for some seconds, and longer while the pointer or the focus is on it; with a button if there is something to undo. */
export function toast(text, { act = null, label = "Undo", seconds = act ? 12 : 6, tone = "" } = {}) {
  const box = $("toasts"), row = make("div", { class: "toast", tone }, make("span", {}, text));
  const close = () => row.remove();
  // Ctrl+Z may press no other button, such as one that overwrites what another operator has done.
  if (act) row.append(button(label, { class: "link", "data-part": label.startsWith("Undo") ? "undo" : "act" }, () => { close(); act(); }));
  row.append(button("×", { class: "link close", "aria-label": "Close this notice" }, close));
  box.append(row);
  while (box.children.length > 4) box.firstChild.remove();
  const end = () => { if (row.matches(":hover, :focus-within")) setTimeout(end, 1000); else close(); };
  setTimeout(end, seconds * 1000);
}

/** Undoes what the newest notice offers to undo. */
export function undoNotice() { [...$("toasts").querySelectorAll("[data-part=undo]")].at(-1)?.click(); }

export function tell(text, tone = "bad") {
  $("banner").hidden = !text;
  $("banner").dataset.tone = tone;
  setText($("banner"), text);
}
