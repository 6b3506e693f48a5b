// Rectangles of panes, as the room computes them from a scene's document, and snapping for the layout editor. Pure functions.

/** A length of the document in pixels of the canvas, rounded down to an even number: `640`, `"33.33%"`. */
export function pixels(length, whole) {
  if (typeof length === "number") return Math.floor(length / 2) * 2;
  const share = Math.round(parseFloat(length) * 10_000);
  return Number.isFinite(share) ? Math.floor(Math.floor((whole * share) / 1_000_000) / 2) * 2 : 0;
}

const edge = (index, count, length) => (index === count ? length : Math.floor(Math.floor((length * index) / count) / 2) * 2);

function cells(count, columns, { width, height }) {
  const rows = Math.ceil(count / columns);
  return Array.from({ length: count }, (_, index) => {
    const row = Math.floor(index / columns), column = index % columns, inRow = Math.min(columns, count - row * columns);
    const top = edge(row, rows, height), bottom = edge(row + 1, rows, height);
    let left = edge(column, columns, width), right = edge(column + 1, columns, width);
    if (inRow < columns) {
      const cell = edge(1, columns, width);
      left = Math.floor(Math.floor((width - inRow * cell) / 2) / 2) * 2 + column * cell;
      right = left + cell;
    }
    return { x: left, y: top, width: right - left, height: bottom - top };
  });
}

function hostAndGuests(count, { width, height }) {
  if (count < 2) return [{ x: 0, y: 0, width, height }];
  const isUpright = height > width, along = isUpright ? width : height, across = isUpright ? height : width;
  const host = edge(3, 4, across), places = Math.max(4, count - 1);
  const guests = Array.from({ length: count - 1 }, (_, index) => {
    const start = edge(index, places, along), extent = edge(index + 1, places, along) - start;
    return isUpright ? { x: start, y: host, width: extent, height: across - host } : { x: host, y: start, width: across - host, height: extent };
  });
  return [isUpright ? { x: 0, y: 0, width, height: host } : { x: 0, y: 0, width: host, height }, ...guests];
}

/** The rectangles of a named layout for `count` users. */
export function layoutRectangles(layout, count, canvas) {
  const whole = { x: 0, y: 0, width: canvas.width, height: canvas.height };
  if (count < 1) return [];
  switch (layout) {
    case "solo": return [whole];
    case "topBottom": return cells(count, 1, canvas);
    case "grid": return cells(count, Math.ceil(Math.sqrt(count)), canvas);
    case "hostAndGuests": return hostAndGuests(count, canvas);
    case "pip": {
      const width = Math.floor(canvas.width / 8) * 2, height = Math.floor(canvas.height / 8) * 2, margin = Math.floor(Math.min(canvas.width, canvas.height) / 64) * 2;
      return [whole, { x: canvas.width - margin - width, y: canvas.height - margin - height, width, height }].slice(0, count);
    }
    case "auto": return layoutRectangles(count < 2 ? "solo" : count > 2 ? "grid" : canvas.height > canvas.width ? "topBottom" : "sideBySide", count, canvas);
    default: return cells(count, count, canvas);
  }
}

/** The panes of a scene with their rectangles in pixels, in the order of the document; `live`: uids for an automatic layout. */
export function resolvedPanes(scene, canvas, live = []) {
  if (scene.panes) {
    return scene.panes.map((pane) => ({
      ...pane, uid: String(pane.uid), x: pixels(pane.x ?? 0, canvas.width), y: pixels(pane.y ?? 0, canvas.height),
      width: pixels(pane.width, canvas.width), height: pixels(pane.height, canvas.height),
    }));
  }
  const named = (scene.uids || []).map(String);
  const uids = scene.layout === "auto" || scene.auto ? (named.length ? named.filter((uid) => live.includes(uid)) : live).slice(0, 16) : named;
  const layout = scene.layout || (scene.auto ? "auto" : uids.length === 1 ? "solo" : "grid");
  return layoutRectangles(layout, uids.length, canvas).map((rectangle, index) => ({ uid: uids[index], ...rectangle, ...(layout === "pip" && index ? { zOrder: 1 } : {}) }));
}

/** The size of a scene's canvas. */
export const canvasOf = (scene, canvas) => ({ width: scene.canvas?.width ?? canvas.width, height: scene.canvas?.height ?? canvas.height });

const even = (value) => Math.round(value / 2) * 2;

/**
 * A rectangle after a drag, snapped to the edges and the middle of the canvas and to the edges of other rectangles.
 *
 * `sides`: which sides the drag moves, such as "e" or "nw"; empty if it moves the whole rectangle. Returns the rectangle, inside the
 * canvas, with even numbers, and the lines to which it has snapped.
 */
export function snapped(start, dx, dy, sides, canvas, others, reach) {
  const lines = (from, extent, whole) => [0, whole / 2, whole, ...others.flatMap((other) => [other[from], other[from] + other[extent]])];
  const axis = (from, extent, whole, delta, low, high, middleToo) => {
    const targets = lines(from, extent, whole);
    const first = start[from], last = first + start[extent], least = Math.min(16, start[extent]);
    const movesAll = !low && !high, points = movesAll ? [first, last, ...(middleToo ? [(first + last) / 2] : [])] : low ? [first] : [last];
    let best = null;
    if (reach > 0) {
      for (const point of points) {
        for (const target of targets) {
          const error = target - (point + delta);
          if (Math.abs(error) <= reach && (best === null || Math.abs(error) < Math.abs(best.error))) best = { error, target };
        }
      }
    }
    const moved = delta + (best?.error ?? 0);
    let from2 = first, to2 = last;
    if (movesAll) {
      from2 = Math.max(0, Math.min(whole - start[extent], first + moved));
      to2 = from2 + start[extent];
    } else if (low) from2 = Math.max(0, Math.min(last - least, first + moved));
    else to2 = Math.min(whole, Math.max(first + least, last + moved));
    const begin = even(from2), end = Math.min(Math.floor(whole / 2) * 2, movesAll ? begin + even(start[extent]) : even(to2));
    return { begin, extent: end - begin, line: best && Math.abs(moved) > 0 ? best.target : null };
  };
  const hasX = !sides || /[ew]/.test(sides), hasY = !sides || /[ns]/.test(sides);
  const x = hasX ? axis("x", "width", canvas.width, dx, sides.includes("w"), sides.includes("e"), true) : { begin: start.x, extent: start.width, line: null };
  const y = hasY ? axis("y", "height", canvas.height, dy, sides.includes("n"), sides.includes("s"), true) : { begin: start.y, extent: start.height, line: null };
  return { rectangle: { x: x.begin, y: y.begin, width: x.extent, height: y.extent }, guides: { x: x.line, y: y.line } };
}

/** The states of an edited value, for undo and redo. */
export class History {
  constructor(value, limit = 100) { Object.assign(this, { states: [value], at: 0, limit }); }
  get value() { return this.states[this.at]; }
  get canUndo() { return this.at > 0; }
  get canRedo() { return this.at < this.states.length - 1; }
  push(value) {
    if (JSON.stringify(value) === JSON.stringify(this.value)) return;
    this.states.splice(this.at + 1, Infinity, value);
    if (this.states.length > this.limit) this.states.shift();
    this.at = this.states.length - 1;
  }
  undo() { if (this.canUndo) this.at -= 1; return this.value; }
  redo() { if (this.canRedo) this.at += 1; return this.value; }
}
