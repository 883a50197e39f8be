/**
 * What is known of a value that only the service knows (an id, an address), by what this plan does with its resource.
 * Known: nothing changes the value. Open: this plan makes the resource, or the service does not show the value yet.
 * Missing: nobody will ever tell. A value is never guessed, and never taken from a resource that this plan replaces.
 */

import type { GroupDifference } from "../../kinds/group/diff";
import type { VmDifference } from "../../kinds/vm/diff";
import type { VolumeDifference } from "../../kinds/volume/diff";
import { type Address, type Kind, kindOf } from "../model/address";
import { type Computed, isAddressAttribute } from "../model/computed";
import type { DesiredResource } from "../model/desired";
import { notLookedAt, type Unobserved } from "../model/evidence";
import { type Advice, fixText, toRun, toSay } from "../model/fix";
import { definitionOf, kindRows, ofKind } from "../model/kinds";
import { findSeen, type LiveOf, type LiveVm, showsAddresses, sight } from "../model/live";
import type { RecordedResource, RecordedVm, State } from "../model/recorded";
import { inShell } from "../text/in-shell";
import { lazily } from "../text/lazily";
import type { DiffContext } from "./context";
import type { Pair } from "./pair";

export type Standing =
  | { readonly is: "known"; readonly text: string }
  | { readonly is: "open"; readonly computed: Computed }
  /** `quiet`: another diagnostic speaks of the resource already. `leftOut`: the targets leave it out, or it goes. */
  | {
      readonly is: "missing";
      readonly why: string;
      readonly fix?: Advice;
      readonly quiet?: true;
      readonly leftOut?: true;
    };

export interface StandingInput {
  readonly differences: readonly (readonly (VmDifference | VolumeDifference | GroupDifference)[])[];
  readonly pairs: readonly Pair[];
  readonly state: State;
  readonly context: DiffContext;
  readonly isYoung: (vm: RecordedVm) => boolean;
}

export type Standings = (computed: Computed) => Standing;

export function standingsOf({ differences, pairs, state, context, isYoung }: StandingInput): Standings {
  // Made only when a value is asked for: most plans ask for none.
  const byAddress = lazily(() => new Map(differences.flat().map((difference) => [difference.address, difference])));
  const pairAt = lazily(() => new Map(pairs.map((pair) => [pair.address, pair])));
  const known = (text: string): Standing => ({ is: "known", text });

  // One line for each source of a value, the surest first.
  return (computed) => {
    const { address, attribute } = computed;
    const difference = byAddress().get(address);
    const resource = pairAt().get(address)?.desired;
    const recorded = difference?.recorded ?? state.resources.get(address);
    if (resource !== undefined && isWritten(computed, resource)) return known(valueWritten(computed, resource));
    if (difference?.diagnostics.some(({ severity }) => severity === "error") === true)
      return { is: "missing", why: `${address} cannot be planned`, quiet: true };
    if (difference?.action === "create" || difference?.action === "replace")
      return ofNew(computed, difference, context);
    // Of files no value is asked for that goes, but of what a run made and an undo takes away.
    if (difference?.action === "delete" || difference?.action === "forget")
      return { is: "missing", leftOut: true, why: `${address} goes with this plan` };
    const id = difference?.change?.id ?? recorded?.id;
    if (id === undefined) return withoutId(address, difference !== undefined);
    if (attribute === "id") return known(id);
    const live = difference?.live ?? findSeen(context.live, kindOf(address), id);
    if (attribute === "name") return known(live?.name ?? recorded?.name ?? id);
    if (attribute === "size") return sizeStanding(address, live, recorded);
    return addressShown(computed, ofKind(live, "vm") ?? whyNotShown(address, id, context), recorded, isYoung);
  };
}

/** A value of a resource that this plan creates or replaces. */
function ofNew(
  computed: Computed,
  difference: VmDifference | VolumeDifference | GroupDifference,
  { can }: DiffContext,
): Standing {
  const { address, attribute } = computed;
  const { kind } = difference;
  if (definitionOf(kind).createTellsNoId === true && !can.canFindCreated(kind))
    return {
      is: "missing",
      why: `this service has no list of ${kindRows[kind].fullNoun}s, so nothing tells the ${attribute} of a new one`,
      fix: `write operations: { ${kind}.list: … } in the dialect, if the service has one`,
    };
  if (attribute === "floating_ip" && ofKind(difference, "vm")?.desired?.skipFloatingIp === true)
    return withoutFloatingIp(address);
  return { is: "open", computed };
}

const withoutId = (address: Address, isPlanned: boolean): Standing =>
  isPlanned
    ? { is: "missing", why: `nobody knows the id of ${address} yet`, fix: fixText(toRun(["import", address, "ID"])) }
    : {
        is: "missing",
        leftOut: true,
        why: `${address} does not exist yet, and this plan leaves it out`,
        fix: `--target ${inShell(address)} as well, or plan everything`,
      };

function sizeStanding(address: Address, live?: LiveOf[Kind], recorded?: RecordedResource): Standing {
  const told = ofKind(live, "volume")?.sizeGb ?? ofKind(recorded, "volume")?.sizeGb;
  return told === undefined
    ? { is: "missing", why: `the service does not show the size of ${address}` }
    : { is: "known", text: String(told) };
}

/** Whether the file itself says the value, and this plan makes it true. */
const isWritten = ({ attribute }: Computed, { lifecycle }: DesiredResource): boolean =>
  (attribute === "name" || attribute === "size") && !lifecycle.ignoreChanges.includes(attribute);

const valueWritten = ({ attribute }: Computed, resource: DesiredResource): string =>
  String((attribute === "size" ? ofKind(resource, "volume")?.sizeGb : undefined) ?? resource.name);

/** Why there is nothing to read a value from. */
function whyNotShown(address: Address, id: string, { live }: DiffContext): Unobserved {
  const sighting = sight(live, kindOf(address), id);
  return sighting.seen === "unobserved" ? sighting : notLookedAt;
}

function addressShown(
  computed: Computed,
  look: LiveVm | Unobserved,
  recorded: RecordedResource | undefined,
  isYoung: (vm: RecordedVm) => boolean,
): Standing {
  const { address, attribute } = computed;
  if (!isAddressAttribute(attribute)) return { is: "missing", why: `${address} has no ${attribute}` };
  const live = "seen" in look ? undefined : look;
  const vm = ofKind(recorded, "vm");
  const key = attribute === "private_ip" ? "privateIp" : "floatingIp";
  const shown = live?.[key];
  if (shown !== undefined) return { is: "known", text: shown };
  const before = vm?.[key];
  if (before !== undefined && (live === undefined || !showsAddresses(live))) return { is: "known", text: before };
  if (attribute === "floating_ip" && vm?.skipFloatingIp === true) return withoutFloatingIp(address);
  // An address that was recorded and is not shown any more will not come later: the dialect does not say where the
  // record has it.
  const young = before === undefined && vm !== undefined && (vm.building === true || isYoung(vm));
  if (live?.phase === "changing" || (live !== undefined && young))
    return { is: "open", computed: { ...computed, late: true } };
  return standingNotShown(computed, look);
}

function standingNotShown({ address, attribute }: Computed, live: LiveVm | Unobserved): Standing {
  if ("seen" in live)
    return {
      is: "missing",
      why: `${address} was not seen (${live.reason}), and the state does not remember its ${attribute}`,
      fix:
        live.reason === notLookedAt.reason
          ? "plan without --no-refresh"
          : "write the address in its place; or let it be seen, with a credential that may look, and operations: { vm.list: … } in the dialect",
    };
  const other = live.notAddresses?.find(({ field }) => field === attribute)?.found;
  const where = `records: { vm: { ${attribute}: [/…] } }`;
  return {
    is: "missing",
    why:
      other === undefined
        ? `the service's record of ${address} (${live.id}) shows no ${attribute}`
        : `the service's record of ${address} (${live.id}) shows ${JSON.stringify(other)} where its ${attribute} should be, which is no IP address`,
    fix: [
      toSay(
        [`${where} in the dialect says where the record has it; `, ["doctor"], " shows what the records look like"],
        `${where} in the dialect says where the record has it`,
      ),
    ],
  };
}

const withoutFloatingIp = (address: Address): Standing => ({
  is: "missing",
  why: `${address} has no floating IP: its skip_floating_ip is true`,
  fix: `write \${${address}.private_ip}`,
});
