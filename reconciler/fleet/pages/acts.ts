/** What people do on a page: what their forms hold, which action of the desk it is, and what the page says afterwards. */
import type { Context } from "hono";
import { fieldsIn, keyIn, onlyDefined } from "../../core/text/objects";
import type { Act } from "../access";
import {
  type ActionRefused,
  approve,
  type Desk,
  pause,
  reject,
  resume,
  runNow,
  stackNamed,
  stop,
  undo,
} from "../actions";
import type { Typed } from "../person";
import type { HookSetting } from "./hooks";
import type { Said } from "./layout";
import { formIn, type SignInSetting } from "./sign-in";

export interface PagesSetting extends Omit<Desk, "who">, Omit<SignInSetting, "records">, HookSetting {
  readonly metrics: () => Promise<string>;
}

/**
 * What a page says after an action. The address only chooses one of these texts, so that no text of a link is shown.
 */
export const saidWords = {
  run: { bad: false, text: "it is looked at now" },
  pause: { bad: false, text: "paused" },
  "pause-running": { bad: false, text: "paused; the run that is under way goes on to its end, unless it is stopped" },
  resume: { bad: false, text: "resumed" },
  stop: { bad: false, text: "stopping; what is in flight is ended first" },
  undo: { bad: false, text: "the undo is planned now, and waits for approval" },
  "no-undo": { bad: true, text: "that run cannot be undone" },
  approve: { bad: false, text: "approved; the next free worker carries it out" },
  "approve-paused": { bad: false, text: "approved; it is carried out once the stack is resumed" },
  "one-of-several": { bad: false, text: "approved; it is carried out once enough others have approved it as well" },
  reject: { bad: false, text: "rejected" },
  role: { bad: true, text: "that needs another role" },
  "other-plan": { bad: true, text: "that plan does not wait for approval any more" },
  paused: { bad: true, text: "it is paused: resume it first" },
  window: { bad: true, text: "a window is closed, as the plan says below; it was not approved" },
  own: { bad: true, text: "somebody else has to approve it: you wrote a commit of it, or nobody knows who did" },
  twice: { bad: true, text: "you have approved it already; somebody else has to as well" },
  silent: { bad: true, text: "it loses data: say why, and approve it again" },
  refused: { bad: true, text: "that was refused" },
} as const satisfies Record<Exclude<Act, "see">, Said> & Record<string, Said>;
export type SaidWord = keyof typeof saidWords;

/** What the page says when actions.ts refuses. */
export const refusedBy: Readonly<Partial<Record<ActionRefused["code"], SaidWord>>> = {
  "fleet/paused": "paused",
  "fleet/no-plan": "other-plan",
  "fleet/window-closed": "window",
  "fleet/own-change": "own",
  "fleet/approved-already": "twice",
  "fleet/say-why": "silent",
  "fleet/no-undo": "no-undo",
};

export function saidIn(context: Context): Said | undefined {
  const word = keyIn(saidWords, context.req.query("said"));
  return word === undefined ? undefined : saidWords[word];
}

/** The answer is what the page says of it. */
export async function carryOutAct(
  desk: Desk,
  act: Exclude<Act, "see">,
  name: string,
  form: { readonly plan: string; readonly run: string; readonly why?: string; readonly throughWindow: boolean },
): Promise<SaidWord> {
  const why = form.why === undefined || form.why === "" ? {} : { why: form.why.slice(0, 300) };
  await stackNamed(desk, name);
  if (act === "approve") {
    const { missing, paused } = await approve(desk, name, form.plan, { ...why, throughWindow: form.throughWindow });
    if (missing > 0) return "one-of-several";
    return paused ? "approve-paused" : "approve";
  }
  if (act === "reject") await reject(desk, name, form.plan, why);
  else if (act === "stop") await stop(desk, name, { ...why, now: false });
  else if (act === "undo") await undo(desk, await runInForm(desk, name, form.run), form.run, why);
  else if (act === "pause") return (await pause(desk, name)) ? "pause-running" : "pause";
  else await { run: runNow, resume }[act](desk, name);
  return act;
}

export const numberIn = (id: string): number | undefined => (/^[1-9][0-9]{0,14}$/.test(id) ? Number(id) : undefined);

/** A run of this stack: the role for it is no role for another one's. */
async function runInForm({ records }: Desk, stack: string, typed: string) {
  const number = numberIn(typed);
  const run = number === undefined ? undefined : await records.run(number);
  return run?.stack === stack ? run : undefined;
}

/** What a person typed, as the command sends it. */
export async function typedIn(context: Context): Promise<Typed> {
  const { args, why, now, forMs, throughWindow } = fieldsIn(await context.req.json().catch(() => ({})));
  return {
    args: Array.isArray(args)
      ? args.filter((one) => typeof one === "string").map((one) => one.replaceAll("\0", ""))
      : [],
    ...onlyDefined({ why: typeof why === "string" && why !== "" ? why.replaceAll("\0", "").slice(0, 300) : undefined }),
    now: now === true,
    ...onlyDefined({ forMs: typeof forMs === "number" && forMs > 0 && forMs < 1e11 ? forMs : undefined }),
    throughWindow: throughWindow === true,
  };
}

export async function formOf(context: Context): Promise<Parameters<typeof carryOutAct>[3]> {
  const isJson = /^application\/json\b/i.test(context.req.header("content-type") ?? "");
  const given = isJson ? fieldsIn(await context.req.json().catch(() => undefined)) : await formIn(context);
  const textOf = (value: unknown): string => (typeof value === "string" ? value.replaceAll("\0", "") : "");
  const why = given["why"];
  const through = given["through_window"];
  return {
    plan: textOf(given["plan"]),
    run: textOf(given["run"]),
    throughWindow: through === true || through === "yes",
    ...onlyDefined({ why: typeof why === "string" ? textOf(why) : undefined }),
  };
}
