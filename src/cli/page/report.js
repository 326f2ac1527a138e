// The page of a report. Everything it shows is in the JSON beside it; nothing is loaded from elsewhere.
"use strict";

const started = performance.now();
const data = JSON.parse(document.getElementById("data").textContent);
const root = document.documentElement;
data.diagnostics = data.run?.diagnostics ?? data.analysis?.diagnostics ?? [];

// ---- elements ----

// An element with attributes and children; text is put in as text, never as markup.
function element(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (value === true) node.setAttribute(key, "");
    else if (value !== false && value != null) node.setAttribute(key, value);
  }
  node.append(...children.flat(Infinity).filter((child) => child != null));
  return node;
}

const main = document.querySelector("main");
const sections = [];

// Adds a section with a heading, unless there is nothing in it.
function section(id, title, ...children) {
  const content = children.flat(Infinity).filter((child) => child != null);
  if (!content.length) return;
  main.append(element("section", { "aria-labelledby": `${id}-title`, id }, element("h2", { id: `${id}-title` }, title), content));
  sections.push([id, title]);
}

function facts(rows) {
  const shown = rows.filter(([, value]) => value != null && value !== "");
  return element("dl", { class: "facts" }, shown.map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, String(value)))));
}

function table(head, rows, caption) {
  const cell = (value) => value instanceof Node ? element("td", {}, value)
    : element("td", typeof value === "number" ? { class: "number" } : {}, typeof value === "number" ? format(value) : value ?? "");
  return element("div", { class: "scroll" }, element("table", {}, caption ? element("caption", { class: "soft" }, caption) : null,
    element("thead", {}, element("tr", {}, head.map((name) => element("th", { scope: "col" }, name)))),
    element("tbody", {}, rows.map((row) => element("tr", {}, row.map(cell))))));
}

// A long list is cut, and says so.
function longTable(head, rows, most = 200) {
  return [table(head, rows.slice(0, most)), rows.length > most ? element("p", { class: "soft" }, `and ${rows.length - most} more`) : null];
}

function picture(svg, label) {
  const box = element("div", { class: "picture", role: "img", "aria-label": label, tabindex: "0" });
  box.innerHTML = svg; // made by daedal, with all names escaped
  return box;
}

// ---- numbers ----

function format(value, digits = 6) {
  if (value === null || Number.isNaN(value)) return "";
  if (!Number.isFinite(value) || Number.isInteger(value) && Math.abs(value) < 1e7) return String(value).replace("-", "−");
  const size = Math.abs(value);
  const text = size !== 0 && (size < 1e-3 || size >= 1e6) ? value.toExponential(Math.min(digits - 1, 4)) : String(+value.toPrecision(digits));
  const [mantissa, exponent] = text.split("e");
  return (exponent ? `${+mantissa}·10${superscript(+exponent)}` : text).replace(/^-/, "−");
}

const superscript = (number) => [...String(number)].map((c) => c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[c]).join("");
const unitText = (unit) => unit && unit !== "1" ? ` [${unit.replace(/\./g, "·").replace(/([A-Za-z)])(-?\d+)/g, (_, a, n) => a + superscript(n))}]` : "";

// Numbers in base64, little-endian.
function numbersOf(text, Kind = Float64Array) {
  if (Uint8Array.fromBase64) return new Kind(Uint8Array.fromBase64(text).buffer);
  const characters = atob(text), bytes = new Uint8Array(characters.length);
  for (let k = 0; k < bytes.length; k++) bytes[k] = characters.charCodeAt(k);
  return new Kind(bytes.buffer);
}

const time = numbersOf(data.time);

// The values of a signal, decoded when they are first needed.
function valuesOf(signal) {
  if (!signal.decoded) signal.decoded = signal.values != null ? numbersOf(signal.values, data.format === "f4" ? Float32Array : Float64Array) : new Float64Array(data.rows).fill(signal.constant ?? NaN);
  return signal.decoded;
}

// What does not vary comes last.
data.signals.sort((a, b) => (a.values == null) - (b.values == null));
const byName = new Map(data.signals.map((signal) => [signal.name, signal]));

// ---- equations as MathML ----

const greek = Object.fromEntries(("alpha α beta β gamma γ delta δ epsilon ε zeta ζ eta η theta θ iota ι kappa κ lambda λ mu μ nu ν xi ξ pi π rho ρ "
  + "sigma σ tau τ phi φ chi χ psi ψ omega ω Gamma Γ Delta Δ Theta Θ Lambda Λ Xi Ξ Pi Π Sigma Σ Phi Φ Psi Ψ Omega Ω").split(" ")
  .reduce((pairs, word, k, all) => k % 2 ? pairs : [...pairs, [word, all[k + 1]]], []));

const escapeText = (text) => text.replace(/[&<>]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" }[c]));

// "body.r_2[1]": components keep their names and dots; underscores and subscripts of the variable become indices. Only a variable
// is a letter: pi.u has no π.
function nameMath(name) {
  const [, path, stem, subscripts] = /^((?:[^.]*\.)*)(.*?)(?:\[([^\]]*)\])?$/.exec(name);
  const parts = stem.split("_").filter(Boolean).map((part) => greek[part] ?? part);
  const letter = /^(\p{L}+?)(\d*)$/u.exec(parts[0] ?? "");
  const base = letter ? greek[letter[1]] ?? letter[1] : stem;
  const below = [letter?.[2], ...parts.slice(1), subscripts].filter(Boolean).join(",");
  const italic = base.length > 1 ? ' mathvariant="normal"' : "";
  const letters = `<mi${italic}>${escapeText(base)}</mi>`, symbol = below ? `<msub>${letters}<mtext>${escapeText(below)}</mtext></msub>` : letters;
  return path ? `${PATH}<mtext>${escapeText(path)}</mtext>${symbol}</mrow>` : symbol;
}

const PATH = '<mrow class="path">';

// Is a formula one name with a path: is its first row the whole formula?
function isPath(formula) {
  let depth = 0;
  for (const row of formula.startsWith(PATH) ? formula.matchAll(/<mrow|<\/mrow>/g) : []) {
    depth += row[0] === "<mrow" ? 1 : -1;
    if (!depth) return row.index + row[0].length === formula.length;
  }
  return false;
}

// Changes the variable of a name with a path, or else the whole formula.
function inside(formula, change) {
  if (!isPath(formula)) return change(formula);
  const begin = formula.indexOf("</mtext>") + "</mtext>".length, end = formula.length - "</mrow>".length;
  return formula.slice(0, begin) + change(formula.slice(begin, end)) + formula.slice(end);
}

const indexed = (formula) => /^<msub>((?:(?!<msub>).)*)(<mtext>[^<]*<\/mtext>)<\/msub>$/.exec(formula);

// The derivative of a formula: a dot, over the letter alone where it has an index; two dots where there is one already.
const dotted = (formula) => inside(formula, (inner) => {
  const parts = indexed(inner);
  if (parts) return `<msub>${dotted(parts[1])}${parts[2]}</msub>`;
  const once = /^(<mover accent="true"><mrow>(?:(?!<mover).)*<mo>)˙(<\/mo><\/mover>)$/.exec(inner);
  return once ? `${once[1]}¨${once[2]}` : `<mover accent="true"><mrow>${inner}</mrow><mo>˙</mo></mover>`;
});

const raised = (formula, power) => inside(formula, (inner) => {
  const parts = indexed(inner);
  return parts ? `<msubsup>${parts[1]}${parts[2]}${power}</msubsup>` : `<msup><mrow>${inner}</mrow>${power}</msup>`;
});

const BREAK = "\n";

// A parser of the texts that daedal prints: sums, products, powers, calls, comparisons. Returns null for what it does not know.
class MathParser {
  constructor(text) {
    this.tokens = text.match(/\d+\.?\d*(?:[eE][-+]?\d+)?|'(?:\\.|[^'])*'|[A-Za-z_][\w]*(?:\[[^\]]*\])?(?:\.[A-Za-z_][\w]*(?:\[[^\]]*\])?)*|<=|>=|<>|==|\.\.\.|\S/g) ?? [];
    this.at = 0;
  }
  peek() { return this.tokens[this.at]; }
  take(token) { if (this.peek() === token) return this.at++, true; return false; }
  // The pieces between which a line may break: each term of the outermost sums, with the operator before it.
  static typeset(text) {
    const parser = new MathParser(text);
    try {
      const math = parser.relation(BREAK);
      return parser.at === parser.tokens.length ? math.split(BREAK) : null;
    } catch { return null; }
  }
  relation(separator = "") {
    let left = this.sum(separator);
    const signs = { "=": "=", "==": "=", "<": "&lt;", ">": "&gt;", "<=": "≤", ">=": "≥", "<>": "≠" };
    while (signs[this.peek()]) left += `${separator}<mo form="infix">${signs[this.tokens[this.at++]]}</mo>${this.sum(separator)}`;
    return left;
  }
  sum(separator = "") {
    let left = this.take("-") ? `<mo>−</mo>${this.product()}` : this.product();
    while (this.peek() === "+" || this.peek() === "-") left += `${separator}<mo form="infix">${this.tokens[this.at++] === "+" ? "+" : "−"}</mo>${this.product()}`;
    return left;
  }
  product() {
    let left = this.power();
    for (;;) {
      if (this.take("*")) {
        const right = this.power();
        left = `<mrow>${left}${/^<mn/.test(right) || right.startsWith(PATH) ? "<mo>·</mo>" : '<mspace width="0.17em"/>'}${right}</mrow>`;
      } else if (this.take("/")) left = `<mfrac><mrow>${left}</mrow><mrow>${this.power()}</mrow></mfrac>`;
      else return left;
    }
  }
  power() {
    const base = this.factor();
    return this.take("^") ? raised(base, `<mrow>${this.take("-") ? `<mo>−</mo>${this.factor()}` : this.factor()}</mrow>`) : base;
  }
  factor() {
    const token = this.tokens[this.at++];
    if (token === undefined) throw new Error("end");
    if (token === "(") return this.parenthesized(this.relation());
    if (token === "-") return `<mo>−</mo>${this.factor()}`;
    if (/^\d/.test(token)) return `<mn>${token}</mn>`;
    if (!/^['A-Za-z_]/.test(token)) throw new Error(token);
    return this.take("(") ? this.call(token) : nameMath(token.replace(/^'|'$/g, ""));
  }
  parenthesized(inner) {
    const grows = inner.includes("<mfrac") ? "true" : "false";
    return this.closed(`<mo stretchy="${grows}">(</mo>${inner}`, `<mo stretchy="${grows}">)</mo>`);
  }
  closed(inner, end) {
    if (!this.take(")")) throw new Error("(");
    return inner + end;
  }
  call(name) {
    if (name === "der") return this.closed(dotted(this.relation()), "");
    if (name === "sqrt") return this.closed(`<msqrt>${this.relation()}</msqrt>`, "");
    let inner = this.relation();
    while (this.take(",")) inner += `<mo>,</mo>${this.relation()}`;
    return `<mi mathvariant="normal">${escapeText(name)}</mi>${this.parenthesized(inner)}`;
  }
}

function math(text) {
  const pieces = MathParser.typeset(text);
  if (!pieces) return element("code", {}, text);
  const holder = element("span", { class: "math", title: text });
  holder.innerHTML = pieces.map((piece) => `<math display="inline">${piece}</math>`).join("<wbr>");
  return holder;
}

// ---- charts ----

const css = (name) => getComputedStyle(root).getPropertyValue(name).trim();
const palettes = {
  light: ["#0b62b8", "#c2410c", "#0f7b4f", "#9d2f86", "#7a5c00", "#0e7490", "#444c56", "#b3261e"],
  dark: ["#6db3f8", "#ff9d5c", "#5fd39a", "#f08fd8", "#e5c453", "#5fd0e6", "#c3cbd6", "#ff8a80"],
};
const palette = () => palettes[root.dataset.theme === "dark" ? "dark" : "light"];

// Nice tick values within [low, high].
function ticks(low, high, aim) {
  const raw = (high - low) / aim, size = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((factor) => factor * size).find((candidate) => candidate >= raw * 0.999);
  const found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9; k++) found.push(k * step);
  return { found, digits: Math.max(0, -Math.floor(Math.log10(step) + 1e-9)) };
}

function tickLabel(value, digits, step) {
  const size = Math.max(Math.abs(value), Math.abs(step));
  if (value === 0) return "0";
  return (size >= 1e5 || digits > 5 ? format(value, 5) : value.toFixed(digits)).replace(/^-/, "−");
}

// First index with x[index] >= value.
function lowerBound(x, value) {
  let low = 0, high = x.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (x[middle] < value) low = middle + 1;
    else high = middle;
  }
  return low;
}

// Charts over a common time axis: the same range and the same cursor in all of them.
class Axis {
  constructor(low, high) {
    Object.assign(this, { full: [low, high > low ? high : low + 1], charts: new Set(), cursor: null });
    this.range = [...this.full];
  }
  set(low, high) {
    const [first, last] = this.full, width = Math.min(Math.max(high - low, (last - first) * 1e-9), last - first);
    low = Math.min(Math.max(low, first), last - width);
    this.range = [low, low + width];
    this.redraw();
  }
  zoom(factor, centre = (this.range[0] + this.range[1]) / 2) {
    this.set(centre - (centre - this.range[0]) * factor, centre + (this.range[1] - centre) * factor);
  }
  pan(part) { const width = this.range[1] - this.range[0]; this.set(this.range[0] + part * width, this.range[1] + part * width); }
  reset() { this.set(...this.full); }
  point(at) { this.cursor = at; this.redraw(); this.onpoint?.(at); }
  redraw() { if (!this.queued) this.queued = requestAnimationFrame(() => { this.queued = 0; for (const chart of this.charts) chart.draw(); }); }
}

const MARGIN = { left: 66, right: 16, top: 8, bottom: 40 };

class Chart {
  // series: [{name, x, y, colour}]; log: logarithmic values; marks: [{times, colour}]
  constructor(axis, { label, height = 220, log = false, marks = [] }) {
    Object.assign(this, { axis, label, height, log, marks, series: [] });
    this.canvas = element("canvas", { tabindex: "0", role: "img", "aria-label": label, height });
    this.node = element("div", { class: "panel" }, this.canvas);
    axis.charts.add(this);
    this.listen();
    new ResizeObserver(() => this.draw()).observe(this.node);
  }
  remove() { this.axis.charts.delete(this); this.node.remove(); }
  timeAt(pixel) {
    const [low, high] = this.axis.range, width = this.canvas.clientWidth - MARGIN.left - MARGIN.right;
    return low + (pixel - MARGIN.left) / width * (high - low);
  }
  listen() {
    const { canvas, axis } = this;
    let drag = null;
    canvas.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && !event.shiftKey && document.activeElement !== canvas) return;
      event.preventDefault();
      axis.zoom(Math.exp(event.deltaY * 0.0015), this.timeAt(event.offsetX));
    }, { passive: false });
    canvas.addEventListener("pointerdown", (event) => { drag = { x: event.offsetX, range: [...axis.range], box: event.shiftKey }; canvas.setPointerCapture(event.pointerId); canvas.focus(); });
    canvas.addEventListener("pointermove", (event) => {
      if (drag?.box) { this.box = [this.timeAt(drag.x), this.timeAt(event.offsetX)]; axis.redraw(); }
      else if (drag) {
        const shift = this.timeAt(drag.x) - this.timeAt(event.offsetX);
        drag.moved = true;
        axis.set(drag.range[0] + shift + (axis.range[0] - axis.range[0]), drag.range[1] + shift);
        drag.range = [...axis.range]; drag.x = event.offsetX;
      }
      axis.point(this.timeAt(event.offsetX));
    });
    canvas.addEventListener("pointerup", () => { if (this.box) axis.set(Math.min(...this.box), Math.max(...this.box)); this.box = drag = null; axis.redraw(); });
    canvas.addEventListener("pointerleave", () => { if (!drag) axis.point(null); });
    canvas.addEventListener("dblclick", () => axis.reset());
    canvas.addEventListener("keydown", (event) => this.key(event));
  }
  // Arrows move the view, with shift the cursor; + and - zoom; 0 shows all.
  key(event) {
    const { axis } = this, width = axis.range[1] - axis.range[0];
    const move = (part) => event.shiftKey ? axis.point(Math.min(Math.max((axis.cursor ?? (axis.range[0] + axis.range[1]) / 2) + part * width / 5, axis.range[0]), axis.range[1])) : axis.pan(part);
    const actions = { ArrowLeft: () => move(-0.1), ArrowRight: () => move(0.1), "+": () => axis.zoom(0.7), "=": () => axis.zoom(0.7), "-": () => axis.zoom(1 / 0.7), 0: () => axis.reset(), Home: () => axis.reset() };
    if (!actions[event.key]) return;
    event.preventDefault();
    actions[event.key]();
  }
  place(value) { return this.log ? Math.log10(value) : value; }
  // The range of what is visible, a little wider.
  valueRange() {
    let low = Infinity, high = -Infinity;
    for (const { x, y } of this.series) {
      const last = Math.min(lowerBound(x, this.axis.range[1]) + 1, x.length);
      for (let k = Math.max(lowerBound(x, this.axis.range[0]) - 1, 0); k < last; k++) {
        const value = this.place(y[k]);
        if (value < low && value > -Infinity) low = value;
        if (value > high && value < Infinity) high = value;
      }
    }
    if (!(low <= high)) return [0, 1];
    const margin = high - low > 1e-12 * Math.max(Math.abs(low), Math.abs(high)) ? 0.05 * (high - low) : this.log ? 0.5 : 0.1 * Math.abs(high) || 1;
    return [low - margin, high + margin];
  }
  draw() {
    const width = this.node.clientWidth, height = this.height, ratio = devicePixelRatio || 1;
    if (!width) return;
    if (this.canvas.width !== Math.round(width * ratio) || this.canvas.height !== Math.round(height * ratio)) {
      this.canvas.width = Math.round(width * ratio); this.canvas.height = Math.round(height * ratio); this.canvas.style.height = `${height}px`;
    }
    const pen = this.canvas.getContext("2d");
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.fillStyle = css("--panel"); pen.fillRect(0, 0, width, height);
    const frame = { left: MARGIN.left, right: width - MARGIN.right, top: MARGIN.top, bottom: height - MARGIN.bottom };
    const [low, high] = this.axis.range, [least, greatest] = this.valueRange();
    const toX = (value) => frame.left + (value - low) / (high - low) * (frame.right - frame.left);
    const toY = (value) => frame.bottom - (value - least) / (greatest - least) * (frame.bottom - frame.top);
    this.drawGrid(pen, frame, toX, toY, [least, greatest]);
    pen.save(); pen.beginPath(); pen.rect(frame.left, frame.top, frame.right - frame.left, frame.bottom - frame.top); pen.clip();
    this.drawMarks(pen, frame, toX);
    for (const series of this.series) this.drawCurve(pen, frame, series, toX, toY);
    this.drawCursor(pen, frame, toX, toY);
    pen.restore();
  }
  drawGrid(pen, frame, toX, toY, [least, greatest]) {
    pen.font = '12px system-ui, "DejaVu Sans", sans-serif'; pen.lineWidth = 1; pen.strokeStyle = css("--grid"); pen.fillStyle = css("--soft");
    const across = ticks(...this.axis.range, Math.max(3, (frame.right - frame.left) / 110)), down = ticks(least, greatest, this.height / 45);
    pen.beginPath();
    pen.textAlign = "center"; pen.textBaseline = "top";
    for (const value of across.found) { const x = Math.round(toX(value)) + 0.5; pen.moveTo(x, frame.top); pen.lineTo(x, frame.bottom); const label = tickLabel(value, across.digits, across.found[1] - across.found[0]); pen.fillText(label, Math.min(x, frame.right + MARGIN.right - pen.measureText(label).width / 2), frame.bottom + 6); }
    pen.fillText("time [s]", (frame.left + frame.right) / 2, frame.bottom + 22);
    pen.textAlign = "right"; pen.textBaseline = "middle";
    for (const value of down.found) {
      if (this.log && !Number.isInteger(value)) continue;
      const y = Math.round(toY(value)) + 0.5; pen.moveTo(frame.left, y); pen.lineTo(frame.right, y);
      pen.fillText(this.log ? `10${superscript(value)}` : tickLabel(value, down.digits, down.found[1] - down.found[0]), frame.left - 7, y);
    }
    pen.stroke();
    pen.strokeStyle = css("--line"); pen.strokeRect(frame.left + 0.5, frame.top + 0.5, frame.right - frame.left - 1, frame.bottom - frame.top - 1);
  }
  drawMarks(pen, frame, toX) {
    for (const { times, colour, dash } of this.marks) {
      if (!markSwitch.checked) return;
      pen.strokeStyle = css(colour); pen.globalAlpha = 0.55; pen.setLineDash(dash);
      pen.beginPath();
      let before = -1;
      for (let k = lowerBound(times, this.axis.range[0]); k < times.length && times[k] <= this.axis.range[1]; k++) {
        const x = Math.round(toX(times[k])) + 0.5;
        if (x !== before) pen.moveTo(x, frame.top), pen.lineTo(x, frame.bottom);
        before = x;
      }
      pen.stroke(); pen.setLineDash([]); pen.globalAlpha = 1;
    }
  }
  // Of the points in one column of pixels the first, least, greatest and last are drawn: extremes are never lost.
  drawCurve(pen, frame, { x, y, colour }, toX, toY) {
    const first = Math.max(lowerBound(x, this.axis.range[0]) - 1, 0), last = Math.min(lowerBound(x, this.axis.range[1]) + 1, x.length);
    pen.strokeStyle = colour; pen.lineWidth = 1.6; pen.lineJoin = "round";
    pen.beginPath();
    let column = NaN, down = false, low = 0, high = 0, end = 0;
    const flush = () => { if (down && !Number.isNaN(column)) { pen.lineTo(column, low); pen.lineTo(column, high); pen.lineTo(column, end); } };
    for (let k = first; k < last; k++) {
      const value = toY(this.place(y[k]));
      if (!Number.isFinite(value)) { flush(); down = false; column = NaN; continue; }
      const at = last - first < 2 * (frame.right - frame.left) ? toX(x[k]) : Math.round(toX(x[k]));
      if (at === column) { low = Math.min(low, value); high = Math.max(high, value); end = value; continue; }
      flush();
      if (down) pen.lineTo(at, value); else pen.moveTo(at, value);
      down = true; column = at; low = high = end = value;
    }
    flush();
    pen.stroke();
  }
  drawCursor(pen, frame, toX, toY) {
    if (this.box) { pen.fillStyle = css("--accent"); pen.globalAlpha = 0.15; pen.fillRect(toX(Math.min(...this.box)), frame.top, Math.abs(toX(this.box[1]) - toX(this.box[0])), frame.bottom); pen.globalAlpha = 1; }
    if (this.axis.cursor === null) return;
    const x = toX(this.axis.cursor);
    pen.strokeStyle = css("--soft"); pen.lineWidth = 1; pen.beginPath(); pen.moveTo(x, frame.top); pen.lineTo(x, frame.bottom); pen.stroke();
    for (const series of this.series) {
      const value = sample(series.x, series.y, this.axis.cursor);
      pen.fillStyle = series.colour; pen.beginPath(); pen.arc(x, toY(this.place(value)), 3.5, 0, 7); pen.fill();
    }
  }
}

// The value at a time, on the line between rows; at an event the one behind it.
function sample(x, y, at) {
  let k = lowerBound(x, at);
  while (k + 1 < x.length && x[k + 1] === at) k++;
  if (k === 0) return y[0];
  if (k >= x.length) return y[x.length - 1];
  const part = (at - x[k - 1]) / (x[k] - x[k - 1]);
  return part >= 0 && part <= 1 ? y[k - 1] + part * (y[k] - y[k - 1]) : y[k];
}

const markSwitch = element("input", { type: "checkbox", id: "marks", checked: true, onchange: () => timeAxis.redraw() });
const timeAxis = new Axis(time[0] ?? 0, time[time.length - 1] ?? 1);
const pivotTimes = (data.run?.pivots ?? []).map((pivot) => pivot.time), eventTimes = data.events.map((event) => event.time);
const marks = [{ times: eventTimes, colour: "--event", dash: [] }, { times: pivotTimes, colour: "--mark", dash: [4, 3] }];

function axisControls(axis, more = []) {
  const button = (text, label, action) => element("button", { type: "button", "aria-label": label, title: label, onclick: action }, text);
  return element("div", { class: "controls" }, button("+", "zoom in", () => axis.zoom(0.6)), button("−", "zoom out", () => axis.zoom(1 / 0.6)),
    button("←", "earlier", () => axis.pan(-0.25)), button("→", "later", () => axis.pan(0.25)), button("all", "show all of the time", () => axis.reset()), more);
}

// ---- the trajectories ----

// Panels of the signals chosen, those of one unit together, with a list to choose from.
function trajectories() {
  const chosen = new Set(data.shown), panels = element("div"), list = element("div", { class: "chooser", role: "group", "aria-label": "signals" });
  const readout = element("p", { class: "readout", "aria-live": "polite" }), swatches = new Map();
  let charts = [];
  const colours = () => new Map([...chosen].map((name, k) => [name, palette()[k % palette().length]]));
  function rebuild() {
    for (const chart of charts) chart.remove();
    const byUnit = new Map(), colour = colours();
    for (const name of chosen) {
      const signal = byName.get(name), unit = signal.unit === "1" ? "" : signal.unit;
      byUnit.set(unit, [...byUnit.get(unit) ?? [], { name, x: time, y: valuesOf(signal), colour: colour.get(name) }]);
    }
    charts = [...byUnit].map(([unit, series]) => {
      const chart = new Chart(timeAxis, { label: `${series.map((one) => one.name).join(", ")}${unitText(unit)} over time`, height: byUnit.size > 1 ? 200 : 320, marks });
      chart.series = series;
      chart.node.prepend(element("div", { class: "soft" }, series.map((one) => [element("span", { style: `color:${one.colour}` }, "━ "), `${one.name}  `]), unitText(unit)));
      panels.append(chart.node);
      return chart;
    });
    for (const [name, swatch] of swatches) swatch.style.background = colour.get(name) ?? "transparent";
    timeAxis.redraw();
  }
  const labels = data.signals.map((signal) => {
    const box = element("input", { type: "checkbox", checked: chosen.has(signal.name), onchange: () => { if (box.checked) chosen.add(signal.name); else chosen.delete(signal.name); rebuild(); } });
    const swatch = element("i", { "aria-hidden": "true" });
    swatches.set(signal.name, swatch);
    return [signal.name, element("label", {}, box, swatch, signal.name, element("span", { class: "soft" }, unitText(signal.unit)))];
  });
  list.append(...labels.map(([, label]) => label));
  const filter = element("input", { type: "search", placeholder: "find a signal", "aria-label": "find a signal", oninput: () => { for (const [name, label] of labels) label.hidden = !name.toLowerCase().includes(filter.value.toLowerCase()); } });
  timeAxis.onpoint = (at) => {
    readout.textContent = at === null ? "Drag to move, Ctrl and wheel (or wheel after a click) to zoom, Shift and drag for a part; keys: arrows, + − 0."
      : `time ${format(at)}: ` + [...chosen].map((name) => `${name} = ${format(sample(time, valuesOf(byName.get(name)), at))}`).join(", ");
    moveTo?.(at);
  };
  redrawAll.push(rebuild);
  rebuild();
  timeAxis.onpoint(null);
  const legend = [eventTimes.length ? ["events ", element("span", { style: "color:var(--event)" }, "│ ")] : [], pivotTimes.length ? ["pivots ", element("span", { style: "color:var(--mark)" }, "┆ ")] : []];
  const markControl = eventTimes.length + pivotTimes.length ? element("label", {}, markSwitch, " mark ", legend) : null;
  return [axisControls(timeAxis, markControl), element("div", { class: "plots" }, element("div", {}, panels, readout), element("div", {}, filter, list)), ranges()];
}

function ranges() {
  const rowsOf = () => data.signals.map((signal) => {
    const values = valuesOf(signal);
    let low = Infinity, high = -Infinity;
    for (const value of values) { if (value < low) low = value; if (value > high) high = value; }
    return [signal.name, signal.unit, values[0], low, high, values[values.length - 1]];
  });
  const box = element("details", { ontoggle: () => { if (box.open && box.childElementCount === 1) box.append(...longTable(["signal", "unit", "first", "least", "greatest", "last"], rowsOf(), 1000).filter(Boolean)); } }, element("summary", {}, "Ranges as a table"));
  return box;
}

const redrawAll = [];

// ---- the moving picture ----

let moveTo = null;

// A coordinate is a number or the name of a signal; three of them are seen from the side and above.
function pointsAt(at) {
  return data.points.map((point) => {
    const [x, y, z] = point.map((text) => text === "time" ? at : byName.has(text) ? sample(time, valuesOf(byName.get(text)), at) : Number(text));
    return z === undefined ? [x, y] : [x * 0.866 - y * 0.866, z + 0.5 * (x + y) * 0.5];
  });
}

function pictureBounds() {
  let [left, right, bottom, top] = [Infinity, -Infinity, Infinity, -Infinity];
  const step = Math.max(1, Math.floor(time.length / 2000));
  for (let k = 0; k < time.length; k += step)
    for (const [x, y] of pointsAt(time[k])) [left, right, bottom, top] = [Math.min(left, x), Math.max(right, x), Math.min(bottom, y), Math.max(top, y)];
  const room = 0.08 * Math.max(right - left, top - bottom) || 1;
  return [left - room, right + room, bottom - room, top + room];
}

function animation() {
  if (!data.points?.length || !time.length) return [];
  const canvas = element("canvas", { role: "img", "aria-label": "moving picture of the points", tabindex: "0" }), bounds = pictureBounds();
  const slider = element("input", { type: "range", min: time[0], max: time[time.length - 1], step: "any", value: time[0], "aria-label": "time", oninput: () => show(+slider.value) });
  const now = element("output", { class: "readout" }), speed = element("select", { "aria-label": "speed" }, ["0.1", "0.25", "0.5", "1", "2", "5", "10"].map((one) => element("option", { value: one, selected: one === "1" }, `${one}×`)));
  const trail = element("input", { type: "checkbox", checked: true, onchange: () => show(+slider.value) });
  const button = element("button", { type: "button", onclick: toggle }, "play");
  let playing = 0, before = 0;
  function toggle() {
    playing = playing ? (cancelAnimationFrame(playing), 0) : requestAnimationFrame((clock) => { before = clock; tick(clock); });
    button.textContent = playing ? "pause" : "play";
  }
  function tick(clock) {
    let at = +slider.value + (clock - before) / 1000 * +speed.value;
    before = clock;
    if (at > time[time.length - 1]) at = time[0];
    show(at);
    playing = requestAnimationFrame(tick);
  }
  function show(at) {
    slider.value = at;
    now.textContent = `time ${format(at, 4)}`;
    draw(at);
  }
  function draw(at) {
    const width = canvas.parentNode?.clientWidth ?? 0, ratio = devicePixelRatio || 1;
    if (!width) return;
    const [left, right, bottom, top] = bounds, height = Math.min(460, Math.max(160, width * (top - bottom) / (right - left)));
    const scale = Math.min(width / (right - left), height / (top - bottom));
    canvas.width = width * ratio; canvas.height = height * ratio; canvas.style.height = `${height}px`;
    const pen = canvas.getContext("2d"), toX = (x) => width / 2 + (x - (left + right) / 2) * scale, toY = (y) => height / 2 - (y - (bottom + top) / 2) * scale;
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.fillStyle = css("--panel"); pen.fillRect(0, 0, width, height);
    if (trail.checked) { drawPaths(pen, 0, time.length, 0.18, toX, toY); drawPaths(pen, Math.max(0, lowerBound(time, at) - Math.ceil(time.length / 5)), lowerBound(time, at), 0.6, toX, toY); }
    const points = pointsAt(at);
    pen.strokeStyle = css("--ink"); pen.lineWidth = 2.5; pen.lineJoin = "round"; pen.beginPath();
    points.forEach(([x, y], k) => k ? pen.lineTo(toX(x), toY(y)) : pen.moveTo(toX(x), toY(y)));
    pen.stroke();
    points.forEach(([x, y], k) => { pen.fillStyle = palette()[k % palette().length]; pen.beginPath(); pen.arc(toX(x), toY(y), 6, 0, 7); pen.fill(); });
  }
  // The ways of the points between two rows.
  function drawPaths(pen, first, last, alpha, toX, toY) {
    const step = Math.max(1, Math.floor((last - first) / 600)), places = [];
    for (let k = first; k < last; k += step) places.push(pointsAt(time[k]));
    pen.globalAlpha = alpha; pen.lineWidth = 1.5;
    for (let p = 0; p < data.points.length; p++) {
      pen.strokeStyle = palette()[p % palette().length]; pen.beginPath();
      places.forEach((points, k) => k ? pen.lineTo(toX(points[p][0]), toY(points[p][1])) : pen.moveTo(toX(points[p][0]), toY(points[p][1])));
      pen.stroke();
    }
    pen.globalAlpha = 1;
  }
  moveTo = (at) => { if (at !== null && !playing) show(Math.min(Math.max(at, time[0]), time[time.length - 1])); };
  canvas.addEventListener("keydown", (event) => { if (event.key === " ") { event.preventDefault(); toggle(); } });
  const holder = element("div", { class: "panel" }, canvas);
  new ResizeObserver(() => show(+slider.value)).observe(holder);
  redrawAll.push(() => show(+slider.value));
  return [element("div", { class: "controls" }, button, slider, speed, element("label", {}, trail, " trails"), now), holder,
    element("p", { class: "soft" }, `points: ${data.points.map((point) => `(${point.join(", ")})`).join(" – ")}`)];
}

// ---- the other sections ----

function header() {
  const verdict = { ok: "ran to its end", input: "the model is wrong", unbalanced: "unbalanced", singular: "singular", init: "no consistent initial values", integration: "the integration failed" };
  const status = data.run?.status ?? data.analysis?.status ?? "input";
  const theme = element("button", { type: "button", "aria-pressed": "false", onclick: () => setTheme(root.dataset.theme === "dark" ? "light" : "dark") }, "dark");
  function setTheme(name) {
    root.dataset.theme = name;
    theme.textContent = name === "dark" ? "light" : "dark";
    theme.setAttribute("aria-label", `change to the ${theme.textContent} colours`);
    for (const redraw of redrawAll) redraw();
    timeAxis.redraw(); residualAxis?.redraw();
  }
  const dark = matchMedia("(prefers-color-scheme: dark)");
  dark.addEventListener("change", () => setTheme(dark.matches ? "dark" : "light"));
  setTheme(dark.matches ? "dark" : "light");
  document.title = `${data.name || data.file}: daedal report`;
  document.querySelector("header").append(element("div", { class: "bar" }, element("div", {}, element("h1", {}, data.name || data.file),
    element("p", { class: status === "ok" ? "soft" : "error" }, `${data.file}: ${verdict[status] ?? status}`)), theme),
    facts([["equations", data.analysis?.equations], ["structural index", data.analysis?.structural_index], ["degrees of freedom", data.analysis?.dof],
      ["method", data.run?.method], ["solver", data.run?.solver], ["end", data.run?.end_time == null ? null : `t = ${format(data.run.end_time)}`],
      ["steps", data.run?.steps], ["largest defect, in tolerances", data.run?.certificate?.defect == null ? null : format(data.run.certificate.defect, 2)], ["largest residual", data.run?.constraint_residual?.max == null ? null : format(data.run.constraint_residual.max, 2)]]),
    element("nav", { "aria-label": "sections" }, element("ul", {}, sections.map(([id, title]) => element("li", {}, element("a", { href: `#${id}` }, title))))));
}

// A place in the text of the model is a link; one in another file has the end of the file's path, and all of it on request.
const isHere = (one) => one.line && (one.file ?? data.file) === data.file;
const place = (one) => isHere(one) ? element("a", { href: `#line-${one.line}` }, `line ${one.line}`) : element("span", { class: "place", title: one.file }, one.file.split("/").slice(-2).map((part, k) => k ? ["/", element("wbr"), part] : part), element("span", {}, `:${one.line}`));

function messages() {
  const said = data.diagnostics;
  if (!said.length) return [];
  return element("ul", { class: "messages" }, said.map((one) => element("li", { class: one.severity }, element("strong", {}, `${one.severity} ${one.code ?? ""} `),
    one.line ? [place(one), ": "] : "", one.message,
    one.notes.map((note) => element("div", { class: "soft" }, "note: ", note.line ? [place(note), ": "] : "", note.message)))));
}

function modelText() {
  const linesOf = (list) => new Set((list ?? []).filter(isHere).map((one) => one.line));
  const said = linesOf(data.diagnostics), derived = linesOf(data.analysis?.differentiations);
  if (!data.text) return element("p", { class: "soft" }, `${data.file} is a class of a library. The places on this page are files and lines of it.`);
  const lines = data.text.replace(/\n$/, "").split("\n");
  return [element("pre", { class: "source", tabindex: "0", "aria-label": "text of the model" }, lines.map((line, k) => element("span",
    { "data-line": k + 1, id: `line-${k + 1}`, class: said.has(k + 1) ? "said" : derived.has(k + 1) ? "derived" : null }, line || " "))),
    derived.size ? element("p", { class: "soft" }, "Shaded: equations that are differentiated.") : null];
}

function structure() {
  const found = data.analysis;
  if (!found || found.equations == null) return [];
  const blocks = found.blocks ?? [], large = blocks.filter((block) => block.equations.length > 1);
  const times = (n) => ["", "once", "twice", "three times"][n] ?? `${n} times`;
  return [
    facts([["equations", found.equations], ["variables", found.variables], ["structural index", found.structural_index], ["degrees of freedom", found.dof],
      ["blocks", blocks.length || null], ["largest block", blocks.length ? Math.max(...blocks.map((block) => block.equations.length)) : null], ["aliases", found.aliases]]),
    found.differentiations?.length ? [element("h3", {}, "Differentiated equations"), longTable(["place", "how often", "equation, and as written"], found.differentiations.map((one) => [place(one), times(one.times), [math(one.text), element("div", { class: "soft" }, element("code", {}, one.source))]]), 60)] : null,
    found.hidden_constraints?.length ? [element("h3", {}, "Hidden constraints"), element("ul", { class: "equations" }, found.hidden_constraints.slice(0, 60).map((text) => element("li", {}, math(text)))),
      found.hidden_constraints.length > 60 ? element("p", { class: "soft" }, `and ${found.hidden_constraints.length - 60} more`) : null] : null,
    data.incidence ? [element("h3", {}, "Incidence, as written and in block triangular form"), picture(data.incidence, "incidence matrix before and after sorting into blocks")] : null,
    large.length ? element("details", {}, element("summary", {}, `Blocks of more than one equation (${large.length})`), longTable(["equations", "variables", "linear"], large.map((block) => [block.equations.join(", "), block.variables.join(", "), block.linear ? "yes" : "no"]), 100)) : null,
  ];
}

function initialValues() {
  const found = data.initial;
  if (!found?.values) return found?.conflict ? [element("p", { class: "error" }, "The values that are fixed contradict the equations; see the messages.")] : [];
  return [facts([["fixed", found.fixed], ["free", found.free], ["way", found.way], ["iterations", found.iterations], ["residual", format(found.residual, 2)], ["condition", format(found.condition, 2)]]),
    longTable(["variable", "value", "how", "start", "from"], found.values.map((one) => [one.name, one.value, one.how, one.start, one.equation ? math(String(one.equation)) : one.alias ? `alias of ${one.alias}` : ""]), 300)];
}

let residualAxis = null;

function constraints() {
  const run = data.run, residuals = data.residuals;
  const content = [];
  if (residuals?.levels && residuals.points > 1) {
    const x = numbersOf(residuals.times), all = numbersOf(residuals.values);
    residualAxis = new Axis(x[0], x[x.length - 1]);
    const chart = new Chart(residualAxis, { label: "largest scaled residual of the constraints of each level over time, logarithmic", log: true, height: 260, marks });
    const legend = element("div", { class: "soft" });
    const rebuild = () => {
      chart.series = Array.from({ length: residuals.levels }, (_, level) => ({ name: `level ${level}`, x, y: all.filter((_, k) => k % residuals.levels === level).map((value) => Math.max(value, 1e-17)), colour: palette()[level % palette().length] }));
      legend.replaceChildren(...chart.series.flatMap((one, level) => [element("span", { style: `color:${one.colour}` }, "━ "), `${["as written", "differentiated once", "differentiated twice"][level] ?? `differentiated ${level} times`}  `]));
    };
    rebuild(); redrawAll.push(rebuild);
    content.push(element("p", {}, "The largest scaled residual of the constraints, written and hidden, at each output point; below 10⁻¹⁷ it is drawn there."), axisControls(residualAxis), legend, chart.node);
  }
  if (run?.constraint_residual?.equation) content.push(element("p", {}, `The largest is ${format(run.constraint_residual.max, 3)} at time ${format(run.constraint_residual.at)}, in `, math(run.constraint_residual.equation), "."));
  if (run?.invariants?.length) content.push(element("h3", {}, "Drift of invariants"), table(["variable", "first", "change", "largest deviation", "drift"], run.invariants.map((one) => [one.name, one.first, one.change, one.largest, one.drift])));
  return content;
}

function happenings() {
  const pivots = data.run?.pivots ?? [];
  const part = (title, head, rows) => rows.length ? element("details", { open: rows.length <= 20 }, element("summary", {}, `${title} (${rows.length})`), ...longTable(head, rows, 500).filter(Boolean)) : null;
  return [part("Events", ["time", "condition", "becomes"], data.events.map((one) => [one.time, math(one.condition), one.value])), part("Pivots: changes of the states", ["time", "out", "in"], pivots.map((one) => [one.time, one.out, one.in]))].filter(Boolean);
}

const whole = (count) => count == null ? null : Math.ceil(count);

function comparison() {
  const runs = data.comparison?.runs;
  if (!runs) return [];
  return [table(["method", "solver", "states", "steps", "residual evaluations", "Jacobians", "difference", "largest residual", "seconds", "remark"],
    runs.map((one) => [one.method, one.solver ?? "", one.states, one.steps, whole(one.residual_evals), whole(one.jacobian_evals), one.difference, one.levels?.length ? Math.max(...one.levels.map((level) => level.max)) : null, one.seconds, one.status === "ok" ? one.remark ?? "" : one.message ?? one.status])),
    element("p", { class: "soft" }, "Difference: the largest from a run that is a hundred times more accurate."),
    data.comparisonPicture ? picture(data.comparisonPicture, "residuals of the constraints over time, a curve for each method") : null];
}

function statistics() {
  const run = data.run;
  if (!run?.solver) return [];
  const seconds = Object.entries(run.seconds ?? {});
  return [facts([["method", run.method], ["solver", run.solver], ["states", run.states], ["rows", run.rows], ["steps", run.steps], ["rejected", run.rejected], ["residual evaluations", format(Math.ceil(run.residual_evals))],
    ["Jacobian evaluations", format(Math.ceil(run.jacobian_evals))], ["factorizations", run.factorizations], ["pivots", run.pivots?.length], ["events", run.events], ["changes of structure", run.replans]]),
    element("p", { class: "soft" }, `Solver: ${run.solver_reason}. Seconds: ${seconds.map(([name, value]) => `${name} ${format(value, 2)}`).join(", ")}.`)];
}

function reproduce() {
  return [element("pre", { class: "plain", tabindex: "0", "aria-label": "the command that makes this page" }, data.command),
    element("p", { class: "soft" }, `daedal ${data.version}, ${data.rows} rows of ${data.signals.length} signals besides the time.`)];
}

section("messages", "Messages", messages());
section("model", "Model", modelText());
section("structure", "Structure", structure());
section("initial", "Initial values", initialValues());
const moving = animation();
section("trajectories", "Trajectories", data.rows > 1 && data.signals.length ? trajectories() : []);
section("animation", "Moving picture", moving);
section("constraints", "Constraints", constraints());
section("happenings", "Events and pivots", happenings());
section("comparison", "Methods compared", comparison());
section("statistics", "Statistics", statistics());
section("reproduce", "To reproduce", reproduce());
header();
document.querySelector("footer").append(`Made by daedal ${data.version}. The page is whole in itself: it loads nothing.`);
// The sections came after the browser looked for the place in the address.
if (location.hash.length > 1) document.getElementById(location.hash.slice(1))?.scrollIntoView();
root.dataset.ready = `${Math.round(started)} ${Math.round(performance.now())}`;
