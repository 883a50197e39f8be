/** The pages' one style sheet: light and dark, narrow and wide. */
export const style = `
:root { color-scheme: light dark; --ink: #1c2024; --quiet: #5c6670; --paper: #fff; --card: #f5f7f9; --line: #d5dbe1; --accent: #0b57a4;
  --good: #14713a; --wait: #8a4b00; --bad: #b3261e; --good-bg: #e3f4e9; --wait-bg: #fdf0dc; --bad-bg: #fce8e6; --calm-bg: #e7eef6; }
@media (prefers-color-scheme: dark) { :root { --ink: #e7eaee; --quiet: #a3adb8; --paper: #14181c; --card: #1d2329; --line: #39424c; --accent: #8ac0ff;
  --good: #7fdca0; --wait: #ffc273; --bad: #ffb0a8; --good-bg: #14351f; --wait-bg: #3a2a0d; --bad-bg: #43191a; --calm-bg: #1b2b3c; } }
* { box-sizing: border-box; }
body { margin: 0; font: 15px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); }
a { color: var(--accent); }
a:focus-visible, button:focus-visible, input:focus-visible, select:focus-visible, summary:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.skip { position: absolute; left: -999px; } .skip:focus { left: 8px; top: 8px; background: var(--paper); padding: 8px; }
header { border-bottom: 1px solid var(--line); padding: 10px 20px; display: flex; flex-wrap: wrap; gap: 4px 20px; align-items: baseline; }
header strong { font-size: 17px; } nav { display: flex; gap: 14px; flex-wrap: wrap; } nav a[aria-current] { font-weight: 600; text-decoration: none; color: var(--ink); }
header .who { margin-left: auto; color: var(--quiet); }
main { padding: 16px 20px 60px; max-width: 1500px; margin: auto; }
h1 { font-size: 22px; margin: 6px 0 12px; } h2 { font-size: 17px; margin: 26px 0 8px; }
form.filter { display: flex; flex-wrap: wrap; gap: 8px; margin-bottom: 12px; align-items: end; } label { display: block; font-size: 13px; color: var(--quiet); }
input, select, button, textarea { font: inherit; padding: 6px 10px; border: 1px solid var(--line); border-radius: 6px; background: var(--paper); color: var(--ink); max-width: 100%; }
button { cursor: pointer; background: var(--card); } button.primary { background: var(--accent); color: var(--paper); border-color: var(--accent); } button.danger { color: var(--bad); }
.counts { display: flex; flex-wrap: wrap; gap: 8px; margin: 0 0 14px; padding: 0; list-style: none; } .counts a { text-decoration: none; }
.tag { display: inline-block; padding: 1px 9px; border-radius: 99px; font-size: 13px; background: var(--calm-bg); color: var(--ink); white-space: nowrap; }
.tag.good { background: var(--good-bg); color: var(--good); } .tag.wait { background: var(--wait-bg); color: var(--wait); } .tag.bad { background: var(--bad-bg); color: var(--bad); }
table { border-collapse: collapse; width: 100%; } th { text-align: left; font-size: 13px; color: var(--quiet); font-weight: 600; }
th, td { padding: 7px 10px 7px 0; border-bottom: 1px solid var(--line); vertical-align: top; } td.reason { max-width: 60ch; overflow-wrap: anywhere; }
.group { background: var(--card); } .group th { padding-left: 8px; color: var(--ink); }
pre { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 12px; overflow-x: auto; font: 13px/1.45 ui-monospace, monospace; white-space: pre-wrap; overflow-wrap: anywhere; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 12px 16px; margin: 12px 0; } .card.wait { border-color: var(--wait); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 4px 16px; margin: 0; } dt { color: var(--quiet); } dd { margin: 0; overflow-wrap: anywhere; }
.acts { display: flex; flex-wrap: wrap; gap: 8px; align-items: end; } .acts form { display: flex; flex-wrap: wrap; gap: 8px; align-items: end; }
.bar { height: 10px; background: var(--line); border-radius: 5px; overflow: hidden; min-width: 80px; } .bar span { display: block; height: 100%; background: var(--accent); }
.quiet { color: var(--quiet); } .said { border-left: 4px solid var(--accent); padding: 6px 12px; background: var(--calm-bg); } .said.bad { border-color: var(--bad); background: var(--bad-bg); }
@media (max-width: 700px) { main { padding: 12px; } header { padding: 10px 12px; } table, tbody, tr, td { display: block; width: 100%; } thead { position: absolute; left: -999px; }
  tr { border-bottom: 1px solid var(--line); padding: 8px 0; } td { border: 0; padding: 2px 0; } td[data-label]::before { content: attr(data-label) ": "; color: var(--quiet); font-size: 13px; }
  dl { grid-template-columns: 1fr; } dt { margin-top: 6px; } tr.group { padding: 4px 8px; } }
`;

/** What keeps a page live: the server says that something changed, and the page fetches itself anew. */
export const script = `
const topic = document.querySelector("main").dataset.live;
const note = document.getElementById("stale");
let busy = false, again = false, later = false, opened = false;
const isWriting = () => document.activeElement !== null && document.activeElement.matches("main input, main textarea, main select");
async function renew() {
  if (isWriting()) { later = true; return; }
  if (busy) { again = true; return; }
  busy = true;
  try {
    const answer = await fetch(location.href, { headers: { accept: "text/html" } });
    if (!answer.ok || answer.redirected) { note.hidden = false; return; }
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    if (isWriting()) { later = true; return; }
    const main = document.querySelector("main");
    const open = new Map([...main.querySelectorAll("details[id]")].map((one) => [one.id, one.open]));
    const focused = document.activeElement && document.activeElement.id;
    const below = new Map([...main.querySelectorAll("pre[id]")].map((one) => [one.id, one.scrollTop]));
    const said = main.querySelector(".said[role=status]");
    main.replaceChildren(...page.querySelector("main").childNodes);
    if (said && !main.querySelector(".said[role=status]")) main.prepend(said);
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
  seen.addEventListener("error", () => { note.hidden = false; });
  seen.addEventListener("open", () => { note.hidden = true; });
  document.addEventListener("focusout", () => { if (later) setTimeout(() => { if (!isWriting()) { later = false; renew(); } }, 50); });
}
document.addEventListener("submit", (event) => {
  const ask = event.submitter?.dataset.ask ?? event.target.dataset.ask;
  if (ask && !confirm(ask)) event.preventDefault();
});
`;
