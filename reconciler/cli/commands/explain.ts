/** `reconcile explain CODE`: what an error means and what to do. */
import { fallbacks } from "../../dialect/fallbacks";
import { fail } from "../compose";
import type { Invocation } from "../invocation";

export async function run({ args, output }: Invocation): Promise<number> {
  const code = args[0];
  if (code !== undefined && !(code in fallbacks)) throw fail("cli/unknown-code", `there is no code ${code}`);
  for (const [operation, fallback] of Object.entries(fallbacks))
    if (code === undefined || code === operation) output.print(`${operation}: ${fallback.cost} ${fallback.instead}`);
  return output.finish({ exitCode: 0 });
}
