/** The pages' one style sheet: light and dark, narrow and wide. */
export const style = `
:root { color-scheme: light dark; --ink: #1c2024; --quiet: #57606a; --paper: #fff; --card: #f6f8fa; --line: #d0d7de; --edge: #848d97; --accent: #0b57a4; --on-accent: #fff;
  --good: #116329; --wait: #7d4200; --bad: #a40e26; --good-bg: #dafbe1; --wait-bg: #fff1d6; --bad-bg: #ffebe9; --calm-bg: #e6eef7; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --quiet: #9ea7b3; --paper: #0f1419; --card: #171d24; --line: #323b45; --edge: #6e7781; --accent: #86bdff; --on-accent: #0b1a2b;
  --good: #7ee2a0; --wait: #ffc273; --bad: #ffb1ab; --good-bg: #10301c; --wait-bg: #38280c; --bad-bg: #45181b; --calm-bg: #1a2a3b; } }
* { box-sizing: border-box; } [hidden] { display: none !important; }
body { margin: 0; font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); }
a { color: var(--accent); text-underline-offset: 2px; }
code { font: 0.93em ui-monospace, monospace; overflow-wrap: anywhere; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; border-radius: 4px; } main:focus-visible { outline: none; }
.skip { position: absolute; left: -999px; } .skip:focus { left: 8px; top: 8px; background: var(--paper); padding: 8px; z-index: 1; }
header { border-bottom: 1px solid var(--line); padding: 10px 20px; display: flex; flex-wrap: wrap; gap: 6px 22px; align-items: center; }
header strong { font-size: 17px; } nav { display: flex; gap: 4px 16px; flex-wrap: wrap; } nav a { padding: 4px 0; } nav a[aria-current] { font-weight: 600; color: var(--ink); text-decoration: none; box-shadow: 0 2px 0 var(--accent); }
header .who { margin-left: auto; color: var(--quiet); overflow-wrap: anywhere; }
main { padding: 16px 20px 60px; max-width: 1400px; margin: auto; }
h1 { font-size: 23px; line-height: 1.3; margin: 6px 0 12px; overflow-wrap: anywhere; } h1 .tag { vertical-align: 3px; } h2 { font-size: 17px; margin: 28px 0 8px; } h3 { font-size: 15px; margin: 14px 0 4px; } .card > h2:first-child { margin-top: 4px; overflow-wrap: anywhere; }
form.filter { display: flex; flex-wrap: wrap; gap: 10px; margin-bottom: 12px; align-items: end; } label { display: block; font-size: 13px; color: var(--quiet); margin-bottom: 2px; }
input, select, button, .button { font: inherit; padding: 6px 12px; min-height: 36px; border: 1px solid var(--edge); border-radius: 6px; background: var(--paper); color: var(--ink); max-width: 100%; } form.filter select, form.filter input { max-width: 240px; }
button, .button { cursor: pointer; background: var(--card); display: inline-block; text-decoration: none; } button:hover, .button:hover { border-color: var(--accent); }
.primary { background: var(--accent); color: var(--on-accent); border-color: var(--accent); } button.danger { color: var(--bad); border-color: var(--bad); }
.counts { display: flex; flex-wrap: wrap; gap: 8px; margin: 0 0 14px; padding: 0; list-style: none; } .counts a { text-decoration: none; display: inline-flex; gap: 6px; align-items: center; border: 1px solid var(--line); border-radius: 99px; padding: 3px 12px 3px 4px; color: var(--ink); } .counts a[aria-current] { border-color: var(--accent); box-shadow: inset 0 0 0 1px var(--accent); }
.tag { display: inline-block; padding: 1px 9px; border-radius: 99px; font-size: 13px; font-weight: 400; line-height: 1.5; background: var(--calm-bg); color: var(--ink); white-space: nowrap; }
.tag.good { background: var(--good-bg); color: var(--good); } .tag.wait { background: var(--wait-bg); color: var(--wait); } .tag.bad { background: var(--bad-bg); color: var(--bad); }
table { border-collapse: collapse; width: 100%; } thead th { text-align: left; font-size: 13px; color: var(--quiet); font-weight: 600; }
th, td { padding: 8px 14px 8px 0; border-bottom: 1px solid var(--line); vertical-align: top; } td { overflow-wrap: anywhere; } td.reason { max-width: 60ch; } td time { white-space: nowrap; } td.short { white-space: nowrap; } td[data-label] { min-width: 92px; }
.group th { padding: 12px 8px 6px; color: var(--ink); background: var(--card); text-align: left; }
pre { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 12px; margin: 8px 0; max-height: 70vh; overflow: auto; font: 13px/1.5 ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere; } .card pre { background: var(--paper); } .card.wait pre { max-height: none; }
pre .good, .good-ink { color: var(--good); } pre .wait { color: var(--wait); } pre .bad { color: var(--bad); }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 12px 16px; margin: 14px 0; } .card.wait { border-color: var(--wait); border-left-width: 5px; }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 420px), 1fr)); gap: 14px; } .cards .card { margin: 0; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 4px 18px; margin: 0; } dt { color: var(--quiet); } dd { margin: 0; overflow-wrap: anywhere; min-width: 0; } meter { width: 110px; vertical-align: -2px; }
details { margin: 8px 0; } summary { cursor: pointer; padding: 4px 0; } .side { border: 1px solid var(--line); border-radius: 8px; padding: 2px 14px; } .side[open] { padding-bottom: 8px; } table.sides { table-layout: fixed; } table.sides th[scope=row] { text-align: left; font-weight: 400; width: 24%; } table.sides tr:last-child > * { border-bottom: 0; } table.sides th[scope=col]:first-child { width: 24%; }
.differs { background: var(--wait-bg); } .differs > * { padding-left: 8px; }
.picture { overflow: auto; background: var(--paper); border: 1px solid var(--line); border-radius: 8px; max-height: 80vh; } .picture img { display: block; max-width: none; }
.bars { list-style: none; margin: 8px 0; padding: 0; } .bars li { display: grid; grid-template-columns: minmax(0, 2fr) minmax(0, 3fr); gap: 12px; align-items: center; padding: 3px 0; } .bars svg { width: 100%; height: 12px; background: var(--line); border-radius: 3px; } .bars .what { overflow-wrap: anywhere; font-size: 14px; }
rect.good { fill: var(--good); } rect.bad { fill: var(--bad); } rect.wait { fill: var(--wait); } rect.quiet { fill: var(--quiet); } rect.going { fill: var(--accent); }
ul.said { padding-left: 28px; } ul.plain { list-style: none; padding: 0; margin: 0; } ul.plain li { padding: 6px 0; border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
.acts { display: flex; flex-wrap: wrap; gap: 10px 24px; align-items: end; margin: 10px 0; } .acts form { display: flex; flex-wrap: wrap; gap: 8px; align-items: end; }
.quiet { color: var(--quiet); } .said { border-left: 4px solid var(--accent); padding: 6px 12px; background: var(--calm-bg); overflow-wrap: anywhere; margin: 10px 0; } .said.bad { border-color: var(--bad); background: var(--bad-bg); }
.pages { display: flex; gap: 16px; align-items: center; } .pages a[aria-current] { font-weight: 600; color: var(--ink); text-decoration: none; }
@media (max-width: 760px) { nav { gap: 4px 12px; } main { padding: 12px 14px 48px; } header { padding: 10px 14px; } header .who { margin-left: 0; } table, tbody, tr, td, th[scope=row] { display: block; width: 100%; } thead { position: absolute; left: -9999px; }
  tr { border-bottom: 1px solid var(--line); padding: 10px 0; } td, th[scope=row], table.sides th[scope=row] { border: 0; padding: 1px 0; width: 100%; text-align: left; } td:empty { display: none; } td.short, td time { white-space: normal; } form.filter input, form.filter select { max-width: none; } td[data-label]::before { content: attr(data-label) ": "; color: var(--quiet); font-size: 13px; }
  .differs { padding-left: 8px; padding-right: 8px; } .differs > * { padding-left: 0; } table:not(.sides) tbody tr { display: flex; flex-wrap: wrap; gap: 2px 16px; align-items: baseline; } table:not(.sides) td { width: auto; max-width: 100%; } td.reason { flex: 0 0 100%; } td[data-label] { min-width: 0; } dl { grid-template-columns: minmax(70px, max-content) minmax(0, 1fr); gap: 3px 12px; } dt { font-size: 13px; line-height: 1.75; } tr.group { padding: 0; } .group th { display: block; } .bars li { grid-template-columns: minmax(0, 1fr); gap: 2px; } form.filter > div { flex: 1 1 40%; } form.filter input, form.filter select { width: 100%; } .acts form > div, .acts form input:not([type=hidden]) { flex: 1 1 auto; } }
@media (min-width: 1100px) { dl.facts { grid-template-columns: max-content 1fr max-content 1fr; } }
@media (prefers-reduced-motion: no-preference) { html { scroll-behavior: smooth; } }
`;

/** The icon in the browser's bar of tabs. */
export const icon = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="7" fill="#0b57a4"/><path d="M8 12h13M17 7.5l5 4.5-5 4.5M24 20H11M15 15.5L10 20l5 4.5" fill="none" stroke="#fff" stroke-width="2.6" stroke-linecap="round" stroke-linejoin="round"/></svg>`;

/** The script that keeps a page live: when the server says that something changed, the page fetches itself anew. */
export const script = `
const topic = document.querySelector("main").dataset.live;
// Beside UTC, what the clocks show where the person is; where that is the same, nothing.
const zone = new Intl.DateTimeFormat(undefined, { weekday: "short", hour: "2-digit", minute: "2-digit", timeZoneName: "short" });
function localTimes() {
  for (const one of document.querySelectorAll("main time:not([title])")) {
    const at = new Date(one.dateTime);
    one.title = zone.format(at);
    if (at.getTimezoneOffset() !== 0) one.append(" (" + one.title + ")");
  }
}
localTimes();
const note = document.getElementById("stale");
const saidMs = 6000, helloMs = 10000;
// The address of a page says nothing of an action that is over, so that a reload does not repeat it.
const here = new URL(location.href);
if (here.searchParams.has("said")) { here.searchParams.delete("said"); history.replaceState(null, "", here); }
if (document.querySelector("[data-again]")) setTimeout(() => location.reload(), 5000);
let busy = false, again = false, later = false, opened = false;
const isWriting = () => document.activeElement !== null && document.activeElement.matches("main input, main textarea, main select");
async function renew() {
  if (isWriting() || document.hidden) { later = true; return; }
  if (busy) { again = true; return; }
  busy = true;
  try {
    const answer = await fetch(location.href, { headers: { accept: "text/html" } });
    if (!answer.ok || answer.redirected) { note.hidden = false; return; }
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    // What was asked for before somebody began to write, or looked away, is asked for again later.
    if (isWriting() || document.hidden) { later = true; return; }
    const main = document.querySelector("main");
    const open = new Map([...main.querySelectorAll("details[id]")].map((one) => [one.id, one.open]));
    const focused = document.activeElement && document.activeElement.id;
    const below = new Map([...main.querySelectorAll("pre[id]")].map((one) => [one.id, one.scrollTop]));
    const said = main.querySelector(".said[role=status]");
    main.replaceChildren(...page.querySelector("main").childNodes);
    // What was said after an action is read by now, or shown for a while; what has happened since is on the page.
    if (said && performance.now() < saidMs && !main.querySelector(".said[role=status]")) main.prepend(said);
    localTimes();
    for (const [id, is] of open) { const one = document.getElementById(id); if (one) one.open = is; }
    for (const [id, top] of below) { const one = document.getElementById(id); if (one) one.scrollTop = top; }
    if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
    note.hidden = true;
  } catch {
    note.hidden = false;
  } finally {
    busy = false;
    if (again) { again = false; renew(); }
  }
}
if (topic) {
  const seen = new EventSource(topic);
  seen.addEventListener("changed", renew);
  seen.addEventListener("hello", () => { if (opened) renew(); opened = true; });
  // A proxy in between may keep back what is said.
  setTimeout(() => { if (!opened) note.hidden = false; }, helloMs);
  seen.addEventListener("error", () => { note.hidden = false; });
  seen.addEventListener("open", () => { note.hidden = true; });
  document.addEventListener("visibilitychange", () => { if (later && !document.hidden) { later = false; renew(); } });
  document.addEventListener("focusout", () => { if (later) setTimeout(() => { if (!isWriting()) { later = false; renew(); } }, 50); });
}
document.addEventListener("submit", (event) => {
  const ask = event.submitter?.dataset.ask ?? event.target.dataset.ask;
  if (ask && !confirm(ask)) event.preventDefault();
});
`;
