/**
 * Where a stack is opened for its round: in this process when it is little work, and in one that can be ended when it
 * is much, or nobody knows yet. A bad stack costs the others nothing.
 */
import type { OpenProject } from "../../fleet/project";
import { CommandFailed } from "../crash";
import { type ChildLimits, createChildren } from "./children";
import { openApart } from "./open-apart";
import { createHereOpener, type FleetProjectSetting, readingOfStack } from "./open-project";
import { type Checked, createReaders } from "./readers";

const apart: ChildLimits = { timeMs: 60_000, memoryMb: 768, most: 4, slowMs: 0 };

export function createProjectOpener(
  setting: FleetProjectSetting,
  limits: { readonly reading?: ChildLimits; readonly apart?: ChildLimits } = {},
): OpenProject {
  const readers = createReaders(limits.reading);
  const children = createChildren(limits.apart ?? apart);
  const openHere = createHereOpener(setting);
  return async (input) => {
    const { checkout, base, signal } = input;
    const weights: Checked[] = [];
    for (const files of base === undefined ? [checkout] : [checkout, base]) {
      const checked = await readers.check(
        { folder: files.folder, ...readingOfStack(input, files) },
        files.revision,
        signal,
      );
      if (checked.problems.length > 0) throw new CommandFailed(checked.problems);
      weights.push(checked);
    }
    if (!weights.some(({ isHeavy }) => isHeavy)) return openHere(input);
    return openApart(children, input, setting.cache, (cpuMs) => {
      for (const { weighed } of weights) weighed(cpuMs);
    });
  };
}
