/**
 * What an import records: a resource as the plan takes it over, or the id that an open create lacks. The record that had
 * the address before is forgotten where the resource is proven gone.
 */

import { writeYaml } from "../config/yaml/write";
import type { Change } from "../core/diff/changes";
import type { Abilities } from "../core/model/abilities";
import { type Address, type Kind, kindOf, parseAddress } from "../core/model/address";
import { type Closed, closedWith, type Desired, nothingDesired } from "../core/model/desired";
import { type Diagnostic, errorsAmong, hasErrors } from "../core/model/diagnostic";
import type { Sighting } from "../core/model/evidence";
import { recordAsDesired } from "../core/model/facts";
import { type FieldRow, fieldsOf } from "../core/model/fields";
import { ofKind } from "../core/model/kinds";
import { comparedOf, type Live, type LiveOf, sight } from "../core/model/live";
import {
  type PlannedChange,
  type RecordedResource,
  type RecordToMake,
  recordedAt,
  type State,
  type StateChange,
} from "../core/model/recorded";
import type { Rule } from "../core/model/rule";
import { recordOfMade } from "../core/plan/made";
import { presumeVanished } from "../core/plan/missing";
import { countChanges, makePlan, type Plan } from "../core/plan/plan";
import { recordFields, type SeenMade } from "../core/plan/records";
import { fieldsIn } from "../core/text/objects";
import { refresh } from "../engine/refresh";
import { assertShown, scopeOf, scopeToRemember } from "../engine/scope";
import type { ServiceClient } from "../service/client";
import type { StateStore } from "../store/store";
import type { Invocation } from "./command";
import { fail, systemClock } from "./compose";
import { CommandFailed } from "./crash";
import type { FlagName } from "./flags";
import { generateBlock } from "./generate";
import type { Finish } from "./output";
import type { Workspace } from "./workspace";
import { changeState } from "./writing";

type ImportInvocation = Invocation<FlagName, readonly [string, string]>;

/** One import: the address, the id, and what the state knows of the two. */
export interface Wish {
  readonly invocation: ImportInvocation;
  readonly workspace: Workspace;
  readonly store: StateStore;
  readonly client: ServiceClient;
  readonly state: State;
  readonly address: Address;
  readonly id: string;
  readonly made: RecordToMake | undefined;
  /** Changes of the state that forget the former resource of this address, where the service no longer has it. */
  readonly gone: readonly StateChange[] | undefined;
  /** Waits for a look, unless the command was told to stop. */
  look<T>(looking: Promise<T>): Promise<T>;
}

export async function settleUndeclared(
  { invocation, workspace, store, client, state, address, id, look }: Wish,
  made: RecordToMake,
): Promise<Finish> {
  const { output } = invocation;
  const live = await look(assertExists(client, workspace, state, { to: address, id }));
  const settled = settledByImport(address, made, id, { can: client.can, live });
  await changeState(invocation, store, () => withScope(settled, state, client, workspace.desired, live));
  output.event({ type: "change", address, action: "import", fields: [], id });
  output.print(`${address} is ${id} now. The file does not declare it: reconcile plan shows what would happen to it.`);
  const kind = kindOf(address);
  const unseen = whyUnseenOf(kind, sight(live, kind, id), made);
  if (unseen !== undefined) output.print(unseen);
  return { exitCode: 0, extra: oneImport() };
}

const oneImport = () => ({ changes: countChanges([{ action: "import" }]) });

export async function takeOverResource(wish: Wish, closed: Closed): Promise<Finish> {
  const { invocation, store, client, state, address, id, made, gone } = wish;
  const { output, flags } = invocation;
  const desired = closedWith(closed, {
    // The entries of the file are of what this one hangs on or names as well.
    imports: [{ to: address, id }, ...closed.imports.filter(({ to }) => to !== address)],
    moved: [],
    removed: [],
    // What the file changes about the others is for the next plan, and stands in the way of no import.
    resources: closed.resources.map((resource) => {
      const record = resource.address === address ? undefined : state.resources.get(resource.address);
      return record === undefined ? resource : recordAsDesired(record);
    }),
  });
  // Other open creates stay in the state, so that what they made is not taken for an unmanaged resource.
  const bare =
    made === undefined && gone === undefined ? withoutDamaged(state, address) : withoutResource(state, address);
  const seen = await wish.look(refresh(client, desired, bare));
  assertShown(bare, seen.live, seen.findings);
  const planFor = (wished: Closed, can: Abilities): Plan =>
    makePlan({
      desired: wished,
      state: bare,
      live: seen.live,
      can,
      // A VM that it hangs on may be there and not taken over yet, which is for the next plan to say.
      options: { targets: [address], adopt: true },
      findings: seen.findings,
    });
  const first = planFor(desired, client.can);
  const replaced = first.changes.find((change) => change.address === address && change.action === "replace");
  // An import never replaces: the resource is taken over as it is, and the next plan shows what differs.
  // A group is replaced for rules that cannot be deleted, and so is one that its rules name; where they can be, it is
  // taken over with them.
  const plan = first.changes.every(({ action }) => action !== "replace")
    ? first
    : planFor(replaced === undefined ? desired : asFound(desired, replaced), { ...client.can, deletesRules: true });
  const diagnostics = [
    ...plan.diagnostics.filter((diagnostic) => diagnostic.address === address || diagnostic.severity === "error"),
    ...(replaced === undefined ? [] : [wouldReplace(replaced)]),
  ];
  if (hasErrors(diagnostics)) return { exitCode: 1, diagnostics };
  const step = plan.steps.find((one) => one.address === address && one.action.operation === "record");
  const planned = recordedNow(step?.action.operation === "record" ? step.action.changes : []);
  // Beside a record that cannot be read a plan leaves alone what is connected with it.
  if (made === undefined && step === undefined)
    return { exitCode: 1, diagnostics: [...diagnostics, notTakenOver(address)] };
  const changes: readonly StateChange[] =
    made === undefined
      ? [...(gone ?? []), ...planned]
      : settledByImport(address, made, id, {
          can: client.can,
          live: seen.live,
          declared: declaredRules(closed, address),
        });
  await changeState(invocation, store, () => withScope(changes, state, client, closed, seen.live));
  output.event({ type: "change", address, action: "import", fields: [], id });
  output.print(`${address} is ${id} now.`);
  const kind = kindOf(address);
  const record = changes.flatMap((change) => (change.type === "resource" && change.record) || [])[0];
  const unseen = whyUnseenOf(kind, sight(seen.live, kind, id), made, record);
  if (unseen !== undefined) output.print(unseen);
  const unprinted = flags.generate === true ? await printYaml(invocation, client, address, id, state, false) : [];
  return {
    exitCode: hasErrors(unprinted) ? 1 : 0,
    // The record has the commands from now on, so that no plan will tell it. What an open create made is owed them.
    diagnostics: [
      ...diagnostics.filter(
        ({ severity, code }) => severity !== "note" || (made === undefined && code === "plan/not-owed"),
      ),
      ...errorsAmong(unprinted),
    ],
    extra: oneImport(),
  };
}

/** A sentence for a resource that was taken over without having been seen, or without a part of it. */
function whyUnseenOf(
  kind: Kind,
  sighting: Sighting<LiveOf[Kind]>,
  made: Wish["made"],
  record?: RecordedResource,
): string | undefined {
  const says = `the record says what ${made === undefined ? "the file says" : "its create asked for"}`;
  if (sighting.seen === "unobserved") return `It was not seen (${sighting.reason}): ${says}.`;
  if (sighting.seen === "gone" || made !== undefined) return undefined;
  const shown = new Map<string, unknown>(Object.entries(sighting.value));
  const missing = Object.entries(comparedOf[kind]).filter(([key]) => shown.get(key) === undefined);
  if (missing.length === 0) return undefined;
  const named = (rows: typeof missing): string => rows.map(([, field]) => field).join(", ");
  // Of the disks the record has the sizes, which are fields of their own.
  const nowhere = missing.filter(
    ([, field = ""]) => recordFields[kind][field]?.every((key) => fieldsIn(record)[key] === undefined) === true,
  );
  const then =
    nowhere.length === missing.length
      ? "the record has nothing of it, and the next plan goes by the file"
      : `there ${says}${nowhere.length === 0 ? "" : `, and nothing of ${named(nowhere)}`}`;
  return `The service does not show its ${named(missing)}: ${then}.`;
}

/** The desired state with the service's own values for the fields that only a replacement could change. */
const asFound = (desired: Closed, { address, fields }: Change): Closed =>
  closedWith(desired, {
    resources: desired.resources.map((resource) => {
      if (resource.address !== address) return resource;
      const rows: Readonly<Record<string, FieldRow>> = fieldsOf[resource.kind];
      const found = Object.entries(rows).flatMap(([key, row]) => {
        // Only values stand in a change as they are.
        if (row.type === "rules") return [];
        const field = fields.find((one) => one.field === row.field && one.forces === "replace");
        return field === undefined || field.before === null ? [] : [[key, field.before] as const];
      });
      return { ...resource, ...Object.fromEntries(found) };
    }),
  });

const wouldReplace = ({ address, fields, source }: Change): Diagnostic => ({
  severity: "warning",
  code: "plan/import-differs",
  summary: `${address} is taken over as it is, and is not as declared: ${fields
    .flatMap(({ field, before, after, forces }) => {
      if (after === null) return [`${field} has ${before}, and the file does not`];
      return forces === "replace" ? [`${field} is ${before}, and the file says ${after}`] : [];
    })
    .join("; ")}`,
  detail: "The service cannot change that in place, so the next plan would replace it.",
  fix: "write the service's value into the file",
  address,
  source,
});

const notTakenOver = (address: Address): Diagnostic => ({
  severity: "error",
  code: "plan/left-alone",
  summary: `${address} was not taken over, because the plan leaves it as it is`,
  fix: "reconcile plan says why, and what to settle first",
  address,
});

const recordedNow = (changes: readonly PlannedChange[]): StateChange[] => recordedAt(changes, systemClock.instant());

const declaredRules = ({ resources }: Closed, address: Address): readonly Rule[] =>
  ofKind(
    resources.find((resource) => resource.address === address),
    "group",
  )?.rules ?? [];

/** Records the id of the resource that an open create made. */
const settledByImport = (address: Address, made: RecordToMake, id: string, seen: SeenMade): readonly StateChange[] => [
  { type: "resource", address, record: recordOfMade(made, id, seen) },
  { type: "intent", address, intent: null },
];

/** A state that begins with an import knows from then on of which service, project and environment it is. */
function withScope(
  changes: readonly StateChange[],
  state: State,
  client: ServiceClient,
  desired: Desired,
  live: Live,
): readonly StateChange[] {
  const taken = changes.flatMap((change) =>
    change.type === "resource" && change.record !== null ? [change.record] : [],
  );
  const scope = scopeToRemember(state, scopeOf(client, desired), live, false, true, taken);
  return scope === undefined ? changes : [...changes, { type: "scope", scope }];
}

/**
 * The changes of the state that forget the recorded resource of an address when the service no longer has it, so that
 * another one may take the address; `undefined` while the service has it.
 */
export async function changesThatForget(
  client: ServiceClient,
  workspace: Workspace,
  state: State,
  address: Address,
): Promise<readonly StateChange[] | undefined> {
  const desired = closedWith(nothingDesired, { service: workspace.desired.service });
  const { live: shown, findings } = await refresh(client, desired, state);
  const former = state.resources.get(address);
  // Whoever names what is there in its place says that the former one is not; it is kept as missing.
  const live = former === undefined ? shown : presumeVanished(shown, [former]);
  // Not seen is not gone: with an error nothing is forgotten.
  if (hasErrors(findings)) throw new CommandFailed(errorsAmong(findings));
  const plan = makePlan({ desired, state, live, can: client.can, options: { targets: [address] }, findings });
  const isGone = plan.changes.some((change) => change.address === address && change.reason === "gone");
  if (!isGone) return undefined;
  return recordedNow([
    ...plan.bookkeeping.filter(({ type }) => type === "missing"),
    ...plan.steps.flatMap(({ action }) => (action.operation === "record" ? action.changes : [])),
  ]);
}

/**
 * A resource without a block in the file is taken over by no plan, so it is looked at here; where nothing can show it,
 * the user's word holds.
 */
export async function assertExists(
  client: ServiceClient,
  workspace: Workspace,
  state: State,
  entry: { to: Address; id: string },
) {
  const desired = { ...workspace.desired, resources: [], imports: [entry], moved: [], removed: [] };
  const { live, findings } = await refresh(client, desired, withoutResource(state, entry.to));
  assertShown(state, live, findings);
  if (hasErrors(findings)) throw new CommandFailed(errorsAmong(findings));
  const kind = parseAddress(entry.to)?.kind;
  if (kind !== undefined && sight(live, kind, entry.id).seen === "gone")
    throw fail(
      "plan/import-not-found",
      `${entry.to} cannot be imported: the service shows no ${entry.id}`,
      "correct the id",
    );
  return live;
}

/** Without the damaged record of the address, which the import puts a readable one in the place of. */
const withoutDamaged = (state: State, address: Address): State => ({
  ...state,
  quarantined: state.quarantined.filter((piece) => piece.address !== address),
});

/** Without what the state knows of the address, a create of it too. */
const withoutResource = (state: State, address: Address): State => ({
  ...withoutDamaged(state, address),
  intents: new Map([...state.intents].filter(([key]) => key !== address)),
  resources: new Map([...state.resources].filter(([key]) => key !== address)),
});

export async function printYaml(
  invocation: Invocation,
  client: ServiceClient,
  address: string,
  id: string,
  state: State,
  withImport: boolean,
): Promise<readonly Diagnostic[]> {
  const { block, diagnostics } = await generateBlock(client, address, id, state);
  if (block === undefined) return diagnostics;
  const { id: taken, ...bare } = block;
  const text = writeYaml({ head: {}, blocks: [withImport && taken !== undefined ? { ...bare, id: taken } : bare] });
  invocation.output.print(text);
  invocation.output.event({ type: "yaml", text });
  return diagnostics;
}
