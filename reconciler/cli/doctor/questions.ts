/**
 * What the doctor asks a person at a terminal: at most four questions, about requests that no look has found. A flag that
 * answers one beforehand (--curl, --none) is a question less.
 */
import type { AssumedOperation } from "../../core/model/operation";
import { problemOfTold, readCurl } from "../../dialect/learn/curl";
import type { DoctorReport } from "../../engine/doctor/report";
import type { ToldToDoctor } from "./told";

export const mostQuestions = 4;

/** What is asked about, the most useful first; `looked`: a look finds it, so it is asked before a trial. */
const questionsAsked: readonly (readonly [operation: AssumedOperation, what: string, when: "looked" | "tried"])[] = [
  ["vm.list", "lists the VMs", "looked"],
  ["volume.list", "lists the volumes", "looked"],
  ["group.list", "lists the security groups", "looked"],
  ["volume.delete", "deletes a volume", "tried"],
  ["vm.resize.confirm", "confirms a resize", "tried"],
  ["vm.resize.revert", "takes a resize back", "tried"],
  ["group.rule.delete", "deletes one rule of a group", "tried"],
];

/** Reads one line that a person types; `undefined`: nobody answers any more. */
export type AskLine = (question: string) => Promise<string | undefined>;

/** What is asked at this point of the doctor's work, after these questions. */
export function questionsAfter(
  when: "looked" | "tried",
  { operations, credential }: Pick<DoctorReport, "operations" | "credential">,
  asked: ReadonlySet<AssumedOperation>,
): readonly (readonly [operation: AssumedOperation, what: string])[] {
  // A service that lets nobody in may want a header that only a request of a person's shows.
  const isShut = credential === "refused" && operations.length === 0;
  const isOpen = (operation: AssumedOperation): boolean =>
    !asked.has(operation) &&
    ((isShut && operation === "vm.list") ||
      operations.some(
        (finding) =>
          finding.operation === operation &&
          finding.isSaid !== true &&
          (finding.verdict === "missing" || (finding.verdict === "not_tried" && finding.route === null)),
      ));
  return questionsAsked
    .filter(([operation, , then]) => then === when && isOpen(operation))
    .map(([operation, what]) => [operation, what] as const)
    .slice(0, Math.max(0, mostQuestions - asked.size));
}

/** The question about this one, where there may be one more. */
export const questionOf = (
  operation: AssumedOperation,
  asked: ReadonlySet<AssumedOperation>,
): ReturnType<typeof questionsAfter> =>
  asked.has(operation) || asked.size >= mostQuestions
    ? []
    : questionsAsked.filter(([one]) => one === operation).map(([, what]) => [operation, what] as const);

/** What was told, with the answers; `isOver`: nobody answers any more. */
export async function askOpen(
  questions: ReturnType<typeof questionsAfter>,
  told: ToldToDoctor,
  askLine: AskLine,
): Promise<{ readonly told: ToldToDoctor; readonly isAnswered: boolean; readonly isOver: boolean }> {
  let after = told;
  let isOver = false;
  for (const [operation, what] of questions) {
    let answer = await askCommand(
      `Which request ${what}? Paste it as a command for curl; "none": there is no such request; Enter: I do not know.`,
      askLine,
    );
    const wrong = answer === undefined || !/^curl\s/.test(answer) ? undefined : problemIn(operation, answer);
    if (wrong !== undefined)
      answer = await askCommand(`That cannot be taken: ${wrong.problem}; ${wrong.fix}. Enter: leave it.`, askLine);
    isOver = answer === undefined;
    if (answer === undefined) break;
    if (/^none$/i.test(answer)) after = { ...after, none: [...after.none, operation] };
    else if (problemIn(operation, answer) === undefined)
      after = { ...after, commands: [...after.commands, [operation, answer]] };
  }
  return { told: after, isAnswered: after !== told, isOver };
}

const problemIn = (operation: AssumedOperation, command: string) =>
  problemOfTold(operation, readCurl(operation, command, undefined, new Set()), "it");

/** A command may go over several lines, each of which but the last ends with a backslash. */
async function askCommand(question: string, askLine: AskLine): Promise<string | undefined> {
  let text = await askLine(question);
  while (text?.endsWith("\\") === true) {
    const more = await askLine(">");
    if (more === undefined) break;
    text = `${text.slice(0, -1)} ${more}`;
  }
  return text;
}
