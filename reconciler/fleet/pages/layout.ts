/** The frame of every page. */
import { html } from "hono/html";
import { onlyDefined } from "../../core/text/objects";
import { roleOf, type Visitor } from "../access";
import type { StackCondition } from "../views";

export type PagePart = ReturnType<typeof html>;

export interface Frame {
  readonly title: string;
  readonly here: "/" | "/waiting" | "/services" | "/workers" | "/history" | "";
  readonly visitor: Visitor | undefined;
  /** Set after an action. */
  readonly said?: Said | undefined;
  readonly signOut: boolean;
  /** What the page shows and when it was made; absent: the page does not change. */
  readonly live?: { readonly stack?: string; readonly mark: string };
}

export interface Said {
  readonly bad: boolean;
  readonly text: string;
}

const places = [
  ["/", "Stacks"],
  ["/waiting", "Waiting"],
  ["/services", "Services"],
  ["/workers", "Workers"],
  ["/history", "History"],
] as const;

export const page = (
  { title, here, visitor, said, signOut, live }: Frame,
  body: PagePart,
): PagePart => html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title} · reconcile fleet</title>
<link rel="icon" href="/icon.svg"><link rel="stylesheet" href="/style.css"><script src="/script.js" defer></script>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header><strong>reconcile fleet</strong>
${visitor === undefined ? "" : html`<nav aria-label="Pages">${places.map(([path, name]) => html`<a href="${path}"${here === path ? html` aria-current="page"` : ""}>${name}</a>`)}</nav>`}
<span class="who">${visitor === undefined ? "" : `${visitor.name} (${roleOf(visitor)})`}</span>
<span id="stale" class="tag wait" role="status" hidden>not live: reload</span>
${signOut && visitor !== undefined ? html`<form method="post" action="/sign-out"><button>Sign out</button></form>` : ""}
</header>
<main id="main" tabindex="-1"${live === undefined ? "" : html` data-live="${eventsOf(live)}"`}>${said === undefined ? "" : html`<p class="said ${said.bad ? "bad" : ""}" role="status">${asSentence(said.text)}</p>`}${body}</main>
</body></html>`;

const eventsOf = ({ stack, mark }: NonNullable<Frame["live"]>): string =>
  `/events?${new URLSearchParams({ ...onlyDefined({ stack }), mark })}`;

const asSentence = (text: string): string =>
  `${text.slice(0, 1).toUpperCase()}${text.slice(1)}${text.endsWith(".") ? "" : "."}`;

const hues: Readonly<Record<StackCondition, "good" | "wait" | "bad" | "">> = {
  Ready: "good",
  Reconciling: "",
  New: "",
  Paused: "",
  Drifted: "wait",
  AwaitingApproval: "wait",
  Blocked: "wait",
  Failing: "bad",
  Stalled: "bad",
};

export const conditionWord = (condition: StackCondition): string =>
  condition === "AwaitingApproval" ? "Awaiting approval" : condition;
export const tag = (condition: StackCondition): PagePart =>
  html`<span class="tag ${hues[condition]}">${conditionWord(condition)}</span>`;

/** Who writes a commit may date it to a year or a zone that no clock has. */
export const time = (at: Date | undefined): PagePart =>
  at === undefined || Number.isNaN(at.getTime())
    ? html`–`
    : html`<time datetime="${at.toISOString()}">${at.toISOString().slice(0, 19).replace("T", " ")} UTC</time>`;

const signs: Readonly<Record<string, string>> = { "+": "good", "~": "wait", "-": "bad", "±": "bad", "!": "bad" };

/** A plan's text, with its signs coloured as on a terminal. */
export const coloured = (text: string): PagePart[] =>
  text.split("\n").map((line, index) => {
    const hue = signs[/^\s*([+~±!-]) /.exec(line)?.[1] ?? ""];
    const end = index === 0 ? "" : "\n";
    return hue === undefined ? html`${end}${line}` : html`${end}<span class="${hue}">${line}</span>`;
  });

/** A text as on a terminal, under a title that opens it. */
export const printed = (id: string, title: string, text: string): PagePart =>
  html`<details open id="${id}"><summary>${title}</summary><pre tabindex="0" id="${id}-lines" role="region" aria-label="${title}">${coloured(text)}</pre></details>`;

export const reachTitle = "Who can reach what, before and after";

export const pictured = (path: string, text: string): PagePart =>
  html`<div class="picture" tabindex="0" role="region" aria-label="A picture"><img src="${path}" alt="${text}"></div>`;
