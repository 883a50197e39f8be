/** What a program's process is told by one call: a table's row, and how it is checked. */
import { expect } from "vitest";
import { type Difference, type Kept, PartialFailure } from "../../reconciler/one/handler";
import type { ProgramProcess } from "./program-process";
import { shortIds, startVirtualProgram, type VirtualProgram } from "./virtual-program";

/** What a call came to: its answer, or why it was refused; what it sent; what it warned of. */
interface Told {
  readonly answer: unknown;
  readonly sent: readonly string[];
  readonly says: readonly string[];
}

const answerOf = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map((one: unknown) => (typeof one === "string" ? shortIds(one) : one));
  if (typeof value !== "object" || value === null) return value;
  if ("changes" in value) {
    const { changes, deleteBeforeReplace, warnings } = value as Difference;
    const lines = changes.map(({ property, replaces }) => (replaces ? `${property} anew` : property));
    return [
      ...lines,
      ...(deleteBeforeReplace ? ["the old one first"] : []),
      ...warnings.map((one) => `warns: ${shortIds(one)}`),
    ];
  }
  if ("outputs" in value) return shortIds((value as Kept).id);
  return value;
};

async function told(program: VirtualProgram, call: () => Promise<unknown>): Promise<Told> {
  program.sent.length = 0;
  program.log.length = 0;
  const answer = await call().then(answerOf, (error: unknown) => {
    if (!(error instanceof Error)) throw error;
    const kept = error instanceof PartialFailure ? ` [kept ${shortIds(error.kept.id).replace(/:.*/, "")}]` : "";
    return `refused${kept}: ${shortIds(error.message)}`;
  });
  const says = program.log.filter((line) => line.startsWith("warning: ")).map((line) => line.slice(9));
  return { answer, sent: [...program.sent], says };
}

export interface ToldRow {
  readonly given?: Parameters<typeof startVirtualProgram>[0];
  /** What happened before: the call that is asked about. */
  readonly asks: (program: VirtualProgram, process: ProgramProcess) => Promise<() => Promise<unknown>>;
  readonly answer: unknown;
  readonly sent?: readonly string[];
  readonly says?: readonly unknown[];
}

export const checkTold = async ({ given, asks, answer, sent = [], says = [] }: ToldRow): Promise<void> => {
  const program = startVirtualProgram(given);
  const call = await asks(program, program.startProcess());
  expect(await told(program, call)).toEqual({ answer, sent, says });
};
