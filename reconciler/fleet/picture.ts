/** One stack as it was seen last: what is wanted beside what exists, and how its resources are connected. */
import { createHash } from "node:crypto";
import type { Change } from "../core/diff/changes";
import type { Address } from "../core/model/address";
import type { DesiredResource } from "../core/model/desired";
import type { Live } from "../core/model/live";
import type { RecordedResource } from "../core/model/recorded";
import { canonicalJson } from "../core/text/canonical-json";
import { type Graph, resourceGraph } from "../report/graph";
import { type Side, sidesOf } from "../report/sides";

export interface Picture {
  readonly sides: readonly Side[];
  /** How many resources were left out because there are too many; those that differ stay. */
  readonly left: number;
  /** Absent: too many resources to draw. */
  readonly graph?: Graph;
  /** looked: as the service showed the stack; applied: as an apply left it, and nobody has looked since. */
  readonly asOf: "looked" | "applied";
}

const mostSides = 300;
const mostDrawn = 150;

export interface PictureInput {
  readonly desired: readonly DesiredResource[];
  readonly records: ReadonlyMap<Address, RecordedResource>;
  /** Absent: nobody looked since an apply. */
  readonly live?: Live;
  readonly changes: readonly Change[];
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
  };
}

/** A digest, by which an unchanged picture is not written again. */
export const pictureDigest = (picture: Picture): string =>
  createHash("sha256").update(canonicalJson(picture)).digest("hex").slice(0, 16);
