// Looking closer: what a pointer, a wheel and fingers do to the window of time of a picture. A mouse drags across the stretch to see
// whole; Ctrl and the wheel, or two fingers, zoom; Shift and the wheel, or one finger, move; a plain wheel scrolls the page, always.
//
// `part`: canvas, view {from, to, changed()}, clock, ns(x) of a place on the canvas, hover(event), click(event); it gets zoom() and pan().
// `least`: the shortest window, ns.
export function steer(part, least) {
  const c = part.canvas, { view } = part;
  const show = (from, span) => {
    const whole = part.clock.end, wide = Math.max(Math.min(least, whole), Math.min(whole, span));
    view.from = Math.max(0, Math.min(whole - wide, from));
    view.to = view.from + wide;
    view.changed();
  };
  // `middle` stays where it is.
  part.zoom = (factor, middle) => {
    const span = Math.max(least, Math.min(part.clock.end, (view.to - view.from) * factor));
    show(middle - ((middle - view.from) / (view.to - view.from)) * span, span);
  };
  part.pan = (ns) => show(view.from + ns, view.to - view.from);
  part.whole = () => show(0, part.clock.end);
  const place = (e) => e.clientX - c.getBoundingClientRect().left, across = (pixels) => part.ns(pixels) - part.ns(0);
  c.addEventListener("wheel", (e) => {
    const sideways = e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY);
    if (!e.ctrlKey && !sideways) return;
    e.preventDefault();
    if (e.ctrlKey) part.zoom(e.deltaY > 0 ? 1.25 : 0.8, part.ns(place(e)));
    else part.pan(across(e.deltaX + e.deltaY));
  }, { passive: false });
  const fingers = new Map();
  let drag = null;
  c.addEventListener("pointerdown", (e) => {
    c.setPointerCapture(e.pointerId);
    if (e.pointerType === "touch") fingers.set(e.pointerId, place(e));
    drag = { x: place(e), moved: fingers.size > 1 };
  });
  c.addEventListener("pointermove", (e) => {
    if (!drag) return part.hover(e);
    drag.moved ||= Math.abs(place(e) - drag.x) > 3;
    if (!drag.moved) return undefined;
    return e.pointerType === "touch" ? move(e) : pick.show(c, drag.x, place(e));
  });
  function move(e) {
    const before = [...fingers.values()];
    fingers.set(e.pointerId, place(e));
    const now = [...fingers.values()], apart = (list) => Math.max(8, Math.abs(list[0] - list[1]));
    if (now.length > 1) part.zoom(apart(before) / apart(now), part.ns((now[0] + now[1]) / 2));
    else part.pan(across(before[0] - now[0]));
  }
  const end = (e) => {
    fingers.delete(e.pointerId);
    pick.hide();
    const { x, moved } = drag ?? { moved: true }, lifted = e.type === "pointerup";
    if (fingers.size === 0) drag = null;
    if (!moved && lifted) part.click(e);
    else if (lifted && e.pointerType !== "touch" && x !== undefined) {
      const [from, to] = [x, place(e)].sort((a, b) => a - b).map((p) => part.ns(p));
      show(from, to - from);
    }
  };
  c.addEventListener("pointerup", end);
  c.addEventListener("pointercancel", end);
  c.addEventListener("pointerleave", () => part.tell.hide());
  c.addEventListener("dblclick", () => part.whole());
}

// The stretch that is being dragged across.
const pick = {
  show(c, from, to) {
    this.box ??= document.body.appendChild(Object.assign(document.createElement("div"), { className: "pick" }));
    const r = c.getBoundingClientRect();
    Object.assign(this.box.style, { left: `${r.left + Math.max(0, Math.min(from, to))}px`, top: `${r.top}px`, width: `${Math.abs(to - from)}px`, height: `${r.height}px` });
    this.box.hidden = false;
  },
  hide() { if (this.box) this.box.hidden = true; },
};

export const help = "Drag across a stretch to look closer, or hold Ctrl and scroll; on a touch screen pinch.";
