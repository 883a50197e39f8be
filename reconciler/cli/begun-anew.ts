/**
 * A state that is given another place, by the file or by a flag, is empty there until somebody brings it. A run on the
 * empty one would make everything a second time. So until a run of the whole reached a state, which may have what was
 * imported by its id or a run of a part made, the states that these folders had before are read: what one of them has is
 * not made anew without --new-state. Who takes it over by its name has consented, and is told that both states have it then.
 */
import { dirname, join, resolve } from "node:path";
import type { Change } from "../core/diff/changes";
import type { Diagnostic } from "../core/model/diagnostic";
import type { RecordedResource, State } from "../core/model/recorded";
import { readState } from "../core/state/text";
import { errorMessage } from "../core/text/errors";
import { inShell } from "../core/text/in-shell";
import { listed } from "../core/text/list-text";
import { isUrl } from "../core/text/outside-policy";
import type { Prepared } from "../engine/plan";
import { refusedState } from "../outside/trust";
import { openProtectedStore } from "../store/open";
import { addressKept, type NotedState, otherStatesNoted } from "../store/state-note";
import { stateFile, stateLocation, trustOf } from "./compose";
import type { Session } from "./session";
import { environmentsOf, readSiblings } from "./siblings";

export async function refuseBegunAnew(session: Session, prepared: Prepared): Promise<Prepared> {
  const { plan, state } = prepared;
  const isBegun = (state.runs ?? []).some(({ part, brought }) => part !== true && brought !== true);
  if (isBegun || session.invocation.flags["new-state"] === true) return prepared;
  const wanted = wantedByName(prepared);
  if (wanted.length === 0) return prepared;
  const found = await Promise.all(
    formerPlaces(session).map(async ({ location, isWhole }): Promise<Diagnostic[]> => {
      const has = isWhole ? await recordedAt(location, session).catch(errorMessage) : partNotKept;
      if (typeof has === "string") return [unread(session, state, { location, isWhole }, has)];
      const isThere = (one: WantedByName): boolean =>
        has.records.some((record) => record.id !== undefined && isRecordOf(one, record, has.isRenamed));
      const twice = wanted.filter(isThere);
      const made = twice.filter(({ action = "create" }) => action === "create");
      const taken = twice.filter((one) => !made.includes(one));
      return [
        ...(made.length === 0 ? [] : [isElsewhere(session, state, location, made)]),
        ...(taken.length === 0 ? [] : [isInBoth(session, state, location, taken)]),
      ];
    }),
  );
  return { ...prepared, plan: { ...plan, diagnostics: [...plan.diagnostics, ...found.flat()] } };
}

type WantedByName = Pick<Change, "address" | "kind" | "name" | "id"> & Partial<Pick<Change, "action">>;

/** What is to be made, or taken over by its name, and what neither is done to because its name is taken. */
function wantedByName({ plan, desired, state }: Prepared): readonly WantedByName[] {
  // A person may name a resource by its id, in the file or to the command that imports it.
  const isNamed = ({ address }: Change): boolean =>
    state.resources.has(address) || desired.imports.some(({ to, id }) => to === address && id !== undefined);
  const taken = new Set(plan.diagnostics.flatMap(({ code, address }) => (code === "plan/name-taken" ? [address] : [])));
  return [
    // What is replaced on an empty state is taken over before.
    ...plan.changes.filter((one) => one.action === "create" || !isNamed(one)),
    ...desired.resources.filter(({ address }) => taken.has(address)),
  ];
}

/** `isRenamed`: the environment had another name then, which may stand in the names of what it has. */
const isRecordOf = (one: WantedByName, { kind, id, name, address }: RecordedResource, isRenamed: boolean): boolean =>
  one.kind === kind &&
  (one.id === undefined
    ? one.name.toLowerCase() === name?.toLowerCase() || (isRenamed && one.address === address)
    : one.id === id);

const partNotKept = "its address had a query then, or named another server, which the note of it does not keep";

/** The states that lie beside the files where nothing names another place, and those that were seen from there. */
function formerPlaces({ workspace, store, invocation: { flags } }: Session): NotedState[] {
  const { folder, given, desired } = workspace;
  const now = isUrl(store.location) ? undefined : resolve(store.location);
  const present = stateLocation(workspace, flags);
  // The first file may have been another one.
  const folders = new Set([folder, ...given.map(({ file }) => dirname(resolve(file)))]);
  const places = [...folders].flatMap((beside) => [
    ...[undefined, desired.environment].map((environment) => ({
      location: join(beside, stateFile("reconcile", environment)),
      isWhole: true,
    })),
    ...otherStatesNoted(beside, present, process.env),
  ]);
  return [...new Map(places.map((place) => [place.location, place])).values()].filter(
    ({ location }) => location !== now && refusedState(trustOf(flags), location, flags.state) === undefined,
  );
}

interface Former {
  readonly records: readonly RecordedResource[];
  /** It is of an environment that the files declare no more. */
  readonly isRenamed: boolean;
}

/** What the state there has in this project and service, of no other environment that the files declare. */
async function recordedAt(location: string, session: Session): Promise<Former> {
  const { workspace, service, invocation } = session;
  const { flags } = invocation;
  const insecureHttp = flags["insecure-http"] === true;
  const stored = await openProtectedStore(location, { environment: process.env, insecureHttp }).read();
  const read = readState(stored, "");
  if (!read.ok) throw new Error(read.problem);
  const { scope, resources } = read.state;
  const { project, environment } = workspace.desired;
  const none = { records: [], isRenamed: false };
  if (scope?.origin !== service.client.origin || scope.project !== project) return none;
  // Names that two environments share are told by `validate --env all`. Files without environments may get some, and
  // what is not declared any more may have got another name.
  const isOther = scope.environment !== undefined && environment !== undefined && scope.environment !== environment;
  const records = [...resources.values()];
  if (!isOther) return { records, isRenamed: false };
  if (workspace.readOthers?.(workspace.given).has(scope.environment) !== false) return none;
  // The former state still lies there when it was brought to the other name.
  const { lineages } = await readSiblings(environmentsOf(session));
  return lineages.has(read.state.lineage) ? none : { records, isRenamed: true };
}

/** An address of which a part is not shown leads elsewhere: whoever knows it writes it in its place. */
function bringing({ workspace, invocation }: Session, { serial, runs }: State, former: NotedState): string {
  const { environment } = workspace.desired;
  const location = stateLocation(workspace, invocation.flags);
  const env = environment === undefined ? "" : ` --env ${environment}`;
  const of = ({ isWhole, location }: NotedState): string => (isWhole ? inShell(location) : "ADDRESS");
  const present = { location, isWhole: addressKept(location) === location };
  // What a run has made here would be forgotten with a state that is pushed over it.
  return runs === undefined
    ? `reconcile state pull --state ${of(former)}${env} | reconcile state push ${serial === 0 ? "" : "--force "}--state ${of(present)}${env} -`
    : `reconcile state mv ADDR ADDR --state ${of(former)} --to-state ${of(present)}${env}, one address after the other`;
}

const whatItIs = ({ serial, runs = [] }: State): string => {
  if (serial === 0) return "is empty";
  return runs.every(({ brought }) => brought === true) ? "has had no run yet" : "has had runs of a part alone";
};

function isElsewhere(session: Session, state: State, former: string, twice: readonly WantedByName[]): Diagnostic {
  return {
    severity: "error",
    code: "state/elsewhere",
    summary: `the state ${session.store.location} ${whatItIs(state)}, and what is to be created is in the state ${former}: ${listed(twice.map(({ address }) => address))}`,
    detail: "Nothing was sent and nothing was written.",
    fix: `bring the state to its new place: ${bringing(session, state, { location: former, isWhole: true })}; or, to go on without what it has: --new-state`,
  };
}

const isInBoth = (session: Session, state: State, former: string, taken: readonly WantedByName[]): Diagnostic => ({
  severity: "warning",
  code: "state/elsewhere",
  summary: `what is to be taken over is in the state ${former} too, and two states would manage it: ${listed(taken.map(({ address }) => address))}`,
  fix: `bring that state here instead (${bringing(session, state, { location: former, isWhole: true })}), or never run with it again`,
});

const unread = (session: Session, state: State, former: NotedState, why: string): Diagnostic => ({
  severity: "warning",
  code: "state/elsewhere",
  summary: `this state ${whatItIs(state)}, and the state ${former.location}, which was used here before, cannot be read: ${why}`,
  fix: `make sure that it has none of what is to be created, or bring it here: ${bringing(session, state, former)}`,
});
