"use strict";
// The inspector's page. Text from the network is shown only as text: no code here creates markup from it.

// --- Limits ----------------------------------------------------------------------------------------------------------

/** The number of rows that the page keeps while it follows. Older rows are fetched again if the user asks for them. */
const KEPT = 20000;
/** If more new rows than this limit wait, the page skips to the latest rows. Nobody can read rows that fast. */
const BEHIND = 4000;
const BEHIND_FILTERED = 60000;
const SAMPLES = 600;
/** The milliseconds between two announcements of new packets to screen readers. */
const ANNOUNCE = 15000;

// --- Packets in plain words ------------------------------------------------------------------------------------------

const KINDS = {
  CONNECT: ["session", "the client asks the broker, the server in the middle, to let it in."],
  CONNACK: ["session", "the broker lets the client in, or says why not."],
  PUBLISH: ["publish", "a message on a topic. QoS 0: sent once, never confirmed; 1: until confirmed; 2: exactly once."],
  PUBACK: ["ack", "“I have your QoS 1 message.” The exchange is complete."],
  PUBREC: ["ack", "“I have your QoS 2 message.” The second of four steps that keep it from arriving twice."],
  PUBREL: ["ack", "“You may pass the QoS 2 message on.” The third of four steps."],
  PUBCOMP: ["ack", "“Done.” The last of the four steps of a QoS 2 message."],
  SUBSCRIBE: ["subscribe", "the client asks for all messages on some topics."],
  SUBACK: ["subscribe", "the broker says which of these it will send, and how reliably."],
  UNSUBSCRIBE: ["subscribe", "the client wants no more messages on some topics."],
  UNSUBACK: ["subscribe", "the broker has ended these subscriptions."],
  PINGREQ: ["ping", "“Are you still there?” Sent when nothing else was said for a while."],
  PINGRESP: ["ping", "“I am.”"],
  DISCONNECT: ["session", "the last packet of a connection, often with a reason."],
  AUTH: ["session", "a step of a longer proof of who the client is."],
  UNKNOWN: ["ping", "bytes that are no MQTT packet."],
};

// --- Helpers ---------------------------------------------------------------------------------------------------------

const $ = (id) => document.getElementById(id);

function make(name, text, className) {
  const element = document.createElement(name);
  if (text !== undefined) element.textContent = text;
  if (className) element.className = className;
  return element;
}

function draw(name, attributes, text) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const key in attributes) element.setAttribute(key, attributes[key]);
  if (text !== undefined) element.textContent = text;
  return element;
}

/** Returns the text with visible signs instead of characters that are invisible or change the direction of text. */
function plain(text) {
  return String(text).replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\p{Cf}\u034f\u115f\u1160\u3164\uffa0]/gu,
    (c) => c < " " ? String.fromCharCode(0x2400 + c.charCodeAt(0)) : `⟨${c.codePointAt(0).toString(16)}⟩`);
}
const line = (text) => plain(text).replace(/[\n\t]+/g, " ");

const two = (n) => String(n).padStart(2, "0");
function clock(time) {
  const d = new Date(time);
  const parts = [d.getHours(), d.getMinutes(), d.getSeconds()].map(two);
  return `${parts.join(":")}.${String(d.getMilliseconds()).padStart(3, "0")}`;
}
function took(ms) {
  if (ms === undefined || ms === null) return "";
  if (ms < 0.001) return "< 1 µs";
  if (ms < 1) return `${Math.round(ms * 1000)} µs`;
  return ms < 1000 ? `${ms.toFixed(ms < 10 ? 2 : 1)} ms` : `${(ms / 1000).toFixed(2)} s`;
}
function bytes(n) {
  return n < 1000 ? `${n} B` : n < 1e6 ? `${(n / 1000).toFixed(1)} kB` : `${(n / 1e6).toFixed(1)} MB`;
}
const number = (n) => n.toLocaleString("en");

async function get(path) {
  const answer = await fetch(path);
  if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
  return answer.json();
}

// --- State -----------------------------------------------------------------------------------------------------------

let items = []; // rows, and now and then { gap: n }
let byNumber = new Set();
let next = null; // the number of the first row that was not asked for yet
let oldest = null; // where looking further back goes on
let unbroken = 0; // from here on no packets were left out
let query = "";
let epoch = 0; // grows when the list begins anew, so that late answers are dropped
let isBroken = false; // a request failed while the list began anew: the next news begins it again
let tick = null;
let isPaused = false;
let isFollowing = true;
let isPulling = false;
let selected = null;
let heard = { rows: 0, errors: 0, at: 0 };

// --- Rows ------------------------------------------------------------------------------------------------------------

function path(parameters) {
  return "rows?" + new URLSearchParams(query ? { query, ...parameters } : parameters);
}

/** Clears the list, and starts it again with the latest rows. */
async function restart() {
  epoch += 1;
  isBroken = false;
  items = [];
  byNumber.clear();
  next = null;
  oldest = tick.nextRow;
  unbroken = 0;
  isFollowing = true;
  const start = tick.nextRow;
  const mine = epoch;
  schedule();
  try {
    const { error } = await get("check?" + new URLSearchParams({ query }));
    if (mine !== epoch) return;
    showError(error);
    if (error || !await lookBack(mine)) return;
  } catch (error) {
    if (mine === epoch) isBroken = true;
    setState("lost");
    return;
  }
  next = start;
  pull();
}

/** Fetches older rows, and inserts them at the start of the list. Returns false if the list was restarted meanwhile. */
async function lookBack(mine) {
  const before = oldest;
  const body = await get(path({ before }));
  if (mine !== epoch) return false;
  if (before !== oldest) return true; // Meanwhile the list begins elsewhere, and these rows would leave a hole.
  const added = body.rows.filter((row) => !byNumber.has(row.number));
  for (const row of added) byNumber.add(row.number);
  items = added.concat(items);
  oldest = body.next;
  $("older").hidden = oldest <= body.firstRow || body.nextRow === body.firstRow;
  if (!isFollowing) {
    stretch(); // or it could not be scrolled further than to the old end
    list.scrollTop += added.length * rowHeight;
  }
  schedule();
  return true;
}

/** Returns whether new rows must wait, because the list is full and the user looks at older rows. */
const isHeld = () => !isFollowing && items.length >= KEPT;

/** Fetches new rows, one request after another. */
async function pull() {
  if (isPulling || isPaused || next === null || tick === null || document.hidden) return;
  isPulling = true;
  try {
    while (next !== null && next < tick.nextRow && !isPaused && !isHeld()) {
      const mine = epoch;
      const behind = tick.nextRow - next;
      if (behind > (query ? BEHIND_FILTERED : BEHIND)) {
        items.push({ gap: behind - 500 });
        next = tick.nextRow - 500;
        unbroken = next;
      }
      const body = await get(path({ from: next }));
      if (mine !== epoch || isHeld()) break;
      if (body.again !== undefined && !await lookAgain(Math.max(body.again, oldest, unbroken), next, mine)) break;
      next = Math.max(body.next, next);
      next = Math.max(next, Math.min(body.firstRow, body.nextRow)); // what was dropped meanwhile does not come any more
      add(body.rows);
    }
  } catch (error) {
    setState("lost");
  } finally {
    isPulling = false;
  }
}

/** Fetches the rows from `from` on again: the end of an exchange can change whether the filter matches its rows. */
async function lookAgain(from, end, mine) {
  const found = [];
  let at = from;
  while (at < end) {
    const body = await get(path({ from: at }));
    if (mine !== epoch) return false;
    found.push(...body.rows.filter((row) => row.number < end));
    const further = Math.max(body.next, Math.min(body.firstRow, body.nextRow));
    if (further <= at) break;
    at = further;
  }
  let place = items.length;
  while (place > 0 && items[place - 1].number >= from) place -= 1;
  const known = new Set(items.splice(place).map((row) => row.number));
  for (const number of known) byNumber.delete(number);
  add(found, known);
  return true;
}

/** Appends rows to the list. Rows in `known` are not counted as new packets. */
function add(rows, known = new Set()) {
  for (const row of rows) {
    if (byNumber.has(row.number)) continue;
    byNumber.add(row.number);
    items.push(row);
    if (known.has(row.number)) continue;
    heard.rows += 1;
    if (row.isError) heard.errors += 1;
  }
  if (items.length > KEPT && isFollowing) {
    const gone = items.splice(0, items.length - KEPT);
    for (const row of gone) byNumber.delete(row.number);
    oldest = (items.find((item) => item.number) || { number: oldest }).number;
    $("older").hidden = false;
  }
  schedule();
}

// --- The list: it has elements only for the visible rows -------------------------------------------------------------

const list = $("list");
let rowHeight = 28;
let isScheduled = false;
const pool = [];

function schedule() {
  if (isScheduled) return;
  isScheduled = true;
  requestAnimationFrame(render);
}

function makeRow() {
  const element = make("div", undefined, "row");
  element.setAttribute("role", "option");
  const parts = {};
  for (const name of ["time", "arrow", "type", "what", "size", "took"]) {
    parts[name] = make("span", undefined, name);
    element.append(parts[name]);
  }
  parts.topic = make("span", undefined, "topic");
  parts.preview = make("span", undefined, "preview");
  parts.what.append(parts.topic, parts.preview);
  element.parts = parts;
  element.addEventListener("click", () => { select(element.row.number); open(element.row.number); });
  element.addEventListener("mouseenter", () => hint(element.row));
  return element;
}

function describe(row) {
  if (row.problem) return row.problem;
  const reasons = (row.reasons || []).map((reason) => reason.name).join(", ");
  const id = row.packetID ? `#${row.packetID}` : "";
  if (row.topic !== undefined) return row.topic + (reasons ? ` · ${reasons}` : "");
  if (row.type === "CONNECT") return `${row.client} (connection ${row.ordinal})`;
  return [id, reasons].filter(Boolean).join(" · ");
}

function flags(row) {
  const list = [];
  if (row.qos !== undefined) list.push(`QoS ${row.qos}`);
  if (row.isRetained) list.push("retained");
  if (row.isDuplicate) list.push("sent again");
  return list.join(", ");
}

function fill(element, row, index) {
  const isPicked = row.number === selected;
  if (element.row === row && element.index === index && element.isPicked === isPicked) return;
  Object.assign(element, { row, index, isPicked });
  const parts = element.parts;
  element.id = `row-${index % 1000}-${row.number || "gap"}`;
  element.setAttribute("aria-selected", String(isPicked));
  element.setAttribute("aria-posinset", index + 1);
  element.setAttribute("aria-setsize", items.length);
  if (row.gap) {
    element.className = "row gap";
    for (const name in parts) if (name !== "what") parts[name].textContent = "";
    parts.topic.textContent = `… ${number(row.gap)} packets came too fast to show; filter or export to see them …`;
    element.removeAttribute("aria-label");
    return;
  }
  const kind = (KINDS[row.type] || KINDS.UNKNOWN)[0];
  element.className = `row ${kind}${row.isError ? " bad" : ""}`;
  parts.time.textContent = clock(row.time);
  parts.arrow.textContent = row.isOutgoing ? "→" : "←";
  parts.arrow.className = `arrow ${row.isOutgoing ? "out" : "in"}`;
  parts.type.textContent = (row.isError ? "✖ " : "") + row.type;
  const what = line(describe(row));
  const preview = row.preview ? line(row.preview) : "";
  parts.topic.textContent = what;
  parts.preview.textContent = preview ? `  ${preview}` : "";
  parts.size.textContent = bytes(row.size);
  parts.took.textContent = took(row.roundTrip);
  element.setAttribute("aria-label", [
    row.isError ? "Error" : "", clock(row.time), row.isOutgoing ? "sent" : "received", row.type, what, flags(row),
    bytes(row.size), row.roundTrip ? `took ${took(row.roundTrip)}` : "",
  ].filter(Boolean).join(", "));
}

/** Gives the list the height of all its rows. */
function stretch() {
  $("space").style.height = `${items.length * rowHeight}px`;
}

function render() {
  isScheduled = false;
  stretch();
  if (isFollowing) list.scrollTop = items.length * rowHeight;
  const first = Math.max(0, Math.floor(list.scrollTop / rowHeight) - 4);
  const count = Math.min(items.length - first, Math.ceil(list.clientHeight / rowHeight) + 8);
  while (pool.length < count) {
    pool.push(makeRow());
    $("rows").append(pool[pool.length - 1]);
  }
  $("rows").style.transform = `translateY(${first * rowHeight}px)`;
  let active = null;
  pool.forEach((element, index) => {
    element.hidden = index >= count;
    if (element.hidden) return;
    fill(element, items[first + index], first + index);
    if (element.isPicked) active = element.id;
  });
  if (active) list.setAttribute("aria-activedescendant", active);
  else list.removeAttribute("aria-activedescendant");
  $("latest").hidden = isFollowing || items.length === 0;
  $("empty").hidden = items.length > 0;
}

list.addEventListener("scroll", () => {
  // The scroll event arrives a frame late, when more rows may exist, so this uses the height of the drawn list.
  isFollowing = list.scrollTop + list.clientHeight >= list.scrollHeight - rowHeight * 1.5;
  if (isFollowing) pull();
  schedule();
});

function measure() {
  rowHeight = parseFloat(getComputedStyle(document.documentElement).getPropertyValue("--row")) || 28;
  schedule();
}
new ResizeObserver(measure).observe(list);

function hint(row) {
  if (!row || row.gap) return;
  const kind = KINDS[row.type] || KINDS.UNKNOWN;
  const way = row.isOutgoing ? "client → broker" : "broker → client";
  $("hint").textContent = `${row.type} (${way}): ${kind[1]}`;
}

function select(number) {
  selected = number;
  hint(items.find((row) => row.number === number));
  schedule();
}

function move(by) {
  const rows = items.length;
  if (rows === 0) return;
  let index = items.findIndex((row) => row.number === selected);
  if (index < 0) index = by > 0 ? Math.floor(list.scrollTop / rowHeight) - 1 : rows;
  index = Math.min(rows - 1, Math.max(0, index + by));
  if (items[index].gap) index = Math.min(rows - 1, Math.max(0, index + Math.sign(by)));
  isFollowing = by > 0 && index === rows - 1; // In a full list nothing is scrolled that could say so.
  if (isFollowing) pull();
  const top = index * rowHeight;
  if (top < list.scrollTop) list.scrollTop = top;
  if (top + rowHeight > list.scrollTop + list.clientHeight) list.scrollTop = top + rowHeight - list.clientHeight;
  select(items[index].number);
  if (!$("details").hidden) open(items[index].number);
}

// --- Details of one packet -------------------------------------------------------------------------------------------

let opened = 0;

async function open(number, hasFocus) {
  if (number === null || number === undefined) return;
  const mine = ++opened;
  const answer = await fetch(`row/${number}`);
  if (mine !== opened) return;
  const pane = $("details");
  const wasHidden = pane.hidden;
  pane.hidden = false;
  measure();
  if (!answer.ok) {
    $("details-title").textContent = `Packet ${number}`;
    $("explanation").textContent = await answer.text();
    for (const id of ["exchange-part", "content-part"]) $(id).hidden = true;
    $("fields").replaceChildren();
    return;
  }
  show(await answer.json());
  if (wasHidden || hasFocus) pane.scrollTop = 0;
  if (hasFocus) $("details-title").focus();
}

function show(details) {
  const row = details.row;
  $("details-title").textContent = `${row.isOutgoing ? "→" : "←"} ${row.type} ${line(row.topic || "")}`;
  $("explanation").textContent = details.explanation;
  const fields = [
    ["time", clock(row.time)],
    ["direction", row.isOutgoing ? "from the client to the broker" : "from the broker to the client"],
    ["client", `${row.client}, connection ${row.ordinal}`],
    ["broker", `${details.host}:${details.port}, MQTT ${details.protocolName}`], ["size", `${number(row.size)} bytes`],
  ];
  if (row.roundTrip) fields.push(["exchange took", took(row.roundTrip)]);
  if (row.problem) fields.push(["problem", row.problem]);
  for (const field of details.fields) fields.push([field.name, field.value]);
  $("fields").replaceChildren(...fields.flatMap(([name, value]) => {
    const place = make("dd", plain(value));
    if (name === "trace id") place.append(" ", traceButton(row.trace));
    return [make("dt", plain(name)), place];
  }));
  $("exchange-part").hidden = details.exchange.length === 0;
  $("diagram").replaceChildren();
  if (details.exchange.length > 0) $("diagram").append(sequence(details.exchange, row));
  $("content-part").hidden = false;
  showViews(details);
}

/** Returns a button that filters the list by this trace id. */
function traceButton(trace) {
  const button = make("button", "Show only this trace");
  button.type = "button";
  button.addEventListener("click", () => {
    $("query").value = `trace:${trace}`;
    setQuery($("query").value);
  });
  return button;
}

function showViews(details) {
  const views = details.views.map((view) => ({ name: view.name, text: plain(view.text), isCut: view.isCut }));
  const dump = hex(details);
  views.push({ name: "Hex", dump, isCut: dump.length < details.row.size });
  const buttons = views.map((view, index) => {
    const button = make("button", view.name);
    button.type = "button";
    button.setAttribute("role", "tab");
    button.addEventListener("click", () => pick(index));
    button.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const other = (index + step + views.length) % views.length;
      pick(other);
      buttons[other].focus();
      event.stopPropagation();
    });
    return button;
  });
  function pick(index) {
    const view = views[index];
    buttons.forEach((button, other) => {
      button.setAttribute("aria-selected", String(other === index));
      button.tabIndex = other === index ? 0 : -1;
    });
    const content = $("content");
    content.className = view.dump ? "hex" : "";
    content.setAttribute("aria-label", view.name);
    if (view.dump) content.replaceChildren(...view.dump.nodes);
    else content.textContent = view.text;
    $("cut").hidden = !view.isCut;
    $("cut").textContent = "This is the beginning; the rest is in the download, as far as it was kept.";
  }
  $("tabs").replaceChildren(...buttons);
  const base = `row/${details.row.number}`;
  const links = [["packet.bin", `Packet (${bytes(details.keptSize)})`]];
  if (details.views.length > 0) links.unshift(["payload.bin", "Payload"]);
  $("downloads").replaceChildren(...links.map(([file, text]) => download(`${base}/${file}`, text)));
  pick(0);
}

/** Returns a hex dump with sixteen bytes per line. The bytes of the payload are marked. */
function hex(details) {
  const raw = atob(details.bytes);
  const nodes = [];
  const start = details.views.length > 0 ? details.payloadStart : raw.length;
  let plainText = "";
  const flush = () => { if (plainText) nodes.push(document.createTextNode(plainText)); plainText = ""; };
  for (let offset = 0; offset < raw.length; offset += 16) {
    const part = raw.slice(offset, offset + 16);
    const cells = Array.from(part, (c) => c.charCodeAt(0).toString(16).padStart(2, "0"));
    const head = cells.slice(0, Math.max(0, start - offset)).map((cell) => cell + " ").join("");
    const tail = cells.slice(Math.max(0, start - offset)).map((cell) => cell + " ").join("");
    plainText += offset.toString(16).padStart(6, "0") + "  " + head;
    if (tail) {
      flush();
      nodes.push(make("mark", tail.trimEnd()));
      plainText += " ";
    }
    plainText += " ".repeat(3 * (16 - part.length) + 1) + part.replace(/[^\x20-\x7e]/g, ".") + "\n";
  }
  flush();
  return { nodes, length: raw.length };
}

function download(href, text) {
  const link = make("a", text, "button");
  link.href = href;
  link.setAttribute("download", "");
  return link;
}

/** Draws the packets of an exchange as a sequence diagram. Time runs from the top to the bottom. */
function sequence(rows, here) {
  const [left, right, step, top] = [70, 330, 40, 34];
  const height = top + rows.length * step + 8;
  const svg = draw("svg", { viewBox: `0 0 400 ${height}`, role: "group" });
  const start = rows[0].time;
  const offset = (row) => took(row.elapsed !== undefined ? row.elapsed : Math.max(0, row.time - start));
  svg.setAttribute("aria-label", "Sequence: " + rows.map((row) =>
    `${row.type} ${row.isOutgoing ? "to the broker" : "to the client"} after ${offset(row)}`).join("; "));
  for (const [x, name] of [[left, "client"], [right, "broker"]]) {
    svg.append(draw("text", { x, y: 14, "text-anchor": "middle" }, name));
    svg.append(draw("line", { x1: x, y1: 20, x2: x, y2: height, class: "life" }));
  }
  rows.forEach((row, index) => {
    const y = top + index * step + 14;
    const [from, to] = row.isOutgoing ? [left, right] : [right, left];
    const tip = row.isOutgoing ? to - 8 : to + 8;
    const isHere = row.number === here.number;
    const group = draw("g", {
      class: `step ${row.isOutgoing ? "out" : "in"}${isHere ? " here" : ""}`, tabindex: 0, role: "button",
      "aria-label": `${row.type}, ${offset(row)} after the beginning${isHere ? ", shown now" : ""}`,
    });
    const qos = row.qos !== undefined ? ` QoS ${row.qos}` : "";
    const name = row.type + qos + (row.packetID ? ` #${row.packetID}` : "");
    group.append(
      draw("rect", { x: 0, y: y - 22, width: 400, height: step, fill: "transparent" }),
      draw("line", { x1: from, y1: y, x2: tip, y2: y }),
      draw("polygon", { points: `${to},${y} ${tip},${y - 5} ${tip},${y + 5}` }),
      draw("text", { x: 200, y: y - 6, "text-anchor": "middle", class: "name" }, (row.isError ? "✖ " : "") + name),
      draw("text", { x: 4, y: y + 4, class: "dim" }, index === 0 ? "0" : "+" + offset(row)));
    const go = () => { select(row.number); open(row.number); };
    group.addEventListener("click", go);
    group.addEventListener("keydown", (event) => { if (event.key === "Enter") { go(); event.stopPropagation(); } });
    group.addEventListener("focus", () => hint(row));
    group.addEventListener("mouseenter", () => hint(row));
    svg.append(group);
  });
  return svg;
}

function close() {
  if ($("details").hidden) return false;
  opened += 1;
  $("details").hidden = true;
  list.focus();
  schedule();
  return true;
}

// --- Charts ----------------------------------------------------------------------------------------------------------

let samples = [];

function keepSample(sample) {
  const last = samples[samples.length - 1];
  if (last && sample.time - last.time < 950) return;
  samples.push(sample);
  if (samples.length > SAMPLES) samples.shift();
  drawCharts();
}

function drawCharts() {
  const points = [];
  for (let i = 1; i < samples.length; i += 1) {
    const [a, b] = [samples[i - 1], samples[i]];
    const seconds = Math.max(0.001, (b.time - a.time) / 1000);
    const done = b.acknowledged - a.acknowledged;
    points.push({
      time: b.time, out: (b.packetsOut - a.packetsOut) / seconds, in: (b.packetsIn - a.packetsIn) / seconds,
      latency: done > 0 ? (b.acknowledgedTime - a.acknowledgedTime) / done : null, flight: b.inFlight,
    });
  }
  const last = points[points.length - 1];
  if (!last) return;
  const rate = (value) => number(Math.round(value));
  $("rate-now").replaceChildren(
    make("span", `→ ${rate(last.out)}`, "out"), document.createTextNode("  "), make("span", `← ${rate(last.in)}`, "in"));
  $("latency-now").textContent = last.latency === null ? "–" : took(last.latency);
  $("flight-now").textContent = number(last.flight);
  chart("rate", points, ["out", "in"], `Packets a second: ${rate(last.out)} sent, ${rate(last.in)} received`);
  chart("latency", points, ["latency"], `Answer time of messages: ${last.latency === null ? "none now" : took(last.latency)}`);
  chart("flight", points, ["flight"], `Open exchanges: ${last.flight}`);
}

function chart(id, points, names, label) {
  const svg = $(id);
  const max = Math.max(1e-9, ...points.flatMap((point) => names.map((name) => point[name] || 0)));
  const start = points[0].time;
  const span = Math.max(1, points[points.length - 1].time - start);
  svg.setAttribute("viewBox", "0 0 100 40");
  svg.setAttribute("preserveAspectRatio", "none");
  const most = max < 10 ? max.toFixed(2) : Math.round(max);
  svg.setAttribute("aria-label", `${label}; at most ${most} in ${Math.round(span / 1000)} seconds`);
  const at = (point, name) =>
    `${((point.time - start) / span * 100).toFixed(2)},${(38 - point[name] / max * 35).toFixed(2)}`;
  const lines = names.map((name) => draw("polyline", {
    class: name, points: points.filter((point) => point[name] !== null).map((point) => at(point, name)).join(" "),
  }));
  svg.replaceChildren(draw("line", { x1: 0, y1: 38, x2: 100, y2: 38 }), ...lines);
}

// --- Connections -----------------------------------------------------------------------------------------------------

const STATES = {
  connecting: "connecting", connected: "connected", refused: "refused", disconnected: "ended",
  superseded: "lost, then replaced",
};
let isListing = false;

async function listConnections() {
  if (isListing || !$("connections").open) return;
  isListing = true;
  try {
    const clients = new Map();
    for (const one of await get("connections")) {
      const key = `${one.client} at ${one.host}:${one.port}`;
      if (!clients.has(key)) clients.set(key, []);
      clients.get(key).push(one);
    }
    $("connection-list").replaceChildren(...Array.from(clients, ([key, all]) => {
      const box = make("div", undefined, "client");
      const table = make("table");
      const times = all.length - 1;
      const history = times === 0 ? "never reconnected" : times === 1 ? "1 reconnect" : `${times} reconnects`;
      table.append(make("caption", `${plain(key)} – ${history}`));
      const head = make("tr");
      for (const name of ["", "State", "Opened", "Last packet", "Open"]) head.append(make("th", name));
      table.append(head);
      for (const one of all.slice(-20).reverse()) {
        const row = make("tr");
        const state = make("td");
        const chip = make("span", STATES[one.state] || one.state, "chip");
        chip.dataset.state = one.state;
        state.append(chip);
        row.append(make("td", `#${one.ordinal}`), state);
        for (const text of [clock(one.openedAt), clock(one.lastPacketAt), one.inFlight]) row.append(make("td", text));
        table.append(row);
      }
      box.append(table);
      return box;
    }));
  } finally {
    isListing = false;
  }
}

// --- Parked messages -------------------------------------------------------------------------------------------------

let isListingParked = false;

/** Shows the parked messages of all clients. The section is hidden while there are none. */
async function listParked() {
  if (isListingParked) return;
  isListingParked = true;
  try {
    const { messages, error } = await get("parked");
    $("parked").hidden = messages.length === 0 && !error;
    $("parked-count").textContent = number(messages.length);
    $("parked-error").hidden = !error;
    $("parked-error").textContent = plain(error || "");
    if ($("parked").open) $("parked-list").replaceChildren(parkedTable(messages));
  } catch (error) {
    setState("lost");
  } finally {
    isListingParked = false;
  }
}

function parkedTable(messages) {
  const table = make("table");
  const head = make("tr");
  for (const title of ["processor", "topic", "size", "attempts", "received", "parked", "reason", ""]) {
    head.append(make("th", title));
  }
  table.append(head, ...messages.map((message) => {
    const row = make("tr");
    for (const text of [
      line(message.processor), line(message.topic), bytes(message.size), message.attempts,
      clock(message.firstReceived), clock(message.parkedAt), line(message.reason),
    ]) row.append(make("td", text));
    const actions = make("td");
    actions.append(parkedButton(message, "retry", "Retry"), " ", parkedButton(message, "remove", "Remove"));
    row.append(actions);
    return row;
  }));
  return table;
}

function parkedButton(message, action, label) {
  const button = make("button", label);
  button.type = "button";
  button.setAttribute("aria-label", `${label} the message on ${line(message.topic)}`);
  button.addEventListener("click", async () => {
    button.disabled = true;
    try {
      const { client, id } = message;
      const path = `parked/${action}?` + new URLSearchParams({ client, id });
      const answer = await fetch(path, { method: "POST", headers: { "X-Courier-Inspector": "yes" } });
      if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
      const { error } = await answer.json();
      if (error) {
        $("parked-error").hidden = false;
        $("parked-error").textContent = plain(error);
      }
      await listParked();
    } catch (error) {
      setState("lost");
    }
  });
  return button;
}

// --- Events from the server ------------------------------------------------------------------------------------------

function setState(state) {
  const chip = $("state");
  const shown = state === "live" && isPaused ? "paused" : state;
  chip.dataset.state = shown;
  chip.textContent = { live: "live", paused: "paused", lost: "the program does not answer" }[shown];
}

let lastListed = 0;

function ticked(news) {
  const before = tick;
  tick = news;
  setState("live");
  $("counts").textContent = `${number(news.rowCount)} packets kept, ${bytes(news.byteCount)}`
    + (news.droppedCount ? `, ${number(news.droppedCount)} dropped` : "")
    + (news.errors ? `, ${number(news.errors)} errors` : "");
  $("connection-count").textContent = `${news.openConnections} up, ${number(news.reconnects)} reconnects`;
  keepSample(news);
  if (Date.now() - lastListed > 1000) {
    lastListed = Date.now();
    listConnections();
    listParked();
  }
  const isAnother = !before || before.clearCount !== news.clearCount || news.nextRow < before.nextRow;
  if (before && isAnother) close();
  if (isAnother || isBroken) {
    restart();
  } else {
    pull();
  }
  announce();
}

function announce() {
  if (Date.now() - heard.at < ANNOUNCE || document.hidden || heard.rows === 0) return;
  $("announce").textContent = `${number(heard.rows)} new packets`
    + (heard.errors ? `, ${number(heard.errors)} with errors` : "");
  heard = { rows: 0, errors: 0, at: Date.now() };
}

let source = null; // none while nobody sees the page

function listen() {
  if (source || document.hidden) return;
  const mine = new EventSource("events");
  source = mine;
  mine.addEventListener("tick", (event) => { if (mine === source) ticked(JSON.parse(event.data)); });
  mine.addEventListener("error", () => {
    if (mine !== source) return;
    setState("lost");
    // After a refusal the event source remains closed, so it is created again. After other errors it reconnects by
    // itself.
    if (mine.readyState !== EventSource.CLOSED) return;
    source = null;
    setTimeout(listen, 2000);
  });
}

async function showHistory() {
  samples = await get("history");
  drawCharts();
}

/** Only a visible page listens: a browser has six connections per server for all pages, and each listener uses one. */
function visibilityChanged() {
  if (!document.hidden) {
    listen();
    showHistory().catch(() => setState("lost"));
  } else if (source) {
    source.close();
    source = null;
  }
}

// --- Toolbar ---------------------------------------------------------------------------------------------------------

function showError(error) {
  const box = $("query-error");
  box.hidden = !error;
  $("query").setAttribute("aria-invalid", String(Boolean(error)));
  if (!error) return;
  box.textContent = `${plain(query)}\n${" ".repeat(Math.max(0, error.column - 1))}^ ${plain(error.message)}`;
}

function setQuery(text) {
  if (text === query) return;
  query = text;
  for (const link of $("exports").children) setExport(link);
  if (tick) restart();
}

function setExport(link) {
  link.href = `export.${link.dataset.format}` + (query ? "?" + new URLSearchParams({ query }) : "");
}

let typing = 0;
$("query").addEventListener("input", () => {
  clearTimeout(typing);
  typing = setTimeout(() => setQuery($("query").value.trim()), 250);
});
$("tools").addEventListener("submit", (event) => {
  event.preventDefault();
  clearTimeout(typing);
  setQuery($("query").value.trim());
});
$("pause").addEventListener("click", () => {
  isPaused = !isPaused;
  $("pause").setAttribute("aria-pressed", String(isPaused));
  $("pause").textContent = isPaused ? "Go on" : "Pause";
  setState("live");
  pull();
});
$("clear").addEventListener("click", () =>
  fetch("clear", { method: "POST", headers: { "X-Courier-Inspector": "yes" } }).catch(() => setState("lost")));
$("older").addEventListener("click", () => {
  isFollowing = false;
  list.scrollTop = 0; // where the older rows come, and away from the end, where following would begin again
  lookBack(epoch).catch(() => setState("lost"));
});
$("latest").addEventListener("click", () => { isFollowing = true; list.focus(); pull(); schedule(); });
$("close").addEventListener("click", close);
$("connections").addEventListener("toggle", listConnections);
$("parked").addEventListener("toggle", listParked);
document.addEventListener("visibilitychange", visibilityChanged);

document.addEventListener("keydown", (event) => {
  const isWriting = event.target.id === "query";
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "/" && !isWriting) {
    event.preventDefault();
    $("query").focus();
  } else if (event.key === "Escape") {
    if (isWriting) list.focus();
    else close();
  } else if (event.target === list) {
    const page = Math.max(1, Math.floor(list.clientHeight / rowHeight) - 1);
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -items.length, End: items.length };
    if (event.key in steps) {
      event.preventDefault();
      move(steps[event.key]);
    } else if (event.key === "Enter") {
      open(selected, true);
    }
  }
});

async function begin() {
  measure();
  const [about] = await Promise.all([get("about"), showHistory()]);
  $("help").textContent = about.help;
  $("exports").replaceChildren(...about.exports.map((format) => {
    const link = download("", format);
    link.dataset.format = format;
    link.setAttribute("aria-label", `Export as ${format}`);
    setExport(link);
    return link;
  }));
  listen();
}
begin().catch(() => setState("lost"));
