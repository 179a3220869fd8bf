/* Draws the report from the JSON in #data. Texts from the run are only ever set as textContent. */
(() => {
const data = JSON.parse(document.getElementById("data").textContent);
const $ = id => document.getElementById(id);
const charts = new Map();
const many = new Intl.NumberFormat("en");

/* ---- small things ---- */

function element(name, attributes, ...children) {
  const e = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key === "text") e.textContent = value;
    else if (key === "click") e.addEventListener("click", value);
    else e.setAttribute(key, value);
  }
  e.append(...children);
  return e;
}

const isNumber = x => typeof x === "number" && Number.isFinite(x);
const whole = x => isNumber(x) ? many.format(Math.round(x)) : "NA";

/* Four digits, as the terminal's table has them. */
function short(x, digits = 4) {
  if (!isNumber(x)) return "NA";
  if (x === 0) return "0";
  const size = Math.abs(x);
  if (size >= 1e6 || size < 1e-4) return x.toExponential(digits - 1).replace(/\.?0+e/, "e").replace("e+", "e");
  const text = x.toPrecision(digits);
  return text.includes("e") ? String(Math.round(x)) : text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

/* A mean or quantile with as many digits as the standard deviation calls for, four at least. */
function location(x, sd) {
  if (!isNumber(x) || !isNumber(sd) || !(sd > 0) || x === 0) return short(x);
  const known = Math.floor(Math.log10(Math.abs(x))) - Math.floor(Math.log10(sd)) + 3;
  return known <= 4 ? short(x) : known > 15 || Math.abs(x) < 1e-4 || Math.abs(x) >= 1e15 ? short(x, Math.min(known, 15)) : x.toPrecision(known).includes("e") ? x.toFixed(0) : x.toPrecision(known);
}

/* A value with its error: both with two digits of the error. */
const withError = (x, error) => GessFigures.intervalLine(GessFigures.intervalText(x - error, x, x + error));
const minus = text => text.replace(/-/g, "−");
const seconds = s => !isNumber(s) ? "NA" : s < 60 ? short(s, 3) + " s" : s < 3600 ? short(s / 60, 3) + " min" : short(s / 3600, 3) + " h";
const compact = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 4 });
const counted = v => Number.isInteger(v) ? Math.abs(v) < 1e4 ? String(v) : compact.format(v) : "";
const plural = (n, one, more) => whole(n) + " " + (n === 1 ? one : more || one + "s");
const clip = (text, length = 28) => [...text].length > length ? [...text].slice(0, length - 1).join("") + "…" : text;

/* 16-bit steps between lo and hi; 65535 is a missing number. */
function unpack(packed) {
  const bytes = atob(packed.q), n = bytes.length >> 1, out = new Array(n);
  for (let i = 0; i < n; i++) {
    const q = bytes.charCodeAt(2 * i) | bytes.charCodeAt(2 * i + 1) << 8;
    out[i] = q === 65535 ? NaN : packed.hi === 65534 && packed.lo === 0 ? q : packed.lo * (1 - q / 65534) + packed.hi * (q / 65534);
  }
  return out;
}

/* ---- colours ---- */

const light = ["#0b72b9", "#d1660a", "#0f9b74", "#b65f9b", "#a58a00", "#5a57c9", "#c0392b", "#6b7785"];
const dark = ["#4aa8e8", "#f09a4a", "#3cc79e", "#d98cc2", "#cdb23a", "#9390f0", "#f07a6e", "#a3aebb"];
let hues = light;
const system = matchMedia("(prefers-color-scheme: dark)");
let theme = "auto";
try { theme = localStorage.getItem("gess-theme") || "auto"; } catch (e) { /* files may have no storage */ }

const colour = name => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
function faded(hex, alpha) {
  const n = parseInt(hex.slice(1), 16);
  return `rgba(${n >> 16},${n >> 8 & 255},${n & 255},${alpha})`;
}

/* Opaque: what overlaps by a hair must not darken. */
function mixed(hex, share) {
  const a = parseInt(colour("card").slice(1), 16), b = parseInt(hex.slice(1), 16);
  const part = shift => Math.round((a >> shift & 255) * (1 - share) + (b >> shift & 255) * share);
  return `rgb(${part(16)},${part(8)},${part(0)})`;
}

function applyTheme() {
  const night = theme === "dark" || theme === "auto" && system.matches;
  document.documentElement.dataset.theme = night ? "dark" : "light";
  hues = night ? dark : light;
  $("theme").textContent = { auto: "Theme: auto", light: "Theme: light", dark: "Theme: dark" }[theme];
  $("theme").setAttribute("aria-label", "Colours: " + theme + ". Change them");
  Chart.defaults.color = colour("quiet");
  Chart.defaults.borderColor = colour("line");
  Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
  Chart.defaults.font.size = 12;
}

/* ---- charts ---- */

Chart.defaults.animation = false;
Chart.defaults.responsive = true;
Chart.defaults.maintainAspectRatio = false;
Chart.defaults.elements.point.radius = 0;
Chart.defaults.elements.point.hitRadius = 8;
Chart.defaults.elements.line.borderWidth = 1.5;
Chart.defaults.plugins.legend.labels.boxWidth = 12;
Chart.defaults.plugins.legend.labels.boxHeight = 2;
Chart.defaults.plugins.legend.position = "bottom";

function axis(title, more) {
  return Object.assign({
    type: "linear", offset: false,
    title: { display: Boolean(title), text: title },
    grid: { color: colour("line"), borderColor: colour("line"), offset: false },
    ticks: { maxTicksLimit: 7, maxRotation: 0, autoSkip: true, autoSkipPadding: 10, includeBounds: false, callback: v => minus(short(v, 5)) },
  }, more);
}

/* An axis of whole numbers: draws, evaluations, effective sizes. */
function countAxis(title, more) {
  const a = axis(title, more);
  a.ticks.callback = counted;
  return a;
}

function logarithmic(title) {
  const a = axis(title, { type: "logarithmic" });
  a.ticks = { callback: v => [1, 2, 5].includes(Math.round(v / 10 ** Math.floor(Math.log10(v) + 1e-9))) ? short(v, 3) : "" };
  return a;
}

/* A chart takes the place of the one that had its id. */
function draw(id, canvas, config) {
  if (charts.has(id)) charts.get(id).destroy();
  charts.set(id, new Chart(canvas, config));
  const card = canvas.closest("figure"), title = card.querySelector("h3").textContent;
  const name = current < data.plots.length && card.parentNode.id === "parameter-plots" ? `${title}: ${data.plots[current].name}` : title;
  card.querySelector("figcaption").append(saveButtons(id, () => asDrawing(config, canvas, name)));
}

/* A chart as a drawing, in light colours. */
function asDrawing(config, canvas, title) {
  return GessVector.chartDrawing(config, canvas.clientWidth || 600, canvas.clientHeight || 300, title);
}

function forget(prefix) {
  for (const [id, chart] of charts) if (id.startsWith(prefix)) { chart.destroy(); charts.delete(id); }
}

/* A figure with its title, a line of text and either a canvas or the reason why there is none. The label
 * is what a screen reader says in place of the plot. */
function figure(parent, title, text, label, full) {
  const canvas = element("canvas", { role: "img", "aria-label": label });
  const caption = element("figcaption", {}, element("h3", { text: title }));
  if (text) caption.append(element("p", { text }));
  parent.append(element("figure", full ? { class: "full" } : {}, caption, element("div", { class: "canvas" }, canvas)));
  return canvas;
}

function missing(parent, title, why, full) {
  parent.append(element("figure", full ? { class: "full" } : {},
    element("figcaption", {}, element("h3", { text: title })), element("p", { class: "empty", text: why })));
}

const noLegend = { legend: { display: false } };
const tip = (title, label) => ({ callbacks: { title: items => items.length ? title(items[0]) : "", label } });

/* ---- the head and the verdict ---- */

const table = data.table, rows = table.name.length;
const option = name => data.options[name];

function best(key, better) {
  let at = -1;
  table[key].forEach((x, i) => { if (isNumber(x) && (at < 0 || better(x, table[key][at]))) at = i; });
  return at;
}

function head() {
  const model = data.title || data.model || data.directory;
  $("title").textContent = model;
  document.title = model + " – gess report";
  const parts = [plural(data.chains, "chain") + " of " + plural(data.draws, "draw"),
    plural(data.columns - 1, "quantity", "quantities")];
  if (isNumber(data.stats.evals)) parts.push(plural(data.stats.evals, "evaluation"));
  if (isNumber(data.stats.seconds)) parts.push(seconds(data.stats.seconds));
  if (option("seed")) parts.push("seed " + option("seed"));
  $("subtitle").textContent = parts.join(" · ");
  $("made").textContent = "Made by gess " + data.version + " from " + data.directory + ".";
}

/* What stands between backquotes is a command. */
const worded = text => text.split("`").map((part, i, all) =>
  i % 2 === 1 && i < all.length - 1 ? element("code", { text: part }) : document.createTextNode(i % 2 === 1 ? "`" + part : part));

function finding(level, word, text, advice) {
  const item = element("li", { class: "finding level" + level },
    element("p", { class: "say" }, element("strong", { text: word }), ...worded(text)));
  if (advice) item.append(element("p", {}, ...worded(advice)));
  return item;
}

function verdict() {
  const v = data.verdict, list = $("findings"), words = ["Note", "Warning", "Failure"];
  const problems = v.findings.filter(f => f.level > 0).length;
  list.append(v.pass
    ? finding("-good", "Pass", problems ? "Nothing speaks against using these draws, with the warnings below." : "Nothing speaks against using these draws.")
    : finding(2, "Fail", "Do not use these draws as they are."));
  for (const f of v.findings) list.append(finding(f.level, words[f.level] || "Note", f.text, f.advice));
  if (v.count > v.findings.length) list.append(finding(0, "Note", plural(v.count - v.findings.length, "more finding") + "; gess diagnose lists all."));
}

/* The heaviest modes, with their centres in the parameters in which they differ most. */
function modes() {
  const m = data.modes;
  if (!m || m.list.length === 0) return;
  const head = element("tr"), body = $("modes-table").tBodies[0], largest = Math.max(...m.list.map(mode => mode.weight));
  for (const title of ["mode", "weight", "error", "chains"]) head.append(element("th", { scope: "col", text: title }));
  for (const name of m.parameters) head.append(element("th", { scope: "col", text: name, title: name }));
  $("modes-table").tHead.append(head);
  m.list.forEach((mode, i) => {
    const width = 6 * Math.max(mode.weight, 0) / largest;
    const bar = element("span", { class: "bar", "aria-hidden": "true", style: `width: ${width.toFixed(2)}rem; margin-right: ${(6.5 - width).toFixed(2)}rem` });
    const row = element("tr", {}, element("th", { scope: "row", text: String(i + 1) }), element("td", {}, bar, mode.weight.toFixed(4)),
      element("td", { text: short(mode.error, 2) }), element("td", { text: isNumber(mode.chains) ? `${whole(mode.chains)} of ${whole(data.chains)}` : "NA" }));
    mode.centre.forEach((x, k) => row.append(element("td", { text: isNumber(mode.sd[k]) ? withError(x, mode.sd[k]) : short(x) })));
    body.append(row);
  });
  $("modes-note").textContent = (m.count > m.list.length ? `The ${m.list.length} heaviest of ${whole(m.count)} modes. ` : "")
    + "Weight: the share of the draws, with its standard error. Chains: those that visited the mode. Then centre ± standard deviation within the mode, of the parameters in which the modes differ most.";
  $("modes").hidden = false;
}

/* Figures that deserve attention. */
function mood(key, x, i) {
  if (key === "r_hat" && isNumber(table.r_hat_nested[i])) x = table.r_hat_nested[i];
  if (key === "r_hat" && isNumber(x)) return x > 1.05 ? "bad" : x > 1.01 ? "warn" : "";
  if ((key === "ess_bulk" || key === "ess_tail") && isNumber(x)) return x < 100 ? "bad" : x < 400 ? "warn" : "";
  return "";
}

function tile(name, value, of, how) {
  $("tiles").append(element("div", { class: "tile" }, element("p", { class: "name", text: name }),
    element("p", { class: "value" + (how ? " " + how : ""), text: value }), element("p", { class: "of", text: of, title: of })));
}

function tiles() {
  const decides = table.r_hat_nested.some(isNumber) ? "r_hat_nested" : "r_hat";
  const rhat = best(decides, (a, b) => a > b), bulk = best("ess_bulk", (a, b) => a < b), tail = best("ess_tail", (a, b) => a < b);
  if (rhat >= 0) tile(decides === "r_hat" ? "Largest R-hat" : "Largest nested R-hat", table[decides][rhat].toFixed(4), table.name[rhat], mood("r_hat", table[decides][rhat], rhat) || "good");
  if (bulk >= 0) tile("Smallest bulk ESS", whole(table.ess_bulk[bulk]), table.name[bulk], mood("ess_bulk", table.ess_bulk[bulk]) || "good");
  if (tail >= 0) tile("Smallest tail ESS", whole(table.ess_tail[tail]), table.name[tail], mood("ess_tail", table.ess_tail[tail]) || "good");
  const s = data.stats;
  if (isNumber(s.evals) && bulk >= 0 && table.ess_bulk[bulk] > 0 && s.evals_sampling > 0)
    tile("Evaluations per effective draw", short(s.evals_sampling / table.ess_bulk[bulk], 3), "in sampling, for " + table.name[bulk]);
  if (isNumber(s.evals_sampling) && s.updates > 0) tile("Evaluations", whole(s.evals), "sampling " + whole(s.evals_sampling));
  if (isNumber(s.seconds)) tile("Time", seconds(s.seconds), "sampling " + seconds(s.seconds_sampling));
}

/* ---- the table ---- */

const columns = [["name", "name"], ["r_hat", "r_hat"], ["r_hat_nested", "nested"], ["ess_bulk", "ess_bulk"], ["mean", "mean"], ["sd", "sd"], ["mcse_mean", "mcse_mean"],
  ["q5", "q5"], ["q50", "q50"], ["q95", "q95"], ["ess_tail", "ess_tail"], ["drift_z", "drift_z"], ["ess_coda", "ess_coda"], ["tau", "tau"]];
let sortKey = null, sortUp = true;
const plotOf = new Map(data.plots.map((p, i) => [p.row, i]));

function cell(key, i) {
  const x = table[key][i];
  const text = key.startsWith("ess") ? whole(x) : key.startsWith("r_hat") && isNumber(x) ? x.toFixed(4) : (key === "drift_z" || key === "tau") && isNumber(x) ? x.toFixed(2) : key === "mean" || /^q\d/.test(key) ? location(x, table.sd[i]) : short(x);
  const how = mood(key, x, i);
  return element("td", how ? { class: how, text: minus(text) } : { text: minus(text) });
}

function order() {
  const index = [...Array(rows).keys()];
  if (sortKey === null) return index;
  const values = table[sortKey], sign = sortUp ? 1 : -1;
  return index.sort((a, b) => {
    const x = values[a], y = values[b];
    if (sortKey === "name") return sign * x.localeCompare(y, "en", { numeric: true }) || a - b;
    if (!isNumber(x) || !isNumber(y)) return isNumber(y) - isNumber(x) || a - b;
    return sign * (x - y) || a - b;
  });
}

function fillTable() {
  const wanted = $("filter").value.toLowerCase(), body = $("table").tBodies[0], shown = document.createDocumentFragment();
  let count = 0;
  for (const i of order()) {
    if (!table.name[i].toLowerCase().includes(wanted)) continue;
    count++;
    const plot = plotOf.get(table.row[i]);
    const name = plot === undefined ? document.createTextNode(table.name[i])
      : element("button", { type: "button", text: table.name[i], title: table.name[i], click: () => { choose(plot); $("parameter").scrollIntoView(); } });
    const row = element("tr", {}, element("th", { scope: "row" }, name));
    for (const [key] of columns.slice(1)) row.append(cell(key, i));
    shown.append(row);
  }
  body.replaceChildren(shown);
  $("table-count").textContent = count === data.columns ? plural(count, "row") : whole(count) + " of " + plural(data.columns, "row");
}

function headTable() {
  const line = element("tr");
  for (const [key, title] of columns) {
    const th = element("th", { scope: "col", "aria-sort": sortKey !== key ? "none" : sortUp ? "ascending" : "descending" });
    th.append(element("button", { type: "button", text: title, click: () => {
      sortUp = sortKey === key ? !sortUp : key !== "r_hat";
      sortKey = key;
      for (const other of line.children) other.setAttribute("aria-sort", "none");
      th.setAttribute("aria-sort", sortUp ? "ascending" : "descending");
      fillTable();
    } }));
    line.append(th);
  }
  $("table").tHead.append(line);
  const circles = table.name.filter((_, i) => table.circular[i]);
  if (circles.length > 0) $("table-note").textContent += ` Periodic: ${circles.slice(0, 3).map(name => clip(name)).join(", ")}${circles.length > 3 ? ", …" : ""}; mean and sd are circular, and quantiles and axes may lie beyond a bound.`;
  if (rows < data.columns) $("table-note").textContent += ` The ${whole(rows)} of ${whole(data.columns)} with the largest R-hat are listed; gess summary has all.`;
}

/* ---- one parameter ---- */

function traceChart(parent, plot) {
  const t = plot.trace, values = unpack(t.values), sets = [];
  const every = t.step === 1 ? "every draw" : `one draw in ${whole(t.step)}`;
  if (plot.band) {
    const levels = unpack(plot.band.levels), n = plot.band.pieces, grey = colour("quiet");
    const line = k => levels.slice(k * n, (k + 1) * n).map((y, i) => ({ x: (i + .5) * plot.band.width, y }));
    sets.push({ label: "5 % to 95 % of all chains", data: line(2), borderWidth: 0, fill: "+1", backgroundColor: faded(grey, .22), order: 2 });
    sets.push({ label: "5 %", data: line(0), borderWidth: 0, order: 2 });
    sets.push({ label: "median of all chains", data: line(1), borderColor: grey, borderWidth: 2, order: 0 });
  }
  t.chains.forEach((chain, k) => sets.push({
    label: "chain " + chain, order: 1, borderWidth: 1,
    borderColor: faded(hues[k % hues.length], t.chains.length > 2 ? .7 : .9),
    data: Array.from({ length: t.points }, (_, i) => ({ x: i * t.step + 1, y: values[k * t.points + i] })),
  }));
  const canvas = figure(parent, "Trace", `${every}, ${t.chains.length === data.chains ? "all chains" : plural(t.chains.length, "chain") + " of " + whole(data.chains) + ", the one furthest from the others among them"}`,
    `Trace of ${plot.name}: ${plural(t.chains.length, "chain")} over ${plural(data.draws, "draw")}, values from ${short(t.values.lo)} to ${short(t.values.hi)}.`, true);
  draw("trace", canvas, { type: "line", data: { datasets: sets }, options: {
    parsing: false, normalized: true, interaction: { mode: "nearest", intersect: false },
    scales: { x: countAxis("draw", { min: 0, max: data.draws }), y: axis(clip(plot.name, innerWidth < 600 ? 14 : 24)) },
    plugins: { legend: { labels: { filter: item => item.text !== "5 %" } },
      tooltip: tip(i => i.dataset.label, i => `draw ${whole(i.parsed.x)}: ${short(i.parsed.y)}`) },
  } });
}

function densityChart(parent, plot, row) {
  const d = plot.density, counts = unpack(d.counts), curve = unpack(d.curve), total = counts.reduce((a, b) => a + b, 0) + d.outside;
  const width = (d.hi - d.lo) / counts.length, fine = (d.hi - d.lo) / curve.length;
  const bars = counts.map((c, i) => ({ x: d.lo + (i + .5) * width, y: c / (total * width), count: c }));
  const line = curve.map((y, i) => ({ x: d.lo + (i + .5) * fine, y }));
  const top = Math.max(...line.map(p => p.y), ...bars.map(p => p.y)) * 1.05;
  const mark = (label, x, dash) => ({ type: "line", label, data: [{ x, y: 0 }, { x, y: top }], borderColor: colour("quiet"), borderWidth: 1.5, borderDash: dash, order: 0 });
  const sets = [{ type: "line", label: "density", data: line, borderColor: hues[0], borderWidth: 2, order: 1 },
    { type: "bar", label: "draws", data: bars, backgroundColor: mixed(hues[0], .3), barPercentage: 1, categoryPercentage: 1, inflateAmount: .3, grouped: false, order: 2 }];
  for (const [label, key, dash] of [["5 %", "q5", [3, 3]], ["median", "q50", []], ["95 %", "q95", [3, 3]]])
    if (isNumber(table[key][row]) && table[key][row] >= d.lo && table[key][row] <= d.hi) sets.push(mark(label, table[key][row], dash));
  const canvas = figure(parent, "Marginal density", minus(`mean ${location(table.mean[row], table.sd[row])}, sd ${short(table.sd[row])}`) + (d.outside > 0 ? `; ${plural(d.outside, "draw")} outside the view` : ""),
    `Marginal density of ${plot.name}: mean ${short(table.mean[row])}, standard deviation ${short(table.sd[row])}, 5 % to 95 % from ${short(table.q5[row])} to ${short(table.q95[row])}.`);
  draw("density", canvas, { type: "bar", data: { datasets: sets }, options: {
    interaction: { mode: "nearest", intersect: false, axis: "x" },
    scales: { x: axis(clip(plot.name), { min: d.lo, max: d.hi }), y: axis("", { min: 0, max: top, ticks: { display: false }, grid: { display: false, borderColor: colour("line") } }) },
    plugins: { legend: { display: false }, tooltip: { filter: i => i.dataset.type === "bar",
      callbacks: { title: i => i.length ? short(i[0].raw.x - width / 2) + " to " + short(i[0].raw.x + width / 2) : "", label: i => plural(i.raw.count, "draw") } } },
  } });
}

/* How far a count is from what chance would give, in standard deviations, as a colour: what chance
 * often does stays pale. */
function shade(z) {
  return mixed(z < 0 ? hues[1] : hues[0], Math.min(1, .03 + .97 * (Math.abs(z) / 6) ** 1.5));
}

function rankChart(parent, plot, row) {
  const r = plot.ranks, counts = unpack(r.counts), totals = Array(r.rows).fill(0);
  counts.forEach((c, i) => { totals[Math.floor(i / r.bins)] += c; });
  const worth = table.ess_bulk[row] > 0 ? Math.min(1, table.ess_bulk[row] / (data.chains * data.draws)) : 1;
  const name = at => r.group === 1 ? "chain " + (at + 1) : `chains ${at * r.group + 1} to ${Math.min(data.chains, (at + 1) * r.group)}`;
  const label = `Rank plot of ${plot.name}: ${plural(r.rows, r.group === 1 ? "chain" : "group of chains", r.group === 1 ? "chains" : "groups of chains")} by ${r.bins} bins of rank; where chains agree all bins are equally full.`;
  const x = axis("rank among all draws", { min: 0, max: 1 });
  x.ticks.callback = v => short(100 * v, 3) + " %";
  if (r.rows <= 4) {
    const canvas = figure(parent, "Ranks", "how the draws of each chain rank among all; flat lines: the chains agree", label);
    const sets = [...Array(r.rows).keys()].map(at => ({ label: name(at), borderColor: hues[at], borderWidth: 2, stepped: true, fill: r.rows === 1 ? { value: 0 } : false, backgroundColor: faded(hues[at], .2),
      data: [...Array(r.bins + 1).keys()].map(b => ({ x: b / r.bins, y: counts[at * r.bins + Math.min(b, r.bins - 1)] })) }));
    draw("ranks", canvas, { type: "line", data: { datasets: sets }, options: { scales: { x, y: countAxis("draws", { min: 0 }) }, interaction: { mode: "nearest", intersect: false },
      plugins: { tooltip: tip(i => i.dataset.label, i => plural(i.parsed.y, "draw")) } } });
    return;
  }
  const canvas = figure(parent, "Ranks", "rows are chains; blue: more draws of that rank than expected, orange: fewer. An even pattern: the chains agree", label);
  const cells = counts.map((count, i) => {
    const at = Math.floor(i / r.bins), expected = totals[at] / r.bins;
    return { x: (i % r.bins + .5) / r.bins, y: [at + .5, at + 1.5], count, expected, row: at };
  });
  const y = axis(r.group === 1 ? "chain" : "group of " + r.group + " chains", { min: .5, max: r.rows + .5, reverse: true });
  y.ticks.precision = 0;
  y.ticks.callback = v => Number.isInteger(v) ? v : "";
  y.grid.display = x.grid.display = false;
  draw("ranks", canvas, { type: "bar", data: { datasets: [{ data: cells, grouped: false, barPercentage: 1, categoryPercentage: 1, inflateAmount: .4,
    backgroundColor: cells.map(c => shade(c.expected > 0 ? (c.count - c.expected) * Math.sqrt(worth / c.expected) : 0)) }] }, options: {
    scales: { x, y }, interaction: { mode: "point", intersect: true },
    plugins: { legend: { display: false }, tooltip: tip(i => name(i.raw.row), i => `${plural(i.raw.count, "draw")}, ${short(i.raw.expected, 3)} expected`) },
  } });
}

function acfChart(parent, plot) {
  const a = plot.acf, values = unpack(a.values);
  const points = values.map((y, i) => ({ x: i * a.step, y }));
  const far = points.find(p => p.y < .05);
  const canvas = figure(parent, "Autocorrelation", far ? `below 0.05 from lag ${whole(far.x)} on first; mean over chains` : "mean over chains",
    `Autocorrelation of ${plot.name} up to lag ${whole((a.lags - 1) * a.step)}: ${far ? "it falls below 0.05 at lag " + whole(far.x) : "it stays above 0.05"}.`);
  draw("acf", canvas, { type: "bar", data: { datasets: [{ data: points, backgroundColor: hues[0], barPercentage: .55, categoryPercentage: 1, grouped: false }] }, options: {
    interaction: { mode: "index", intersect: false },
    scales: { x: axis("lag", { min: -a.step / 2, max: (a.lags - .5) * a.step, ticks: { maxTicksLimit: 8, maxRotation: 0, includeBounds: false, callback: counted } }), y: axis("", { suggestedMin: -.1, max: 1 }) },
    plugins: { legend: { display: false }, tooltip: tip(i => "lag " + whole(i.raw.x), i => short(i.raw.y, 3)) },
  } });
}

function growthChart(parent, plot, row) {
  const g = plot.growth, target = Number(option("target-ess"));
  const line = (label, key, hue) => ({ label, borderColor: hue, backgroundColor: hue, borderWidth: 2, pointRadius: 3, data: g.draws.map((n, i) => ({ x: n * data.chains, y: g[key][i] })).filter(p => isNumber(p.y)) });
  const sets = [line("bulk ESS", "bulk", hues[0]), line("tail ESS", "tail", hues[1])].filter(s => s.data.length > 0);
  const max = Math.max(...sets.flatMap(s => s.data.map(p => p.y)), 0);
  if (target > 0 && target < 3 * max) sets.push({ label: "target", borderColor: colour("quiet"), borderDash: [5, 4], borderWidth: 1.5, data: [{ x: 0, y: target }, { x: data.draws * data.chains, y: target }] });
  const canvas = figure(parent, "Growth of the effective sample size", "a straight line through 0 is sound; one that flattens is not",
    `Effective sample size of ${plot.name} as draws grow: bulk ${whole(table.ess_bulk[row])} and tail ${whole(table.ess_tail[row])} at ${plural(data.draws * data.chains, "draw")}.`);
  draw("growth", canvas, { type: "line", data: { datasets: sets }, options: { parsing: false, interaction: { mode: "index", intersect: false },
    scales: { x: countAxis("draws of all chains", { min: 0 }), y: countAxis("ESS", { min: 0 }) },
    plugins: { tooltip: tip(i => plural(i.raw.x, "draw"), i => `${i.dataset.label}: ${whole(i.parsed.y)}`) } } });
}

let current = 0;
function choose(i) {
  const plot = data.plots[current = i], parent = $("parameter-plots"), row = table.row.indexOf(plot.row);
  $("pick").value = String(i);
  $("previous").disabled = i === 0;
  $("next").disabled = i === data.plots.length - 1;
  for (const id of ["trace", "density", "ranks", "acf", "growth"]) forget(id);
  parent.replaceChildren();
  const all = data.chains * data.draws, flat = plot.trace && !plot.density;
  $("pick-note").textContent = plot.missing === all ? "No draw of it is a finite number."
    : (flat ? `Every ${plot.missing ? "finite " : ""}draw is ${short(plot.trace.values.lo, 6)}. ` : "") + (plot.missing ? `${whole(plot.missing)} of ${plural(all, "draw")} are not finite numbers.` : "");
  const why = plot.missing === all ? "no draw is a finite number" : flat ? "all draws are the same number" : plot.missing ? "some draws are not finite numbers" : "too few draws";
  const part = (title, has, fn, full) => has ? fn() : missing(parent, title, "Nothing to draw: " + why + ".", full);
  part("Trace", plot.trace, () => traceChart(parent, plot), true);
  part("Marginal density", plot.density, () => densityChart(parent, plot, row));
  part("Ranks", plot.ranks, () => rankChart(parent, plot, row));
  part("Autocorrelation", plot.acf, () => acfChart(parent, plot));
  part("Growth of the effective sample size", plot.growth && plot.growth.bulk.filter(isNumber).length > 1, () => growthChart(parent, plot, row));
}

/* ---- results ---- */

const finite = x => typeof x === "number" && Number.isFinite(x);
const others = data.others || [], runs = [data, ...others];
/* Names by which runs are told apart: what their directories do not share. */
const runNames = (() => {
  const titles = runs.map(r => r.directory.replace(/\/+$/, "").split("/").pop() || r.directory);
  return new Set(titles).size === titles.length ? titles : runs.map(r => r.directory);
})();
let moments = data.moments;
const rowIn = run => { run.byName ||= new Map(run.table.name.map((name, i) => [name, i])); return run.byName; };
const plotIn = run => { run.plotByName ||= new Map(run.plots.map((p, i) => [p.name, i])); return run.plotByName; };

/* R-hat is judged between groups of chains where there are many (docs/specification.md). */
/* The R-hat that decides: of groups of chains, if there are any. */
const rhatOf = (t, i) => isNumber(t.r_hat_nested[i]) ? t.r_hat_nested[i] : t.r_hat[i];
const doubtful = (t, i) => rhatOf(t, i) > 1.01;

/* The interval of a row of a run's table: what is shown, and 90 %. */
function interval(run, i) {
  if (i === undefined) return null;
  const t = run.table, circle = t.circular[i] && isNumber(t.mean[i]) && isNumber(t.q50[i]);
  let mean = t.mean[i];
  if (circle && !(mean >= t.q5[i] && mean <= t.q95[i])) { const d = run.plots[plotIn(run).get(t.name[i])]?.density; if (d) for (const turn of periods(run, i)) if (mean + turn >= d.lo && mean + turn <= d.hi) { mean += turn; break; } }
  const [low, middle, high] = moments ? [mean - t.sd[i], mean, mean + t.sd[i]] : [t.q16[i], t.q50[i], t.q84[i]];
  const good = v => isNumber(v) ? v : NaN, has = moments ? isNumber(t.mean[i]) && isNumber(t.sd[i]) : true;
  return { low: has ? good(low) : NaN, middle: has ? good(middle) : NaN, high: has ? good(high) : NaN, q5: good(t.q5[i]), q95: good(t.q95[i]), rhat: good(rhatOf(t, i)), doubtful: doubtful(t, i) };
}
const periods = (run, i) => { const p = run.table.period[i]; return isNumber(p) ? [p, -p] : []; };

function standing() {
  const box = $("standing");
  box.replaceChildren(...(runs.length > 1 ? [standingOfAll()] : [standingOf(data.verdict)]));
}

/* What may be used of several runs. */
function standingOfAll() {
  const failed = runs.map((_, k) => k).filter(k => !runs[k].verdict.pass), names = failed.map(k => runNames[k]).join(", ");
  const item = element("div", { class: "finding level" + (failed.length ? 2 : "-good") }), say = element("p", { class: "say" }, element("strong", { text: failed.length ? "Fail" : "Pass" }));
  if (failed.length) say.append(`Do not use the numbers of ${names} as they are: `, element("code", { text: "gess diagnose" }), " says why.");
  else say.append(`Nothing speaks against using the numbers of these ${runs.length} runs.`);
  item.append(say);
  return item;
}

function standingOf(v) {
  const failures = v.findings.filter(f => f.level === 2), warnings = v.findings.filter(f => f.level === 1);
  const link = element("a", { href: "#verdict", text: "the verdict" });
  const item = element("div", { class: "finding level" + (failures.length || !v.pass ? 2 : warnings.length ? 1 : "-good") });
  const say = element("p", { class: "say" }, element("strong", { text: v.pass ? "Pass" : "Fail" }));
  if (!v.pass) say.append("Do not use these numbers as they are: ", link, " says why.");
  else if (warnings.length) say.append(plural(warnings.length, "warning") + "; see ", link, ".");
  else say.append("Nothing speaks against using these numbers; see ", link, ".");
  item.append(say);
  for (const f of failures.slice(0, 3)) item.append(element("p", {}, ...worded(f.text)));
  return item;
}

const dim = data.table.name.length;
/* lp__ is not a result. */
const resultRows = () => [...Array(dim).keys()].filter(i => data.table.name[i] !== "lp__" || dim === 1);

function valueCell(v) {
  if (!v) return element("td", { text: "–" });
  const words = GessFigures.intervalText(v.low, v.middle, v.high), { value, above, below, power } = words;
  if (!below) return element("td", { class: "value", text: GessFigures.intervalLine(words) });
  return element("td", { class: "value" }, value, element("span", { class: "errors" }, element("sup", { text: above }), element("sub", { text: below })), power);
}

function results() {
  const head = element("tr"), body = document.createDocumentFragment(), t = data.table, compared = runs.length > 1, shown = moments ? "mean ± sd" : "median, 68 %";
  head.append(element("th", { scope: "col", text: "parameter" }));
  runs.forEach((_, k) => head.append(element("th", { scope: "col", text: compared ? runNames[k] : shown, title: compared ? runs[k].directory : "" })));
  head.append(element("th", { scope: "col", text: "R-hat" }));
  if (!compared) for (const text of ["ESS", "90 % interval"]) head.append(element("th", { scope: "col", class: "wide-only", text }));
  for (const i of resultRows()) {
    const name = element("th", { scope: "row", title: t.name[i] }, t.name[i]);
    if (t.circular[i]) name.append(" ", element("span", { class: "tag", text: "periodic" }));
    const row = element("tr", {}, name), mine = interval(data, i);
    runs.forEach(run => row.append(valueCell(run === data ? mine : interval(run, rowIn(run).get(t.name[i])))));
    row.append(element("td", { class: doubtful(t, i) ? "warn" : "", text: isNumber(rhatOf(t, i)) ? rhatOf(t, i).toFixed(3) : "NA" }));
    if (!compared) {
      row.append(element("td", { class: "wide-only", text: whole(t.ess_bulk[i]) }));
      row.append(element("td", { class: "wide-only", text: GessFigures.rangeText(t.q5[i], t.q95[i], mine.low, mine.middle, mine.high) }));
    }
    body.append(row);
  }
  $("results-table").classList.toggle("single", !compared);
  $("results-table").tHead.replaceChildren(head);
  $("results-table").tBodies[0].replaceChildren(body);
  const notes = [moments ? "Mean ± standard deviation." : "Median with the interval from 16 % to 84 %."];
  if (t.r_hat_nested.some(isNumber)) notes.push("R-hat: of groups of chains, each taken as one long chain.");
  if (compared) notes.push(`R-hat is that of ${runNames[0]}.`);
  if (t.circular.some(Boolean)) notes.push("Of a periodic parameter mean and sd are circular, and its interval lies on a circle cut open where draws are few.");
  if (data.modes) notes.push(`The draws have ${data.modes.count} modes: an interval spans all of them; see the table of modes.`);
  if (dim < data.columns) notes.push(`The ${whole(dim)} of ${whole(data.columns)} with the largest R-hat are listed.`);
  $("results-note").textContent = notes.join(" ");
}

/* The table for other programs. */
function resultText(kind) {
  const latex = s => s.replace(/[\\{}$&#_%~^]/g, c => ({ "\\": "\\textbackslash{}", "~": "\\textasciitilde{}", "^": "\\textasciicircum{}" }[c] || "\\" + c)), quoted = s => /[",\n]/.test(s) ? '"' + s.replace(/"/g, '""') + '"' : s;
  const lines = resultRows().map(i => {
    const v = interval(data, i), name = data.table.name[i], { value, above, below, scale } = GessFigures.intervalText(v.low, v.middle, v.high), rhat = isNumber(rhatOf(data.table, i)) ? rhatOf(data.table, i).toFixed(4) : "NA";
    const plain = s => s.replace(/−/g, "-");
    if (kind === "csv") return [quoted(/^[=+@\t\r-]/.test(name) ? "'" + name : name), ...[v.middle, v.low, v.high].map(x => finite(x) ? String(x) : "NA"), rhat].join(",");
    if (kind === "text") return [name, [value, above, below].filter(Boolean).map(part => plain(part) + (scale ? "e" + scale : "")).join(" "), rhat].join("\t");
    const number = plain(value), errors = below ? `^{${plain(above)}}_{${plain(below)}}` : above ? " \\pm " + plain(above).slice(2) : "";
    return `${latex(name)} & $${scale ? `(${number}${errors}) \\times 10^{${scale}}` : number + errors}$ \\\\`;
  });
  if (kind === "csv") lines.unshift(moments ? "parameter,mean,mean_minus_sd,mean_plus_sd,r_hat" : "parameter,median,q16,q84,r_hat");
  if (kind === "text") lines.unshift(["parameter", moments ? "mean ± sd" : "median, 68 %", "R-hat"].join("\t"));
  return lines.join("\n") + "\n";
}

async function copyResults(kind) {
  const text = resultText(kind);
  try { await navigator.clipboard.writeText(text); } catch (e) { /* a page from a file may not: then the old way */
    const area = element("textarea", { class: "away" });
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  $("copied").textContent = "Copied.";
  setTimeout(() => { $("copied").textContent = ""; }, 2500);
}

function evidence() {
  const list = runs.filter(r => r.evidence);
  if (list.length === 0 || runs.length > 1) return;
  const e = data.evidence;
  $("evidence").append(element("strong", { text: "Log evidence: " }), e.refused ? "refused; " : isNumber(e.log_evidence) ? withError(e.log_evidence, e.se) : "not known",
    e.refused ? element("code", { text: "gess evidence" }) : "", e.refused ? " says why." : ", by bridge sampling.");
  $("evidence").hidden = false;
}

function compared() {
  if (runs.length === 1) return;
  const head = element("tr"), body = $("runs-table").tBodies[0];
  for (const text of ["run", "verdict", "draws", "smallest ESS", "largest R-hat", "evaluations", "time", "log evidence"]) head.append(element("th", { scope: "col", text }));
  $("runs-table").tHead.replaceChildren(head);
  runs.forEach((r, k) => {
    const least = Math.min(...r.table.ess_bulk.filter(isNumber)), worst = Math.max(...r.table.r_hat.map((_, i) => rhatOf(r.table, i)).filter(isNumber)), e = r.evidence;
    const name = element("th", { scope: "row", title: r.directory }, element("span", { class: "swatch", style: `background: ${hueOf(k)}` }), runNames[k]);
    const row = element("tr", {}, name, element("td", { class: r.verdict.pass ? "good" : "bad", text: r.verdict.pass ? "pass" : "FAIL" }));
    for (const text of [`${whole(r.chains)} × ${whole(r.draws)}`, whole(least), isNumber(worst) ? worst.toFixed(4) : "NA", whole(r.stats.evals), seconds(r.stats.seconds), e ? e.refused ? "refused" : withError(e.log_evidence, e.se) : "–"]) row.append(element("td", { text }));
    body.append(row);
  });
  $("runs").hidden = false;
}

/* ---- drawings of the page ---- */

const drawings = new Map();
const palette = () => ({ ink: colour("ink"), quiet: colour("quiet"), frame: colour("frame"), faint: colour("line"), blue: hues[0], orange: hues[1], green: hues[2], card: colour("card") });
const hueOf = k => { const c = GessFigures.series[k % 8]; return c === "blue" ? hues[0] : c === "orange" ? hues[1] : c; };
const fileName = part => (data.title || data.model || "gess").replace(/^.*\//, "").replace(/[^\w.-]+/g, "-").slice(0, 60) + "-" + part;

/* Buttons that save a drawing, which `make` returns. */
function saveButtons(name, make) {
  const box = element("div", { class: "save", role: "group", "aria-label": "Save this plot" });
  for (const kind of ["svg", "pdf", "png"]) box.append(element("button", { type: "button", title: `Save as ${kind.toUpperCase()}`, text: kind.toUpperCase(), click: async () => {
    const link = element("a", { href: URL.createObjectURL(await GessVector.blob(make(), kind)), download: `${fileName(name)}.${kind}` });
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  } }));
  return box;
}

/* Shows a drawing in the card `parent`, with a title and a line of text. */
function show(parent, id, title, text, drawing) {
  drawings.set(id, drawing);
  const caption = element("figcaption", {}, element("h3", { text: title }), element("p", { text }), saveButtons(id, () => drawings.get(id)));
  const holder = element("div", { class: "drawing", tabindex: 0, role: "region", "aria-label": title });
  holder.append(GessVector.svg(drawing, palette()));
  parent.replaceChildren(element("figure", { class: "full" }, caption, holder));
}
const room = () => $("corner").clientWidth - (innerWidth < 600 ? 22 : 36);

function drawForest() {
  const t = data.table, list = resultRows().slice(0, 250);
  const rowsOf = list.map(i => ({ name: t.name[i], truth: truthOf(t.name[i]), intervals: runs.map(run => interval(run, run === data ? i : rowIn(run).get(t.name[i]))) }));
  if (!rowsOf.some(r => r.intervals.some(v => v && finite(v.low)))) { $("forest").replaceChildren(); return; }
  show($("forest"), "forest", "All parameters", list.length < resultRows().length ? `the first ${list.length} of the table` : (runs.length > 1 ? "the interval of each run" : "intervals and R-hat") + (rowsOf.some(r => finite(r.truth)) ? "; orange: true values" : ""),
    GessFigures.forest(rowsOf, { runs: runNames, width: room(), thick: moments ? "mean ± sd" : "68 %", interval: moments ? "mean ± sd" : "median, 68 %" }));
}

const truthOf = name => { const p = data.plots[plotIn(data).get(name)]; return p && isNumber(p.truth) ? p.truth : NaN; };

function drawTraces() {
  const list = data.plots.filter(p => p.trace && p.density);
  if (list.length === 0) { $("traces-plots").replaceChildren(element("p", { class: "note", text: "There is no parameter whose draws vary." })); return; }
  const panels = list.map(p => {
    const t = p.trace, values = unpack(t.values), i = table.row.indexOf(p.row);
    return { name: p.name, chains: t.chains.map((_, k) => values.slice(k * t.points, (k + 1) * t.points)), step: t.step, draws: data.draws, rhat: i >= 0 ? rhatOf(table, i) : NaN, ess: i >= 0 ? table.ess_bulk[i] : NaN,
      doubtful: i >= 0 && doubtful(table, i), truth: isNumber(p.truth) ? p.truth : NaN, lo: p.density.lo, hi: p.density.hi };
  });
  const k = list[0].trace.chains.length;
  const named = list.filter(p => p.name !== "lp__").length;
  show($("traces-plots"), "traces", plural(named, "parameter") + (named < list.length ? " and lp__" : ""), `${k === data.chains ? plural(k, "chain") : `${k} of ${plural(data.chains, "chain")}, the one furthest from the others among them`}; beside each trace the density of each of them${runs.length > 1 ? "; of " + runNames[0] : ""}`,
    GessFigures.traces(panels, { width: room() }));
}

/* ---- corner plot ---- */

let corner = [];
const samples = new Map();
const sampleOf = (run, i) => { const key = runs.indexOf(run) + ":" + i; if (!samples.has(key)) samples.set(key, unpack(run.plots[i].sample)); return samples.get(key); };
const cornerable = data.plots.map((p, i) => i).filter(i => data.plots[i].density);

/* A parameter of the corner plot, with the draws of every run that has it. */
function cornerParameter(i) {
  const p = data.plots[i], row = table.row.indexOf(p.row), v = (row >= 0 && interval(data, row)) || {};
  const of = run => {
    const k = plotIn(run).get(p.name);
    if (k === undefined || !run.plots[k].density) return null;
    const r = rowIn(run).get(p.name);
    return { sample: sampleOf(run, k), ess: r === undefined ? 0 : run.table.ess_bulk[r], view: run.plots[k].density };
  };
  const list = runs.map(of), views = list.filter(Boolean).map(r => r.view);
  return { name: p.name, runs: list, lo: Math.min(...views.map(d => d.lo)), hi: Math.max(...views.map(d => d.hi)), low: v.low, middle: v.middle, high: v.high, truth: isNumber(p.truth) ? p.truth : NaN, prior: p.prior };
}

function drawCorner() {
  const parent = $("corner-plots"), k = corner.length;
  $("corner-chosen").replaceChildren(...corner.map((i, at) => element("li", {},
    element("button", { type: "button", "aria-label": "Remove " + data.plots[i].name, click: () => { corner.splice(at, 1); drawCorner(); } },
      element("span", { text: data.plots[i].name }), element("b", { text: "×", "aria-hidden": "true" })))));
  const pick = $("corner-pick");
  pick.replaceChildren(element("option", { value: "", text: k < 8 ? "choose…" : "eight at most" }),
    ...cornerable.filter(i => !corner.includes(i)).map(i => element("option", { value: i, text: data.plots[i].name })));
  pick.disabled = k >= 8;
  const first = data.corner.length === k && data.corner.every((i, at) => corner[at] === i) && cornerable.length > k + 1;
  $("corner-note").textContent = cornerable.length === 0 ? "There is no parameter whose draws vary."
    : k === 0 ? "Choose parameters to see their joint densities." : first ? "These are the most correlated parameters and those with the smallest effective sample size; choose others above." : "";
  drawings.delete("corner");
  if (k === 0) { parent.replaceChildren(); return; }
  show(parent, "corner", moments ? "Means ± standard deviations" : "Medians and 68 % intervals",
    `Contours hold 39 % and 86 % of ${plural(data.sampled, "draw")} spread evenly over the run: 1σ and 2σ of a Gaussian.` + (corner.some(i => isNumber(data.plots[i].truth)) ? " Orange: true values." : "") + (corner.some(i => data.plots[i].prior) ? " Green, dashed: priors." : ""),
    GessFigures.corner(corner.map(cornerParameter), { runs: runNames, width: room(), interval: moments ? "mean ± sd" : "median and 68 % interval" }));
}

/* ---- the sampler ---- */

const sum = list => list.reduce((a, b) => a + b, 0);

/* Counts in bins; [label, x, count] each. */
function countsChart(parent, id, title, text, label, bins, x) {
  const canvas = figure(parent, title, text, label), all = sum(bins.map(b => b[2]));
  x.grid.display = false;
  draw(id, canvas, { type: "bar", data: { datasets: [{ data: bins.map(b => ({ x: b[1], y: b[2], label: b[0] })), backgroundColor: mixed(hues[0], .75), barPercentage: .94, categoryPercentage: 1, grouped: false }] }, options: {
    interaction: { mode: "index", intersect: false }, scales: { x, y: countAxis("updates", { min: 0 }) },
    plugins: { ...noLegend, tooltip: tip(i => i.raw.label, i => `${plural(i.raw.y, "update")}, ${short(100 * i.raw.y / all, 3)} %`) } } });
}

/* A figure of each warm-up stage against evaluations so far, a line for each ensemble. */
function stageChart(parent, id, title, text, key, stages, log) {
  const groups = new Map();
  for (const s of stages) {
    if (!isNumber(s[key]) || log && s[key] <= 0) continue;
    const name = s.ensemble || 1, list = groups.get(name) || [];
    list.push({ x: s.evals, y: s[key], stage: s.stage });
    groups.set(name, list);
  }
  if (groups.size === 0) return missing(parent, title, "No stage of the warm-up has it.");
  const last = [...groups.values()].map(g => g[g.length - 1].y);
  const canvas = figure(parent, title, text, `${title}: ${plural(stages.length, "stage")}, ${short(last[0])} at the end${groups.size > 1 ? " of the first ensemble" : ""}.`);
  draw(id, canvas, { type: "line", data: { datasets: [...groups].map(([name, list], i) => ({ label: "ensemble " + name, data: list, borderColor: hues[i % 8], backgroundColor: hues[i % 8], pointRadius: 3, borderWidth: 2 })) }, options: {
    parsing: false, interaction: { mode: "nearest", intersect: false }, scales: { x: countAxis("evaluations", { min: 0 }), y: log ? logarithmic("") : axis("") },
    plugins: { legend: { display: groups.size > 1 }, tooltip: tip(i => "stage " + i.raw.stage + (groups.size > 1 ? ", " + i.dataset.label : ""), i => short(i.parsed.y)) } } });
}

function checksChart(parent, checks) {
  const good = checks.filter(c => isNumber(c.draws));
  const canvas = figure(parent, "Checks of the stop rule", "the worst column at each check", `Checks of the stop rule: ${plural(good.length, "check")}, the last with ESS ${whole(good[good.length - 1].ess)} and R-hat ${short(good[good.length - 1].rhat, 5)}.`);
  const line = (label, key, hue, yAxisID) => ({ label, yAxisID, data: good.filter(c => isNumber(c[key])).map(c => ({ x: c.draws, y: c[key] })), borderColor: hue, backgroundColor: hue, pointRadius: 3, borderWidth: 2 });
  draw("checks", canvas, { type: "line", data: { datasets: [line("ESS (left)", "ess", hues[0], "y"), line("R-hat (right)", "rhat", hues[1], "right")] }, options: {
    parsing: false, interaction: { mode: "nearest", intersect: false },
    scales: { x: countAxis("draws per chain", { min: 0 }), y: countAxis("ESS", { min: 0 }), right: axis("R-hat", { position: "right", suggestedMin: 1, grid: { display: false, borderColor: colour("line") }, ticks: { maxTicksLimit: 6, callback: v => short(v, 5) } }) },
    plugins: { tooltip: tip(i => `after ${plural(i.raw.x, "draw")} of each chain`, i => `${i.dataset.label.slice(0, -7).trim()}: ${short(i.parsed.y, 5)}`) } } });
}

function timingChart(parent) {
  const h = data.history || {}, s = data.stats;
  const rowsOf = [["seconds", isNumber(h.seconds_warmup) ? h.seconds_warmup : s.seconds - s.seconds_sampling, isNumber(h.seconds_sampling) ? h.seconds_sampling : s.seconds_sampling, seconds],
    ["evaluations", isNumber(h.evals_warmup) ? h.evals_warmup : s.evals - s.evals_sampling, isNumber(h.evals_sampling) ? h.evals_sampling : s.evals_sampling, whole]]
    .filter(r => isNumber(r[1]) && isNumber(r[2]) && r[1] + r[2] > 0);
  if (rowsOf.length === 0) return missing(parent, "Timing", "This run directory does not say what the run cost.");
  const text = rowsOf.map(r => `${r[0]}: ${r[3](r[1])} in warm-up, ${r[3](r[2])} in sampling`).join("; ");
  const canvas = figure(parent, "Timing", text, "Timing. " + text + ".");
  const set = (label, k, hue) => ({ label, data: rowsOf.map(r => 100 * r[k] / (r[1] + r[2])), backgroundColor: faded(hue, .8), barPercentage: .6 });
  const x = axis("", { stacked: true, min: 0, max: 100 });
  x.ticks.callback = v => v + " %";
  draw("timing", canvas, { type: "bar", data: { labels: rowsOf.map(r => r[0]), datasets: [set("warm-up", 1, hues[1]), set("sampling", 2, hues[0])] }, options: { indexAxis: "y",
    scales: { x, y: { stacked: true, grid: { display: false, borderColor: colour("line") } } },
    plugins: { legend: { labels: { boxHeight: 10 } }, tooltip: { callbacks: { label: i => `${i.dataset.label}: ${rowsOf[i.dataIndex][3](rowsOf[i.dataIndex][i.datasetIndex + 1])} (${short(i.raw, 3)} %)` } } } } });
}

function sampler() {
  const parent = $("sampler-plots"), h = data.history;
  parent.replaceChildren();
  $("sampler-note").textContent = h ? "" : "This run directory has no history.json, so nothing is known about its sampler.";
  if (h) {
    const by = h.updates_by_evals, angles = h.angles;
    if (Array.isArray(by) && sum(by) > 0) {
      const mean = sum(by.map((n, i) => n * (i + 1))) / sum(by), often = by.lastIndexOf(Math.max(...by)) + 1;
      countsChart(parent, "evals", "Evaluations per update", `${short(mean, 3)} on average; few are good`,
        `Evaluations per update: ${short(mean, 3)} on average over ${plural(sum(by), "update")}, most often ${often}.`, 
        by.map((n, i) => [i + 1 === by.length ? `${i + 1} or more evaluations` : plural(i + 1, "evaluation"), i + 1, n]), countAxis("evaluations", { min: .5, max: Math.max(8, by.findLastIndex(n => n > 0) + 1) + .5 }));
    } else missing(parent, "Evaluations per update", "The run counted no updates.");
    if (Array.isArray(angles) && sum(angles) > 0) {
      const n = angles.length, degrees = countAxis("angle from the old point, degrees", { min: -180, max: 180 }), near = sum(angles.filter((_, i) => Math.abs((i + .5) / n - .5) < .125)) / sum(angles);
      degrees.ticks.stepSize = 90;
      degrees.ticks.includeBounds = true;
      countsChart(parent, "angles", "Angles of accepted moves", `${short(100 * near, 3)} % within an eighth of a turn; a peak at 0: small steps`,
        `Angles of accepted moves over the turn: ${short(100 * near, 3)} % are within an eighth of a turn of the old point.`, 
        angles.map((k, i) => [`${short((i / n - .5) * 360, 4)}° to ${short(((i + 1) / n - .5) * 360, 4)}°`, ((i + .5) / n - .5) * 360, k]), degrees);
    } else missing(parent, "Angles of accepted moves", "The run counted no angles.");
    const stages = Array.isArray(h.warmup) ? h.warmup.filter(s => s && isNumber(s.evals)) : [];
    if (stages.length > 0) {
      stageChart(parent, "nu", "ν over warm-up", "degrees of freedom of the approximation; large: nearly Gaussian", "nu", stages, true);
      stageChart(parent, "sigma", "tr Σ over warm-up", "spread of the approximation in the sampling space; level at the end: it has settled", "trace", stages, true);
      stageChart(parent, "cost", "Evaluations per update over warm-up", "falls as the approximation improves", "evals_per_update", stages, false);
    }
    if (Array.isArray(h.checks) && h.checks.length > 0) checksChart(parent, h.checks);
  }
  timingChart(parent);
}

function about() {
  const list = $("options"), add = (key, value) => list.append(element("div", {}, element("span", { class: "key", text: key }), element("span", { class: "is", text: value })));
  list.replaceChildren();
  add("directory", data.directory);
  if (data.model) add("model", data.model);
  /* 0 is how most options say that they are not used */
  for (const [key, value] of Object.entries(data.options)) if (value !== "" && value !== "null" && (value !== "0" || ["seed", "warmup", "draws"].includes(key))) add(key, value);
  for (const [key, value] of Object.entries(data.stats)) add(key.replaceAll("_", " "), typeof value === "boolean" ? (value ? "yes" : "no") : typeof value === "string" ? value : key.startsWith("seconds") ? seconds(value) : key.endsWith("rhat") ? value.toFixed(4) : Number.isInteger(value) ? whole(value) : short(value));
}

/* ---- all of it ---- */

function drawResults() {
  results();
  drawForest();
  drawCorner();
}

function drawSampler() {
  if ($("sampler-more").open) sampler();
}

function drawAll() {
  applyTheme();
  drawResults();
  drawTraces();
  choose(current);
  drawSampler();
}

$("theme").addEventListener("click", () => {
  theme = { auto: "dark", dark: "light", light: "auto" }[theme] || "auto";
  try { localStorage.setItem("gess-theme", theme); } catch (e) { /* it lasts as long as the page */ }
  drawAll();
});
system.addEventListener("change", drawAll);
$("filter").addEventListener("input", fillTable);
$("pick").append(...data.plots.map((p, i) => element("option", { value: i, text: p.name })));
$("pick").addEventListener("change", e => choose(Number(e.target.value)));
$("previous").addEventListener("click", () => choose(current - 1));
$("next").addEventListener("click", () => choose(current + 1));
$("corner-pick").addEventListener("change", e => { if (e.target.value !== "") { corner.push(Number(e.target.value)); drawCorner(); } });
let width = innerWidth;
addEventListener("resize", () => { if (innerWidth !== width) { width = innerWidth; drawForest(); drawCorner(); drawTraces(); } });
$("sampler-more").addEventListener("toggle", drawSampler);
for (const input of document.querySelectorAll("input[name=interval]")) {
  input.checked = (input.value === "mean") === moments;
  input.addEventListener("change", () => { moments = input.value === "mean"; drawResults(); });
}
for (const button of document.querySelectorAll("[data-copy]")) button.addEventListener("click", () => copyResults(button.dataset.copy));

head();
applyTheme();
standing();
compared();
evidence();
verdict();
tiles();
modes();
headTable();
fillTable();
about();
const worst = best("ess_bulk", (a, b) => a < b);
current = worst >= 0 && plotOf.has(table.row[worst]) ? plotOf.get(table.row[worst]) : 0;
corner = data.corner.filter(i => data.plots[i].density).slice(0, innerWidth < 600 ? 3 : 5);
if (corner.length === 0) corner = cornerable.slice(0, 1);
if (data.plots.length < data.columns) $("pick-note").after(element("p", { class: "note", text: `The ${whole(data.plots.length)} of ${whole(data.columns)} with the largest R-hat have plots.` }));
drawAll();
window.gessReport = { data, charts, drawings, unpack, choose, corner: list => { corner = list; drawCorner(); }, resultText, sample: i => sampleOf(data, i),
  drawing: id => drawings.get(id) || asDrawing(charts.get(id).config._config || charts.get(id).config, charts.get(id).canvas, id) };
})();
