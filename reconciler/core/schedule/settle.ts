/**
 * "Is it there yet?" as one verdict per question, over what the service shows. A VM that cannot be seen for a moment
 * is still waited for; only a failed state, or going away, ends the wait early.
 */
import type { LiveVm, LiveVolume } from "../model/live";

export type SettleVerdict =
  | { readonly status: "settled" }
  | { readonly status: "pending" }
  | { readonly status: "failed"; readonly because: string; readonly fix?: string };

export type Wait =
  | { readonly for: "built" }
  | { readonly for: "stopped" }
  | { readonly for: "running" }
  /** `isOther`: the VM shows another image than before. */
  | { readonly for: "rebuilt"; readonly isOther: (image: string) => boolean }
  /** `isConfirmed`: there is an operation that confirms it, so the VM may come to wait for that. */
  | { readonly for: "resized"; readonly isTarget: (flavor: string) => boolean; readonly isConfirmed: boolean }
  | { readonly for: "decided" }
  | { readonly for: "steady" }
  /** Whatever state an interrupted run asked for. */
  | { readonly for: "arrived" }
  | { readonly for: "gone" };

const settledVerdict: SettleVerdict = { status: "settled" };
const pendingVerdict: SettleVerdict = { status: "pending" };

/** The phases in which a VM has arrived, for each kind of wait. */
const arrivals: Readonly<Record<Exclude<Wait["for"], "gone">, readonly LiveVm["phase"][]>> = {
  built: ["running", "stopped"],
  steady: ["running", "stopped"],
  decided: ["running", "stopped"],
  rebuilt: ["running", "stopped"],
  arrived: ["running", "stopped", "verify_resize"],
  // A service that confirms a resize by itself never shows VERIFY_RESIZE.
  resized: ["running", "stopped", "verify_resize"],
  stopped: ["stopped"],
  running: ["running"],
};

/** What earlier looks of the same wait have shown. */
export interface Watched {
  /** It was seen on its way since the request, or so long ago is that, that what it shows now came after it. */
  readonly moved?: boolean;
  /** It has shown the same for the whole discovery window. */
  readonly rested?: boolean;
}

/** `live` is undefined when the list does not show the VM. */
export function settleVm(wait: Wait, live: LiveVm | undefined, watched: Watched = {}): SettleVerdict {
  if (wait.for === "gone") return live === undefined ? settledVerdict : pendingVerdict;
  if (live === undefined) return pendingVerdict;
  if (live.phase === "failed") return { status: "failed", because: `the VM ended in state ${live.status ?? "failed"}` };
  // A record without a status shows no arrival: what was asked for shows, or the acknowledgement has to do.
  const hasStatus = live.status !== undefined;
  if (!hasStatus && wait.for !== "resized" && wait.for !== "rebuilt") return settledVerdict;
  const isThere = !hasStatus || arrivals[wait.for].includes(live.phase);
  return isThere && isAsSent(wait, live, watched) ? settledVerdict : pendingVerdict;
}

/** A VM that looks settled may not have begun to change: it then still shows what it had before. */
function isAsSent(wait: Wait, live: LiveVm, { moved = false, rested = false }: Watched): boolean {
  // Some show a VM as stopped before it starts for the first time.
  if (wait.for === "built") return live.phase === "running" || rested;
  if (wait.for === "rebuilt") return live.image === undefined ? live.status !== undefined : !wait.isOther(live.image);
  if (wait.for !== "resized" || live.phase === "verify_resize") return true;
  if (live.flavor === undefined) return moved && live.status !== undefined;
  // Some show the new flavor and a state at rest before the resize waits to be confirmed.
  return wait.isTarget(live.flavor) && (moved || !wait.isConfirmed);
}

export type VolumeWait =
  /** Any settled phase will do. */
  | { readonly for: "steady" }
  | { readonly for: "attached"; readonly vmId: string }
  | { readonly for: "detached"; readonly vmId: string }
  | { readonly for: "grown"; readonly sizeGb: number }
  | { readonly for: "gone" };

/**
 * The same for a volume. `live` is undefined when the service says that there is none. What a record does not show
 * (where it hangs, how large it is) is not waited for; a failed state counts only while what was asked for is missing,
 * since a volume that had failed before is detached and deleted like any other.
 */
export function settleVolume(wait: VolumeWait, live: LiveVolume | undefined): SettleVerdict {
  if (wait.for === "gone") return live === undefined ? settledVerdict : pendingVerdict;
  if (live === undefined || live.changing === true) return pendingVerdict;
  if (isAsAsked(wait, live)) return settledVerdict;
  return live.failed && wait.for !== "detached"
    ? { status: "failed", because: `the volume ended in state ${live.status ?? "failed"}` }
    : pendingVerdict;
}

function isAsAsked(wait: Exclude<VolumeWait, { for: "gone" }>, { attachedTo, sizeGb, failed }: LiveVolume): boolean {
  switch (wait.for) {
    case "steady":
      return !failed;
    case "attached":
      return attachedTo === undefined ? !failed : attachedTo === wait.vmId;
    case "detached":
      return attachedTo !== wait.vmId;
    case "grown":
      return sizeGb === undefined ? !failed : sizeGb >= wait.sizeGb;
  }
}
