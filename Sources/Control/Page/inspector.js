// The editor's form: the members of the selected element, what can be added, undo and redo.
import { $, button, make, setText } from "./dom.js";
import { pixels } from "./geometry.js";
import { levels } from "./scene.js";
import { nameOfUid, store } from "./store.js";

const names = { panes: "Pane", images: "Image", texts: "Text", scoreBars: "Score bar", countdowns: "Countdown" };
const hex = (value, fallback) => (typeof value === "number" ? `#${value.toString(16).padStart(6, "0")}` : value || fallback).toLowerCase();

export class Inspector {
  constructor() {
    this.shown = "";
    this.editor = null;
    $("undo").addEventListener("click", () => this.editor.undo());
    $("redo").addEventListener("click", () => this.editor.redo());
    $("add").addEventListener("change", () => { this.add($("add").value); $("add").value = ""; });
  }

  show(editor) {
    this.editor = editor;
    $("editor").hidden = !editor.isOpen;
    if (!editor.isOpen) { this.shown = ""; return; }
    $("undo").disabled = !editor.history.canUndo;
    $("redo").disabled = !editor.history.canRedo;
    $("apply").disabled = !editor.isDirty;
    const element = editor.find(editor.selected), state = JSON.stringify([element, editor.scene]);
    if (this.shown === state) return;
    this.shown = state;
    this.choices();
    const focused = document.activeElement?.dataset?.field;
    $("fields").replaceChildren(...(element ? this.fields(element) : [make("p", { class: "fine" }, "Choose an element on the preview: drag it, drag its sides, or move it with the arrow keys.")]));
    if (focused) $("fields").querySelector(`[data-field="${focused}"]`)?.focus();
  }

  /** What the scene does not have yet. */
  choices() {
    const { scene } = this.editor, used = new Set(scene.panes.map(({ uid, streamType = "main" }) => `${uid}/${streamType}`)), paths = new Set();
    const collect = (value) => {
      if (Array.isArray(value)) value.forEach(collect);
      else if (value && typeof value === "object") { if (typeof value.path === "string" && /\.(png|jpe?g)$/i.test(value.path)) paths.add(value.path); Object.values(value).forEach(collect); }
    };
    collect([store.document?.scenes, store.document?.canvas, store.document?.watermarks]);
    const sources = store.room.sources.filter(({ uid, streamType }) => !used.has(`${uid}/${streamType}`));
    $("add").replaceChildren(new Option("Add…", ""), ...sources.map(({ uid, streamType, name }) => new Option(`Source ${name || uid}${streamType === "sub" ? " (sub)" : ""}`, `panes ${uid} ${streamType}`)),
      new Option("Text", "texts"), ...(scene.scoreBars?.length >= 4 ? [] : [new Option("Score bar", "scoreBars")]), new Option("Countdown of the PK", "countdowns"),
      ...[...paths].map((path) => new Option(`Image ${path.split("/").pop()}`, `images ${path}`)));
  }

  add(choice) {
    const [kind, ...rest] = choice.split(" "), { canvas } = this.editor, even = (value) => Math.floor(value / 2) * 2;
    const middle = { x: even(canvas.width / 4), y: even(canvas.height / 4), width: even(canvas.width / 2), height: even(canvas.height / 2) };
    const unused = (list, key, word) => {
      const taken = new Set([...(store.document?.scenes || []), this.editor.scene].flatMap((scene) => (scene[list] || []).map((item) => item[key])));
      let number = 1;
      while (taken.has(`${word}${number}`)) number += 1;
      return `${word}${number}`;
    };
    const size = Math.max(16, even(canvas.height / 14));
    if (kind === "panes") this.editor.add(kind, { uid: rest[0], ...(rest[1] === "main" ? {} : { streamType: rest[1] }), ...middle });
    else if (kind === "texts") this.editor.add(kind, { textId: unused(kind, "textId", "text"), text: "Text", x: middle.x, y: middle.y, size });
    // The scores of a PK are the same in every scene, so the room's first score is offered first.
    else if (kind === "scoreBars") this.editor.add(kind, { scoreId: [...store.scores.keys()].find((id) => !(this.editor.scene.scoreBars || []).some(({ scoreId }) => scoreId === id)) || unused(kind, "scoreId", "score"), x: 0, y: even(canvas.height / 12), width: canvas.width, height: Math.max(8, even(canvas.height / 24)) });
    else if (kind === "countdowns") this.editor.add(kind, { countdownId: unused(kind, "countdownId", "pk"), of: "pk", x: even(canvas.width / 2), y: even(canvas.height / 7), size, align: "center" });
    else if (kind === "images") this.editor.add(kind, { path: rest.join(" "), ...middle, width: even(canvas.width / 5), height: even(canvas.width / 5) });
  }

  fields({ kind, index, item, z }) {
    const { editor } = this, key = `${kind}:${index}`, set = (members) => editor.set(key, members), { canvas } = editor;
    const field = (label, input) => make("label", { class: "field" }, make("span", {}, label), input);
    const watch = (input, name, read, write = (value) => set({ [name]: value })) => {
      input.dataset.field = name;
      input.addEventListener("change", () => { const value = read(input); if (value !== null) write(value); });
      return input;
    };
    const number = (label, name, value, low, high, step = 2, write = undefined) => field(label, watch(make("input", { type: "number", min: low, max: high, step, value, inputmode: "numeric" }), name,
      (input) => (Number.isFinite(input.valueAsNumber) ? Math.max(low, Math.min(high, Math.round(input.valueAsNumber / step) * step)) : null), write));
    const select = (label, name, value, options, write = undefined) =>
      field(label, watch(make("select", {}, ...options.map(([option, word]) => new Option(word, option, false, option === value))), name, ({ value: text }) => text, write));
    const color = (label, name, value, write = undefined) => field(label, watch(make("input", { type: "color", value }), name, ({ value: text }) => text.toUpperCase(), write));
    const isPlaced = kind === "panes" || kind === "images" || kind === "scoreBars", at = (name, whole, usual = 0) => pixels(item[name] ?? usual, whole);
    const title = kind === "panes" ? nameOfUid(item.uid) : item.textId || item.scoreId || item.countdownId || item.path;
    const list = [make("p", { class: "chosen-name" }, make("b", {}, names[kind]), ` ${title}`)];
    if (kind === "texts") list.push(field("Text", watch(make("input", { type: "text", maxlength: "256", value: item.text || "" }), "text", ({ value }) => value)));
    list.push(number("X", "x", at("x", canvas.width), 0, canvas.width), number("Y", "y", at("y", canvas.height), 0, canvas.height));
    if (isPlaced) list.push(number("Width", "width", at("width", canvas.width, "100%"), 2, canvas.width), number("Height", "height", at("height", canvas.height, "100%"), 2, canvas.height));
    if (kind === "panes") list.push(...this.paneFields(item, set, { field, number, select, color }));
    if (kind === "texts" || kind === "countdowns") {
      list.push(number("Size", "size", item.size ?? 32, 8, 400, 1), color("Color", "color", hex(item.color, "#ffffff")), select("Align", "align", item.align || "left", [["left", "left"], ["center", "center"], ["right", "right"]]));
    }
    if (kind === "texts") list.push(select("Box", "background", item.background === undefined ? "" : hex(item.background, ""), [["", "none"], ["#000000", "black"], ["#ffffff", "white"], ...(item.background && !/^#(0{6}|f{6})$/i.test(item.background) ? [[hex(item.background, ""), "other"]] : [])], (value) => set({ background: value ? value.toUpperCase() : undefined })));
    if (kind === "countdowns") list.push(select("Shows", "of", item.of || "scene", [["pk", "time left of the PK"], ["scene", "time since the scene began"]]));
    if (kind === "countdowns" && item.of !== "pk") list.push(number("Seconds", "seconds", item.seconds ?? 0, 0, 86_400, 1));
    if (kind === "scoreBars") list.push(color("Left", "leftColor", hex(item.leftColor, "#ff3b6b")), color("Right", "rightColor", hex(item.rightColor, "#3b8bff")));
    if (kind === "images") list.push(number("Opacity %", "alpha", Math.round((item.alpha ?? 1) * 100), 0, 100, 1, (value) => set({ alpha: value / 100 })));
    list.push(make("div", { class: "buttons" }, button("Forward", { title: `stacking order ${z}` }, () => editor.stack(key, true)), button("Back", {}, () => editor.stack(key, false)),
      z !== levels[kind] ? button("Usual order", {}, () => set({ zOrder: undefined })) : null, button("Remove", { class: "quiet danger" }, () => editor.remove(key))));
    return list.filter(Boolean);
  }

  paneFields(item, set, { field, number, select, color }) {
    const part = (name, usual) => parseFloat(item.crop?.[name] ?? usual), cut = { left: part("x", 0), top: part("y", 0) };
    cut.right = Math.max(0, 100 - cut.left - part("width", 100 - cut.left));
    cut.bottom = Math.max(0, 100 - cut.top - part("height", 100 - cut.top));
    const percent = (value) => `${Math.round(value * 10) / 10}%`;
    const range = (side, opposite) => {
      const input = make("input", { type: "range", min: "0", max: String(Math.max(0, Math.floor(95 - cut[opposite]))), step: "1", value: cut[side], "data-field": `crop-${side}` }), output = make("output", {}, percent(cut[side]));
      input.addEventListener("input", () => setText(output, percent(input.valueAsNumber)));
      input.addEventListener("change", () => {
        const next = { ...cut, [side]: input.valueAsNumber };
        const isWhole = !next.left && !next.top && !next.right && !next.bottom;
        set({ crop: isWhole ? undefined : { x: percent(next.left), y: percent(next.top), width: percent(100 - next.left - next.right), height: percent(100 - next.top - next.bottom) } });
      });
      const row = field(`Crop ${side}`, input);
      row.append(output);
      row.classList.add("slider");
      return row;
    };
    const border = (members) => set({ border: { ...item.border, ...members } });
    return [select("Fit", "adaption", item.adaption || "cropFill", [["cropFill", "fill, cropped"], ["fit", "fit in"], ["stretch", "stretch"]]), number("Corners", "cornerRadius", item.cornerRadius ?? 0, 0, 960, 1),
      number("Border", "border-width", item.border?.width ?? 0, 0, 64, 2, (value) => border({ width: value })), color("Border color", "border-color", hex(item.border?.color, "#ffffff"), (value) => border({ color: value })),
      range("left", "right"), range("right", "left"), range("top", "bottom"), range("bottom", "top")];
  }
}
