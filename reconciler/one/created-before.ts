/**
 * What is known of a create that an earlier process sent, and that Pulumi's state may not have:
 *
 *   a difference has found what the state keeps as open
 *                                    it is managed from now on; nothing is sent
 *   the note has the id, and the state has the resource since
 *                                    nothing is open: a replacement is asked for
 *   the note has the id otherwise    it is looked at, and managed from now on; nothing is sent
 *   it can be looked for by name     as after a lost answer (engine/create-once.ts)
 *   names of the kind are unique     it is sent again: the service refuses a second one
 *   the user says it made nothing    it is sent again
 *   otherwise                        the user is asked what became of it
 */
import { type Address, kindOf } from "../core/model/address";
import type { Closed } from "../core/model/desired";
import { type Kind, kinds, ofKind } from "../core/model/kinds";
import type { Intent } from "../core/model/recorded";
import { recordOfMade } from "../core/plan/made";
import type { Step } from "../core/plan/step";
import { notedForeign } from "./guards";
import type { HandlerContext, HandlerFailure, HandlerService, Props } from "./handler";
import { changeOf, planAsObserved, planAsRecorded, type Remembered, stateOf } from "./one-run";
import { madeOpenly } from "./ownership";
import { maySendAgain, sentAgain } from "./pending";
import { adoptsNothing } from "./shared-properties";

export async function createdBefore(
  { notes, signal, log, isInState = false }: HandlerContext,
  service: HandlerService,
  desired: Closed,
  address: Address,
  inputs: Props,
): Promise<Remembered | undefined> {
  const taken = madeOpenly(service, kindOf(address), inputs["name"]);
  if (taken !== undefined) return { record: taken };
  const open = await notes?.find(signal);
  if (open === undefined || (open.id !== undefined && isInState && open.hasFormer !== true)) return undefined;
  const asking = { service, signal };
  const { plan } = await planAsRecorded(asking, desired, stateOf(address, {}));
  const create = plan.steps.find(isCreate);
  if (create === undefined) return undefined;
  const record = withOwnDebts(create, open.sentAt);
  const name = record.name ?? "";
  if (open.id === undefined) {
    const { sentAt, idsBefore, accepted, saidNone } = open;
    const kind = kindOf(address);
    if (adoptsNothing(inputs) && saidNone !== true) return undefined;
    if (maySendAgain(service.client, kind)) {
      log("info", sentAgain(name, sentAt));
      return undefined;
    }
    if (saidNone === true && !adoptsNothing(inputs)) await notes?.takeBackNone();
    const { operation } = create.action;
    const intent: Intent = { step: create.id, address, operation, name, sentAt, idsBefore, record, unknown: true };
    return { intent: accepted === undefined ? intent : { ...intent, accepted } };
  }
  const known = { can: service.client.can, sentAt: open.sentAt, isFoundLater: true } as const;
  const made = recordOfMade(record, open.id, known);
  const { live } = await planAsObserved(asking, desired, stateOf(address, { record: made }));
  const kept: Remembered = { record: recordOfMade(record, open.id, { ...known, live }) };
  const planned = await planAsObserved(asking, desired, stateOf(address, kept));
  if (changeOf(planned)?.action === "create" || planned.plan.diagnostics.some(({ code }) => code === "plan/gone"))
    return undefined;
  log(
    "warning",
    `${name} (${open.id}) was made by an earlier run, and Pulumi's state does not have it; it is managed from now on. Where this run was told to replace it: once a preview has shown it as unchanged, say so again`,
  );
  return kept;
}

/**
 * What another resource of the program has sent under this name is asked of the user where a second one would be made
 * without a word: it may be this resource, which has another name in the program by now.
 */
export function foreignBefore(
  { notes, isInState = false }: HandlerContext,
  { client }: HandlerService,
  kind: Kind,
  inputs: Props,
): HandlerFailure | undefined {
  const isShown = client.can.canFindCreated(kind) || client.unique?.includes(kind) === true;
  if (isInState || inputs["adopt"] !== undefined || isShown) return undefined;
  const foreign = notes?.findForeign(String(inputs["name"]));
  return foreign === undefined ? undefined : notedForeign(inputs, foreign);
}

/** What the create makes necessary was owed from before it was sent. */
function withOwnDebts({ address, record, owes = [] }: Create, since: string): Create["record"] {
  const own = owes.filter((due) => due.address === address);
  const guest = ofKind(record, "vm") ?? ofKind(record, "volume");
  return own.length === 0 || guest === undefined
    ? record
    : { ...guest, owes: own.map(({ command, reason }) => ({ command, reason, since })) };
}

type Create = Step<`${Kind}.create`>;

const isCreate = (step: Step): step is Create => kinds.some((kind) => step.action.operation === `${kind}.create`);
