// Draws a scene as SVG: its panes with the latest pictures or names, texts, images, score bars and countdowns.
import { draw } from "./dom.js";
import { canvasOf, pixels, resolvedPanes } from "./geometry.js";

const shades = ["#27598a", "#8a2f4b", "#2d6e5a", "#6a4c93", "#8a5a1f", "#3d5a99", "#7a3d6e", "#4e6b2c"];
const color = (value, fallback) => (typeof value === "number" ? `#${value.toString(16).padStart(6, "0")}` : value || fallback);
const anchors = { left: "start", center: "middle", right: "end" };

export const kinds = ["panes", "images", "texts", "scoreBars", "countdowns"];
export const levels = { panes: 0, images: 50, texts: 60, scoreBars: 60, countdowns: 60 };

/** The elements of a scene in stacking order, the lowest first, each with its rectangle in pixels of the canvas. */
export function elements(scene, room, live) {
  const canvas = canvasOf(scene, room.canvas), list = [];
  const area = (item) => ({ x: pixels(item.x ?? 0, canvas.width), y: pixels(item.y ?? 0, canvas.height), width: pixels(item.width ?? "100%", canvas.width), height: pixels(item.height ?? "100%", canvas.height) });
  const line = (item, text) => {
    const height = item.size ?? 32, width = Math.max(height, Math.min(canvas.width, text.length * height * 0.6)), x = pixels(item.x ?? 0, canvas.width);
    return { x: x - (item.align === "right" ? width : item.align === "center" ? width / 2 : 0), y: pixels(item.y ?? 0, canvas.height), width, height: height * 1.2 };
  };
  resolvedPanes(scene, canvas, live).forEach((item, index) => list.push({ kind: "panes", index, item, rectangle: { x: item.x, y: item.y, width: item.width, height: item.height } }));
  (scene.images || []).forEach((item, index) => list.push({ kind: "images", index, item, rectangle: area(item) }));
  (scene.texts || []).forEach((item, index) => list.push({ kind: "texts", index, item, rectangle: line(item, item.text || "") }));
  (scene.scoreBars || []).forEach((item, index) => list.push({ kind: "scoreBars", index, item, rectangle: area(item) }));
  (scene.countdowns || []).forEach((item, index) => list.push({ kind: "countdowns", index, item, rectangle: line(item, "00:00") }));
  return list.map((element, place) => ({ ...element, place, z: element.item.zOrder ?? levels[element.kind] })).sort((one, other) => one.z - other.z || one.place - other.place);
}

function pane({ item, rectangle }, number, { names, pictures, sizes }) {
  const { x, y, width, height } = rectangle, group = draw("g", { class: "pane", "data-uid": item.uid });
  const source = !item.streamType || item.streamType === "main" ? item.uid : `${item.uid}/${item.streamType}`;
  group.append(draw("rect", { x, y, width, height, fill: shades[number % shades.length] }));
  const url = item.videoPush === false ? null : pictures?.(source);
  if (pictures) {
    const whole = sizes?.(source) || { width: 16, height: 9 }, part = (name, fallback) => parseFloat(item.crop?.[name] ?? fallback) / 100;
    const left = part("x", 0) * whole.width, top = part("y", 0) * whole.height;
    const view = [left, top, item.crop?.width ? part("width", 100) * whole.width : whole.width - left, item.crop?.height ? part("height", 100) * whole.height : whole.height - top];
    const ratio = { fit: "xMidYMid meet", stretch: "none" }[item.adaption] || "xMidYMid slice";
    const picture = draw("image", { "data-source": source, x: 0, y: 0, width: whole.width, height: whole.height, preserveAspectRatio: "none", href: url || null });
    group.append(draw("svg", { x, y, width, height, viewBox: view.join(" "), preserveAspectRatio: ratio }, picture));
  }
  if (!url) {
    const title = names(item.uid), letters = Math.max(8, Math.min(height / 4, (width * 1.5) / Math.max(4, title.length)));
    const label = draw("text", { x: x + width / 2, y: y + height / 2, "font-size": letters, fill: "#fff", "text-anchor": "middle", "dominant-baseline": "central" });
    label.textContent = title;
    group.append(label);
  }
  const border = item.border?.width || 0;
  if (border) group.append(draw("rect", { x: x + border / 2, y: y + border / 2, width: width - border, height: height - border, fill: "none", stroke: color(item.border.color, "#fff"), "stroke-width": border }));
  return group;
}

function text({ item, rectangle }, content, room, scene) {
  const canvas = canvasOf(scene, room.canvas), letters = item.size ?? 32;
  const label = draw("text", { x: pixels(item.x ?? 0, canvas.width), y: pixels(item.y ?? 0, canvas.height) + letters * 0.9, "font-size": letters, fill: color(item.color, "#fff"), "text-anchor": anchors[item.align] || "start" });
  label.textContent = content;
  const box = item.background !== undefined ? draw("rect", { ...rectangle, fill: color(item.background, "#000"), opacity: item.backgroundAlpha ?? 1 }) : null;
  return draw("g", {}, box, label);
}

function bar({ item, rectangle: { x, y, width, height } }, scores) {
  const { left, right } = scores?.get(item.scoreId) || { left: item.left ?? 0, right: item.right ?? 0 };
  const part = left + right ? (width * left) / (left + right) : width / 2;
  return draw("g", {}, draw("rect", { x, y, width, height, fill: color(item.rightColor, "#3B8BFF") }), draw("rect", { x, y, width: part, height, fill: color(item.leftColor, "#FF3B6B") }));
}

function image({ item, rectangle: { x, y, width, height } }) {
  const label = draw("text", { x: x + width / 2, y: y + height / 2, "font-size": Math.max(8, Math.min(height / 3, 20)), fill: "#fff", "text-anchor": "middle", "dominant-baseline": "central" });
  label.textContent = item.path.split("/").pop();
  return draw("g", {}, draw("rect", { x, y, width, height, fill: "#8888", stroke: "#fff", "stroke-dasharray": "6 4" }), label);
}

/** Fills an SVG element with a scene. `context`: `names(uid)`, and optionally `pictures(source)`, `sizes(source)`, `scores`, `live`, `remaining`. */
export function drawScene(svg, scene, room, context) {
  const canvas = canvasOf(scene, room.canvas);
  svg.setAttribute("viewBox", `0 0 ${canvas.width} ${canvas.height}`);
  const group = draw("g", { class: "content" }, draw("rect", { width: canvas.width, height: canvas.height, fill: color(scene.backgroundColor, "#10141a") }));
  for (const element of elements(scene, room, context.live || [])) {
    switch (element.kind) {
      case "panes": group.append(pane(element, element.index, context)); break;
      case "images": group.append(image(element)); break;
      case "texts": group.append(text(element, element.item.text || "", room, scene)); break;
      case "scoreBars": group.append(bar(element, context.scores)); break;
      default: group.append(text(element, element.item.of === "pk" ? context.remaining || "00:00" : "00:00", room, scene));
    }
  }
  const old = svg.querySelector(":scope > .content");
  if (old) old.replaceWith(group); else svg.prepend(group);
}

/** Replaces the picture of a source in a drawn scene. */
export function setPicture(svg, source, url) {
  for (const picture of svg.querySelectorAll("image")) if (picture.dataset.source === source) {
    picture.setAttribute("href", url);
    picture.closest(".pane").querySelector(":scope > text")?.remove();
  }
}
