/**
 * A service that lists apart what hangs on what: that list, beside those of volumes, says of each which VM it hangs on.
 * What no list shows hangs on nothing only where all of them were read; else nobody knows.
 */
import type { LiveVolume } from "../core/model/live";
import { accepted, isRefusedAs, type Outcome } from "../core/model/outcome";
import { appendTo } from "../core/text/objects";
import { sharedLook } from "../core/text/shared-look";
import type { Attachment } from "../dialect/records";
import type { RequestOptions, ServiceClient } from "./client";

type VolumeCalls = Pick<ServiceClient, "listVms" | "listVolumes" | "getVolume" | "attachVolume">;

export interface AttachmentLists {
  /** Each VM has a list of its own. */
  readonly isByVm: boolean;
  read(vm: string | undefined, options: RequestOptions | undefined): Promise<Outcome<readonly Attachment[]>>;
}

/** Which VMs each volume is shown on. */
interface Shown {
  readonly on: ReadonlyMap<string, readonly string[]>;
  readonly isWhole: boolean;
}

export function withAttachedApart<C extends VolumeCalls>(calls: C, { isByVm, read }: AttachmentLists): C {
  /** Where each volume was seen last, or was asked to hang: where each VM has a list, that one is asked first. */
  const lastOn = new Map<string, string>();

  async function shownIn(
    vms: readonly (string | undefined)[],
    options: RequestOptions | undefined,
    isComplete: boolean,
  ): Promise<Outcome<Shown>> {
    const on = new Map<string, string[]>();
    let isWhole = isComplete;
    for (const listed of await Promise.all(vms.map((vm) => read(vm, options)))) {
      // What the dialect does not find is for a person to correct.
      if (isRefusedAs(listed, "unreadable")) return listed;
      if (listed.status !== "accepted") isWhole = false;
      else for (const { volume, vm } of listed.value) if (vm !== undefined) appendTo(on, volume, vm);
    }
    for (const [volume, [vm]] of on) if (vm !== undefined) lastOn.set(volume, vm);
    return accepted({ on, isWhole });
  }

  async function shown(options: RequestOptions | undefined): Promise<Outcome<Shown>> {
    if (!isByVm) return shownIn([undefined], options, true);
    // What hangs on a VM that is not listed would count as hanging on nothing.
    const isProof = options?.proves === true;
    const vms = await calls.listVms(isProof ? { ...plainOptions(options), proves: true } : plainOptions(options));
    return vms.status === "accepted"
      ? shownIn(
          vms.value.map(({ id }) => id),
          options,
          true,
        )
      : shownIn([...new Set(lastOn.values())], options, false);
  }

  let shared: { readonly signal: AbortSignal | undefined; readonly look: () => Promise<Outcome<Shown>> } | undefined;
  /** Many volumes that are looked at at once share one reading, which ends with the signal that it was begun with. */
  function shownAmongOthers(options: RequestOptions | undefined): Promise<Outcome<Shown>> {
    const signal = options?.signal;
    if (shared === undefined || shared.signal !== signal)
      shared = { signal, look: sharedLook(() => shown(plainOptions(options))) };
    return shared.look();
  }

  return {
    ...calls,
    async listVolumes(options) {
      const [volumes, all] = await Promise.all([calls.listVolumes(options), shown(options)]);
      if (volumes.status !== "accepted") return volumes;
      if (all.status !== "accepted") return all;
      return { ...volumes, value: volumes.value.map((volume) => placed(volume, all.value)) };
    },
    async getVolume(id, options) {
      const last = isByVm ? lastOn.get(id) : undefined;
      const [volume, there] = await Promise.all([
        calls.getVolume(id, options),
        last === undefined ? undefined : shownIn([last], plainOptions(options), false),
      ]);
      if (volume.status !== "accepted") return volume;
      const isThere = there?.status === "accepted" && there.value.on.has(volume.value.id);
      const all = isThere ? there : await shownAmongOthers(options);
      return all.status === "accepted" ? { ...volume, value: placed(volume.value, all.value) } : all;
    },
    attachVolume(volume, vm, options) {
      lastOn.set(volume, vm);
      return calls.attachVolume(volume, vm, options);
    },
  };
}

/** Of one that hangs on several VMs, no one place is said. */
function placed(volume: LiveVolume, { on, isWhole }: Shown): LiveVolume {
  const { attachedTo: _, ...others } = volume;
  const [vm, ...more] = on.get(volume.id) ?? [];
  if (vm === undefined) return isWhole ? { ...others, attachedTo: null } : others;
  return more.length === 0 ? { ...others, attachedTo: vm } : others;
}

/** Of a list that is read for something else, which is no proof of anything. */
export const plainOptions = (options: RequestOptions | undefined): RequestOptions | undefined =>
  options?.signal === undefined ? undefined : { signal: options.signal };
