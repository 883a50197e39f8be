/**
 * Where a stack is opened for its round: in this process when it is little work, and in one that can be ended when it
 * is much, or nobody knows yet. A bad stack costs the others nothing.
 */
import type { OpenProject } from "../../fleet/project";
import { CommandFailed } from "../crash";
import { type ChildLimits, createChildren, createSuspects } from "./children";
import { openApart } from "./open-apart";
import { createHereOpener, type FleetProjectSetting, readingOfStack } from "./open-project";
import { type Checked, createReaders } from "./readers";

/** Rounds of others have the machine first. */
const reading: ChildLimits = {
  timeMs: 60_000,
  longestMs: 300_000,
  memoryMb: 768,
  most: 8,
  slowMs: 250,
  niceness: 10,
  givesWayMs: 1000,
};
const planning: ChildLimits = { ...reading, most: 4, slowMs: 0 };

export function createProjectOpener(
  setting: FleetProjectSetting,
  limits: { readonly reading?: ChildLimits; readonly apart?: ChildLimits } = {},
): OpenProject {
  const { reading: whileRead = reading, apart = planning } = limits;
  const suspects = createSuspects(apart);
  const readers = createReaders(createChildren(whileRead, suspects));
  const children = createChildren(apart, suspects);
  const openHere = createHereOpener(setting);
  return async (input) => {
    const { checkout, base, signal, stack } = input;
    // A change that is not merged, perhaps an outsider's, does not put the stack itself last.
    const whose = base === undefined ? stack.name : `${stack.name}, as a change leaves it`;
    const weights: Checked[] = [];
    for (const files of base === undefined ? [checkout] : [checkout, base]) {
      const checked = await readers.check(
        whose,
        { folder: files.folder, ...readingOfStack(input, files) },
        files.revision,
        signal,
      );
      if (checked.problems.length > 0) throw new CommandFailed(checked.problems);
      weights.push(checked);
    }
    if (!weights.some(({ isHeavy }) => isHeavy)) {
      suspects.names.delete(whose);
      return openHere(input);
    }
    return openApart(children, whose, input, setting.cache, (cpuMs) => {
      // Its plan is there, within the limits.
      suspects.names.delete(whose);
      for (const { weighed } of weights) weighed(cpuMs);
    });
  };
}
