/** One stack as it was seen last: what is wanted beside what exists, and how its resources are connected. */

import { createHash } from "node:crypto";
import type { Prices } from "../core/model/prices";
import type { Orphan } from "../core/model/recorded";
import { costOfOrphans } from "../core/plan/cost";
import { canonicalJson } from "../core/text/canonical-json";
import { orphanCostText } from "../report/cost-text";
import { type Graph, resourceGraph } from "../report/graph/graph";
import type { SidesInput } from "../report/sides";
import { type Side, sidesOf } from "../report/sides";
import { orphanLine, sortOrphans } from "../report/state-text";

export interface Picture {
  readonly sides: readonly Side[];
  /** How many resources were left out because there are too many; those that differ stay. */
  readonly left: number;
  /** Absent: too many resources to draw. */
  readonly graph?: Graph;
  /** looked: as the service showed the stack; applied: as an apply left it, and nobody has looked since. */
  readonly asOf: "looked" | "applied";
  /** What deletes left alive, a line each, and what it costs; absent: nothing. */
  readonly orphans?: { readonly lines: readonly string[]; readonly cost?: string | undefined } | undefined;
}

const mostSides = 300;
const mostDrawn = 150;

export interface PictureInput extends SidesInput {
  readonly orphans: readonly Orphan[];
  readonly prices: Prices | undefined;
}

export function pictureOf(input: PictureInput): Picture {
  const all = sidesOf(input);
  const differing = all.filter(({ action }) => action !== undefined);
  const equal = all.filter(({ action }) => action === undefined);
  const kept = new Set([...differing, ...equal].slice(0, mostSides));
  return {
    sides: all.filter((side) => kept.has(side)),
    left: all.length - kept.size,
    graph: input.desired.length > mostDrawn ? undefined : resourceGraph(input.desired),
    asOf: input.live === undefined ? "applied" : "looked",
    orphans: leftAlive(input),
  };
}

function leftAlive({ orphans, prices }: PictureInput): Picture["orphans"] {
  const there = sortOrphans(orphans.filter(({ missingSince }) => missingSince === undefined));
  if (there.length === 0) return undefined;
  return {
    lines: there.map(orphanLine),
    cost: prices === undefined ? undefined : orphanCostText(costOfOrphans(prices, there)),
  };
}

/** A digest, by which an unchanged picture is not written again. */
export const pictureDigest = (picture: Picture): string =>
  createHash("sha256").update(canonicalJson(picture)).digest("hex").slice(0, 16);
