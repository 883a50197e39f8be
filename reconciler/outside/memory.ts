/**
 * Keeps a large run small. V8 lets its heap grow to a multiple of what is in use before it looks for what is over; with a
 * hundred thousand resources that multiple is most of what the program holds, and looking twice costs little beside it.
 */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** By so much the heap of a large run grows until it is looked through again. */
const growthPercent = 20;
let collect: (() => void) | undefined;

export function growSlowly(): void {
  setFlagsFromString(`--heap-growing-percent=${growthPercent}`);
}

/** Where one part of the work ends, and most of what it made is over. */
export function freeMemory(): void {
  growSlowly();
  if (collect === undefined) {
    setFlagsFromString("--expose-gc");
    const exposed: unknown = runInNewContext("gc");
    collect = typeof exposed === "function" ? () => void exposed() : () => undefined;
  }
  collect();
}
