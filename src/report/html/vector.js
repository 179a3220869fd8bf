"use strict";
/* Drawings as lists of paths and texts, which become SVG, PDF or PNG; and a canvas context that records such a list, so
 * that charts can be saved too. src/plot has the same for files. Texts are only ever set as textContent. */
const GessVector = (() => {
const NS = "http://www.w3.org/2000/svg";
const paper = { ink: "#1b2430", quiet: "#566173", frame: "#8a94a3", faint: "#dde2e9", blue: "#0b62a8", orange: "#d1660a", green: "#0f9b74", card: "#ffffff" };

/* A pen: fill, stroke (names of `paper` or #rrggbb), fillAlpha, strokeAlpha, width, dash. */
class Drawing {
  constructor(width, height, title) { Object.assign(this, { width, height, title, ops: [], clips: [], clip: -1 }); }
  clipTo(x, y, width, height) { this.clip = this.clips.push([x, y, width, height]) - 1; }
  unclip() { this.clip = -1; }
  /* parts: lists of points [x, y]; a part with `closed` set is closed */
  path(parts, pen) { if (parts.some(p => p.length > 0)) this.ops.push({ kind: "path", parts, pen, clip: this.clip }); }
  line(points, pen) { this.path([points], pen); }
  segment(x0, y0, x1, y1, pen) { this.path([[[x0, y0], [x1, y1]]], pen); }
  rect(x, y, w, h, pen) { this.path([closed([[x, y], [x + w, y], [x + w, y + h], [x, y + h]])], pen); }
  /* style: size, anchor (start, middle, end), bold, ink, turn (degrees) */
  text(x, y, text, style) { if (text) this.ops.push({ kind: "text", x, y, text: String(text).replace(/[\u0000-\u001f\u007f-\u009f]/g, " "), style, clip: this.clip }); }
}

function closed(points) { points.closed = true; return points; }

/* ---- widths of letters: Helvetica's ---- */

const plain = [278,278,355,556,556,889,667,191,333,333,389,584,278,333,278,278,556,556,556,556,556,556,556,556,556,556,278,278,584,584,584,556,1015,667,667,722,722,667,611,778,722,278,500,667,556,833,722,778,667,778,722,667,611,722,667,944,667,667,611,278,278,278,469,556,333,556,556,500,556,556,278,556,556,222,222,500,222,833,556,556,556,556,333,500,278,556,500,722,500,500,500,334,260,334,584];
const widthOf = point => point >= 32 && point < 127 ? plain[point - 32] / 1000 : point === 0x2026 ? 1 : 0.58;
const known = text => /^[ -~−±…]+$/.test(text);
const textWidth = (text, size) => [...text].reduce((sum, c) => sum + widthOf(c.codePointAt(0)), 0) * size;

/* The text, cut with an ellipsis to what fits. */
function fit(text, width, size) {
  if (textWidth(text, size) <= width) return text;
  const letters = [...text];
  while (letters.length > 0 && textWidth(letters.join("") + "…", size) > width) letters.pop();
  return letters.length > 0 ? letters.join("") + "…" : "";
}

/* ---- SVG ---- */

const short = x => String(Math.round(x * 100) / 100);
const pathData = parts => parts.map(part => part.map(([x, y], i) => (i ? "L" : "M") + short(x) + " " + short(y)).join("") + (part.closed ? "Z" : "")).join("");
let clipNumber = 0;

/* `palette`: colours by name; `background`: a colour behind it all. */
function svg(drawing, palette = paper, background = null) {
  const make = (name, attributes, parent) => {
    const e = document.createElementNS(NS, name);
    for (const [k, v] of Object.entries(attributes)) if (v !== undefined && v !== null) e.setAttribute(k, v);
    if (parent) parent.append(e);
    return e;
  };
  const root = make("svg", { viewBox: `0 0 ${short(drawing.width)} ${short(drawing.height)}`, width: short(drawing.width), height: short(drawing.height), role: "img", "aria-label": drawing.title, "font-family": "Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif" });
  const colour = c => palette[c] || c, ids = [];
  if (drawing.clips.length > 0) {
    const defs = make("defs", {}, root);
    for (const [x, y, width, height] of drawing.clips) {
      ids.push("clip" + ++clipNumber);
      make("rect", { x: short(x), y: short(y), width: short(width), height: short(height) }, make("clipPath", { id: ids[ids.length - 1] }, defs));
    }
  }
  if (background) make("rect", { width: "100%", height: "100%", fill: background }, root);
  let at = -1, parent = root;
  for (const op of drawing.ops) {
    if (op.clip !== at) parent = (at = op.clip) < 0 ? root : make("g", { "clip-path": `url(#${ids[at]})` }, root);
    if (op.kind === "path") {
      const p = op.pen;
      make("path", { d: pathData(op.parts), fill: p.fill ? colour(p.fill) : "none", "fill-opacity": p.fill && p.fillAlpha < 1 ? short(p.fillAlpha) : null,
        stroke: p.stroke ? colour(p.stroke) : null, "stroke-opacity": p.stroke && p.strokeAlpha < 1 ? short(p.strokeAlpha) : null, "stroke-width": p.stroke ? short(p.width || 1) : null,
        "stroke-dasharray": p.stroke && p.dash ? p.dash : null, "stroke-linejoin": p.stroke ? "round" : null }, parent);
    } else {
      const s = op.style;
      make("text", { x: short(op.x), y: short(op.y), "font-size": short(s.size), "text-anchor": s.anchor === "start" ? null : s.anchor, "font-weight": s.bold ? "bold" : null,
        fill: colour(s.ink || "ink"), transform: s.turn ? `rotate(${short(s.turn)} ${short(op.x)} ${short(op.y)})` : null,
        /* as wide as the layout reckoned with, whatever font takes Helvetica's place */
        textLength: known(op.text) ? short(textWidth(op.text, s.size)) : null, lengthAdjust: known(op.text) ? "spacingAndGlyphs" : null }, parent).textContent = op.text;
    }
  }
  return root;
}

function svgText(drawing, background) {
  const root = svg(drawing, paper, background);
  root.setAttribute("xmlns", NS);
  return new XMLSerializer().serializeToString(root);
}

/* ---- PDF ---- */

const symbols = { Α: "A", Β: "B", Γ: "G", Δ: "D", Θ: "Q", Λ: "L", Ξ: "X", Π: "P", Σ: "S", Φ: "F", Ψ: "Y", Ω: "W", α: "a", β: "b", γ: "g", δ: "d", ε: "e", ζ: "z", η: "h", θ: "q", ι: "i", κ: "k", λ: "l", μ: "m", ν: "n", ξ: "x", ο: "o", π: "p", ρ: "r", σ: "s", τ: "t", υ: "u", φ: "f", χ: "c", ψ: "y", ω: "w" };
const indices = "₀₁₂₃₄₅₆₇₈₉", powers = "⁰¹²³⁴⁵⁶⁷⁸⁹";

/* The text in runs of one font: Helvetica, Symbol, or Helvetica small and out of line. */
function runs(text) {
  const out = [];
  for (const c of text) {
    const point = c.codePointAt(0);
    let font = "H", shift = 0, byte = c;
    if (symbols[c]) { font = "S"; byte = symbols[c]; }
    else if (indices.includes(c)) { shift = -0.15; byte = String(indices.indexOf(c)); }
    else if (powers.includes(c)) { shift = 0.35; byte = String(powers.indexOf(c)); }
    else if (c === "⁻") { shift = 0.35; byte = "-"; }
    else if (c === "−") byte = "\u0096";
    else if (c === "…") byte = "\u0085";
    else if (!(point >= 32 && point < 127 || point >= 161 && point < 256)) byte = "?";
    const last = out[out.length - 1];
    if (last && last.font === font && last.shift === shift) last.text += byte;
    else out.push({ font, shift, text: byte });
  }
  return out;
}
const byteWidth = (run, size) => [...run.text].reduce((sum, c) => sum + widthOf(c.charCodeAt(0)), 0) * size * (run.shift ? 0.65 : 1);

function rgb(colour) {
  const n = parseInt((paper[colour] || colour).slice(1), 16);
  return [n >> 16, n >> 8 & 255, n & 255].map(v => (v / 255).toFixed(3)).join(" ");
}

function pdfText(op, height, use) {
  const { size, anchor, turn = 0, ink = "ink" } = op.style, pieces = runs(op.text), width = pieces.reduce((sum, r) => sum + byteWidth(r, size), 0);
  const angle = -turn * Math.PI / 180, c = Math.cos(angle), s = Math.sin(angle), out = [use(1), rgb(ink) + " rg"];
  let along = anchor === "middle" ? -width / 2 : anchor === "end" ? -width : 0;
  for (const r of pieces) {
    const up = r.shift * size, escaped = r.text.replace(/[()\\]/g, "\\$&");
    const x = op.x + along * c - up * s, y = height - op.y + along * s + up * c;
    out.push(`BT /${op.style.bold && r.font === "H" ? "HB" : r.font} ${short(r.shift ? size * .65 : size)} Tf ${c.toFixed(4)} ${s.toFixed(4)} ${(-s).toFixed(4)} ${c.toFixed(4)} ${short(x)} ${short(y)} Tm (${escaped}) Tj ET`);
    along += byteWidth(r, size);
  }
  return out;
}

function pdfPath(op, height, use) {
  const trace = op.parts.map(part => part.map(([x, y], i) => `${short(x)} ${short(height - y)} ${i ? "l" : "m"}`).join("\n") + (part.closed ? " h" : "")).join("\n");
  const p = op.pen, out = [];
  if (p.fill) out.push(use(p.fillAlpha ?? 1), rgb(p.fill) + " rg", trace, "f");
  if (p.stroke) out.push(use(p.strokeAlpha ?? 1), rgb(p.stroke) + " RG", `${short(p.width || 1)} w [${p.dash || ""}] 0 d`, trace, "S");
  return out;
}

/* One page of the drawing's size; a string of bytes. */
function pdf(drawing) {
  const states = new Set(), use = alpha => { const n = Math.round(100 * Math.min(1, alpha)); states.add(n); return `/A${n} gs`; };
  const content = ["1 j"];
  let at = -1;
  for (const op of drawing.ops) {
    if (op.clip !== at) {
      if (at >= 0) content.push("Q");
      at = op.clip;
      if (at >= 0) { const [x, y, w, h] = drawing.clips[at]; content.push(`q ${short(x)} ${short(drawing.height - y - h)} ${short(w)} ${short(h)} re W n`); }
    }
    content.push(...(op.kind === "path" ? pdfPath : pdfText)(op, drawing.height, use));
  }
  if (at >= 0) content.push("Q");
  const stream = content.join("\n"), font = name => `<< /Type /Font /Subtype /Type1 /BaseFont /${name}${name === "Symbol" ? "" : " /Encoding /WinAnsiEncoding"} >>`;
  const title = [...drawing.title].flatMap(c => c.length === 2 ? [c.charCodeAt(0), c.charCodeAt(1)] : [c.charCodeAt(0)]).map(n => n.toString(16).padStart(4, "0")).join("");
  const objects = ["<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 ${short(drawing.width)} ${short(drawing.height)}] /Contents 8 0 R /Resources << /Font << /H 4 0 R /HB 5 0 R /S 6 0 R >> /ExtGState 7 0 R >> >>`,
    font("Helvetica"), font("Helvetica-Bold"), font("Symbol"), `<< ${[...states].map(n => `/A${n} << /ca ${n / 100} /CA ${n / 100} >>`).join(" ")} >>`,
    `<< /Length ${stream.length} >>\nstream\n${stream}\nendstream`, `<< /Producer (gess) /Title <feff${title}> >>`];
  let file = "%PDF-1.4\n%\u00e2\u00e3\u00cf\u00d3\n";
  const places = objects.map((o, i) => { const place = file.length; file += `${i + 1} 0 obj\n${o}\nendobj\n`; return place; });
  const table = file.length;
  file += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n` + places.map(p => String(p).padStart(10, "0") + " 00000 n \n").join("");
  return file + `trailer\n<< /Size ${objects.length + 1} /Root 1 0 R /Info ${objects.length} 0 R >>\nstartxref\n${table}\n%%EOF\n`;
}

/* ---- PNG ---- */

async function png(drawing) {
  const image = new Image(), scale = Math.min(3, 8000 / Math.max(drawing.width, drawing.height));
  image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(svgText(drawing, paper.card));
  await image.decode();
  const canvas = Object.assign(document.createElement("canvas"), { width: Math.ceil(drawing.width * scale), height: Math.ceil(drawing.height * scale) });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise(done => canvas.toBlob(done, "image/png"));
}

/* The drawing as a file of a kind: svg, pdf or png. */
async function blob(drawing, kind) {
  if (kind === "png") return png(drawing);
  if (kind === "svg") return new Blob([svgText(drawing)], { type: "image/svg+xml" });
  return new Blob([Uint8Array.from(pdf(drawing), c => c.charCodeAt(0))], { type: "application/pdf" });
}

/* ---- recording a canvas ---- */

function cssColour(text, alpha) {
  if (typeof text !== "string") return { colour: "#888888", alpha: 0 };
  if (text[0] === "#") return { colour: text.length === 4 ? "#" + [...text.slice(1)].map(c => c + c).join("") : text.slice(0, 7), alpha: alpha * (text.length === 9 ? parseInt(text.slice(7), 16) / 255 : 1) };
  const parts = (text.match(/[\d.]+/g) || [0, 0, 0, 0]).map(Number);
  return { colour: "#" + parts.slice(0, 3).map(v => Math.round(v).toString(16).padStart(2, "0")).join(""), alpha: alpha * (parts.length > 3 ? parts[3] : 1) };
}

/* A context that draws as the canvas's own does and notes what it draws. */
function recorder(context, drawing) {
  let parts = [], matrix = new DOMMatrix(), clip = -1;
  const stack = [];
  const to = (x, y) => { const p = matrix.transformPoint({ x, y }); return [p.x, p.y]; };
  const scale = () => Math.hypot(matrix.a, matrix.b);
  const last = () => { if (parts.length === 0) parts.push([]); return parts[parts.length - 1]; };
  const box = (x, y, w, h) => closed([to(x, y), to(x + w, y), to(x + w, y + h), to(x, y + h)]);
  const add = (list, fill, stroke) => {
    const f = fill && cssColour(context.fillStyle, context.globalAlpha), s = stroke && cssColour(context.strokeStyle, context.globalAlpha), dash = context.getLineDash();
    if (f && f.alpha <= 0 || s && s.alpha <= 0) return;
    drawing.clip = clip;
    drawing.path(list, { fill: f ? f.colour : null, fillAlpha: f ? f.alpha : 1, stroke: s ? s.colour : null, strokeAlpha: s ? s.alpha : 1, width: context.lineWidth * scale(), dash: stroke && dash.length ? dash[0] * scale() : 0 });
  };
  const text = (string, x, y) => {
    const [px, py] = to(x, y), size = parseFloat((context.font.match(/([\d.]+)px/) || [0, 12])[1]), f = cssColour(context.fillStyle, 1);
    const drop = { top: .78, hanging: .78, middle: .34, alphabetic: 0, bottom: -.2, ideographic: -.2 }[context.textBaseline] || 0, turn = Math.atan2(matrix.b, matrix.a);
    drawing.clip = -1;
    drawing.text(px - Math.sin(turn) * drop * size, py + Math.cos(turn) * drop * size, string, { size: size * scale(), anchor: { center: "middle", right: "end", end: "end" }[context.textAlign] || "start", bold: /\b(bold|[6-9]00)\b/.test(context.font), ink: f.colour, turn: turn * 180 / Math.PI });
  };
  const noted = {
    save() { stack.push([matrix, clip]); }, restore() { if (stack.length) [matrix, clip] = stack.pop(); },
    translate(x, y) { matrix = matrix.translate(x, y); }, rotate(a) { matrix = matrix.rotate(a * 180 / Math.PI); }, scale(x, y) { matrix = matrix.scale(x, y); },
    setTransform(...m) { matrix = m.length === 6 ? new DOMMatrix(m) : m[0] ? DOMMatrix.fromMatrix(m[0]) : new DOMMatrix(); }, resetTransform() { matrix = new DOMMatrix(); },
    transform(...m) { matrix = matrix.multiply(new DOMMatrix(m)); },
    beginPath() { parts = []; }, moveTo(x, y) { parts.push([to(x, y)]); }, lineTo(x, y) { last().push(to(x, y)); }, closePath() { if (parts.length) last().closed = true; },
    rect(x, y, w, h) { parts.push(box(x, y, w, h)); },
    bezierCurveTo(a, b, c, d, x, y) { const from = last()[last().length - 1] || to(a, b), p = to(a, b), q = to(c, d), end = to(x, y); for (let i = 1; i <= 8; i++) { const t = i / 8, u = 1 - t; last().push([0, 1].map(k => u ** 3 * from[k] + 3 * u * u * t * p[k] + 3 * u * t * t * q[k] + t ** 3 * end[k])); } },
    arc(x, y, r, a, b) { for (let i = 0; i <= 16; i++) last().push(to(x + r * Math.cos(a + (b - a) * i / 16), y + r * Math.sin(a + (b - a) * i / 16))); },
    fill() { add(parts, true, false); }, stroke() { add(parts, false, true); },
    fillRect(x, y, w, h) { add([box(x, y, w, h)], true, false); }, strokeRect(x, y, w, h) { add([box(x, y, w, h)], false, true); },
    clip() { const points = parts.flat(); if (points.length === 0) return; const xs = points.map(p => p[0]), ys = points.map(p => p[1]); let [x, y, X, Y] = [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
      if (clip >= 0) { const c = drawing.clips[clip]; x = Math.max(x, c[0]); y = Math.max(y, c[1]); X = Math.min(X, c[0] + c[2]); Y = Math.min(Y, c[1] + c[3]); }
      drawing.clipTo(x, y, Math.max(0, X - x), Math.max(0, Y - y)); clip = drawing.clip; },
    fillText(string, x, y) { text(string, x, y); },
  };
  return new Proxy(context, {
    get(target, key) {
      const value = target[key];
      if (typeof value !== "function") return value;
      return (...a) => { if (noted[key]) noted[key](...a); return target[key](...a); };
    },
    set(target, key, value) { target[key] = value; return true; },
  });
}

/* A chart of Chart.js as a drawing, made anew on a canvas that is not shown. */
function chartDrawing(config, width, height, title) {
  const canvas = Object.assign(document.createElement("canvas"), { width, height }), drawing = new Drawing(width, height + (title ? 22 : 0), title || "chart");
  const shifted = new Drawing(width, height, title), context = recorder(canvas.getContext("2d"), shifted);
  canvas.getContext = () => context;
  const options = { ...config.options, responsive: false, maintainAspectRatio: false, animation: false, devicePixelRatio: 1, events: [] };
  const chart = new Chart(canvas, { type: config.type, data: { labels: config.data.labels, datasets: config.data.datasets.map(d => ({ ...d })) }, options });
  shifted.ops.length = shifted.clips.length = 0;
  chart.draw();
  chart.destroy();
  if (title) drawing.text(8, 15, fit(title, width - 16, 12), { size: 12, anchor: "start", bold: true });
  const down = title ? 22 : 0;
  drawing.clips = shifted.clips.map(([x, y, w, h]) => [x, y + down, w, h]);
  drawing.ops = [...drawing.ops, ...shifted.ops.map(op => op.kind === "text" ? { ...op, y: op.y + down } : { ...op, parts: op.parts.map(part => { const p = part.map(([x, y]) => [x, y + down]); p.closed = part.closed; return p; }) })];
  return drawing;
}

return { Drawing, closed, svg, svgText, pdf, blob, chartDrawing, textWidth, fit, paper };
})();
