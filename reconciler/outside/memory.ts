/**
 * Keeps the memory of a large run small. V8 lets its heap grow to a multiple of what is in use before it collects
 * garbage; with a hundred thousand resources that multiple is most of the memory, and collecting twice costs little.
 */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** How much the heap of a large run may grow before it is collected again. */
const growthPercent = 20;
let collectGarbage: (() => void) | undefined;

export function growSlowly(): void {
  setFlagsFromString(`--heap-growing-percent=${growthPercent}`);
}

/** Called where one part of the work ends and most of its values are no longer used. */
export function freeMemory(): void {
  growSlowly();
  if (collectGarbage === undefined) {
    setFlagsFromString("--expose-gc");
    const exposed: unknown = runInNewContext("gc");
    collectGarbage = typeof exposed === "function" ? () => void exposed() : () => undefined;
  }
  collectGarbage();
}
