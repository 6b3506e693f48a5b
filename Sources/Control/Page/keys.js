// Keyboard shortcuts. They do not apply while something is typed or a dialog is open.
import { $ } from "./dom.js";

const stored = "tandem.shortcuts";

/** `acts`: by key; `scene(number)`: for the digits 1 to 9. */
export function startKeys({ scene, cut, transition, record, clip, still, edit, undo, redo }) {
  const isOn = () => sessionStorage.getItem(stored) !== "off";
  $("shortcuts").checked = isOn();
  $("shortcuts").addEventListener("change", () => sessionStorage.setItem(stored, $("shortcuts").checked ? "on" : "off"));
  $("help").addEventListener("click", () => $("keys").showModal());
  $("keys-close").addEventListener("click", () => $("keys").close());
  document.addEventListener("keydown", (event) => {
    const { target, key } = event, isTyped = target.closest?.("input:not([type=range]):not([type=checkbox]), select, textarea, [contenteditable]");
    if (event.defaultPrevented || document.querySelector("dialog[open]") || isTyped) return;
    if ((event.ctrlKey || event.metaKey) && key.toLowerCase() === "z") {
      event.preventDefault();
      return event.shiftKey ? redo() : undo();
    }
    if (event.ctrlKey || event.metaKey || event.altKey || !isOn()) return;
    // Enter and space belong to the focused control, except to the scene that is previewed already.
    const isControl = target.closest?.("button, summary, a, input, [role=button]") && !target.matches?.(".thumb[aria-pressed=true]");
    const act = /^[1-9]$/.test(key) ? () => scene(Number(key))
      : key === "Enter" && !isControl ? cut : key === " " && !isControl ? transition
        : { r: record, c: clip, s: still, e: edit, "?": () => $("keys").showModal() }[key.toLowerCase()];
    if (!act || event.repeat) return;
    event.preventDefault();
    act();
  });
}
