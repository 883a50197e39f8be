/**
 * Looks at what is elsewhere: the outputs of other projects and nothing else of their states, without a lock; and things
 * of the service by their id or name. `closeDesired` is the way of everything that plans from files: commands, rounds of
 * a fleet, programs.
 */
import { asClosed, type Closed, type Desired, isOpen } from "../core/model/desired";
import { type Diagnostic, diagnosticsIn, hasErrors } from "../core/model/diagnostic";
import type { External, ExternalValues, LookupKind, LookupRequest, Read } from "../core/model/external";
import { isKind, type Kind } from "../core/model/kinds";
import type { CatalogueEntry, LiveGroup, LiveOf, LiveVm, LiveVolume } from "../core/model/live";
import { failureText, isGone, type Outcome, valueIn } from "../core/model/outcome";
import type { Json } from "../core/model/output";
import { canonicalJson } from "../core/text/canonical-json";
import { errorCode, errorMessage } from "../core/text/errors";
import { nearestText } from "../core/text/nearest";
import { onlyDefined } from "../core/text/objects";
import type { ServiceReader } from "../service/client";
import type { StateStore } from "../store/store";
import { listOfKind, readOfKind } from "./observe";
import { openStoredState } from "./plan";
import { readFailed } from "./read-failed";

/** A desired state as its files say it, and the way to read them again with what was found elsewhere. */
export interface ReadFiles {
  readonly desired: Desired;
  /** Absent where nothing is missing, and for a saved plan, which brings the values along. */
  readonly readAgain?: (values: ExternalValues) => Closed;
}

export interface Elsewhere {
  readonly client: ServiceReader;
  readonly open: (location: string, read: Read) => StateStore;
}

export type ClosedOrProblems = { readonly desired: Closed } | { readonly problems: readonly Diagnostic[] };

/**
 * Fetches what the files take from elsewhere, now. Values that a saved plan brings along are fetched as well and
 * compared: the plan was made for them. `destroy`: nothing that the files wish for is needed, so that a project can be
 * taken away after the one that it read from.
 */
export async function closeDesired(
  { desired, readAgain }: ReadFiles,
  { client, open }: Elsewhere,
  { destroy }: { readonly destroy?: boolean } = {},
): Promise<ClosedOrProblems> {
  const { external } = desired;
  if (external === undefined) return { desired: asClosed(desired) };
  const isTakenAway = destroy === true && isOpen(desired);
  const { values, diagnostics } = await fetchExternal(external, client, open);
  if (hasErrors(diagnostics)) return isTakenAway ? { desired: withoutWishes(desired) } : { problems: diagnostics };
  if (readAgain !== undefined) {
    try {
      return { desired: readAgain(values) };
    } catch (error) {
      // Also a project that was taken away itself has a state, which hands nothing out any more.
      if (!isTakenAway || diagnosticsIn(error) === undefined) throw error;
      return { desired: withoutWishes(desired) };
    }
  }
  const moved = external.values === undefined ? [] : changedExternals(external.values, values);
  if (moved.length === 0) return { desired: asClosed(desired) };
  return {
    problems: [
      {
        severity: "error",
        code: "plan/stale",
        summary: `this plan is stale: ${moved.join("; ")}`,
        fix: "plan again, review it, and apply the new one",
      },
    ],
  };
}

const withoutWishes = ({ external: _, outputs: __, reachability: ___, rollouts: ____, ...desired }: Desired): Closed =>
  asClosed({ ...desired, resources: [], imports: [], moved: [], removed: [] });

function changedExternals(then: ExternalValues, now: ExternalValues): string[] {
  const compare = (root: string, before: ExternalParts, after: ExternalParts): string[] =>
    Object.entries(before).flatMap(([name, parts]) =>
      Object.entries(parts).flatMap(([part, value]) => {
        const present = after[name]?.[part];
        return present !== undefined && canonicalJson(present) === canonicalJson(value)
          ? []
          : [
              `\${${root}.${name}.${part}} was ${JSON.stringify(value)}, and is ${present === undefined ? "gone" : JSON.stringify(present)}`,
            ];
      }),
    );
  return [...compare("read", then.reads, now.reads), ...compare("lookup", then.lookups, now.lookups)];
}
type ExternalParts = Readonly<Record<string, Readonly<Record<string, Json>>>>;

export interface ExternalFound {
  readonly values: ExternalValues;
  /** Problems with what could not be read. */
  readonly diagnostics: readonly Diagnostic[];
}

export async function fetchExternal(
  { reads, lookups }: External,
  client: ServiceReader,
  open: (location: string, read: Read) => StateStore,
): Promise<ExternalFound> {
  const diagnostics: Diagnostic[] = [];
  const found: {
    readonly reads: Record<string, Record<string, Json>>;
    readonly lookups: Record<string, Record<string, string>>;
  } = { reads: {}, lookups: {} };
  await Promise.all(
    reads.map(async (read) => {
      try {
        const store = open(read.state, read);
        const stored = await store.read();
        if (stored.snapshot === undefined && stored.journal.length === 0) {
          diagnostics.push(outputNotThere(read));
          return;
        }
        const { outputs = {} } = openStoredState(stored, store.location, "none").state;
        found.reads[read.name] = Object.fromEntries(
          Object.entries(outputs).flatMap(([name, { value, sensitive }]): [string, Json][] =>
            sensitive === true ? [] : [[name, value]],
          ),
        );
      } catch (error) {
        diagnostics.push({
          severity: "error",
          code: errorCode(error) === "state/newer" ? "state/newer" : "config/read-failed",
          summary: `the outputs that ${read.name} reads could not be read: ${errorMessage(error)}`,
          fix: wayOn(error) ?? `check reads.${read.name}.state, and that this machine may read it`,
          source: read.source,
        });
      }
    }),
  );
  const listed = new Map<LookupKind, Promise<SeenThings>>();
  for (const lookup of lookups) {
    const seen = listed.get(lookup.kind) ?? see(lookup.kind, client);
    listed.set(lookup.kind, seen);
    const answer = choose(lookup, await thingSeen(lookup, await seen, client));
    if ("problem" in answer) diagnostics.push({ severity: "error", ...answer.problem, source: lookup.source });
    else found.lookups[lookup.name] = answer.attributes;
  }
  return { values: found, diagnostics };
}

/** What is wrong with a state that is read, where its own fix is the way on; other fixes would change the own state. */
const saysItsWay: ReadonlySet<string> = new Set(["state/gone", "state/other-state", "state/went-back", "state/newer"]);

function wayOn(error: unknown): string | undefined {
  if (errorCode(error) === "state/key-wrong") return "give the key of that state as RECONCILE_STATE_KEY_PREVIOUS";
  const [said] = diagnosticsIn(error) ?? [];
  return said !== undefined && saysItsWay.has(said.code) ? said.fix : undefined;
}

const outputNotThere = ({ name, state, source }: Read): Diagnostic => ({
  severity: "error",
  code: "config/read-failed",
  summary: `there is no state at ${state}, which reads.${name} names`,
  detail: "a project that was never applied has none, and its state has no outputs",
  fix: "apply that project first, or correct the place",
  source,
});

type ExternalThing = Readonly<Record<string, string>> & { readonly id: string };
/** `undefined`: this service has no such list. */
type SeenThings = Outcome<readonly ExternalThing[]> | undefined;

const vmThing = ({ id, name, privateIp, floatingIp }: LiveVm): ExternalThing => ({
  id,
  name,
  ...onlyDefined({ private_ip: privateIp, floating_ip: floatingIp }),
});
const volumeThing = ({ id, name, sizeGb }: LiveVolume): ExternalThing => ({
  id,
  ...onlyDefined({ name, size: sizeGb === undefined ? undefined : String(sizeGb) }),
});
const thingNamed = ({ id, name }: LiveGroup | CatalogueEntry): ExternalThing => ({ id, ...onlyDefined({ name }) });

const things: { readonly [K in Kind]?: (one: LiveOf[K]) => ExternalThing } = { vm: vmThing, volume: volumeThing };
const thingOfKind = <K extends Kind>(kind: K, one: LiveOf[K]): ExternalThing => (things[kind] ?? thingNamed)(one);

async function all<T>(outcome: Promise<Outcome<readonly T[]>>, as: (one: T) => ExternalThing): Promise<SeenThings> {
  const got = await outcome;
  return got.status === "accepted" ? { ...got, value: got.value.map(as) } : got;
}

async function see(kind: LookupKind, client: ServiceReader): Promise<SeenThings> {
  const { can } = client;
  if (isKind(kind))
    return can.canFindCreated(kind) ? all(listOfKind(kind, client), (one) => thingOfKind(one.kind, one)) : undefined;
  if (kind === "image") return can.listsImages ? all(client.listImages(), thingNamed) : undefined;
  return can.listsFlavors ? all(client.listFlavors(), thingNamed) : undefined;
}

/** Without a list, a resource that is named by its id may be read by it. */
async function thingSeen(
  { kind, by, wanted }: LookupRequest,
  seen: SeenThings,
  client: ServiceReader,
): Promise<SeenThings> {
  if (seen !== undefined || by === "name") return seen;
  if (!isKind(kind) || !client.can.readsOne(kind)) return undefined;
  const got = await readOfKind(kind, client, wanted);
  return got.status === "accepted" ? { ...got, value: [thingOfKind(got.value.kind, got.value)] } : got;
}

type ChosenThing =
  | { readonly attributes: ExternalThing }
  | { readonly problem: Pick<Diagnostic, "code" | "summary" | "fix"> };

function choose({ name, kind, by, wanted }: LookupRequest, seen: SeenThings): ChosenThing {
  const what = `${kind} ${by === "id" ? "" : "named "}${wanted}`;
  const problem = (summary: string, fix: string): ChosenThing => ({
    problem: { code: "config/lookup-failed", summary, fix },
  });
  if (seen === undefined)
    return problem(
      `lookups.${name} cannot be looked up: this service has no list of ${kind}s`,
      by === "name" ? "look it up by its id, or name the list in the dialect" : "name the list in the dialect",
    );
  if (seen.status !== "accepted" && !isGone(seen)) {
    const { fix = "run the same command again" } = readFailed(what, seen);
    return problem(`lookups.${name} could not be looked up: ${failureText(seen)}`, fix);
  }
  const things = valueIn(seen) ?? [];
  const found = things.filter((one) =>
    by === "id" ? one.id === wanted : one["name"]?.toLowerCase() === wanted.toLowerCase(),
  );
  const [first, ...others] = found;
  if (first === undefined) {
    const names = things.flatMap((one) => one[by] ?? []);
    return problem(
      `lookups.${name}: the service shows no ${what}`,
      nearestText(wanted, names, (near) => `did you mean ${near}?`) ?? "correct it, or make it first",
    );
  }
  if (others.length > 0)
    return problem(
      `lookups.${name}: ${found.length} ${kind}s are named ${wanted}: ${found.map(({ id }) => id).join(", ")}`,
      `say which one it is: { ${kind}: { id: "…" } }`,
    );
  return { attributes: first };
}
