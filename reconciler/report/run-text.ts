/**
 * The end of a run for people: what was done, what failed and what to do about it, what was skipped because of that,
 * what waits and the command that settles it, what was left alive, and what all this means for the next run.
 */

import type { Change } from "../core/diff/changes";
import { type Address, inAddressOrder } from "../core/model/address";
import type { Orphan } from "../core/model/recorded";
import type { Plan } from "../core/plan/plan";
import { isGate, type Step } from "../core/plan/step";
import { unseenDiagnostic, unseenText } from "../core/plan/unseen";
import { appendTo } from "../core/text/objects";
import { printable } from "../core/text/printable";
import { lacksIds, notSeenIn, type RunReport, type StepReport, unseenIn } from "../engine/run-plan";
import { outputLines } from "./output-lines";
import { scopeText, whatMatches } from "./plan-outline";
import { resourceStandings, standingCounts } from "./run-standing";
import { sortOrphans } from "./state-text";
import { countOf, durationText, type Hue, hang, layoutOf, numberText, type Paint, type TextOptions } from "./style";

const mostListed = 20;

interface RunTextOptions extends TextOptions {
  /** What is so in the end, of a plan that is not from the files of now: they may declare something else. */
  readonly outcome?: string | undefined;
  /** A text that names commands, with what makes each one of this project. */
  readonly here?: (text: string) => string;
}

type RunLook = ReturnType<typeof layoutOf> & Required<Pick<RunTextOptions, "here">>;

export function runText(
  run: RunReport,
  plan: Plan,
  { here = (text) => text, ...options }: RunTextOptions = {},
): string {
  const look: RunLook = { ...layoutOf(options), here };
  const { paint, width } = look;
  const lines = [
    ...doneLines(run, plan, paint),
    ...endedLines(run, ["failed", "unknown"], "✗", "danger", look),
    ...skippedLines(run, width),
    ...endedLines(run, ["waiting"], "…", "change", look),
    ...unseenLines(run, look),
    ...standingLines(run, plan, look),
    ...orphanLines(run.orphans, look),
    ...outputLines(run.outputs, width),
  ];
  // A part that is not done begins with an empty line of its own.
  if (lines.length > 0 && lines[0] !== "") lines.unshift("");
  lines.push("");
  lines.push(...hang("", runEndText(run, plan, options.outcome), width).map((line) => paint("strong", line)));
  return `${lines.join("\n")}\n`;
}

const participles: Record<Change["action"], string> = {
  create: "created",
  update: "updated",
  replace: "replaced",
  delete: "deleted",
  import: "imported",
  forget: "forgotten",
};

/** The changes whose steps are all done. A gate between waves is a step of no resource. */
function finishedChanges(run: RunReport, plan: Plan): Change[] {
  const open = new Set<Address>();
  for (const { step, result } of run.steps) if (result.end !== "done" && !isGate(step)) open.add(step.address);
  for (const { address } of notSeenIn(run)) open.add(address);
  return inAddressOrder(plan.changes).filter((change) => !open.has(change.address));
}

function doneLines(run: RunReport, plan: Plan, paint: Paint): string[] {
  // An action such as `vm snapshot` changes nothing that is declared; its steps are shown as what was done.
  if (plan.changes.length === 0)
    return run.steps.flatMap(({ step, result }) =>
      result.end === "done"
        ? [
            `  ${paint("good", "✓")} ${printable(step.title)}${result.message === undefined ? "" : `: ${printable(result.message)}`}`,
          ]
        : [],
    );
  const finished = finishedChanges(run, plan);
  const hosts = new Map((run.hosts ?? []).map((host) => [host.address, host]));
  const shown = finished.length <= mostListed ? finished : finished.slice(0, mostListed - 1);
  const lines = shown.map(({ action, address, id }) => {
    // The id of a new resource is taken from the state, because the plan has only the id of what was replaced.
    const host = hosts.get(address);
    const known =
      host !== undefined
        ? [host.id, host.privateIp, host.floatingIp].filter((one) => one !== undefined).join(", ")
        : action === "update" || action === "import"
          ? id
          : undefined;
    return `  ${paint("good", "✓")} ${participles[action].padEnd(9)}  ${printable(address)}${known === undefined || known === "" ? "" : paint("quiet", ` (${printable(known)})`)}`;
  });
  if (shown.length < finished.length)
    lines.push(paint("quiet", `    and ${numberText(finished.length - shown.length)} more`));
  return lines;
}

/** The steps that ended so, each with what it says and what to do. */
const endedLines = (
  { steps }: RunReport,
  ends: readonly StepReport["result"]["end"][],
  sign: string,
  hue: Hue,
  look: RunLook,
): string[] =>
  steps.flatMap(({ step, result }) =>
    ends.includes(result.end) ? [...headOfResult(sign, result.end, hue, step, look), ...adviceLines(result, look)] : [],
  );

const headOfResult = (
  sign: string,
  word: string,
  hue: Hue,
  { address, title }: Pick<Step, "address" | "title">,
  { paint, width }: RunLook,
): string[] => [
  "",
  ...hang(`  ${sign} ${word.padEnd(9)}  `, `${printable(address)}: ${printable(title)}`, width).map((line) =>
    paint(hue, line),
  ),
];

function adviceLines(result: StepReport["result"], { width, here }: RunLook): string[] {
  const lines = result.message === undefined ? [] : hang("      ", printable(result.message), width);
  if ("output" in result && result.output !== undefined)
    lines.push(...result.output.map((line) => `      | ${printable(line)}`));
  if ("fix" in result && result.fix !== undefined) lines.push(...hang("      → ", printable(here(result.fix)), width));
  if ("code" in result && result.code !== undefined) lines.push(`      → reconcile explain ${printable(result.code)}`);
  return lines;
}

/** Skipped steps, grouped by the step for which they were skipped, so that one failure is shown once. */
function skippedLines(run: RunReport, width: number): string[] {
  const byReason = new Map<string, string[]>();
  for (const { step, result } of run.steps) {
    if (result.end !== "skipped" || isGate(step)) continue;
    const reason = result.message ?? "not started";
    appendTo(byReason, reason, step.title);
  }
  return [...byReason].flatMap(([reason, titles]) => [
    "",
    ...hang("  - ", `skipped ${countOf(titles.length, "step")}, ${printable(reason)}`, width),
    ...titles.slice(0, mostListed).flatMap((title) => hang("      ", printable(title), width)),
    ...(titles.length > mostListed ? [`      and ${numberText(titles.length - mostListed)} more`] : []),
  ]);
}

/**
 * After an interruption, what is begun and what nothing was sent for; what is done stands above. A failure has its own
 * lines.
 */
function standingLines(run: RunReport, plan: Plan, { paint, width }: RunLook): string[] {
  if (!run.interrupted && run.broken === undefined) return [];
  const standings = resourceStandings(run, plan);
  const open = standings.filter(({ standing }) => standing === "in_progress");
  const untouched = standings.filter(({ standing }) => standing === "untouched").map(({ address }) => address);
  const shown = untouched.length <= mostListed ? untouched : untouched.slice(0, mostListed);
  const more = untouched.length - shown.length;
  return [
    "",
    `  Of ${countOf(standings.length, "resource")}: ${standingCounts(standings)}`,
    ...open.flatMap(({ address, waitsFor = "not finished" }) =>
      hang("    … in progress  ", `${printable(address)}: ${printable(waitsFor)}`, width).map((line) =>
        paint("change", line),
      ),
    ),
    ...(untouched.length === 0
      ? []
      : hang(
          "    - untouched    ",
          `${printable(shown.join(", "))}${more > 0 ? ` and ${numberText(more)} more` : ""}`,
          width,
        )),
  ];
}

/** What the service accepted and no look has shown. */
function unseenLines(run: RunReport, look: RunLook): string[] {
  const { width, here } = look;
  const unseen = unseenIn(run);
  // What the service could have shown is told whatever its number, as a failure is.
  const shown = unseen.slice(0, Math.max(mostListed, notSeenIn(run).length));
  return [
    ...shown.flatMap((one) => {
      const { fix, detail = "", code } = unseenDiagnostic(one);
      return [
        ...headOfResult("?", "not seen", one.why.unseen === "nobody-can-look" ? "note" : "change", one, look),
        ...hang("      ", printable(unseenText(one)), width),
        ...(fix === undefined
          ? hang("      ", printable(detail), width)
          : hang("      → ", printable(here(fix)), width)),
        `      → reconcile explain ${code}`,
      ];
    }),
    ...(unseen.length > shown.length ? [`      and ${numberText(unseen.length - shown.length)} more`] : []),
  ];
}

function orphanLines(orphans: readonly Orphan[], { paint, width }: RunLook): string[] {
  if (orphans.length === 0) return [];
  return [
    "",
    paint("note", `  ${countOf(orphans.length, "orphan")}: left alive in the service, and managed by nothing`),
    ...sortOrphans(orphans)
      .slice(0, mostListed)
      .flatMap((orphan) => hang("      ", orphanText(orphan), width)),
    ...(orphans.length > mostListed ? [`      and ${numberText(orphans.length - mostListed)} more`] : []),
    "      → reconcile orphans list, reconcile orphans delete ID",
  ];
}

export const orphanText = ({ kind, name, id, sizeGb, reason }: Orphan): string =>
  printable(`${kind} ${name} (${id})${sizeGb === undefined ? "" : `, ${sizeGb} GB`}: ${reason}`);

function runEndText(run: RunReport, plan: Plan, outcome: string | undefined): string {
  const { done, failed, skipped, waiting } = run.counts;
  const unknown = run.steps.filter(({ result }) => result.end === "unknown").length;
  const counts = [
    countOf(done, "step done", "steps done"),
    ...(failed > unknown ? [`${failed - unknown} failed`] : []),
    ...(unknown > 0 ? [`${unknown} unknown`] : []),
    ...(skipped > 0 ? [`${skipped} skipped`] : []),
    ...(waiting > 0 ? [`${waiting} waiting`] : []),
  ].join(", ");
  const took = tookMs(run);
  const time = took === undefined ? "" : ` in ${durationText(took)}`;
  if (run.broken !== undefined)
    return `Stopped (${counts}${time}): the state could not be written (${printable(run.broken.message)}). Nothing was sent after that; once the state can be written, ${lacksIds(run) ? "give it the ids that it lacks (reconcile import, above), then " : ""}run it again, and it goes on from here.`;
  if (run.interrupted)
    return `Interrupted (${counts}${time}). What was in flight is recorded; the next run goes on from here.`;
  if (failed > 0)
    return `Not finished (${counts}${time}). The next run goes on from here and repeats nothing that is done.`;
  if (waiting > 0)
    return `Applied, but something waits for an outside act (${counts}${time}). Run it again after that: exit code 4 until then.`;
  const notSeen = notSeenIn(run).length;
  if (notSeen > 0)
    return `Accepted, but not all of it is seen (${counts}, ${countOf(notSeen, "write")} not seen${time}). The service said yes and does not show it: exit code 4 until it does.`;
  const blind = unseenIn(run).length;
  if (blind > 0)
    return `Done, as far as this service can be looked at (${counts}${time}): nobody can see whether ${blind === 1 ? "one write was" : `${blind} writes were`} carried out.`;
  if (plan.changes.length === 0) return `Done (${counts}${time}).`;
  return `Done: ${outcomeText(plan, outcome)}${scopeText(plan)} (${counts}${time}).`;
}

function outcomeText(plan: Plan, outcome = `${whatMatches(plan)} matches the file`): string {
  const { destroy, targets, excludes } = plan.options;
  if (destroy !== true) return outcome;
  return targets === undefined && excludes === undefined
    ? "everything in the state is deleted"
    : "what was planned is deleted";
}

function tookMs(run: RunReport): number | undefined {
  let from = Number.POSITIVE_INFINITY;
  let to = Number.NEGATIVE_INFINITY;
  for (const { startedAt, endedAt } of run.steps) {
    if (startedAt !== undefined) from = Math.min(from, startedAt);
    if (endedAt !== undefined) to = Math.max(to, endedAt);
  }
  return to >= from ? to - from : undefined;
}
