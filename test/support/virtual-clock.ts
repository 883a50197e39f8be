import type { Elapsed } from "../../reconciler/core/model/time";

export * from "../../reconciler/rehearse/virtual-clock";

/** A moment of a clock that a test moves by hand. */
export const elapsedAt = (ms: number): Elapsed => ms as Elapsed;
