/** What a pull request is told: one comment that is kept up to date, and a status of its commit for each stack. */
import { errorMessage } from "../../core/text/errors";
import { listed } from "../../core/text/list-text";
import { onlyDefined } from "../../core/text/objects";
import { shortenedTo } from "../channels";
import type { PullPlan, PullRecord, PullResult } from "../database/pulls";
import { asksWhy, namesIn } from "../decide";
import { approveWord, type CommitStatus, type HostPlace, HostRefused } from "./host";
import { type PullPorts, placeOfPulls } from "./look";

const words: Readonly<Record<PullResult, string>> = {
  waits: "is planned",
  nothing: "changes nothing",
  applies: "is applied after the merge",
  asks: "waits for approval after the merge",
  observes: "is not applied by the fleet",
  failed: "cannot be planned",
};

/** What a pause adds to that. */
const wordsOfPause: Readonly<Partial<Record<PullResult, string>>> = {
  applies: ", once its stack is resumed",
  asks: ", and its stack is paused",
};

/** What a comment has to know of a stack. */
export interface ToldStack {
  readonly approvers?: number | undefined;
  readonly paused?: boolean;
}

const becomes = ({ result }: Pick<PullPlan, "result">, { paused }: ToldStack): string =>
  `${words[result]}${paused === true ? (wordsOfPause[result] ?? "") : ""}`;

/** Hosts take comments of 65,536 characters. */
const mostText = 60_000;
/** Where there are so many stacks that each has less, their plans are left out. */
const leastRoom = 1500;

/** A fence that nothing in the text ends. */
function fenced(text: string): string {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = "`".repeat(longest + 1);
  return `${fence}text\n${text}\n${fence}`;
}

/** A text of a file or a person, within a line of Markdown. */
const plain = (text: string): string =>
  text.replace(/\s+/g, " ").replace(/[\\`*_{}[\]<>()#|@~&!$-]/g, (sign) => `&#${sign.charCodeAt(0)};`);

export function commentText(
  { mark, head, ref, base, why, said }: PullRecord,
  plans: readonly PullPlan[],
  pages: string | undefined,
  stackOf: (name: string) => ToldStack = () => ({}),
  kind: HostPlace["kind"] = "github",
): string {
  const room = Math.floor(mostText / Math.max(1, plans.length));
  const rows: string[] = [];
  const parts: string[] = [];
  let left = mostText;
  for (const plan of plans) {
    const about = stackOf(plan.stack);
    const row = `| ${plain(plan.stack)} | ${plain(plan.body?.sum ?? "–")} | ${becomes(plan, about)} |`;
    const part = partOf(plan, room, pages, about, approveWord[kind]);
    left -= [row, "", ...part, ""].join("\n").length;
    if (left < 0) break;
    rows.push(row);
    parts.push("", ...part);
  }
  const hidden = plans.slice(rows.length).map(({ stack }) => plain(stack));
  const lines = [
    `<!-- reconcile-fleet ${mark} -->`,
    "### What merging this changes",
    "",
    ...(why === undefined ? [] : [`It was not planned: ${plain(why)}.`, ""]),
    ...(rows.length === 0
      ? [...(why === undefined ? ["It touches no stack of the fleet."] : [])]
      : ["| stack | plan | |", "| --- | --- | --- |", ...rows]),
    ...parts,
    "",
    ...(hidden.length === 0
      ? []
      : [
          `No room is left for ${listed(hidden, 20)}: the commit has a status for each, and the fleet's pages its plan.`,
          "",
        ]),
    ...(said === undefined ? [] : [`Not carried out: ${plain(said)}.`, ""]),
    `<sub>${head.slice(0, 12)}${base === "" ? "" : ` merged into ${plain(ref)} at ${base.slice(0, 12)}`}. /plan plans it anew.</sub>`,
  ];
  return shortenedTo(lines.join("\n"), mostText + 4000);
}

function partOf(
  { stack, result, digest, body, why, approval }: PullPlan,
  room: number,
  pages: string | undefined,
  { approvers = 1, paused = false }: ToldStack,
  approves: string,
): string[] {
  const link =
    pages === undefined ? "" : ` ([its page](${pages.replace(/\/$/, "")}/stacks/${encodeURIComponent(stack)}))`;
  const given = approval?.digest === digest ? approval : undefined;
  const names = given === undefined ? [] : namesIn(given);
  const by = names.map(plain).join(" and ");
  return [
    ...(body === undefined || result === "waits" || room < leastRoom
      ? []
      : [
          `<details><summary>${plain(stack)}: ${plain(body.sum ?? "the plan")}</summary>`,
          "",
          fenced(shortenedTo([body.exposure, body.text].filter((text) => text !== undefined).join("\n"), room - 1000)),
          "",
          "</details>",
          "",
        ]),
    ...(why === undefined
      ? []
      : [
          `**${plain(stack)}** ${becomes({ result }, { paused })}: ${plain(shortenedTo(why, Math.min(1500, Math.max(100, room - 300))))}.${link}`,
        ]),
    ...(given === undefined
      ? []
      : [
          names.length < approvers
            ? `Approved by ${by}; ${approvers} people have to.`
            : `Approved by ${by}: it is carried out after the merge${paused ? (wordsOfPause.applies ?? "") : ""}, if that is before ${given.until} and it is still this plan then.`,
        ]),
    ...(result === "asks" && digest !== undefined && names.length < approvers
      ? [
          asksWhy(body?.consents ?? [])
            ? `To approve it before the merge: \`${approves} ${digest} WHY\`, with the reason in place of WHY, because it loses data`
            : `To approve it before the merge: \`${approves} ${digest}\``,
        ]
      : []),
  ];
}

const statusOf = (
  { stack, result, body, why }: PullPlan,
  about: ToldStack,
  link: string | undefined,
): CommitStatus => ({
  state: result === "waits" ? "pending" : result === "failed" ? "failure" : "success",
  context: `reconcile/${stack}`,
  description: shortenedTo(
    `${becomes({ result }, about)}${result === "failed" ? `: ${why ?? ""}` : body?.sum === undefined ? "" : `: ${body.sum}`}`,
    140,
  ),
  link,
});

/** Writes what is new, one pull request after the other. What could not be written is tried again after a minute. */
export async function tellPulls(ports: PullPorts, pages: string | undefined, signal: AbortSignal): Promise<void> {
  const { records, say } = ports;
  for (
    let pull = await records.takeUntold();
    pull !== undefined && !signal.aborted;
    pull = await records.takeUntold()
  ) {
    const told: Record<string, string> = {};
    try {
      const comment = await tellOne(ports, pull, pages, told, signal);
      await records.toldPull(pull.url, pull.number, { version: pull.version, told, ...onlyDefined({ comment }) });
    } catch (error) {
      await records.toldPull(pull.url, pull.number, { told });
      if (!signal.aborted)
        say(`the pull request ${pull.number} of ${pull.url} could not be told: ${errorMessage(error)}`);
    }
  }
}

async function tellOne(
  ports: PullPorts,
  pull: PullRecord,
  pages: string | undefined,
  told: Record<string, string>,
  signal: AbortSignal,
): Promise<string | undefined> {
  const here = await placeOfPulls(ports, pull.url, pull.ref, signal);
  if (here === undefined) return undefined;
  const { host } = here;
  const plans = await ports.records.pullPlans(pull.url, pull.number);
  const stacks = new Map<string, ToldStack>(
    here.stacks.map(({ name, spec, paused }) => [name, { approvers: spec.approvers, paused }]),
  );
  const stackOf = (name: string): ToldStack => stacks.get(name) ?? {};
  for (const plan of plans) {
    const isPaused = stackOf(plan.stack).paused === true && wordsOfPause[plan.result] !== undefined;
    const key = `${plan.head} ${plan.result}${isPaused ? " paused" : ""}`;
    if (plan.told === key) continue;
    await host.setStatus(plan.head, statusOf(plan, stackOf(plan.stack), pull.link));
    told[plan.stack] = key;
  }
  const text = commentText(pull, plans, pages, stackOf, here.place.kind);
  if (pull.comment !== undefined)
    try {
      return await host.write(pull.number, text, pull.comment);
    } catch (error) {
      // Somebody deleted it.
      if (!(error instanceof HostRefused && error.status === 404)) throw error;
    }
  // A worker may have died after it wrote the comment and before it wrote down which one it is.
  const written = (await host.comments(pull.number)).find((comment) => comment.text.includes(pull.mark));
  return host.write(pull.number, text, written?.id);
}
