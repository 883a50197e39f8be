/** Plans one stack as a pull request would leave it. Nothing of the plan can be carried out before the merge. */
import { diagnosticsIn } from "../../core/model/diagnostic";
import { errorMessage } from "../../core/text/errors";
import { onlyDefined } from "../../core/text/objects";
import type { PullPlan } from "../database/pulls";
import type { StackRecord } from "../database/stacks";
import { type Decision, decide } from "../decide";
import type { FleetSettings } from "../model";
import { type OpeningPorts, projectInput, readInputs } from "../open-stack";
import type { OpenProject, Planned } from "../project";
import { sentences } from "../round";
import { asInRepository, type Checkout, NotInSource, SourceFailed } from "../sources/checkout";
import { checkOutGit, type GitSource } from "../sources/git";
import { mergedCommit } from "../sources/merge";
import { hostPlace } from "./host";
import { noFolder, type PullPorts, pullsFrom } from "./look";

export interface PullRound extends OpeningPorts, Pick<PullPorts, "records" | "cache"> {
  readonly openProject: OpenProject;
}

type Made = Pick<PullPlan, "result" | "digest" | "body" | "why">;

export async function planPull(
  ports: PullRound,
  {
    stack,
    settings,
    number,
    signal,
  }: { stack: StackRecord; settings: FleetSettings; number: number; signal: AbortSignal },
): Promise<void> {
  const { records } = ports;
  const { source } = stack.spec;
  if (source.kind !== "git") return;
  const [pull, wanted] = [
    await records.pull(source.url, number),
    await records.pullPlan(source.url, number, stack.name),
  ];
  if (pull === undefined || wanted?.result !== "waits") return;
  const { api } = await pullsFrom(records, source.url, source.ref);
  const place = hostPlace(source.url, api);
  if (place === undefined) return;
  let made: Made;
  const copies: Checkout[] = [];
  try {
    const merge = {
      kind: place.kind,
      number,
      head: pull.head,
      ...onlyDefined({ base: pull.base === "" ? undefined : pull.base }),
    };
    const { base, commit } = await mergedCommit(source, ports.cache, merge, { signal });
    const at = async (ref: string): Promise<Checkout> => {
      const copy = await checkOutGit({ ...source, ref }, ports.cache, { signal });
      copies.push(copy);
      return copy;
    };
    made =
      wanted.content === noFolder
        ? { result: "observes", why: whyWithoutFolder(source.path) }
        : await madeOf(ports, {
            ...{ stack, settings, outside: pull.outside, signal },
            before: await at(base).catch((error: unknown) => {
              throw error instanceof NotInSource ? new SourceFailed(whyNotYet(source)) : error;
            }),
            after: await at(commit),
          });
  } catch (error) {
    if (signal.aborted) throw error;
    const diagnostics = diagnosticsIn(error);
    const why = diagnostics === undefined ? errorMessage(error) : sentences(diagnostics);
    made = { result: "failed", why };
  }
  const named = copies.reduce((all, copy) => asInRepository(copy)(all), made);
  await records.savePullPlan(source.url, number, { stack: stack.name, content: wanted.content, ...named }, stack.spec);
}

const whyWithoutFolder = (path: string): string =>
  `the merge leaves no folder ${path}, which deletes nothing: what the stack made stays as it is, and nobody looks after it until the fleet's file lets the stack go or names its new place`;

const whyNotYet = ({ path, ref }: GitSource): string =>
  `${ref} has no folder ${path} yet, whose policy and dialect would judge the plan: it is planned after the merge`;

interface Planning {
  readonly stack: StackRecord;
  readonly settings: FleetSettings;
  readonly outside: boolean;
  readonly before: Checkout;
  readonly after: Checkout;
  readonly signal: AbortSignal;
}

async function madeOf(ports: PullRound, { stack, settings, outside, before, after, signal }: Planning): Promise<Made> {
  const inputs = await readInputs(stack, ports);
  if ("end" in inputs) return { result: "failed", why: "why" in inputs ? inputs.why : "its inputs are not there" };
  const input = projectInput({ stack, settings }, ports, after, inputs.values);
  const closedBy = input.closedBy ?? (outside ? "a pull request from outside" : undefined);
  const project = await ports.openProject({ ...input, base: before, signal, ...onlyDefined({ closedBy }) });
  try {
    const planned = await project.plan(signal);
    signal.throwIfAborted();
    const change = await after.changeSince?.(before.revision, project.files);
    const body = { ...planned.body, why: "", read: project.files, ...onlyDefined({ change }) };
    if (planned.errors.length > 0) return { result: "failed", body, why: planned.errors.join("; ") };
    return { ...ending(planned, stack, after), body };
  } finally {
    await project.close();
  }
}

/** What would happen after the merge, if nothing else changed. */
function ending(planned: Planned, { spec }: StackRecord, { content }: Checkout): Omit<Made, "body"> {
  const { approve, consents, approvers = 1 } = spec;
  // Windows open and close until then.
  const decision: Decision = decide(
    planned.facts,
    { approve, consents, approvers },
    undefined,
    { open: true },
    new Date(),
  );
  // As a round after the merge names it (round.ts).
  const digest = `${planned.facts.digest}-${content.slice(-8)}`;
  switch (decision.do) {
    case "nothing":
      return { result: "nothing" };
    case "apply":
      return { result: "applies", digest };
    case "observe":
      return { result: "observes", why: decision.why };
    case "await":
    case "hold":
      if (planned.changesJudges === true)
        return {
          result: "asks",
          why: `${decision.why}; it changes its own dialect, policy, checks or address, and those of the branch judged it, so that it is approved after the merge`,
        };
      return { result: "asks", digest, why: decision.why };
  }
}
