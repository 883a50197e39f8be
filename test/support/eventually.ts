import { inject } from "vitest";

declare module "vitest" {
  interface ProvidedContext {
    readonly waitLimitMs: number;
  }
}

/** From patience.mts. */
export const waitLimitMs = inject("waitLimitMs");

/** Waits until something is there; a machine that has other work takes its time. Says what never came. */
export async function eventually<T>(what: string, look: () => T | undefined | Promise<T | undefined>): Promise<T> {
  const deadline = performance.now() + waitLimitMs;
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    if (performance.now() > deadline) throw new Error(`never came: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
