/**
 * Whose state a stack may read through `reads:` of its own files. The files may be anybody's, and the worker's right
 * reaches every state of the fleet: so the fleet's file decides. A stack may read the states of its own tenant's stacks,
 * and what `may_read` of its tenant names: stacks of others, or places of states that are no stack's.
 */

import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { Diagnostic } from "../core/model/diagnostic";
import { isUrl } from "../core/text/outside-policy";
import { percentDecoded } from "../core/text/parts";
import { fits, type StackSpec, type Tenant } from "./model";

/** A stack of the fleet with the place of its state. */
export type StackState = Pick<StackSpec, "name" | "tenant" | "state">;

/** Where to read, as the fleet's own file writes it; or that the fleet's file does not permit it. */
export type MayRead = { readonly state: string } | { readonly refused: true };

/** What of a database's address says where the state is, with what is meant where it is left out. The rest is how. */
const usualSettings: Readonly<Record<string, string>> = { schema: "reconcile", state: "default" };

/** Equal for two spellings of one place. Whoever logs in with which password is no part of the place. */
function placeOf(location: string): string {
  if (/^file:/i.test(location) && URL.canParse(location)) return fileURLToPath(location);
  if (!isUrl(location) || !URL.canParse(location)) return resolve(location);
  const { protocol, hostname, port, pathname, username, searchParams } = new URL(location);
  const scheme = protocol === "postgresql:" ? "postgres:" : protocol;
  const isDatabase = scheme === "postgres:";
  for (const [name, value] of Object.entries(isDatabase ? usualSettings : {}))
    if (!searchParams.has(name)) searchParams.set(name, value);
  const settings = [...searchParams]
    .filter(([name]) => !isDatabase || name === "host" || Object.hasOwn(usualSettings, name))
    .map((setting) => JSON.stringify(setting))
    .sort();
  const usualPorts: Readonly<Record<string, string>> = { "postgres:": "5432", "http:": "80", "https:": "443" };
  const host = hostname.toLowerCase().replace(/\.$/, "");
  const path = percentDecoded(pathname).replace(/\/$/, "");
  // A database that is not named has the name of whoever logs in.
  const place = isDatabase && path === "" ? `/${percentDecoded(username)}` : path;
  return JSON.stringify([scheme, host, port || usualPorts[scheme] || "", place, settings]);
}

/** What the fleet's file asks for cannot be: an error for each of the stacks that stand in each other's way. */
export class StacksRefused extends Error {
  override readonly name = "StacksRefused";
  constructor(readonly diagnostics: readonly Diagnostic[]) {
    super(
      diagnostics.map(({ summary, detail = "", fix }) => `${summary}${detail && ` (${detail})`}: ${fix}`).join("; "),
    );
  }
}

/** The names of stacks whose states are at one place, whatever its spelling: both would write the same state. */
export function sharedStates(stacks: readonly Pick<StackSpec, "name" | "state">[]): readonly (readonly string[])[] {
  const byPlace = new Map<string, Set<string>>();
  for (const { name, state } of stacks) {
    const place = placeOf(state);
    byPlace.set(place, (byPlace.get(place) ?? new Set()).add(name));
  }
  return [...byPlace.values()].flatMap((names) => (names.size > 1 ? [[...names]] : []));
}

/** `others`: stacks that have left the file, and whose resources are still there; the first state is of one of `stacks`. */
export function refuseSharedStates(
  stacks: readonly Pick<StackSpec, "name" | "state">[],
  others: readonly Pick<StackSpec, "name" | "state">[] = [],
  fix = "${stack} in its place is the stack's name, so that each has its own",
): void {
  const shared = sharedStates([...stacks, ...others]);
  const gone = new Set(others.map(({ name }) => name));
  if (shared.length === 0) return;
  throw new StacksRefused(
    shared.map(([one = "", other = ""]) => ({
      severity: "error",
      code: "fleet/same-state",
      summary: `the stacks ${one} and ${other} have one state, and each would take away what the other one makes`,
      ...(gone.has(other) ? { detail: `${other} has left the fleet's file, and is not gone yet` } : {}),
      fix,
    })),
  );
}

/** A text that stands in every spelling of this place, so that a database need not answer with all of them. */
export function partOfPlace(location: string): string {
  const url = isUrl(location) && URL.canParse(location) ? new URL(location) : undefined;
  const named = url?.searchParams.get("state") ?? usualSettings["state"];
  const path = (url?.pathname ?? location).split("/").filter(Boolean).at(-1) ?? "";
  // What is meant where it is left out stands in one of the spellings alone.
  const last = named === undefined || named === usualSettings["state"] ? path : named;
  return (last.match(/[A-Za-z0-9_-]+/g) ?? []).reduce(
    (longest, run) => (run.length > longest.length ? run : longest),
    "",
  );
}

export function mayRead(
  location: string,
  { tenant }: Pick<StackSpec, "tenant">,
  { mayRead: permitted = [] }: Pick<Tenant, "mayRead">,
  stacks: readonly StackState[],
): MayRead {
  const place = placeOf(location);
  const owners = stacks.filter(({ state }) => placeOf(state) === place);
  const readable = owners.find(
    (owner) => owner.tenant === tenant || permitted.some((name) => !isUrl(name) && fits(name, owner.name)),
  );
  if (readable !== undefined) return { state: readable.state };
  const named = owners.length > 0 ? undefined : permitted.find((one) => isUrl(one) && placeOf(one) === place);
  return named === undefined ? { refused: true } : { state: named };
}
