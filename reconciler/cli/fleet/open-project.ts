/**
 * Opens one stack for a round of the fleet: its files, its service with the fleet's credential and budget, and its
 * state under a lease that a dead worker loses within seconds. It is the composition root of the fleet, as compose.ts
 * is of commands.
 */

import { realpathSync } from "node:fs";
import { isAbsolute, join, relative, resolve } from "node:path";
import { findingAsDiagnostic } from "../../core/findings/finding";
import { type Closed, closedWith, type Desired } from "../../core/model/desired";
import { type Diagnostic, errorsAmong, hasErrors } from "../../core/model/diagnostic";
import type { Read } from "../../core/model/external";
import { countChanges, isEmpty } from "../../core/plan/plan";
import { wayBackPlan } from "../../core/plan/undo";
import { canonicalJson } from "../../core/text/canonical-json";
import { shortestHidden } from "../../core/text/credential-mask";
import { errorMessage } from "../../core/text/errors";
import { onlyDefined } from "../../core/text/objects";
import { builtInDialect } from "../../dialect/built-in";
import type { Dialect } from "../../dialect/dialect";
import { readDialectText } from "../../dialect/read-dialect";
import { openStoredState, type Prepared } from "../../engine/plan";
import type { FleetService, SecretSource } from "../../fleet/model";
import { pictureOf } from "../../fleet/picture";
import type { OpenProject, Planned, Project, ProjectInput } from "../../fleet/project";
import { sentences } from "../../fleet/round";
import { readSecret } from "../../fleet/secrets";
import type { Checkout } from "../../fleet/sources/checkout";
import { checkOutGit } from "../../fleet/sources/git";
import { steadyNow } from "../../fleet/steady";
import { judgePlan } from "../../judge-plan";
import { openProject } from "../../open-project";
import { type Location, type OpenedService, openService, readDialectFile, type ServiceSetup } from "../../open-service";
import { shareWorld } from "../../outside/embedded";
import { holderOf } from "../../outside/holder";
import { keepOutOfTraces } from "../../outside/tracing";
import { closedTrust, refusedAddress, type Trust, trustFrom } from "../../outside/trust";
import { leftInGuests } from "../../report/owed-text";
import { notSeenLines, withMaskedSteps, withMaskedTitles, withMaskedWords } from "../../report/plan-outline";
import { createMasking } from "../../service/masking";
import { createSharedConnections } from "../../service/transport";
import { holdStore } from "../../store/held";
import type { StateNote } from "../../store/memory-of-states";
import { locationBeside, openProtectedStore } from "../../store/open";
import type { LeaseTimes, StateStore } from "../../store/store";
import { readDialectWith } from "../compose";
import { CommandFailed, fail } from "../crash";
import { askPolicy, type PlanPlace, programsMissing } from "../review";
import { refuseSiblings, type Sibling } from "../siblings";
import { readWorkspace, type Workspace } from "../workspace";
import { digestBeside, filesBeside } from "./files-beside";
import {
  outputsIn,
  type PlanLooked,
  planBodyOf,
  planDigest,
  planFactsOf,
  wayBackFacts,
  wishDigest,
} from "./plan-facts";

/** A worker that dies loses its stack to another one within seconds, not after the usual minute. */
const lease: LeaseTimes = { leaseMs: 10_000, heartbeatMs: 3000 };
const secretFreshMs = 60_000;
/** Requests of one round at once. */
const parallelism = 10;
/** Rounds follow each other within moments, and a connection costs as much as a request. */
const connectionsKeptMs = 10_000;
/** Rounds of a worker that have as many connections as they want. */
const mostRounds = 16;

export interface FleetProjectSetting {
  /** The folder in which embedded services of this machine keep their worlds. */
  readonly cache: string;
}

export function createHereOpener({ cache }: FleetProjectSetting): OpenProject {
  const kept: Kept = {
    secrets: createSecrets(),
    connectionsTo: createSharedConnections(connectionsKeptMs),
    readDialect: remembering(readDialectText),
  };
  return async (input) => {
    const { stack, checkout, base } = input;
    const workspace = workspaceOfStack(input, checkout);
    const law = base === undefined ? workspace : workspaceOfStack(input, base);
    const readable = await statesToRead(input, workspace);
    const note: StateNote = {
      read: () => input.stateSeen,
      write: (seen) => input.sawState?.({ ...seen, at: new Date().toISOString() }),
      forget: () => undefined,
    };
    const store = openShared(stack.state, { times: lease, note });
    const service = await openFor(input, law, kept, cache);
    return project(input, workspace, law, service, store, readable);
  };
}

const openShared = (location: string, more: Partial<Parameters<typeof openProtectedStore>[1]> = {}): StateStore =>
  openProtectedStore(location, { environment: process.env, shared: true, ...more });

/** What the rounds of a worker have in common. */
interface Kept {
  readonly secrets: Secrets;
  readonly connectionsTo: ReturnType<typeof createSharedConnections>;
  readonly readDialect: typeof readDialectText;
}

const mostDialects = 50;

/** The dialects of a fleet's services are few, and each round reads one. */
function remembering(read: typeof readDialectText): typeof readDialectText {
  const known = new Map<string, ReturnType<typeof readDialectText>>();
  return (text, file) => {
    const key = `${file}\n${text}`;
    const found = known.get(key) ?? read(text, file);
    if (known.size >= mostDialects) known.clear();
    known.set(key, found);
    return found;
  };
}

function workspaceOfStack(input: ProjectInput, checkout: Checkout): Workspace {
  const { flags, trust } = readingOfStack(input, checkout);
  return readWorkspace({ args: [checkout.folder], flags }, { trust });
}

/** How the files are read: with which variables, and how far they are trusted. */
export function readingOfStack(input: ProjectInput, checkout: Checkout) {
  const { stack } = input;
  const flags = {
    var: [...Object.entries(stack.vars), ...Object.entries(input.inputs)].map(
      ([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`,
    ),
    "var-file": stack.varFiles.map((file) => resolve(checkout.folder, file)),
    env: stack.env,
  };
  return { flags, trust: trustIn(input, checkout) };
}

/** Files of one tenant start nothing and send nothing with the worker's rights where others have theirs beside them. */
function trustIn({ closedBy }: ProjectInput, { root }: Checkout): Trust {
  const own = trustFrom();
  const closed = own.closedBy ?? closedBy;
  return closed === undefined ? own : closedTrust(closed, root);
}

/** The states that the stack's files read, by the names of the reads. What the fleet does not permit is not opened. */
type ReadableStates = ReadonlyMap<string, string>;

/** Throws before anything is read when the fleet's file does not permit one of them. */
async function statesToRead(
  { stack, destroy, mayRead }: ProjectInput,
  { desired, folder }: Workspace,
): Promise<ReadableStates> {
  const states = new Map<string, string>();
  const refused: Diagnostic[] = [];
  for (const { name, state, source } of desired.external?.reads ?? []) {
    const answer = await mayRead(locationBeside(folder, state));
    if ("state" in answer) states.set(name, answer.state);
    else
      refused.push({
        severity: "error",
        code: "fleet/read-refused",
        summary: `the stack ${stack.name} may not read what reads.${name} names: it is the state of no stack of its tenant, ${stack.tenant}`,
        detail: "nothing was read",
        fix: `permit it in the fleet's file: tenants: { ${stack.tenant}: { may_read: [STACK] } }, or take the value as an input: \${stack.NAME.outputs.OUTPUT}`,
        source,
      });
  }
  // What a stack that leaves reads is not needed to take it away.
  if (refused.length > 0 && !destroy) throw new CommandFailed(refused);
  return states;
}

type Secrets = ReturnType<typeof createSecrets>;

/** The output of a program is used for a minute, by all rounds of this worker. */
function createSecrets() {
  const known = new Map<string, { readonly at: number; readonly value: Promise<string> }>();
  return {
    /** `refused`: what the service took for no credential; another value is read then. */
    of(source: SecretSource, refused?: string): Promise<string> {
      const key = canonicalJson(source);
      const before = known.get(key);
      const read = (): Promise<string> => {
        const value = readSecret(source);
        known.set(key, { at: steadyNow(), value });
        value.catch(() => known.delete(key));
        return value;
      };
      if (before === undefined || steadyNow() - before.at >= secretFreshMs) return read();
      // Another round may have read the new one already.
      return before.value.then((value) => (value === refused ? read() : value));
    },
  };
}

/**
 * How a client gets the credential of one of the fleet's services. What a program prints is asked for again when the
 * service refuses it, so that a credential can be changed while rounds run.
 */
async function credentialOf(
  source: SecretSource | undefined,
  dialect: Dialect,
  secrets: Secrets,
): Promise<Pick<ServiceSetup, "dialect" | "environment" | "helper">> {
  if (source === undefined) return { dialect, environment: process.env };
  if ("env" in source) return { dialect, environment: { RECONCILE_TOKEN: await secrets.of(source) } };
  let used: string | undefined;
  return {
    dialect: { ...dialect, authorization: { ...dialect.authorization, command: source.command } },
    environment: {},
    helper: async () => {
      try {
        used = await secrets.of(source, used);
        return { output: used };
      } catch (error) {
        return { problem: errorMessage(error) };
      }
    },
  };
}

const baseUrlOfStack = (service: FleetService | undefined, { desired }: Workspace): string | undefined =>
  service?.baseUrl ?? desired.service.baseUrl;

async function dialectOfService(service: FleetService | undefined, cache: string): Promise<string | undefined> {
  const { dialect, dialectIn } = service ?? {};
  if (dialectIn === undefined) return dialect;
  const { url, commit, path } = dialectIn;
  return join((await checkOutGit({ url, ref: commit, path: "" }, cache)).folder, path);
}

async function openFor(
  { service, budget, ear, stack }: ProjectInput,
  workspace: Workspace,
  { secrets, connectionsTo, readDialect }: Kept,
  cache: string,
): Promise<OpenedService> {
  const baseUrl = baseUrlOfStack(service, workspace);
  if (baseUrl === undefined)
    throw fail(
      "service/no-base-url",
      `neither the stack ${stack.name} nor its file names a service`,
      "name one of the fleet's services in the stack: service: NAME",
    );
  const trust = workspace.trust ?? trustFrom();
  const refused = service === undefined ? refusedAddress(trust, baseUrl) : undefined;
  if (refused !== undefined)
    throw new CommandFailed([{ ...refused, fix: `name one of the fleet's services in the stack: service: NAME` }]);
  const fromFile = readDialectWith(workspace, {});
  const dialect = await dialectOfService(service, cache);
  const given = dialect === undefined ? fromFile : { ...readDialectFile(dialect, dialect, readDialect), folder: cache };
  if (hasErrors(given.diagnostics)) throw new CommandFailed(given.diagnostics);
  const location: Location =
    baseUrl === "embedded"
      ? await shareWorld(resolve(cache, "worlds", service?.name ?? stack.name), service?.timeScale ?? 20)
      : { url: baseUrl };
  return openService(
    {
      ...(await credentialOf(service?.credential, given.dialect ?? builtInDialect, secrets)),
      dialectFolder: given.folder,
      trust,
      dialectGiven: dialect !== undefined,
      timing: workspace.desired.service.timing,
      insecureHttp: service?.insecureHttp === true,
      parallelism,
      // Where few are permitted, a request that waits for another round's would be too old to be sent.
      ...(given.dialect?.limits.connections === undefined && {
        connections: connectionsTo(location.url, parallelism * mostRounds),
      }),
      pace: {
        async take(signal) {
          const isFree = budget === undefined || (await budget.take(signal));
          if (isFree) ear?.asked();
          return isFree;
        },
        refused: async (retryAfterMs) => budget?.refused(retryAfterMs),
      },
      onRequest: ({ status }) => status !== undefined && ear?.heard(),
    },
    location,
  );
}

function project(
  { stack, checkout, base, destroy, undo, worker, siblings, service: named }: ProjectInput,
  workspace: Workspace,
  law: Workspace,
  service: OpenedService,
  store: StateStore,
  readable: ReadableStates,
): Project {
  const options = destroy ? { destroy: true } : {};
  const openRead = (_: string, { name }: Read): StateStore => {
    const location = readable.get(name);
    if (location === undefined) throw new Error("the fleet's file does not permit it");
    return openShared(location);
  };
  const projectOn = (from: StateStore) =>
    openProject({ files: workspace, folder: workspace.folder, service, store: from, openRead });
  const others = async (): Promise<Sibling[]> =>
    (await siblings()).map(({ name, state }) => ({
      name,
      read: () => openShared(state).read(),
    }));
  const look = async (from: StateStore, signal: AbortSignal): Promise<PlanLooked> => {
    const opened = projectOn(from);
    const wished = await opened.close(options);
    const back = undo === undefined ? undefined : await wayBackFacts(from, undo, wished);
    const planned = await opened.plan(options, { desired: back?.desired ?? wished, signal });
    const prepared = await refuseSiblings({ one: "stack", origin: service.client.origin, others }, planned);
    return {
      wish: wishDigest(wished, checkout),
      ...(back === undefined
        ? { prepared }
        : { prepared: { ...prepared, plan: wayBackPlan(prepared.plan, back) }, laterRuns: back.laterRuns }),
    };
  };
  const holder = holderOf(`reconcile fleet work (${stack.name}, ${worker})`);

  const { trust } = service;
  const asked = { workspace, service: { baseUrl: baseUrlOfStack(named, law) ?? "", trust } };
  const changesJudges = base !== undefined && judgesOf(law, base) !== judgesOf(workspace, checkout);
  const files = workspace.sources.map(({ file }) => resolve(file));
  const beside = filesBeside(workspace.desired, files, checkout);
  const about = {
    beside: digestBeside(beside),
    // Two services may be two accounts at one address.
    at: { service: named?.name ?? "", url: asked.service.baseUrl },
  };
  // Whoever reads the pages, the log or the database of a fleet is told no sensitive value.
  const sensitive = [...(workspace.sensitive ?? [])].filter((text) => text.length >= shortestHidden);
  const { text: masked } = createMasking(new Set(sensitive));
  keepOutOfTraces(sensitive);
  const plannedOn = async (from: StateStore, { prepared, wish, laterRuns }: PlanLooked): Promise<Planned> => ({
    facts: {
      ...planFactsOf(prepared, planDigest(prepared, checkout, about), stack.opensAt),
      leases: store.leases,
      wish,
    },
    ...onlyDefined({ laterRuns, changesJudges: changesJudges ? changesJudges : undefined }),
    body: planBodyOf({ ...prepared, plan: withMaskedTitles(prepared.plan, masked) }, stack.opensAt),
    errors: [
      ...errorsAmong(prepared.plan.diagnostics),
      ...(await projectRefusals(prepared, asked, base === undefined ? undefined : law.desired)),
    ].map((one) => masked(sentences([one]))),
    counts: { ...countChanges(prepared.plan.changes) },
    outputs: outputsIn(prepared.state),
    leftInGuests: leftInGuests({ owed: prepared.plan.owed?.filter(({ waits }) => waits !== undefined) }),
    notSeen: notSeenLines(prepared.plan),
    picture: () =>
      pictureOf({
        desired: prepared.desired.resources,
        records: prepared.state.resources,
        live: prepared.live,
        changes: prepared.plan.changes,
        orphans: [...prepared.state.orphans.values()],
        prices: prepared.desired.prices,
      }),
    async apply(grants, stop, emit) {
      const report = await projectOn(from).apply(prepared, {
        emit: (event) => emit(withMaskedWords(event, masked)),
        holder,
        stop,
        planId: planDigest(prepared, checkout, about),
        grants,
      });
      const { state } = openStoredState(await store.read(), store.location, prepared.state.lineage);
      const desired = destroy ? [] : prepared.desired.resources;
      return {
        report: withMaskedSteps(report, masked),
        outputs: outputsIn(state),
        picture: () =>
          pictureOf({
            desired,
            records: state.resources,
            changes: [],
            orphans: [...state.orphans.values()],
            prices: prepared.desired.prices,
          }),
      };
    },
  });

  return {
    leases: store.leases,
    files: filesOutside(checkout, [...files, ...beside.map(({ real }) => real)]),
    plan: async (signal) => plannedOn(store, await look(store, signal)),
    async underLock(signal, use) {
      const held = await holdStore(store, holder, "run", signal);
      try {
        await projectOn(held.store).settle(signal);
        return await use(await plannedOn(held.store, await look(held.store, signal)));
      } finally {
        await held.release().catch(() => undefined);
      }
    },
    close: () => service.client.close(),
  };
}

/** Those that are outside of the stack's folder and in its repository, from the root of that. */
function filesOutside({ root, folder }: Checkout, files: readonly string[]): readonly string[] {
  const roots = [root, realpathSync(root)];
  const home = relative(root, folder);
  const named = files.flatMap((file) =>
    roots.map((from) => relative(from, file)).filter((path) => !path.startsWith("..") && !isAbsolute(path)),
  );
  return [...new Set(named)].filter((path) => relative(home, path).startsWith("..")).sort();
}

/** What is wished, with the judges of another version of the file. */
const judgedBy = (law: Desired | undefined, desired: Closed): Closed =>
  law === undefined ? desired : closedWith(desired, { policy: law.policy, checks: law.checks, deny: law.deny });

/** What judges a plan of these files, and how they say that the service is spoken to. */
function judgesOf(workspace: Workspace, checkout: Checkout): string {
  const { policy, checks, deny, service } = workspace.desired;
  const { source: _, ...judge } = policy ?? { source: undefined };
  return canonicalJson({
    judge,
    beside: digestBeside(filesBeside(policy?.command, [], checkout)) ?? "",
    checks: withoutSources(checks),
    deny: withoutSources(deny),
    address: service.baseUrl ?? "",
    dialect: readDialectWith(workspace, {}).dialect,
  });
}

/** Where in the file something stands changes with every line above it. */
const withoutSources = (value: unknown): unknown =>
  JSON.parse(JSON.stringify(value ?? null, (key, one: unknown) => (key === "source" ? undefined : one)));

/** What the file itself forbids: a broken assertion, a failed check, its policy, a code that it denies. */
async function projectRefusals(
  given: Prepared,
  asked: PlanPlace,
  law: Desired | undefined,
): Promise<readonly Diagnostic[]> {
  const prepared = { ...given, desired: judgedBy(law, given.desired) };
  const { desired, plan } = prepared;
  const { trust } = asked.service;
  // What the file would have judged the plan with is not left out unseen: nobody reads the notes of a fleet.
  const unjudged = trust.closedBy === undefined ? [] : [{ code: "policy/not-run" }];
  const { findingsWith } = judgePlan(prepared, plan.diagnostics, {
    deny: [...(desired.deny ?? []), ...unjudged],
    strict: false,
  });
  const isJudged = !hasErrors(plan.diagnostics) && !isEmpty(plan);
  const answered = isJudged
    ? [...programsMissing(plan, trust, false), ...(await askPolicy(asked, prepared, findingsWith([])))]
    : [];
  return findingsWith(answered)
    .filter(({ refused }) => refused !== undefined)
    .map(findingAsDiagnostic);
}
