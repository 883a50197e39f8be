/**
 * Volumes that a run attached again or grew, or flushed and did not take off, and for which nobody declared a command.
 * The service ends at the block device, so what is left to do inside the guest is told at the end of the run.
 */
import type { Address } from "../../core/model/address";
import type { DesiredResource, DesiredVm, DesiredVolume, Reference } from "../../core/model/desired";
import type { Diagnostic } from "../../core/model/diagnostic";
import { type AddressOf, identity } from "../../core/model/identity";
import type { RecordedResource } from "../../core/model/recorded";
import type { Step, StepOperation } from "../../core/plan/step";
import { groupedBy, onlyDefined } from "../../core/text/objects";

export interface Remount {
  readonly address: Address;
  readonly id: string;
  readonly sizeGb?: number;
  /** The VM that it hangs on: its address, or else its id. */
  readonly on: string;
  readonly grew: boolean;
  /** It has a command, which is for another VM than the one that it did not come off. */
  readonly stayed?: true;
}

/** `done`: the steps of the run that were carried out. */
export function remounts(
  done: readonly Step[],
  resources: ReadonlyMap<Address, RecordedResource>,
  desiredOf: (address: Address) => DesiredResource | undefined,
  addressOf: AddressOf,
): Remount[] {
  return [...groupedBy(done, ({ address }) => address)].flatMap(([address, steps]): Remount[] => {
    const has = (operation: StepOperation): boolean => steps.some(({ action }) => action.operation === operation);
    const host = steps.flatMap(({ action }) => (action.operation === "volume.attach" ? [action.vm] : [])).at(-1);
    const [grew, made] = [has("volume.resize"), has("volume.create")];
    // Of a volume that an earlier replacement left, the record says nothing any more.
    const flushed = steps.some(({ id }) => id === `${address}/flush`);
    const desired = desiredOf(address);
    const record = resources.get(address);
    const place = diskPlaceOf(record, host);
    if (made || !(host !== undefined || grew || flushed) || place === undefined) return [];
    const { id, vm, sizeGb } = place;
    const on = addressOf(identity("vm", vm)) ?? vm;
    const isDeclared = desired?.kind !== "group" && desired?.afterAttach !== undefined;
    const stayed = isDeclared && flushed && host === undefined && !isWantedOn(desired, [on, vm]);
    if (isDeclared && !stayed) return [];
    return [{ address, id, ...onlyDefined({ sizeGb }), on, grew, ...(stayed ? { stayed } : {}) }];
  });
}

/** The disk of a record, and the VM that it hangs on as far as is known. */
function diskPlaceOf(
  record: RecordedResource | undefined,
  host: Reference | undefined,
): (Pick<Remount, "id" | "sizeGb"> & { readonly vm: string }) | undefined {
  if (record === undefined || record.kind === "group") return undefined;
  if (record.kind === "vm") {
    const { id: vm, dataVolumeId: id, dataVolumeDetached: isOff, sizeGb } = record;
    return vm === undefined || id === undefined || isOff === true ? undefined : { id, vm, sizeGb };
  }
  // What goes back to where somebody put it by hand is not recorded as attached.
  const vm = record.attachedTo ?? (host !== undefined && "id" in host ? host.id : undefined);
  return vm === undefined ? undefined : { id: record.id, vm, sizeGb: record.sizeGb };
}

function isWantedOn(desired: DesiredVm | DesiredVolume, names: readonly string[]): boolean {
  if (desired.kind === "vm") return true;
  const { attachTo } = desired;
  return attachTo !== undefined && names.includes("id" in attachTo ? attachTo.id : attachTo.address);
}

export const remountDiagnostic = ({ address, id, sizeGb, on, grew, stayed }: Remount): Diagnostic => {
  const size = sizeGb === undefined ? "" : `, ${sizeGb} GB`;
  const what = address === on ? `the data volume of ${on} (${id}${size})` : `${address} (${id}${size})`;
  return {
    severity: "note",
    code: "apply/mount-again",
    summary: `${what} hangs on ${address === on ? "it" : on}: it has to be mounted there${grew ? ", and its filesystem still has its old size" : ""}`,
    fix:
      stayed === true
        ? "mount it there by hand: its after_attach is run on the VM that attach_to names"
        : `after_attach: { command: [program, argument, …] } on ${address} does it every time`,
    address,
  };
};
