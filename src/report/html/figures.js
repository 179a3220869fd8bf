/* The figures that open the page: corner, forest and traces, as drawings of GessVector. They are laid out as those of
 * `gess plot` (src/plot), in CSS pixels, from the numbers in the page. */
const GessFigures = (() => {
const { Drawing, closed, textWidth, fit } = GessVector;
const GRID = 64, shares = [1 - Math.exp(-.5), 1 - Math.exp(-2)]; /* 1σ and 2σ in two dimensions */
const finite = x => typeof x === "number" && Number.isFinite(x);
const series = ["blue", "orange", "#0f9b74", "#b65f9b", "#a58a00", "#5a57c9", "#c0392b", "#6b7785"];
const small = (anchor, ink = "quiet", size = 11) => ({ size, anchor, ink });

/* ---- axes ---- */

const place = (axis, v) => axis.from + (axis.hi > axis.lo ? (v / 2 - axis.lo / 2) / (axis.hi / 2 - axis.lo / 2) : .5) * (axis.to - axis.from);
const exponent = x => Math.floor(Math.log10(Math.abs(x)) + 1e-12);
const raised = n => String(n).replace(/./g, c => c === "-" ? "⁻" : "⁰¹²³⁴⁵⁶⁷⁸⁹"[c]);
const digits = (x, decimals) => { const t = Math.abs(x).toFixed(Math.max(0, Math.min(12, decimals))); return (x < 0 && Number(t) !== 0 ? "−" : "") + t; };

/* At most `max` round numbers: [value, text], and what the texts leave out. */
function ticks(lo, hi, max) {
  const range = hi - lo, largest = Math.max(Math.abs(lo), Math.abs(hi)), out = { list: [], scale: "" };
  if (!(range > 0) || !Number.isFinite(range) || !(largest > 1e-290)) return out;
  const least = range / max, unit = 10 ** exponent(least), steps = [.2, .5, 1, 2, 5, 10].map(k => k * unit);
  let at = steps.findIndex((s, i) => i > 1 && s >= least * (1 - 1e-9)), offset = 0, scale = 0;
  if (range < 1e-4 * largest) {
    const round = 10 * 10 ** exponent(range);
    offset = Math.floor(lo / round) * round;
    out.scale = (offset < 0 ? " + " : " − ") + String(Number(Math.abs(offset).toPrecision(15)));
    if (range < 1e-3) scale = exponent(range);
  } else if (largest >= 1e5 || largest < 1e-3) scale = exponent(largest);
  if (scale !== 0) out.scale += (out.scale ? "," : "") + " / 10" + raised(scale);
  /* one number alone is no scale */
  for (let i = 0; i < 2 && Math.floor((hi - offset) / steps[at] + 1e-9) < Math.ceil((lo - offset) / steps[at] - 1e-9) + 1; i++) at--;
  const step = steps[at];
  for (let k = Math.ceil((lo - offset) / step - 1e-9); offset + k * step <= hi + 1e-9 * range && out.list.length < 12; k++)
    out.list.push([offset + k * step, digits(k * step / 10 ** scale, scale - exponent(step))]);
  return out;
}

/* room: how far a label may reach beyond the ends of the axis; negative: no labels. */
function axisBelow(d, axis, t, y, room) {
  let after = -Infinity;
  for (const [v, text] of t.list) {
    const x = place(axis, v), half = textWidth(text, 10) / 2;
    d.segment(x, y, x, y - 4, { stroke: "frame" });
    if (room < 0 || x - half < after || x - half < axis.from - room || x + half > axis.to + room) continue;
    d.text(x, y + 12, text, small("middle", "quiet", 10));
    after = x + half + 4;
  }
}

function axisLeft(d, axis, t, x, labels) {
  for (const [v, text] of t.list) {
    const y = place(axis, v);
    d.segment(x, y, x + 4, y, { stroke: "frame" });
    if (labels) d.text(x - 4, y + 3.5, text, small("end", "quiet", 10));
  }
}

/* The power of ten that an interval is given in, 0 for none, and its decimals, with two digits of the smaller error: a plain
 * number as long as its digits are all known, however large it is. Null: there is no interval. */
function intervalFormat(low, middle, high) {
  const up = high - middle, down = middle - low, least = Math.min(up, down), largest = Math.max(Math.abs(middle), up, down);
  if (!finite(low) || !finite(middle) || !finite(high) || !(least > 0)) return null;
  let scale = 0, decimals = 1 - exponent(least);
  if (least / 10 ** exponent(least) >= 9.95) decimals--;
  if (largest < 1e-3 || largest >= 1e15 || largest >= 1e5 && decimals < 0) { scale = exponent(largest); decimals += scale; }
  decimals = Math.max(0, Math.min(12, decimals));
  return { scale, of: x => digits(x / 10 ** scale, decimals), power: scale ? "×10" + raised(scale) : "" };
}

/* Value, errors and what all of them are multiplied by; `below` is empty if both errors read the same. */
function intervalText(low, middle, high) {
  const f = intervalFormat(low, middle, high);
  if (!f) return { value: finite(middle) ? String(Number(middle.toPrecision(4))).replace(/-/g, "−") : "NA", above: "", below: "", power: "", scale: 0 };
  const value = f.of(middle), up = f.of(high - middle), down = f.of(middle - low), { power, scale } = f;
  return up === down ? { value, above: "± " + up, below: "", power, scale } : { value, above: "+" + up, below: "−" + down, power, scale };
}

/* The parts in one line. */
function intervalLine({ value, above, below, power }) {
  const line = [value, above, below].filter(Boolean).join(" ");
  return power ? `(${line})${power}` : line;
}

/* Two numbers with as many decimals as the value of an interval has. */
function rangeText(from, to, low, middle, high) {
  const f = intervalFormat(low, middle, high) || { of: x => String(Number(x.toPrecision(4))).replace(/-/g, "−"), power: "" };
  if (!finite(from) || !finite(to)) return "NA";
  return f.power ? `(${f.of(from)} to ${f.of(to)})${f.power}` : `${f.of(from)} to ${f.of(to)}`;
}

/* ---- densities ---- */

const quantile = (s, p) => { const at = p * (s.length - 1), i = Math.floor(at); return i + 1 < s.length ? s[i] + (at - i) * (s[i + 1] - s[i]) : s[s.length - 1]; };

function localScale(sorted) {
  const n = sorted.length, mean = sorted.reduce((a, b) => a + b / n, 0), sd = Math.sqrt(sorted.reduce((a, b) => a + (b - mean) ** 2 / n, 0));
  const half = (quantile(sorted, .75) - quantile(sorted, .25)) / 1.349, quarter = Math.floor(n / 4);
  let shortest = Infinity;
  for (let i = 0; quarter > 8 && i + quarter < n; i++) shortest = Math.min(shortest, sorted[i + quarter] - sorted[i]);
  return Math.min(sd, half > 0 ? half : Infinity, shortest > 0 ? shortest / .637 : Infinity);
}

function blur(grid, width, next, line, low, high) {
  const reach = Math.min(GRID - 1, Math.ceil(3.5 * width)), weights = [];
  if (!(width > .05)) return;
  for (let k = 0; k <= reach; k++) weights.push(Math.exp(-.5 * k * k / width ** 2));
  const total = 2 * weights.reduce((a, b) => a + b, 0) - 1;
  for (let l = 0; l < GRID; l++) {
    const v = Array.from({ length: GRID }, (_, i) => grid[l * line + i * next]);
    for (let i = 0; i < GRID; i++) {
      let sum = 0;
      for (let k = -reach; k <= reach; k++) {
        let from = i + k;
        if (from < 0 && low) from = -1 - from;
        if (from >= GRID && high) from = 2 * GRID - 1 - from;
        if (from >= 0 && from < GRID) sum += weights[Math.abs(k)] * v[from];
      }
      grid[l * line + i * next] = sum / total;
    }
  }
}

/* The smoothed density of two parameters on their views, the levels that `shares` of the draws exceed, and its value at
 * every draw. */
function surface(a, b) {
  const x = a.sample, y = b.sample, grid = new Float64Array(GRID * GRID), n = x.length;
  const u = x.map(v => (v - a.lo) / (a.hi - a.lo) * GRID), v = y.map(w => (w - b.lo) / (b.hi - b.lo) * GRID), inside = [];
  for (let i = 0; i < n; i++) {
    if (Number.isNaN(u[i] + v[i])) continue;
    inside.push(i);
    if (u[i] >= 0 && u[i] <= GRID && v[i] >= 0 && v[i] <= GRID) grid[Math.min(GRID - 1, Math.floor(v[i])) * GRID + Math.min(GRID - 1, Math.floor(u[i]))]++;
  }
  const worth = Math.max(20, Math.min(inside.length, a.ess || Infinity, b.ess || Infinity)), factor = 1.2 * worth ** (-1 / 6);
  blur(grid, factor * a.scale / (a.hi - a.lo) * GRID, 1, GRID, a.lo <= a.least, a.hi >= a.most);
  blur(grid, factor * b.scale / (b.hi - b.lo) * GRID, GRID, 1, b.lo <= b.least, b.hi >= b.most);
  const cell = (r, c) => grid[Math.max(0, Math.min(GRID - 1, r)) * GRID + Math.max(0, Math.min(GRID - 1, c))];
  const at = i => {
    if (!(u[i] >= 0 && u[i] <= GRID && v[i] >= 0 && v[i] <= GRID)) return 0;
    const c = Math.floor(u[i] - .5), r = Math.floor(v[i] - .5), s = u[i] - .5 - c, t = v[i] - .5 - r;
    return (1 - t) * ((1 - s) * cell(r, c) + s * cell(r, c + 1)) + t * ((1 - s) * cell(r + 1, c) + s * cell(r + 1, c + 1));
  };
  const values = inside.map(at), sorted = Float64Array.from(values).sort();
  return { cell, inside, values, levels: shares.map(share => Math.max(quantile(sorted, 1 - share), 1e-12 * sorted[sorted.length - 1])) };
}

/* Closed lines around {density ≥ level}, in units of cells: marching squares with a frame of zeros. */
function contours(cell, level) {
  const M = GRID + 4, node = (r, c) => r <= 0 || c <= 0 || r >= M - 1 || c >= M - 1 ? 0 : cell(r - 2, c - 2);
  const where = k => k === 0 ? -1e-6 : k === 1 ? 0 : k === M - 2 ? GRID : k === M - 1 ? GRID + 1e-6 : k - 1.5;
  const R = [0, 0, 1, 1, 0], C = [0, 1, 1, 0, 0], used = new Uint8Array(M * M), lines = [];
  const high = (r, c, e) => node(r + R[e], c + C[e]) >= level;
  for (let row = 0; row < M - 1; row++) for (let column = 0; column < M - 1; column++) for (let edge = 0; edge < 4; edge++) {
    if (!high(row, column, edge) || high(row, column, edge + 1) || used[row * M + column] >> edge & 1) continue;
    const line = [];
    let r = row, c = column, e = edge;
    while (!(used[r * M + c] >> e & 1)) {
      used[r * M + c] |= 1 << e;
      const a = node(r + R[e], c + C[e]), b = node(r + R[e + 1], c + C[e + 1]), t = (level - a) / (b - a);
      line.push([where(c + C[e]) + t * (where(c + C[e + 1]) - where(c + C[e])), where(r + R[e]) + t * (where(r + R[e + 1]) - where(r + R[e]))]);
      const out = [1, 2, 3].map(k => (e + k) % 4).find(k => !high(r, c, k) && high(r, c, k + 1));
      if (out === undefined) break;
      r += [-1, 0, 1, 0][out];
      c += [0, 1, 0, -1][out];
      e = (out + 2) % 4;
    }
    lines.push(closed(line));
  }
  return lines;
}

/* ---- the corner plot ---- */

function title(d, x, y, width, p, size) {
  const words = intervalText(p.low, p.middle, p.high), { value, above, below } = words, split = below !== "", tiny = size * .72;
  const errors = split ? Math.max(textWidth(above, tiny), textWidth(below, tiny)) + 1 : 0, number = split ? value : intervalLine(words), behind = split ? textWidth(words.power, size) : 0;
  const room = width - textWidth(" = " + number, size) - errors - behind;
  if (room < 14) d.text(x, y - size * 1.25, fit(p.name, width, size), small("middle", "ink", size));
  const text = room < 14 ? number : `${fit(p.name, room, size)} = ${number}`, front = textWidth(text, size), start = x - (front + errors + behind) / 2;
  d.text(start, y, text, small("start", "ink", size));
  if (!split) return;
  d.text(start + front + 1, y - size * .42, above, small("start", "ink", tiny));
  d.text(start + front + 1, y + size * .3, below, small("start", "ink", tiny));
  if (behind) d.text(start + front + errors, y, words.power, small("start", "ink", size));
}

/* parameters: name, runs [{sample, ess}], lo, hi (the view), low, middle, high (the interval), truth, prior {x, y}.
 * options: width of the page, names of the runs, words for the interval. */
function corner(parameters, options) {
  const n = parameters.length, names = options.runs, narrow = options.width < 520, size = narrow ? 10 : 12, left = narrow ? 44 : 58, gap = narrow ? 4 : 7;
  const panel = Math.max(56, Math.min(n === 1 ? 300 : 190, Math.floor((options.width - left - 12) / n) - gap)), pitch = panel + gap, top = 2.6 * size + 14, side = n * pitch - gap;
  const d = new Drawing(left + side + 12, top + side + 36, `Corner plot of ${parameters.map(p => p.name).join(", ")}: contours hold 39 % and 86 % of the draws.`);
  const box = (x, y) => d.rect(x, y, panel, panel, { stroke: "frame" });
  d.masses = {};
  for (const p of parameters) {
    let { lo, hi } = p;
    if (finite(p.truth) && p.truth < lo && p.truth > lo - 1.5 * (hi - lo)) p.lo = p.truth - .05 * (hi - lo);
    if (finite(p.truth) && p.truth > hi && p.truth < hi + 1.5 * (hi - lo)) p.hi = p.truth + .05 * (hi - lo);
    p.ticks = ticks(p.lo, p.hi, panel < 70 ? 3 : 5);
    for (const r of p.runs) {
      if (!r) continue;
      const sorted = Float64Array.from(r.sample.filter(finite)).sort();
      Object.assign(r, { scale: localScale([...sorted]), least: sorted[0], most: sorted[sorted.length - 1], lo: p.lo, hi: p.hi, n: sorted.length });
    }
  }
  parameters.forEach((p, at) => {
    const x0 = left + at * pitch, y0 = top + at * pitch, bottom = y0 + panel, x = { lo: p.lo, hi: p.hi, from: x0, to: x0 + panel };
    const bins = Math.max(16, Math.min(40, Math.floor(panel / 4))), width = (p.hi - p.lo) / bins;
    const heights = p.runs.map(r => {
      if (!r) return null;
      const counts = new Array(bins).fill(0);
      for (const v of r.sample) { const k = (v - p.lo) / width; if (k >= 0 && k <= bins) counts[Math.min(bins - 1, Math.floor(k))]++; }
      return counts.map(c => c / (r.n * width));
    });
    const scale = .9 * panel / Math.max(...heights.filter(Boolean).flat());
    d.clipTo(x0, y0, panel, panel);
    heights.forEach((h, run) => {
      if (!h) return;
      const line = [[x0, bottom]];
      h.forEach((v, b) => line.push([place(x, p.lo + b * width), bottom - v * scale], [place(x, p.lo + (b + 1) * width), bottom - v * scale]));
      line.push([x0 + panel, bottom]);
      d.line(line, { fill: series[run % 8], fillAlpha: names.length > 1 ? .12 : .22, stroke: series[run % 8], width: 1.4 });
    });
    if (p.prior) d.line(p.prior.x.map((v, i) => [place(x, v), bottom - p.prior.y[i] * scale]), { stroke: "green", width: 1.4, dash: 4 });
    if (names.length === 1) [p.low, p.middle, p.high].forEach((v, i) => finite(v) && d.segment(place(x, v), y0, place(x, v), bottom, { stroke: "ink", strokeAlpha: .8, dash: i === 1 ? 0 : 3 }));
    if (finite(p.truth)) d.segment(place(x, p.truth), y0, place(x, p.truth), bottom, { stroke: "orange", width: 1.5 });
    d.unclip();
    axisBelow(d, x, p.ticks, bottom, at + 1 === n ? 1 : -1);
    box(x0, y0);
    title(d, x0 + panel / 2, y0 - 8, pitch + 6, p, size);
    const name = fit(p.name, panel - textWidth(p.ticks.scale, size), size) + p.ticks.scale;
    d.text(x0 + panel / 2, top + side + 29, name, small("middle", "ink", size));
    if (at > 0) d.text(13, y0 + panel / 2, name, { ...small("middle", "ink", size), turn: -90 });
    for (let column = 0; column < at; column++) pair(column, at);
  });
  function pair(column, row) {
    const a = parameters[column], b = parameters[row], x0 = left + column * pitch, y0 = top + row * pitch;
    const x = { lo: a.lo, hi: a.hi, from: x0, to: x0 + panel }, y = { lo: b.lo, hi: b.hi, from: y0 + panel, to: y0 };
    d.clipTo(x0, y0, panel, panel);
    names.forEach((_, run) => {
      const r = a.runs[run], q = b.runs[run];
      if (!r || !q) return;
      const s = surface(r, q), hue = series[run % 8];
      if (s.inside.length < 10) return;
      if (names.length === 1) {
        const outside = s.inside.filter((_, i) => s.values[i] < s.levels[1]), step = Math.ceil(outside.length / 500) || 1;
        d.path(outside.filter((_, i) => i % step === 0).map(i => { const px = place(x, r.sample[i]), py = place(y, q.sample[i]); return closed([[px - .6, py], [px, py - .6], [px + .6, py], [px, py + .6]]); }), { fill: hue, fillAlpha: .45 });
      }
      for (const k of [1, 0]) {
        const lines = contours(s.cell, s.levels[k]);
        d.path(lines.map(l => { const p = l.map(([u, v]) => [x0 + u / GRID * panel, y0 + panel - v / GRID * panel]); p.closed = true; return p; }),
          { fill: names.length === 1 || k === 0 ? hue : null, fillAlpha: names.length > 1 ? .12 : k === 0 ? .32 : .16, stroke: hue, width: k === 0 ? 1.4 : 1 });
        d.masses[`${row}-${column}-${run}-${k}`] = { lines, share: shares[k] };
      }
    });
    const px = place(x, a.truth), py = place(y, b.truth), line = { stroke: "orange", width: 1.2, strokeAlpha: .9 };
    if (finite(a.truth)) d.segment(px, y0, px, y0 + panel, line);
    if (finite(b.truth)) d.segment(x0, py, x0 + panel, py, line);
    if (finite(a.truth) && finite(b.truth)) d.rect(px - 2.5, py - 2.5, 5, 5, { fill: "orange" });
    d.unclip();
    axisBelow(d, x, a.ticks, y0 + panel, row + 1 === n ? 1 : -1);
    axisLeft(d, y, b.ticks, x0, column === 0);
    box(x0, y0);
  }
  if (n >= 3 && !narrow) key(d, left + side, top + 6, size - 1, options, parameters, pitch * (n - 2) - 6);
  return d;
}

function key(d, right, y, size, options, parameters, width) {
  const rows = options.runs.length > 1 ? options.runs.map((name, i) => [name, { stroke: series[i % 8], width: 1.5 }]) : [[options.interval, { stroke: "ink", dash: 3 }]];
  rows.push(["1σ and 2σ: 39 % and 86 %", { stroke: "blue", width: 1.4 }]);
  if (parameters.some(p => finite(p.truth))) rows.push(["true value", { stroke: "orange", width: 1.5 }]);
  if (parameters.some(p => p.prior)) rows.push(["prior", { stroke: "green", width: 1.4, dash: 4 }]);
  rows.forEach(([text, pen], i) => {
    d.text(right - 30, y + i * size * 1.5, fit(text, width - 30, size), small("end", "quiet", size));
    d.segment(right - 24, y + i * size * 1.5 - 4, right, y + i * size * 1.5 - 4, pen);
  });
}

/* ---- the forest ---- */

/* rows: name, intervals per run [{low, middle, high, q5, q95, rhat, doubtful}], truth. */
function forest(rows, options) {
  const runs = options.runs.length, narrow = options.width < 620, size = narrow ? 11 : 12.5, line = runs > 1 ? 8 + 9 * runs : 20, named = narrow ? 92 : 170;
  const texts = rows.map(r => r.intervals[0] ? intervalLine(intervalText(r.intervals[0].low, r.intervals[0].middle, r.intervals[0].high)) : "");
  const numbers = narrow ? 0 : Math.max(150, ...texts.map(text => textWidth(text, 12) + 26)), rhat = 52, width = Math.max(280, Math.min(options.width, 920)), top = 30, bottom = top + rows.length * line;
  const axis = { lo: Infinity, hi: -Infinity, from: named, to: width - numbers - rhat - 8 };
  const all = rows.flatMap(r => r.intervals).filter(i => i && finite(i.q5) && finite(i.q95));
  for (const i of all) { axis.lo = Math.min(axis.lo, i.q5); axis.hi = Math.max(axis.hi, i.q95); }
  for (const r of rows) if (finite(r.truth)) { axis.lo = Math.min(axis.lo, r.truth); axis.hi = Math.max(axis.hi, r.truth); }
  const range = axis.hi - axis.lo, shared = range > 0 && Number.isFinite(range) && 2 * all.filter(i => i.q95 - i.q5 > .025 * range).length >= all.length;
  if (shared) { axis.lo -= .03 * range; axis.hi += .03 * range; } else { axis.lo = -3.2; axis.hi = 3.2; }
  const d = new Drawing(width, bottom + 36, `Forest plot of ${rows.length} parameters.`), t = ticks(axis.lo, axis.hi, narrow ? 4 : 7);
  for (const [v] of t.list) d.segment(place(axis, v), top, place(axis, v), bottom, { stroke: "faint" });
  const scaleOf = r => {
    const base = r.intervals.find(i => i && finite(i.low));
    return v => place(axis, shared || !base ? v : base.high > base.low ? (v - base.middle) / (.5 * (base.high - base.low)) : 0);
  };
  /* middles are lines where a diamond would hide an interval that is hardly longer than itself */
  const h = runs > 1 ? 3.4 : narrow ? 3 : 4.6, lines = rows.some(r => r.intervals.some(i => i && i.high > i.low && scaleOf(r)(i.high) - scaleOf(r)(i.low) < 5 * h));
  rows.forEach((r, at) => {
    const of = scaleOf(r);
    const middle = top + (at + .5) * line;
    d.text(named - 8, middle + 4, fit(r.name, named - 12, size), small("end", "ink", size));
    r.intervals.forEach((i, run) => {
      if (!i || !finite(i.low) || !finite(i.high) || !finite(i.q5) || !finite(i.q95)) return;
      const y = middle + (run - (runs - 1) / 2) * 9, hue = series[run % 8], x = of(i.middle);
      d.clipTo(axis.from, y - 8, axis.to - axis.from, 16);
      d.segment(of(i.q5), y, of(i.q95), y, { stroke: hue, width: 1.3 });
      d.segment(of(i.low), y, of(i.high), y, { stroke: hue, width: runs > 1 ? 3 : 4.4 });
      if (lines) d.segment(x, y - h - 1, x, y + h + 1, { stroke: runs > 1 ? hue : "ink", width: 1.2 });
      else d.path([closed([[x, y - h], [x + h, y], [x, y + h], [x - h, y]])], { fill: "card", stroke: hue, width: 1.6 });
      d.unclip();
    });
    if (finite(r.truth) && of(r.truth) >= axis.from && of(r.truth) <= axis.to) d.segment(of(r.truth), middle - line / 2 + 2, of(r.truth), middle + line / 2 - 2, { stroke: "orange", width: 2 });
    const i = r.intervals[0];
    if (i && numbers) d.text(axis.to + 12, middle + 4, texts[at], small("start", "ink", 12));
    if (i && finite(i.rhat)) d.text(width - 4, middle + 4, i.rhat.toFixed(3), small("end", i.doubtful ? "orange" : "quiet", 12));
  });
  axisBelow(d, axis, t, bottom, 20);
  d.segment(axis.from, bottom, axis.to, bottom, { stroke: "frame" });
  d.text((axis.from + axis.to) / 2, bottom + 28, (shared ? "value" : "from the centre, in half-widths") + t.scale, small("middle"));
  d.text((axis.from + axis.to) / 2, 16, `thick: ${options.thick}; thin: 90 %`, small("middle"));
  if (numbers) d.text(axis.to + 12, 16, runs > 1 ? fit(options.runs[0], 130, 11) : options.interval, small("start"));
  d.text(width - 4, 16, "R-hat", small("end"));
  return d;
}

/* ---- all traces ---- */

/* panels: name, chains [[values]], step, draws, rhat, ess, doubtful, truth, lo, hi. */
function traces(panels, options) {
  const columns = options.width < 520 ? 1 : options.width < 860 ? 2 : 3, gap = 50, pitch = Math.floor((options.width + 6) / columns), width = pitch - gap - 34, beside = 34, height = 58, row = height + 44;
  const d = new Drawing(columns * pitch - 6, 22 + Math.ceil(panels.length / columns) * row, `Traces of ${panels.length} parameters.`);
  panels.forEach((p, at) => {
    const x0 = 40 + at % columns * pitch, y0 = 22 + Math.floor(at / columns) * row, x = { lo: 1, hi: p.draws, from: x0, to: x0 + width }, y = { lo: p.lo, hi: p.hi, from: y0 + height, to: y0 };
    const note = finite(p.rhat) ? `R-hat ${p.rhat.toFixed(3)}, ESS ${Math.round(p.ess)}` : "";
    const t = ticks(p.lo, p.hi, 3);
    d.text(x0, y0 - 6, fit(p.name, width + beside - textWidth(note, 10) - textWidth(t.scale, 12) - 10, 12) + t.scale, small("start", "ink", 12));
    d.text(x0 + width + beside, y0 - 6, note, small("end", p.doubtful ? "orange" : "quiet", 10));
    d.clipTo(x0, y0, width + beside, height);
    p.chains.forEach((chain, k) => {
      const stride = Math.ceil(chain.length / 240), parts = [[]];
      chain.forEach((v, i) => { if (i % stride === 0) { if (Number.isNaN(v)) parts.push([]); else parts[parts.length - 1].push([place(x, i * p.step + 1), place(y, v)]); } });
      d.path(parts.filter(part => part.length > 1), { stroke: series[k % 8], strokeAlpha: .75, width: .8 });
    });
    p.chains.forEach((chain, k) => {
      const bins = 40, counts = new Array(bins).fill(0), wide = (p.hi - p.lo) / bins;
      for (const v of chain) { const b = (v - p.lo) / wide; if (b >= 0 && b <= bins) counts[Math.min(bins - 1, Math.floor(b))]++; }
      const even = counts.map((_, i) => counts.reduce((s, c, j) => s + c * Math.exp(-.5 * ((i - j) / 1.8) ** 2), 0)), most = Math.max(...even);
      if (most > 0) d.line(even.map((v, i) => [x0 + width + .92 * beside * v / most, place(y, p.lo + (i + .5) * wide)]), { stroke: series[k % 8], strokeAlpha: .85 });
    });
    if (finite(p.truth)) d.segment(x0, place(y, p.truth), x0 + width + beside, place(y, p.truth), { stroke: "ink", dash: 3 });
    d.unclip();
    axisLeft(d, y, t, x0, true);
    axisBelow(d, x, ticks(1, p.draws, width < 160 ? 3 : 5), y0 + height, 20);
    d.rect(x0, y0, width, height, { stroke: "frame" });
  });
  return d;
}

return { corner, forest, traces, intervalText, intervalLine, rangeText, ticks, shares, GRID, series };
})();
