/** Ids in the file of what this project does not manage: a plan that needs one which is not there would be refused. */
import type { Desired } from "../core/model/desired";
import type { Diagnostic } from "../core/model/diagnostic";
import { kindRows } from "../core/model/kinds";
import { type Live, sight } from "../core/model/live";
import { isGone } from "../core/model/outcome";
import type { State } from "../core/model/recorded";
import type { Step } from "../core/plan/step";
import { groupedBy } from "../core/text/objects";
import { type NamedInStep, namedInSteps } from "../kinds/named-ids";
import type { ServiceReader } from "../service/client";
import { readAtAll } from "./observe";

interface Asking {
  readonly client: ServiceReader;
  readonly desired: Desired;
  readonly state: State;
  readonly signal?: AbortSignal;
}

/**
 * What a step names by its id, and of which the service says twice that it has no such thing, or, where nothing reads one
 * by its id, whose list lacks it. The step would be refused after those before it were done: a volume would be off its VM,
 * and on no other.
 */
export async function namedAndNotThere(
  steps: readonly Step[],
  live: Live,
  { client, desired, state, signal }: Asking,
): Promise<readonly Diagnostic[]> {
  const isMissing = async ({ kind, id }: NamedInStep): Promise<boolean> => {
    const asked = readAtAll(kind, client, id, { signal });
    return asked === undefined ? sight(live, kind, id).seen === "gone" : isGone(await asked);
  };
  // What is managed here is looked at by its own record.
  const own = new Set(
    [...state.resources.values()].flatMap((record) => (record.id === undefined ? [] : [`${record.kind}:${record.id}`])),
  );
  const unseen = namedInSteps(steps).filter(
    ({ kind, id }) => !own.has(`${kind}:${id}`) && sight(live, kind, id).seen !== "yes",
  );
  const found = [...groupedBy(unseen, ({ kind, id }) => `${kind}:${id}`).values()].map(
    async (naming): Promise<readonly Diagnostic[]> =>
      (await isMissing(naming[0])) && (await isMissing(naming[0]))
        ? naming.map(({ kind, id, by }) => ({
            severity: "error",
            code: "service/not_found",
            summary: `the service shows no ${kindRows[kind].fullNoun} ${id}, which ${by} names`,
            fix: "check the id, and the credential's project and rights",
            address: by,
            source: desired.resources.find(({ address }) => address === by)?.source,
          }))
        : [],
  );
  return (await Promise.all(found)).flat();
}
