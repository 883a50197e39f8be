/**
 * A stack whose files are much to read or to plan, in a process of its own for as long as its round lasts. The round
 * sees a project like any other; budget, approvals and what may be read stay with the worker.
 */
import type { EngineEvent } from "../../engine/events";
import type { Planned, Project, ProjectInput } from "../../fleet/project";
import { withheldVariables } from "../../outside/environment";
import { type PlannedApart, reportApart } from "./apart-calls";
import type { Children } from "./children";

export async function openApart(
  children: Children,
  /** For whom: what had to be ended once comes last from then on. */
  whose: string,
  { budget, ear, mayRead, siblings, sawState, signal, ...input }: ProjectInput,
  cache: string,
  /** Told of what each plan took of a processor. */
  weighed: (cpuMs: number) => void,
): Promise<Project> {
  let emit: (event: EngineEvent) => void = () => undefined;
  const lent = await children.lend(
    whose,
    {
      take: async (_, [stop]) => (budget === undefined ? true : budget.take(stop)),
      refused: async (ms) => budget?.refused(ms),
      asked: () => ear?.asked(),
      heard: () => ear?.heard(),
      mayRead,
      siblings,
      sawState: (seen) => sawState?.(seen),
      happens: (event) => emit(event),
    },
    signal,
  );
  const { changeSince: _, ...checkout } = input.checkout;
  const base = input.base === undefined ? undefined : { ...input.base, changeSince: undefined };
  const withheld = [...withheldVariables()];
  const stops = signal === undefined ? [] : [signal];
  lent.begins("plan");
  const opened = await lent
    .call("open", { input: { ...input, checkout, base }, cache, withheld }, stops)
    .catch((error: unknown) => {
      lent.giveBack();
      throw error;
    });
  const planned = ({ cpuMs, picture, ...plan }: PlannedApart): Planned => {
    weighed(cpuMs);
    return {
      ...plan,
      picture: () => picture,
      async apply(grants, { soft, hard }, emitHere) {
        emit = emitHere;
        const applied = await lent.call("apply", grants, [soft, hard]);
        return { report: reportApart(applied), outputs: applied.outputs, picture: () => applied.picture };
      },
    };
  };
  return {
    ...opened,
    apart: true,
    plan: async (stop) => planned(await lent.call("plan", undefined, [stop])),
    async underLock(stop, use) {
      const plan = planned(await lent.call("lock", undefined, [stop]));
      try {
        return await use(plan);
      } finally {
        await lent.call("unlock", undefined).catch(() => undefined);
      }
    },
    async close() {
      await lent.call("close", undefined).catch(() => undefined);
      lent.giveBack();
    },
  };
}
