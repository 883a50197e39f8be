/** `reconcile plan`: shows what apply would do. Sends only reads and writes nothing but the file of --out. */

import { join } from "node:path";
import type { Diagnostic } from "../../core/model/diagnostic";
import { changesOutputs } from "../../core/plan/outputs";
import { onlyDefined } from "../../core/text/objects";
import { printable } from "../../core/text/printable";
import type { Prepared } from "../../engine/plan";
import { touchesGroups } from "../../kinds/group/changes";
import { makeOwnFolder } from "../../outside/private-file";
import { exposureMarkdown } from "../../report/exposure-text";
import { commentLimit, failureMarkdown, markerOf, planMarkdown } from "../../report/markdown";
import { describeHolder } from "../../store/store";
import { annotated, printAnnotations, readAnnotations } from "../annotations";
import { changedProjects } from "../changed-projects";
import { command, type Invocation } from "../command";
import { fail } from "../compose";
import { asDiagnostics } from "../crash";
import { forEachEnvironment, forEachPart, isForAll } from "../each-environment";
import { consentFlags, planFlags } from "../flags";
import { onceAProject, withoutGroupNames } from "../once-a-project";
import { keepPlan } from "../plan-file";
import { planOptions } from "../plan-options";
import { prepareBeside, showPlan, tellPlan } from "../planning";
import { reviewPlan } from "../review";
import { type Session, withNotes } from "../session";
import { withSession } from "../with-session";
import { chosenEnvironment, readWorkspace } from "../workspace";

export const planCommand = command({
  usage: "plan [FILE|DIR]… [flags]",
  summary: "shows what apply would do, in which order, and what it costs you",
  section: "From a file to the service",
  examples: [
    ["reconcile plan", "looks and shows; sends only reads"],
    ["reconcile plan --steps", "every request in its order"],
    ["reconcile plan --out change.plan.json", "saves what you reviewed, for: reconcile apply change.plan.json"],
    ["reconcile plan --detailed-exitcode", "exit 2 when changes are pending, for scripts"],
    ["reconcile plan --allow-loss vm.db", "which losses that consent permits; apply is where it is given"],
    ["reconcile plan --target vm.db", "only this VM and what it needs"],
    ["reconcile plan --refresh=changed", "looks at what changed, and at what was not seen for a day"],
    ["reconcile plan --env all", "each environment that the file declares, in turn"],
    ["reconcile plan --changed-since origin/main prod staging --markdown", "the projects that a change touches"],
  ],
  // With a consent, the plan shows what it would permit; apply is where it is given.
  flags: [
    ...planFlags,
    ...consentFlags,
    "unprotect",
    "allow-empty",
    "changed-since",
    "out",
    "markdown",
    "annotations",
    "detailed-exitcode",
    "destroy",
  ],
  run: (invocation) => annotated(invocation, () => commented(invocation, () => planHere(invocation))),
});

/** A plan that cannot be made gives a comment as well, which is written over the former comment. */
async function commented(invocation: Invocation, run: () => Promise<number>, part?: CommentPart): Promise<number> {
  try {
    return await run();
  } catch (error) {
    const diagnostics = asDiagnostics(error);
    if (invocation.flags.markdown === true && diagnostics !== undefined)
      invocation.output.print(failureMarkdown(diagnostics, partOfComment(invocation, part)));
    throw error;
  }
}

function planHere(invocation: Invocation): Promise<number> {
  const since = invocation.flags["changed-since"];
  if (since !== undefined) return planChanged(invocation, since);
  if (!isForAll(invocation)) return planFiles(invocation);
  if (invocation.flags.out !== undefined)
    throw fail("cli/bad-flag", "--out saves the plan of one environment, not of all", "--env NAME --out FILE for each");
  return forEachEnvironment(invocation, (own, count) => {
    const part = { limit: Math.floor(commentLimit / count) };
    return commented(own, () => planFiles(own, part), part);
  });
}

/** One report with a part for each project that the change touches; each part of a comment has its own marker. */
function planChanged(invocation: Invocation, since: string): Promise<number> {
  const { flags, output } = invocation;
  const { touched, removed } = changedProjects(invocation, since);
  const gone = removed.map(
    (folder): Diagnostic => ({
      severity: "warning",
      code: "plan/project-removed",
      summary: `the files of ${folder} are gone, and the resources that they declared still exist`,
      fix: "run reconcile destroy with the former files, then remove them",
    }),
  );
  if (flags.out !== undefined && touched.length > 0) makeOwnFolder(flags.out, 0o700);
  const limit = Math.floor(commentLimit / (touched.length + removed.length));
  // The former comment on a project tells of a plan that nobody can carry out any more.
  if (flags.markdown === true)
    for (const [at, folder] of removed.entries())
      output.print(failureMarkdown(gone.slice(at, at + 1), { where: undefined, key: folder, title: folder, limit }));
  const isNone = touched.length + removed.length === 0;
  if (isNone && flags.markdown === true) output.print(`${markerOf()}\n### Nothing to plan: no project is touched.\n`);
  else if (isNone && flags.annotations === undefined) output.print(`No project is touched since ${since}.`);
  const names = fileNamesOf(touched);
  return forEachPart(
    invocation,
    "folder",
    touched,
    (folder, given) => {
      if (flags.markdown !== true) given.output.print(`${folder}\n`);
      const out = flags.out === undefined ? {} : { out: join(flags.out, `${names.get(folder)}.plan.json`) };
      const part = { folder, limit };
      const own = { ...given, args: [folder], flags: { ...given.flags, ...out } };
      return commented(own, () => planFiles(own, part), part);
    },
    gone,
  );
}

/** A name for the plan of each folder. No two are the same, also where a file system takes no notice of case. */
function fileNamesOf(folders: readonly string[]): ReadonlyMap<string, string> {
  const taken = new Set<string>();
  return new Map(
    folders.map((folder) => {
      const plain = folder.replaceAll(/[^\w.-]+/g, "-").replace(/^[.-]+|-+$/g, "") || "plan";
      let name = plain;
      for (let count = 2; taken.has(name.toLowerCase()); count++) name = `${plain}-${count}`;
      taken.add(name.toLowerCase());
      return [folder, name];
    }),
  );
}

/** One project or environment of several that share a comment. */
interface CommentPart {
  readonly folder?: string;
  readonly limit: number;
}

/**
 * What tells comments of several environments or projects on one merge request apart. A plan that failed early names no
 * environment yet, and is written over the comment of the one that was asked for.
 */
function partOfComment({ output: { where }, flags }: Invocation, part: CommentPart | undefined) {
  const environment = where === undefined ? chosenEnvironment(flags) : where.environment;
  const key = [part?.folder, environment].filter((word) => word !== undefined).join("-");
  const title = part?.folder ?? (where === undefined ? environment : undefined);
  return { where, ...onlyDefined({ key: key === "" ? undefined : key, title, limit: part?.limit }) };
}

/** A warning when another run holds the state: a change that looks unfinished may be under way there. */
async function runBeside({ store }: Session, { plan: { changes } }: Prepared): Promise<readonly Diagnostic[]> {
  const holder = changes.some(({ reason }) => reason === "interrupted") ? await store.holder() : undefined;
  if (holder === undefined) return [];
  return [
    {
      severity: "warning",
      code: "plan/run-under-way",
      summary: `another run holds the state: ${printable(describeHolder(holder))}`,
      detail: "a change that looks unfinished here may be under way in that run",
      fix: "plan again when it has ended",
    },
  ];
}

async function planFiles(invocation: Invocation, part?: CommentPart): Promise<number> {
  const { flags, output } = invocation;
  const format = readAnnotations(invocation);
  const workspace = readWorkspace(invocation, { needed: flags.destroy !== true });
  return withSession(invocation, workspace, async (session) => {
    const prepared = await prepareBeside(session, planOptions(flags));
    const { plan } = prepared;
    const review = await reviewPlan(withNotes(session, await runBeside(session, prepared)), prepared);
    const { findings, diagnostics } = review;
    if (format === undefined && flags.markdown !== true) showPlan(invocation, prepared, review);
    else tellPlan(output, plan, findings);
    if (format !== undefined) printAnnotations(invocation, format, findings);
    else if (flags.markdown === true) {
      const limit = part?.limit ?? commentLimit;
      const exposure = review.exposure === undefined ? "" : exposureMarkdown(review.exposure, limit / 8);
      const own = { ...partOfComment(invocation, part), limit: limit - exposure.length };
      output.print(planMarkdown(plan, { ...own, findings }) + exposure);
    }
    const failed = review.exitCode !== 0;
    if (flags.out !== undefined && !failed) keepPlan(session, prepared, review, flags.out);
    const pending =
      plan.changes.length > 0 || plan.steps.length > 0 || plan.owed !== undefined || changesOutputs(plan.outputs);
    return output.finish({
      exitCode: failed ? review.exitCode : pending && flags["detailed-exitcode"] === true ? 2 : 0,
      diagnostics: touchesGroups(plan.changes)
        ? onceAProject(diagnostics, prepared.state)
        : withoutGroupNames(diagnostics),
      forPrograms: diagnostics,
      plan,
      findings,
    });
  });
}
