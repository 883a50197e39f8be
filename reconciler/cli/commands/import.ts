/**
 * `reconcile import ADDR ID`: takes an existing resource over. With `--generate` it prints the YAML as well; for an
 * address that is not declared yet it prints the block with its imports entry and records nothing.
 */

import { writeYaml } from "../../config/yaml/write";
import { isUuid } from "../../core/canonical/catalogue";
import { nameProblem } from "../../core/canonical/names";
import type { Change } from "../../core/diff/changes";
import { keepersIn } from "../../core/diff/context";
import { pairResources } from "../../core/diff/pair";
import type { Abilities } from "../../core/model/abilities";
import {
  type Address,
  type AddressParts,
  formatAddress,
  type Kind,
  kindOf,
  parseAddress,
} from "../../core/model/address";
import { type Closed, closedWith, type Desired, nothingDesired } from "../../core/model/desired";
import { type Diagnostic, errorsAmong, hasErrors } from "../../core/model/diagnostic";
import type { Sighting } from "../../core/model/evidence";
import { recordAsDesired } from "../../core/model/facts";
import { type FieldRow, fieldsOf } from "../../core/model/fields";
import { type Advice, adviceText, fixText, toAsk, toRun } from "../../core/model/fix";
import { identity } from "../../core/model/identity";
import { definitionOf, kindRows, ofKind } from "../../core/model/kinds";
import { comparedOf, type Live, type LiveOf, sight } from "../../core/model/live";
import {
  type PlannedChange,
  type RecordedResource,
  type RecordToMake,
  recordedAt,
  type State,
  type StateChange,
} from "../../core/model/recorded";
import type { Rule } from "../../core/model/rule";
import { recordOfMade } from "../../core/plan/made";
import { presumeVanished } from "../../core/plan/missing";
import { countChanges, makePlan, type Plan } from "../../core/plan/plan";
import type { SeenMade } from "../../core/plan/records";
import { idProblem } from "../../core/text/id-problem";
import { inShell } from "../../core/text/in-shell";
import { nearestText } from "../../core/text/nearest";
import { printable } from "../../core/text/printable";
import { listOfKind } from "../../engine/observe";
import { refresh } from "../../engine/refresh";
import { assertSameScope, assertShown, scopeOf, scopeToRemember } from "../../engine/scope";
import type { ServiceClient } from "../../service/client";
import type { StateStore } from "../../store/store";
import { type CompletionSources, command, type Invocation, type Suggestion, two } from "../command";
import { fail, stateIn, systemClock } from "../compose";
import { CommandFailed } from "../crash";
import { projectOfSession } from "../externals";
import { commonFlags, type FlagName } from "../flags";
import { generateBlock } from "../generate";
import type { Finish } from "../output";
import { unlessStopped } from "../session";
import { heldBySibling } from "../siblings";
import { withLockedSession, withSession } from "../with-session";
import { readWorkspace, type Workspace } from "../workspace";
import { changeState } from "../writing";

export const importCommand = command({
  usage: "import ADDR ID [--generate]",
  summary: "takes an existing resource over",
  section: "Taking over and handing on",
  examples: [
    [
      "reconcile import vm.db 8fc19b74-c152-4a95-b91b-9f72680463d9",
      "vm.db must be declared; nothing changes in the service",
    ],
    [
      "reconcile import vm.db 8fc19b74-c152-4a95-b91b-9f72680463d9 --generate",
      "prints the YAML that declares it as it is",
    ],
  ],
  flags: ["file", "generate", "lock-timeout", ...commonFlags],
  positionals: two("an address and an id"),
  complete: suggestUndeclared,
  async run(invocation) {
    const [address, given] = invocation.args;
    const { flags } = invocation;
    const parts = readWords(address, given);
    const workspace = readWorkspace(invocation, { args: [], needed: flags.generate !== true });
    const isDeclared = workspace.desired.resources.some((resource) => resource.address === address);
    if (!isDeclared && flags.generate === true) {
      const { each, ...block } = parts;
      if (each !== undefined)
        throw fail(
          "import/for-each",
          `${address} is one instance of a for_each, whose block cannot be told from one of them`,
          `reconcile import ${inShell(formatAddress({ ...block, key: `${block.key}-${each}` }))} ${inShell(given)} --generate`,
        );
      return generate(invocation, workspace, address, given);
    }
    return withLockedSession(invocation, workspace, async (session, stop) => {
      const look = <T>(looking: Promise<T>): Promise<T> => unlessStopped(stop.soft, looking);
      const { store, service } = session;
      const { client } = service;
      const state = await stateIn(store);
      if (!isDeclared && !isCreateOpen(state, address)) throw undeclaredAddress(address, given, workspace);
      assertSameScope(state, scopeOf(client, workspace.desired));
      const id =
        definitionOf(parts.kind).takenByName === true ? await look(idOfNamed(parts.kind, client, given)) : given;
      const recorded = state.resources.get(address);
      const isManaged = recorded?.id !== undefined && !state.intents.has(address);
      const gone = isManaged ? await look(changesThatForget(client, workspace, state, address)) : undefined;
      refuseMoved(workspace, state, address);
      refuseManaged(workspace, state, address, id);
      if (isManaged && gone === undefined) {
        // Nobody is told to forget what is there for the sake of what is not.
        await look(assertExists(client, workspace, state, { to: address, id }));
        throw fail(
          "state/occupied",
          `${address} is ${recorded.id} already`,
          `${fixText(toRun(["state rm", address], "forgets it, leaves it alive"))}, then import`,
        );
      }
      const held = await look(heldBySibling(session, parts.kind, address, id));
      if (hasErrors(held)) throw new CommandFailed(held);
      for (const { summary, fix } of held) invocation.output.note(`${summary}; ${fix}`);
      // An open create knows what the resource was made with: only the id of the resource is missing.
      const made = state.intents.get(address)?.record ?? (isWithoutId(recorded) ? recorded : undefined);
      const wish: Wish = { invocation, workspace, store, client, state, address, id, made, gone, look };
      return !isDeclared && made !== undefined
        ? settleUndeclared(wish, made)
        : takeOverResource(wish, await look(projectOfSession(session).close()));
    });
  },
});

async function suggestUndeclared(args: readonly string[], known: CompletionSources): Promise<readonly Suggestion[]> {
  if (args.length > 0) return [];
  const managed = new Set((await known.recorded()).map(({ word }) => word));
  return known.declared().filter(({ word }) => !managed.has(word));
}

type ImportInvocation = Invocation<FlagName, readonly [string, string]>;

function readWords(address: string, given: string): AddressParts {
  const parts = parseAddress(address);
  if (parts === undefined)
    throw fail(
      "state/bad-address",
      `${address} is no address`,
      "an address is vm.KEY, volume.KEY or group.KEY, with [EACH] for for_each",
    );
  const unusable = idProblem(given);
  if (unusable !== undefined)
    throw fail(
      "service/invalid_id",
      `the id ${JSON.stringify(printable(given.slice(0, 80)))} ${unusable}`,
      "give the id as the service shows it",
    );
  return parts;
}

function undeclaredAddress(address: Address, given: string, { desired }: Workspace) {
  const declared = desired.resources.map((resource) => resource.address);
  return fail(
    "plan/unknown-address",
    `${address} is not declared`,
    nearestText(address, declared, (near) => `did you mean ${near}?`) ??
      `declare it first; reconcile import ${inShell(address)} ${inShell(given)} --generate prints its YAML`,
  );
}

/** What is to have this address by a moved entry would stand in the way of what was imported there. */
function refuseMoved({ desired }: Workspace, state: State, address: Address): void {
  const { movedFrom } = pairResources(desired, state).pairs.find((pair) => pair.address === address) ?? {};
  if (movedFrom !== undefined)
    throw fail(
      "state/occupied",
      `a moved entry gives ${address} what the state has as ${movedFrom}`,
      `${fixText(toRun(["state mv", movedFrom, address]))}, then import`,
    );
}

/** An address that has a record or an open create is no place to move to. A freed id may be the one that it was given. */
function instead(state: State, address: Address, owner: Address): Advice {
  if (state.intents.has(address))
    return [
      toAsk("another id"),
      toRun(["state rm", owner], `then import again, where ${owner} is gone and its id was given to ${address}`),
    ];
  return [state.resources.has(address) ? toAsk("another id") : toRun(["state mv", owner, address])];
}

function refuseManaged({ desired }: Workspace, state: State, address: Address, id: string): void {
  const owner = [...state.resources.values()].find(
    (record) => record.kind === kindOf(address) && record.id === id && record.address !== address,
  );
  if (owner !== undefined)
    throw fail(
      "state/occupied",
      `${id} is managed as ${owner.address} already`,
      adviceText(instead(state, address, owner.address)),
    );
  const keeper = keepersIn(desired, state)(identity(kindOf(address), id));
  if (keeper !== undefined)
    throw fail(
      "state/occupied",
      `${id} is the own data volume of ${keeper}`,
      `leave it to ${keeper}, whose size grows it`,
    );
}

/** One import: the address, the id, and what the state knows of the two. */
interface Wish {
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

async function settleUndeclared(
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

async function takeOverResource(wish: Wish, closed: Closed): Promise<Finish> {
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
  const recorded = new Map<string, unknown>(Object.entries(record ?? {}));
  const missing = Object.entries(comparedOf[kind]).filter(([key]) => shown.get(key) === undefined);
  if (missing.length === 0) return undefined;
  const named = (rows: typeof missing): string => rows.map(([, field]) => field).join(", ");
  const nowhere = missing.filter(([key]) => recorded.get(key) === undefined);
  const then =
    nowhere.length === missing.length
      ? "the record has nothing of it, and the next plan goes by the file"
      : `there ${says}${nowhere.length === 0 ? "" : `, and nothing of ${named(nowhere)}`}`;
  return `The service does not show its ${named(missing)}: ${then}.`;
}

/** Whether a create of this address was sent and its outcome is open. Its block may have left the file since. */
const isCreateOpen = (state: State, address: Address): boolean =>
  state.intents.get(address)?.record !== undefined || isWithoutId(state.resources.get(address));

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

const isWithoutId = (record: RecordedResource | undefined): boolean => record !== undefined && record.id === undefined;

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
async function changesThatForget(
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
async function assertExists(
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

/** A VM may be given by its name. A text that is no VM's name is taken for an id. */
async function idOfNamed(kind: Kind, client: ServiceClient, given: string): Promise<string> {
  if (isUuid(given) || nameProblem(given) !== undefined || !client.can.canFindCreated(kind)) return given;
  const listed = await listOfKind(kind, client);
  if (listed.status !== "accepted" || listed.value.some(({ id }) => id === given)) return given;
  const named = listed.value.filter(({ name }) => name?.toLowerCase() === given.toLowerCase());
  if (named.length > 1)
    throw fail(
      "pull/several",
      `several ${kindRows[kind].noun}s are called ${given}: ${named.map(({ id }) => id).join(", ")}`,
      "give the id of one of them",
    );
  return named[0]?.id ?? given;
}

function generate(invocation: Invocation, workspace: Workspace, address: string, given: string): Promise<number> {
  return withSession(invocation, workspace, async ({ store, service }) => {
    const state = await stateIn(store);
    const diagnostics = await printYaml(invocation, service.client, address, given, state, true);
    return invocation.output.finish({ exitCode: hasErrors(diagnostics) ? 1 : 0, diagnostics });
  });
}

async function printYaml(
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
