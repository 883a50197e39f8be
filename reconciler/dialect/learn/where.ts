/** Where operations are commonly found: by rule and not by a list of paths, the usual place first. */
import type { Kind } from "../../core/model/kinds";
import { type AssumedOperation, rowOf } from "../../core/model/operation";
import type { Route } from "../dialect";

export type Learnt = Kind | "flavor" | "image" | "region";

/** What a kind is called, one and several of it. */
export const nouns: Readonly<Record<Learnt, readonly string[]>> = {
  vm: ["vm", "vms", "server", "servers", "instance", "instances", "machine", "machines", "virtual-machines", "compute"],
  volume: ["volume", "volumes", "disk", "disks", "drive", "drives", "block-storage"],
  group: [
    "security-group",
    "security-groups",
    "security_groups",
    "securityGroups",
    "securitygroups",
    "firewall",
    "firewalls",
    "sg",
  ],
  flavor: ["flavor", "flavors", "size", "sizes", "plan", "plans", "type", "types", "instance-types"],
  image: ["image", "images", "template", "templates", "system", "systems", "os"],
  region: ["region", "regions", "zone", "zones", "site", "sites", "location", "locations", "availability-zones"],
};

const suffixes = ["", "/list", "/detail", "/all"];

// The name of an operation begins with its kind.
export const recordOfOperation = (operation: AssumedOperation): Learnt => operation.split(".")[0] as Learnt;

/** How the lists found so far are written, which the next one probably is as well. */
export interface Style {
  readonly suffix: string;
  readonly isPlural: boolean;
}

export function styleOf(path: string): Style | undefined {
  const [, noun = "", suffix = ""] = /^\/api\/v1\/([\w-]+)(\/\w+)?$/.exec(path) ?? [];
  return noun === "" ? undefined : { suffix, isPlural: noun.endsWith("s") };
}

/**
 * First the path of the dialect with its own method, since every plan uses that. All other paths are tried with GET
 * alone.
 */
export function candidates(
  operation: AssumedOperation,
  route: Route | null,
  styles: readonly Style[],
  told: readonly string[],
): readonly string[] {
  const { path, alsoAt = [] } = rowOf(operation);
  const said = route === null ? [] : [route.path];
  const own = nouns[recordOfOperation(operation)];
  const inStyle = styles.flatMap(({ suffix, isPlural }) =>
    own.filter((noun) => noun.endsWith("s") === isPlural).map((noun) => `/api/v1/${noun}${suffix}`),
  );
  const byRule = suffixes.flatMap((suffix) => own.map((noun) => `/api/v1/${noun}${suffix}`));
  return [...new Set([...said, ...told, path, ...alsoAt, ...inStyle, ...byRule])];
}

/** Paths of one item of a list: below the list's path, or below its beginning. */
export function placesOfOne(
  operation: AssumedOperation,
  route: Route | null,
  list: string | undefined,
  told: readonly string[],
): readonly string[] {
  const { path, alsoAt = [] } = rowOf(operation);
  const said = route !== null && route.method === "GET" ? [route.path] : [];
  const bases = list === undefined ? [] : [...new Set([list.replace(/\/(list|detail|details|all)$/, ""), list])];
  const below = bases.flatMap((base) => [
    `${base}/{id}`,
    `${base}/get/{id}`,
    `${base}/details/{id}`,
    `${base}?id={id}`,
  ]);
  return [...new Set([...said, ...told, ...below, path, ...alsoAt])];
}
