/**
 * A rehearsal in words: what happens when, how long which VM is down, what is refused, who must act, and how it ends.
 */
import { printable } from "../core/text/printable";
import type { ChaosTrial } from "../rehearse/chaos";
import type { Rehearsal, RehearsedStep } from "../rehearse/rehearsal";
import { owedForPrograms, owedText } from "./owed-text";
import { countOf, durationText, hang, numberText, type Paint, padTo, painter, type TextOptions } from "./style";

const mostSteps = 200;

const signOfEnd: Record<RehearsedStep["end"], { readonly word: string; readonly hue: Parameters<Paint>[0] }> = {
  done: { word: "", hue: "quiet" },
  failed: { word: "failed: ", hue: "danger" },
  unknown: { word: "unknown: ", hue: "danger" },
  waiting: { word: "waits: ", hue: "change" },
  skipped: { word: "skipped: ", hue: "change" },
};

export function rehearsalText(
  rehearsal: Rehearsal,
  estimate: { readonly downtimeMs: Readonly<Record<string, number>> },
  options: TextOptions = {},
): string {
  const paint = painter(options.colour === true);
  const width = options.width ?? 100;
  const lines: string[] = [];
  const section = (title: string, body: readonly string[]): void => {
    if (body.length > 0) lines.push(paint("strong", title), ...body, "");
  };
  const hanging = (texts: readonly string[]): string[] => texts.flatMap((text) => hang("  ", printable(text), width));

  section("Timeline, in the real service's time", rehearsalTimeline(rehearsal.steps, paint, width));
  section(
    "Downtime",
    Object.entries(rehearsal.downtimeMs).map(
      ([vm, ms]) => `  ${vm}  ${durationText(ms)} (estimated ${durationText(estimate.downtimeMs[vm] ?? 0)})`,
    ),
  );
  section(
    "Refused by the service",
    hanging(rehearsal.refusals.map(({ operation, condition, message }) => `${operation}: ${condition}: ${message}`)),
  );
  section(
    "Waits for somebody",
    hanging(
      rehearsal.steps
        .filter(({ end, startMs }) => end === "waiting" && startMs !== undefined)
        .map(({ address, message, fix }) => `${address}: ${message ?? "waits"}${fix === undefined ? "" : ` (${fix})`}`),
    ),
  );
  section(
    "Consents the real run asks for, given here",
    hanging(rehearsal.consents.map(({ detail, grant }) => `${detail}: ${grant}`)),
  );
  section("Commands inside the guests, which the real run owes", hanging(rehearsal.owed.map(owedText)));
  section("Taken for granted", hanging(rehearsal.assumptions));
  section(
    "Still different afterwards",
    hanging(rehearsal.remaining.map(({ address, action, because }) => `${address}: ${action}, ${because}`)),
  );
  lines.push(...hang("", verdictText(rehearsal), width));
  return `${lines.join("\n")}\n`;
}

function rehearsalTimeline(steps: readonly RehearsedStep[], paint: Paint, width: number): string[] {
  const ran = [...steps].sort((a, b) => (a.startMs ?? Number.MAX_VALUE) - (b.startMs ?? Number.MAX_VALUE));
  // What did not come to its end is told before what did.
  const gravestFirst = [...ran.filter(({ end }) => end !== "done"), ...ran.filter(({ end }) => end === "done")];
  const [told, left] = [new Set(gravestFirst.slice(0, mostSteps)), gravestFirst.slice(mostSteps)];
  const shown = ran
    .filter((step) => told.has(step))
    .flatMap((step) => {
      const { word, hue } = signOfEnd[step.end];
      const at = step.startMs === undefined ? "" : step.startMs < 1000 ? "at once" : `at ${durationText(step.startMs)}`;
      const takes =
        step.startMs === undefined || step.endMs === undefined ? "" : durationText(step.endMs - step.startMs);
      const lead = `  ${padTo(at, 14)}${padTo(takes, 13)}`;
      const title = hang(lead, printable(step.title), width);
      const said = step.end === "done" ? [] : hang(" ".repeat(29), `${word}${printable(step.message ?? "")}`, width);
      return [...title, ...said.map((line) => paint(hue, line))];
    });
  const done = left.filter(({ end }) => end === "done").length;
  return left.length > 0
    ? [...shown, `  and ${countOf(left.length, "more step")}, ${numberText(done)} of them done (--json shows all)`]
    : shown;
}

function verdictText({ verdict, durationMs, steps }: Rehearsal): string {
  const took = `${countOf(steps.length, "step")} in ${durationText(durationMs)} of the real service's time`;
  switch (verdict) {
    case "converged":
      return `Converged: ${took}, and a second plan on the twin is empty. The real service was sent reads only.`;
    case "waits":
      return `Waits: ${took}; what is named above needs somebody outside before it is done. The real service was sent reads only.`;
    case "failed":
      return `Does not converge: ${took}, and the result is not what was asked for. The real service was sent reads only.`;
  }
}

export function trialText(trial: ChaosTrial): string {
  const luck = [countOf(trial.kills, "kill"), countOf(trial.faults.length, "fault")].join(", ");
  const asked = trial.asked === 0 ? "" : `, asked a person ${countOf(trial.asked, "time")}`;
  const head = `  seed ${trial.seed}: ${luck}, ${countOf(trial.runs, "run")}${asked}: ${trial.ok ? "same world" : "NOT THE SAME WORLD"}`;
  return [head, ...trial.problems.map((problem) => `    ${printable(problem)}`)].join("\n");
}

export const rehearsalEvent = (rehearsal: Rehearsal): object => ({
  type: "rehearsal",
  verdict: rehearsal.verdict,
  duration_ms: Math.round(rehearsal.durationMs),
  timeline: rehearsal.steps.map(({ step, address, operation, end, startMs, endMs, waitedMs, message, fix }) => ({
    step,
    address,
    operation,
    status: end,
    start_ms: startMs === undefined ? null : Math.round(startMs),
    end_ms: endMs === undefined ? null : Math.round(endMs),
    waited_ms: Math.round(waitedMs),
    message,
    fix,
  })),
  downtime_ms: Object.fromEntries(Object.entries(rehearsal.downtimeMs).map(([vm, ms]) => [vm, Math.round(ms)])),
  refusals: rehearsal.refusals,
  waits: rehearsal.steps
    .filter(({ end }) => end === "waiting")
    .map(({ address, message, fix }) => ({ address, message: message ?? null, fix: fix ?? null })),
  consents: rehearsal.consents.map(({ kind, address, detail, grant }) => ({
    kind,
    address: address ?? null,
    detail,
    grant,
  })),
  assumptions: rehearsal.assumptions,
  owed: owedForPrograms(rehearsal.owed),
  remaining: rehearsal.remaining.map(({ address, action, because }) => ({ address, action, because })),
});

export const trialEvent = (trial: ChaosTrial): object => ({
  type: "trial",
  seed: trial.seed,
  ok: trial.ok,
  runs: trial.runs,
  kills: trial.kills,
  faults: trial.faults,
  asked: trial.asked,
  problems: trial.problems,
});
