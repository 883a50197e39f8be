/** One stack as it was seen last: what is wanted beside what is there, and how its parts hang together. */
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
  /** Resources that are in it no more, because there are too many of them; what differs stays. */
  readonly left: number;
  /** Absent: too many to be a picture. */
  readonly graph?: Graph;
  /** looked: as the service showed it; applied: as an apply left it, which nobody has looked at since. */
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
    ...(input.desired.length > mostDrawn ? {} : { graph: resourceGraph(input.desired) }),
    asOf: input.live === undefined ? "applied" : "looked",
  };
}

/** By which a picture that is the same is not written again. */
export const pictureDigest = (picture: Picture): string =>
  createHash("sha256").update(canonicalJson(picture)).digest("hex").slice(0, 16);
