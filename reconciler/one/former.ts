/**
 * Pulumi does not tell a provider that its user has a resource replaced (--replace, a taint): the provider is asked for
 * a create whose name is taken. Until the delete it cannot be known whether the former version of the same resource has
 * the name. So the preview warns of the resource that has the name, and only the create itself refuses.
 */
import type { Kind } from "../core/model/address";
import type { Diagnostic } from "../core/model/diagnostic";
import { type Live, shownOf } from "../core/model/live";
import type { Former, HandlerContext, HandlerService } from "./handler";
import { isClaimed, thingOf } from "./ownership";

const waitMs = 1000;
const lookEveryMs = 50;

/**
 * False when several resources have the name, or when another resource of this program has shown that it manages the
 * one that has it. That other resource may be asked about only after this one, so it is given a moment.
 */
export async function mayBeFormerVersion(
  service: HandlerService,
  live: Live,
  kind: Kind,
  name: unknown,
  signal: AbortSignal,
): Promise<boolean> {
  const isNamesake = (one: Named): boolean => one.name?.toLowerCase() === String(name).toLowerCase();
  const [only, ...others] = shownOf(live, kind).filter(isNamesake);
  if (only === undefined || others.length > 0) return false;
  const thing = thingOf(kind, only.id);
  const { clock } = service;
  const until = clock.now() + waitMs;
  while (!isClaimed(service, thing) && clock.now() < until && !signal.aborted) await clock.sleep(lookEveryMs, signal);
  return !isClaimed(service, thing);
}

/** Whether a former version goes that this process was asked for no difference of: the engine or its command line says so. */
export const goesUnasked = ({ isInState }: Pick<HandlerContext, "isInState">, former: Former | undefined): boolean =>
  former === "unasked" || (former === undefined && isInState === true);

interface Named {
  readonly id: string;
  readonly name?: string;
}

export const warningOfReplacement = (
  { deleteBeforeReplace }: { readonly deleteBeforeReplace: boolean },
  { summary }: Diagnostic,
  loss: string | undefined,
): string =>
  [
    summary.replace(", and no address manages it", ""),
    `if this resource is being replaced, that one goes first${loss === undefined ? "" : `, and ${loss}`} (by the option deleteBeforeReplace${deleteBeforeReplace ? ", which the classes of reconcile-cloud/pulumi give by themselves" : ""})`,
    'if it is somebody else\'s, the update will be refused: adopt: "<its id>" takes it over; or choose another name',
  ].join(" — ");
