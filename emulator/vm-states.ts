/**
 * The states of a VM and which operation is allowed in which. The contract names VERIFY_RESIZE alone and leaves the rest
 * open, so this table is the emulator's reading of it: what changes a VM wants it at rest, and a VM that is on its way
 * somewhere (BUILD, REBUILD, RESIZE, REVERT_RESIZE, STOPPING, STARTING, REBOOT) must arrive first.
 *
 *   operation        from                                        on the way      ends in
 *   create           -                                           BUILD           ACTIVE, or ERROR if it cannot be provisioned
 *   rebuild          ACTIVE SHUTOFF ERROR                        REBUILD         ACTIVE, root disk wiped
 *   resize           ACTIVE SHUTOFF                              RESIZE          VERIFY_RESIZE, or as it was without capacity
 *   resize.confirm   VERIFY_RESIZE                               -               as before the resize, new flavor
 *   resize.revert    VERIFY_RESIZE                               REVERT_RESIZE   as before the resize, old flavor
 *   snapshot         ACTIVE SHUTOFF                              -               unchanged
 *   stop             ACTIVE                                      STOPPING        SHUTOFF
 *   start            SHUTOFF                                     STARTING        ACTIVE
 *   reboot           ACTIVE                                      REBOOT          ACTIVE
 *   delete           ACTIVE SHUTOFF ERROR VERIFY_RESIZE BUILD    -               gone
 *   rename           any
 */
export const allowedFrom = {
  rebuild: ["ACTIVE", "SHUTOFF", "ERROR"],
  resize: ["ACTIVE", "SHUTOFF"],
  "confirm the resize of": ["VERIFY_RESIZE"],
  "revert the resize of": ["VERIFY_RESIZE"],
  snapshot: ["ACTIVE", "SHUTOFF"],
  stop: ["ACTIVE"],
  start: ["SHUTOFF"],
  reboot: ["ACTIVE"],
  delete: ["ACTIVE", "SHUTOFF", "ERROR", "VERIFY_RESIZE", "BUILD"],
} as const satisfies Record<string, readonly string[]>;

export type VmVerb = keyof typeof allowedFrom;

/** Where a volume may be attached or detached: a VM that is on its way somewhere or failed takes none, but gives one up when failed. */
export const attachableStates: readonly string[] = ["ACTIVE", "SHUTOFF", "VERIFY_RESIZE"];
export const detachableStates: readonly string[] = [...attachableStates, "ERROR"];

/** How long things take, in seconds of the service. The first two are the contract's. */
export const seconds = { build: 60, stop: 20, start: 5, reboot: 10, rebuild: 30, resize: 15, revert: 5, confirm: 3 };
