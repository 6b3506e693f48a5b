// The layout editor on the preview: elements are moved and resized with the mouse, a finger or the keyboard, and applied as one change of the document.
import { $, draw, setText, tell, toast } from "./dom.js";
import { command } from "./api.js";
import { canvasOf, History, pixels, resolvedPanes, snapped } from "./geometry.js";
import { elements, kinds, levels } from "./scene.js";
import { liveUids, loadDocument, nameOfUid, sceneOf, store } from "./store.js";

const sides = ["nw", "n", "ne", "e", "se", "s", "sw", "w"];
const isLine = (kind) => kind === "texts" || kind === "countdowns";
const titles = { panes: "Pane", images: "Image", texts: "Text", scoreBars: "Score bar", countdowns: "Countdown" };

export class Editor {
  /** `changed`: called after each change; `applied`: after the room has accepted it. */
  constructor(svg, { changed, applied, inspector }) {
    Object.assign(this, { svg, changed, applied, inspector, isOpen: false, history: null, saved: "", base: "", selected: null, drag: null, draft: null });
    svg.addEventListener("pointerdown", (event) => this.pressed(event));
    svg.addEventListener("pointermove", (event) => this.moved(event));
    for (const type of ["pointerup", "pointercancel"]) svg.addEventListener(type, (event) => this.released(event));
    svg.addEventListener("keydown", (event) => this.typed(event));
    svg.addEventListener("focusin", ({ target }) => { if (this.isOpen && target.dataset.item && !this.drag) this.select(target.dataset.item); });
  }

  get scene() { return this.draft || this.history?.value; }
  get isDirty() { return this.isOpen && JSON.stringify(this.history.value) !== this.saved; }
  get canvas() { return canvasOf(this.scene, store.room.canvas); }
  get elements() { return elements(this.scene, store.room, liveUids()); }

  open(id) {
    const written = sceneOf(id);
    if (!written) return;
    const { layout, uids, auto, ...scene } = structuredClone(written);
    if (!scene.panes) scene.panes = resolvedPanes(written, canvasOf(written, store.room.canvas), liveUids());
    if (!scene.panes.length) return toast("This scene is empty until a source is live.");
    delete scene.revision;
    // The room refuses a document whose scene somebody else has changed in the meantime.
    Object.assign(this, { isOpen: true, id, base: JSON.stringify(store.document.scenes?.find(({ sceneId }) => sceneId === id) ?? null), history: new History(scene), saved: JSON.stringify(scene), selected: "panes:0" });
    this.update();
  }

  /** Returns false if the user wants to keep the changes. */
  close(discards = false) {
    if (this.isOpen && this.isDirty && !discards && !confirm("Discard the changes of this layout?")) return false;
    Object.assign(this, { isOpen: false, selected: null, draft: null, drag: null });
    this.update();
    return true;
  }

  update() {
    this.changed();
    this.svg.classList.toggle("editing", this.isOpen);
    this.overlay();
    this.inspector.show(this);
  }

  // MARK: Changes

  find(key) {
    const [kind, index] = (key || "").split(":");
    return this.elements.find((element) => element.kind === kind && element.index === Number(index)) || null;
  }

  select(key) {
    if (this.selected === key) return;
    this.selected = key;
    this.overlay();
    this.inspector.show(this);
  }

  commit(change) {
    const scene = structuredClone(this.history.value);
    change(scene);
    this.history.push(scene);
    this.draft = null;
    this.update();
  }

  /** Changes members of an element; `undefined` removes one. */
  set(key, members) {
    const [kind, index] = key.split(":");
    this.commit((scene) => {
      Object.assign(scene[kind][Number(index)], members);
      for (const [name, value] of Object.entries(members)) if (value === undefined) delete scene[kind][Number(index)][name];
    });
  }

  add(kind, item) {
    this.commit((scene) => { (scene[kind] ??= []).push(item); });
    this.select(`${kind}:${this.scene[kind].length - 1}`);
  }

  remove(key) {
    const [kind, index] = key.split(":");
    if (kind === "panes" && this.scene.panes.length === 1) return toast("A scene needs at least one pane.");
    this.selected = null;
    this.commit((scene) => { scene[kind].splice(Number(index), 1); });
  }

  undo() { this.history.undo(); this.draft = null; this.update(); }
  redo() { this.history.redo(); this.draft = null; this.update(); }

  /** Moves an element one step up or down in the stacking order. */
  stack(key, isUp) {
    const list = this.elements, at = list.findIndex(({ kind, index }) => `${kind}:${index}` === key), own = list[at], next = list[at + (isUp ? 1 : -1)];
    if (!next) return;
    const z = isUp ? next.z + (next.place < own.place ? 0 : 1) : next.z - (next.place > own.place ? 0 : 1);
    this.commit((scene) => {
      const lift = z < 0 ? 1 : 0;
      for (const { kind, index, z: old } of list) {
        const item = scene[kind][index], height = `${kind}:${index}` === key ? z + lift : old + lift;
        if (height !== (item.zOrder ?? levels[kind])) item.zOrder = Math.min(100, height);
      }
    });
  }

  /** A copy of the scene in which an element has another rectangle. */
  placed(key, rectangle) {
    const element = this.find(key), scene = structuredClone(this.history.value), item = scene[element.kind][element.index], old = this.find(key).rectangle;
    if (isLine(element.kind)) {
      const grown = Math.round((element.item.size ?? 32) * (rectangle.height / old.height));
      if (Math.abs(rectangle.height - old.height) >= 2) item.size = Math.max(8, Math.min(400, grown));
      const shift = item.align === "right" ? rectangle.x + rectangle.width - old.x - old.width : item.align === "center" ? rectangle.x + rectangle.width / 2 - old.x - old.width / 2 : rectangle.x - old.x;
      item.x = Math.max(0, Math.round((pixels(item.x ?? 0, this.canvas.width) + shift) / 2) * 2);
      item.y = Math.max(0, Math.round(rectangle.y / 2) * 2);
    } else Object.assign(item, rectangle);
    return scene;
  }

  // MARK: Mouse, finger, keyboard

  point(event) {
    const at = new DOMPoint(event.clientX, event.clientY).matrixTransform(this.svg.getScreenCTM().inverse());
    return { x: at.x, y: at.y };
  }

  pressed(event) {
    if (!this.isOpen || event.button) return;
    const { item, side } = event.target.dataset, key = item || (side ? this.selected : null);
    if (!key) return this.select(null);
    event.preventDefault();
    this.select(key);
    const element = this.find(key);
    this.drag = { key, side: side || "", from: this.point(event), rectangle: element.rectangle, others: this.elements.filter((other) => other.place !== element.place && !isLine(other.kind)).map(({ rectangle }) => rectangle) };
    this.svg.setPointerCapture(event.pointerId);
  }

  moved(event) {
    if (!this.drag) return;
    const at = this.point(event), { key, side, from, rectangle, others } = this.drag, reach = event.altKey ? 0 : 8 / (this.svg.getScreenCTM()?.a || 1);
    this.draft = null;
    const { rectangle: next, guides } = snapped(rectangle, at.x - from.x, at.y - from.y, side, this.canvas, others, reach);
    this.draft = this.placed(key, next);
    this.changed();
    this.overlay(guides);
  }

  released(event) {
    if (!this.drag) return;
    const { key } = this.drag, scene = this.draft;
    this.drag = null;
    this.draft = null;
    if (event.type === "pointerup" && scene) this.history.push(scene);
    this.update();
    this.svg.querySelector(`[data-item="${key}"]`)?.focus({ preventScroll: true });
  }

  typed(event) {
    if (!this.isOpen || !this.selected) return;
    const step = event.ctrlKey || event.metaKey ? 20 : 2, steps = { ArrowLeft: [-step, 0], ArrowRight: [step, 0], ArrowUp: [0, -step], ArrowDown: [0, step] }[event.key];
    if (event.key === "Delete" || event.key === "Backspace") this.remove(this.selected);
    else if (steps) {
      const key = this.selected, { rectangle } = this.find(key), side = event.shiftKey ? (steps[0] ? "e" : "s") : "";
      const { rectangle: next } = snapped(rectangle, ...steps, side, this.canvas, [], 0);
      this.history.push(this.placed(key, next));
      this.update();
      this.svg.querySelector(`[data-item="${key}"]`)?.focus({ preventScroll: true });
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Draws the areas that can be dragged: each element, and the sides of the selected one. */
  overlay(guides = {}) {
    const group = draw("g", { class: "overlay" });
    if (this.isOpen) {
      const { width, height } = this.canvas, scale = this.svg.getScreenCTM()?.a || 1, grip = (matchMedia("(pointer: coarse)").matches ? 36 : 20) / scale, dot = 9 / scale;
      for (const { kind, index, rectangle, item } of this.elements) {
        const key = `${kind}:${index}`, name = `${titles[kind]} ${kind === "panes" ? nameOfUid(item.uid) : item.text || item.scoreId || item.countdownId || item.path || ""}`;
        group.append(draw("rect", { ...rectangle, class: "grasp", "data-item": key, tabindex: 0, role: "button", "aria-pressed": String(key === this.selected),
          "aria-label": `${name}, ${Math.round(rectangle.width)} by ${Math.round(rectangle.height)} at ${Math.round(rectangle.x)}, ${Math.round(rectangle.y)}` }));
      }
      const chosen = this.find(this.selected);
      if (chosen) {
        const { x, y, width: w, height: h } = chosen.rectangle;
        group.append(draw("rect", { x, y, width: w, height: h, class: "chosen" }));
        for (const side of isLine(chosen.kind) ? ["se"] : sides) {
          const cx = x + (side.includes("w") ? 0 : side.includes("e") ? w : w / 2), cy = y + (side.includes("n") ? 0 : side.includes("s") ? h : h / 2);
          group.append(draw("rect", { x: cx - dot / 2, y: cy - dot / 2, width: dot, height: dot, class: "dot" }),
            draw("rect", { x: cx - grip / 2, y: cy - grip / 2, width: grip, height: grip, class: `grip ${side}`, "data-side": side }));
        }
      }
      if (guides.x !== null && guides.x !== undefined) group.append(draw("line", { class: "guide", x1: guides.x, x2: guides.x, y1: 0, y2: height }));
      if (guides.y !== null && guides.y !== undefined) group.append(draw("line", { class: "guide", y1: guides.y, y2: guides.y, x1: 0, x2: width }));
    }
    const old = this.svg.querySelector(":scope > .overlay"), focused = document.activeElement?.dataset?.item;
    if (old) old.replaceWith(group); else this.svg.append(group);
    if (focused && this.drag === null) group.querySelector(`[data-item="${focused}"]`)?.focus({ preventScroll: true });
  }

  // MARK: Applying

  /** Writes the scene into the room's document, as one change, under its own or another id. */
  async apply(id = this.id, overwrites = false) {
    const value = this.history.value, scene = { ...structuredClone(value), sceneId: id };
    for (const kind of kinds) if (scene[kind] && !scene[kind].length && kind !== "panes") delete scene[kind];
    $("apply").classList.add("busy");
    try {
      for (let attempt = 0; ; attempt += 1) {
        await loadDocument(true);
        const scenes = store.document.scenes || [], index = scenes.findIndex(({ sceneId }) => sceneId === id);
        if (id === this.id && !overwrites && JSON.stringify(scenes[index] ?? null) !== this.base) {
          tell("");
          toast(`Another operator has changed the scene ${id}.`, { act: () => this.apply(id, true), label: "Overwrite it", tone: "warn" });
          return false;
        }
        const next = index < 0 ? [...scenes, scene] : scenes.map((other, place) => (place === index ? scene : other));
        try {
          const reply = await command("PATCH", "v1/room", { scenes: next }, { quiet: true, type: "application/merge-patch+json", headers: store.tag ? { "If-Match": store.tag } : {} });
          for (const warning of reply.warnings || []) toast(warning, { tone: "warn" });
          break;
        } catch (error) { if (error.status !== 412 || attempt > 4) throw error; }   // another command came in between
      }
    } catch (error) {
      tell(error.text || "The room does not respond.");
      return false;
    } finally { $("apply").classList.remove("busy"); }
    tell("");
    toast(id === this.id ? `The layout of ${id} is applied.` : `The scene ${id} is saved.`, { tone: "good" });
    await loadDocument(true).catch(() => {});
    // What was changed in the meantime is not applied yet.
    this.saved = JSON.stringify(value);
    this.id = id;
    this.base = JSON.stringify(store.document?.scenes?.find(({ sceneId }) => sceneId === id) ?? null);
    await this.applied(id);
    this.update();
    return true;
  }
}

/** Shows whether the edited scene has been changed by somebody else. */
export function watchEditor(editor) {
  if (!editor.isOpen || !store.document) return;
  const now = JSON.stringify(store.document.scenes?.find(({ sceneId }) => sceneId === editor.id) ?? null);
  setText($("edit-note"), now === editor.base ? "" : "Another operator has changed this scene.");
}
