/**
 * A command, or one round of a command that goes on for ever, as the outermost span of a trace, where traces are asked
 * for.
 */

import { onlyDefined } from "../core/text/objects";
import type { Tracing } from "../outside/spans";
import { inSpan, tracing } from "../outside/tracing";
import type { Output } from "./output";

export async function withTrace(
  traced: Tracing,
  output: Output,
  name: string,
  run: () => Promise<number>,
): Promise<number> {
  try {
    return await inSpan(`reconcile ${name}`, { "reconcile.command": name }, run, (exitCode) => ({
      attributes: { "process.exit.code": exitCode, ...traceAttributes(output) },
      ...onlyDefined({ problem: exitCode === 1 ? "exit 1" : undefined }),
    }));
  } finally {
    const problem = await traced.flush();
    if (problem !== undefined) output.note(`Traces: ${problem}.`);
  }
}

/** One round as a span, with how the round ended. */
export async function withRoundTrace<T>(
  name: string,
  round: () => Promise<T>,
  ended: (result: T) => { readonly end: string; readonly why?: string },
): Promise<T> {
  const traced = tracing();
  try {
    return await inSpan(name, {}, round, (result) => {
      const { end, why } = ended(result);
      return {
        attributes: { "reconcile.end": end },
        ...onlyDefined({ problem: end === "failed" ? (why ?? end) : undefined }),
      };
    });
  } finally {
    // Spans that the collector refuses are lost; the next round sends its own.
    void traced?.flush();
  }
}

const traceAttributes = ({ where }: Output) =>
  onlyDefined({
    "reconcile.project": where?.project,
    "reconcile.environment": where?.environment,
    "reconcile.service": where?.service,
  });
