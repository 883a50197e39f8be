/**
 * Looks at the pull requests of a repository: which are open, which stacks each of them touches, and what people say in
 * their comments. A webhook only asks for a look, so that nothing in it has to be believed.
 */
import { randomBytes } from "node:crypto";
import { dayMs } from "../../core/model/time";
import { errorMessage } from "../../core/text/errors";
import { onlyDefined } from "../../core/text/objects";
import type { PullPlan, PullRecord } from "../database/pulls";
import type { Records } from "../database/records";
import type { StackRecord } from "../database/stacks";
import { asksWhy, isSamePerson, namesIn } from "../decide";
import type { FollowPorts } from "../follow";
import type { SecretSource } from "../model";
import { isTouched, lookAtEach, lookEveryS, sameRepository } from "../pushes";
import { type Queue, triggerOf } from "../queue";
import { readSecret } from "../secrets";
import { isBy } from "../sources/change";
import { contentAt, MergeConflict, type MergedBranch, mergedCommit } from "../sources/merge";
import { approveWord, type HostPlace, hostPlace, openHost, type Pull, type PullHost } from "./host";

export interface PullPorts extends FollowPorts {
  readonly fetch?: typeof fetch | undefined;
}
const taskOf = (url: string): string => `pull requests of ${url}`;

/** One of the workers looks at each repository whose turn it is. */
export async function lookForPulls(ports: PullPorts, signal: AbortSignal): Promise<void> {
  await lookAtEach(await ports.records.repositories("pulls"), signal, async ({ url, ref }) => {
    if (!(await ports.records.claimTask(`${taskOf(url)} ${ref}`, lookEveryS))) return;
    await orSay(ports, `the pull requests of ${url}`, signal, () => lookAt(ports, url, ref, signal));
  });
}

async function orSay({ say }: PullPorts, what: string, signal: AbortSignal, act: () => Promise<void>): Promise<void> {
  await act().catch((error: unknown) => {
    if (!signal.aborted) say(`${what}: ${errorMessage(error)}`);
  });
}

/** A webhook told of something in these repositories: the next look is now. */
export async function pullsMoved(records: Records, urls: readonly string[]): Promise<boolean> {
  const mine = (await records.repositories("pulls")).filter((one) => urls.some((url) => sameRepository(one.url, url)));
  for (const { url, ref } of mine) await records.releaseTask(`${taskOf(url)} ${ref}`);
  return mine.length > 0;
}

/** What a stack's files are where the merge leaves it no folder. */
export const noFolder = "gone";

/** The stacks of one repository and branch, and its host. */
interface Place {
  readonly stacks: readonly StackRecord[];
  readonly place: HostPlace;
  readonly host: PullHost;
}

export async function placeOfPulls(
  { records, fetch }: Pick<PullPorts, "records" | "fetch">,
  url: string,
  ref: string,
  signal: AbortSignal,
): Promise<Place | undefined> {
  const { stacks, api, token } = await pullsFrom(records, url, ref);
  const place = stacks.length === 0 ? undefined : hostPlace(url, api);
  if (place === undefined) return undefined;
  const usual = { env: place.kind === "github" ? "GITHUB_TOKEN" : "GITLAB_TOKEN" };
  return { stacks, place, host: openHost({ place, token: await readSecret(token ?? usual), fetch, signal }) };
}

/** The API and its token are the repository's: one of its stacks says them for all. */
export async function pullsFrom(records: Records, url: string, ref: string) {
  const stacks: StackRecord[] = [];
  let api: string | undefined;
  let token: SecretSource | undefined;
  for (const stack of await records.stacksFrom(url, ref)) {
    const { source } = stack.spec;
    if (stack.leaving || source.kind !== "git" || source.pulls === undefined) continue;
    stacks.push(stack);
    api ??= source.pulls.api;
    token ??= source.pulls.token;
  }
  return { stacks, api, token };
}

async function lookAt(ports: PullPorts, url: string, ref: string, signal: AbortSignal): Promise<void> {
  const { records } = ports;
  const here = await placeOfPulls(ports, url, ref, signal);
  if (here === undefined) return;
  // Whoever saw them may have died before it asked for their plans.
  for (const { number, stack } of await records.pullsToPlan(url, ref))
    await askForPlan(ports.queue, here.stacks, stack, number);
  const open = await here.host.open(ref);
  const known = await records.pulls(url, ref);
  const base = (await records.repositorySeen(url, ref)).revision;
  const branch = { url, ref, base };
  const look = async (pull: Pull): Promise<void> => {
    const before = known.get(pull.number);
    if (before === undefined || before.head !== pull.head || (base !== undefined && before.base !== base))
      await planAll(ports, here, branch, pull, before, signal);
    if (before?.updatedAt === pull.updatedAt || !(await hear(ports, here, url, pull, signal))) return;
    await planAll(ports, here, branch, pull, await records.pull(url, pull.number), signal);
  };
  // What the host refuses of one says nothing of the others.
  const each = (number: number, act: () => Promise<void>): Promise<void> =>
    orSay(ports, `the pull request ${number} of ${url}`, signal, act);
  for (const pull of open) await each(pull.number, () => look(pull));
  for (const number of known.keys())
    if (!open.some((pull) => pull.number === number))
      await each(number, async () => {
        // A list that is read page by page may have passed over it.
        const end = await here.host.endOf(number, ref);
        if (end !== undefined) await records.closePull(url, number, end === "merged");
      });
}

/** Where a pull request is to be merged. `base`: the commit that was seen there; absent: the newest counts. */
type Branch = { readonly url: string; readonly ref: string; readonly base: string | undefined };

async function planAll(
  { records, queue, cache }: PullPorts,
  { stacks, place }: Place,
  { url, ref, base: seen }: Branch,
  pull: Pull,
  before: PullRecord | undefined,
  signal: AbortSignal,
): Promise<void> {
  const source = { url, ref, path: "" };
  let merged: Partial<MergedBranch>;
  let why: string | undefined;
  try {
    const merge = { kind: place.kind, ...pull, ...onlyDefined({ base: seen }) };
    merged = await mergedCommit(source, cache, merge, { signal });
  } catch (error) {
    const isConflict = error instanceof MergeConflict;
    // A repository that did not answer takes nothing back of what is known of this commit: the next look asks again.
    if (signal.aborted || (before?.head === pull.head && !isConflict)) throw error;
    why = errorMessage(error);
    merged = isConflict ? { base: error.base } : {};
  }
  const { files = [], base = "", commit = "" } = merged;
  const touched = stacks.filter((stack) => isTouched(stack, files));
  // A pull request that touches no stack is none of ours to comment on.
  if (touched.length === 0 && before === undefined && why === undefined) return;
  // Before the merge it may read other files than the branch does.
  const plans = new Map((await records.pullPlans(url, pull.number)).map((plan) => [plan.stack, plan]));
  const contents = await Promise.all(
    touched.map(async ({ name, spec, files: read }) => {
      const files = [...new Set([...read, ...(plans.get(name)?.body?.read ?? [])])].sort();
      const path = spec.source.kind === "git" ? spec.source.path : "";
      return {
        stack: name,
        content: (await contentAt({ ...source, path }, cache, commit, { files, signal })) ?? noFolder,
      };
    }),
  );
  const waiting = await records.savePull(
    {
      url,
      ref,
      base,
      number: pull.number,
      head: pull.head,
      author: pull.author,
      outside: pull.outside,
      link: pull.link,
      mark: before?.mark ?? randomBytes(8).toString("hex"),
      ...onlyDefined({ why }),
    },
    contents,
  );
  for (const name of waiting) await askForPlan(queue, touched, name, pull.number);
}

async function askForPlan(queue: Queue, stacks: readonly StackRecord[], name: string, number: number): Promise<void> {
  const stack = stacks.find((one) => one.name === name);
  if (stack !== undefined) await queue.hasten({ ...triggerOf(stack, "pull request"), pull: number });
}

/**
 * A command of a comment: /approve DIGEST WHY, or /plan. It may begin with /reconcile as well, for what the host takes
 * for a command of its own.
 */
const commandLine =
  /^\s*\/(?:reconcile[ \t]+)?(approve|plan)(?:[ \t]+([0-9a-f]{6,16}(?:-[0-9a-f]{1,8})?)(?:[ \t]+(.{1,300}))?)?\s*$/;

/** Carries out what people ask for in comments that are new. True: everything is to be planned anew. */
async function hear(ports: PullPorts, here: Place, url: string, pull: Pull, signal: AbortSignal): Promise<boolean> {
  const { records } = ports;
  const record = await records.pull(url, pull.number);
  if (record === undefined) return false;
  const comments = await here.host.comments(pull.number);
  const heard = await records.lastHeard(url, pull.number);
  const said: string[] = [];
  let isAnew = false;
  for (const comment of comments) {
    signal.throwIfAborted();
    if (Number(comment.id) <= Number(heard) || comment.text.includes(record.mark)) continue;
    const lines = comment.text.split(/\r?\n/).filter((line) => line.trim() !== "");
    const commands = lines.map((line) => commandLine.exec(line));
    if (commands[0] == null) continue;
    const { by } = comment;
    if (comment.isEdited)
      said.push(`the comment of ${by} was changed after it was written, and does not count: write it anew`);
    else if (commands.includes(null))
      said.push(`the comment of ${by} has more than commands, and does not count: write each on a line of its own`);
    else
      for (const [, word, digest = "", why] of commands.filter((each) => each !== null)) {
        const may = here.stacks.some((stack) => mayApprove(stack, by));
        if (word === "plan" && (may || (by === pull.author && !pull.outside))) {
          await records.planPullAnew(url, pull.number);
          isAnew = true;
        } else if (!may) said.push(`${by} may not ${word} here: ${namesApprovers}`);
        else said.push(...(await approveAs(ports, { by, digest, why }, record, here)));
      }
  }
  await records.heardPull(
    url,
    pull.number,
    pull.updatedAt,
    comments.at(-1)?.id ?? heard,
    said.length === 0 ? undefined : said.slice(-3).join("; "),
  );
  return isAnew;
}

/** Each stack names its own people, also where several have their files in one repository. Hosts take ann and Ann for one. */
const mayApprove = ({ spec: { source } }: StackRecord, who: string): boolean =>
  source.kind === "git" && source.pulls?.approvers.some((one) => one.toLowerCase() === who.toLowerCase()) === true;

const namesApprovers = "pull_requests: { approvers: […] } of the fleet's file names who may";

/** What was not approved, and why. */
async function approveAs(
  { records }: PullPorts,
  { by, digest, why }: { readonly by: string; readonly digest: string; readonly why: string | undefined },
  { url, number, author }: PullRecord,
  { stacks, place }: Place,
): Promise<string[]> {
  const approves = approveWord[place.kind];
  const found = (await records.pullPlans(url, number)).filter(
    (plan) => plan.digest !== undefined && digest.length >= 6 && plan.digest.startsWith(digest),
  );
  if (found.length === 0)
    return [`no plan of this pull request is ${digest === "" ? `named: ${approves} DIGEST` : digest}`];
  const said: string[] = [];
  for (const plan of found) {
    const stack = stacks.find(({ name }) => name === plan.stack);
    const refusal =
      stack === undefined
        ? `${plan.stack} is not in the fleet any more`
        : !mayApprove(stack, by)
          ? `${by} may not approve ${plan.stack} here: ${namesApprovers}`
          : (whyNot(plan, stack.spec.notTheAuthor === true, by, author) ?? whatIsMissing(plan, why, approves));
    const { readAt: at = new Date() } = stack ?? {};
    const approval = {
      digest: plan.digest ?? "",
      by,
      ...onlyDefined({ why }),
      at: at.toISOString(),
      until: new Date(at.getTime() + 7 * dayMs).toISOString(),
    };
    const decision = {
      who: by,
      what: "approve in pull request",
      stack: plan.stack,
      detail: [`${number}: ${approval.digest}`, why].filter(Boolean).join(": "),
    };
    if (refusal !== undefined) said.push(refusal);
    else if (!(await records.approvePull(url, number, plan.stack, approval, decision)))
      said.push(`the plan ${digest} of ${plan.stack} is another one by now`);
  }
  return said;
}

const whatIsMissing = (
  { stack, body, digest }: PullPlan,
  why: string | undefined,
  approves: string,
): string | undefined =>
  why === undefined && asksWhy(body?.consents ?? [])
    ? `the plan of ${stack} loses data, and whoever approves it says why: ${approves} ${digest} WHY`
    : undefined;

function whyNot(
  { stack, body, approval, digest }: PullPlan,
  notTheAuthor: boolean,
  by: string,
  author: string,
): string | undefined {
  const before = approval === undefined || approval.digest !== digest ? [] : namesIn(approval);
  if (before.some((one) => isSamePerson(one, by))) return `${by} has approved the plan of ${stack} already`;
  if (!notTheAuthor) return undefined;
  const { commits = [], alsoBy = [] } = body?.change ?? {};
  const wrote = by === author || [...commits, ...alsoBy].some((writers) => isBy(writers, by));
  if (!wrote && body?.change !== undefined) return undefined;
  return `${by} wrote a change of ${stack}, and whoever did may not approve it`;
}
