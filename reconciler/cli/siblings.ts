/**
 * The environments of one file have a state each, and so have the stacks of a fleet whose files are the same. What one
 * of them has is taken over by no other: both would change it in turns. The states of the others are read only where a
 * plan takes something over, or finds a name taken.
 */
import type { Change } from "../core/diff/changes";
import type { Desired } from "../core/model/desired";
import type { Diagnostic } from "../core/model/diagnostic";
import { idsKeptBy } from "../core/model/facts";
import { fixText, toRun } from "../core/model/fix";
import { identity, identityKey } from "../core/model/identity";
import type { Kind } from "../core/model/kinds";
import type { RecordedResource } from "../core/model/recorded";
import { readState } from "../core/state/text";
import { errorMessage } from "../core/text/errors";
import { inParallel } from "../core/text/in-parallel";
import type { Prepared } from "../engine/plan";
import { openProtectedStore } from "../store/open";
import type { StoredState } from "../store/store";
import { stateLocation } from "./compose";
import type { Session } from "./session";
import type { Workspace } from "./workspace";

/** What has a state of its own beside this one. */
export interface Sibling {
  readonly name: string;
  /** Reads its state, without a lock; undefined: it is the one that is planned on. */
  readonly read: () => Promise<StoredState | undefined>;
}

export interface Family {
  readonly one: "environment" | "stack";
  /** Of the service that is planned on: the same id at another one is something else. */
  readonly origin: string;
  readonly others: () => Promise<readonly Sibling[]> | readonly Sibling[];
}

interface HeldResource {
  readonly sibling: string;
  readonly record: RecordedResource;
}

interface Siblings {
  find(
    kind: Kind,
    by: { readonly id?: string | undefined; readonly name?: string | undefined },
  ): HeldResource | undefined;
  readonly lineages: ReadonlySet<string>;
  readonly warnings: readonly Diagnostic[];
}

/** So many states are read at once. */
const readsAtOnce = 8;

export async function readSiblings({ one, origin, others }: Family): Promise<Siblings> {
  const held: HeldResource[] = [];
  const lineages = new Set<string>();
  const warnings: Diagnostic[] = [];
  const readOne = async ({ name, read: readStored }: Sibling): Promise<void> => {
    try {
      const stored = await readStored();
      if (stored === undefined) return;
      const read = readState(stored, "");
      if (!read.ok) throw new Error(read.problem);
      const { lineage, scope, resources } = read.state;
      lineages.add(lineage);
      if (scope !== undefined && scope.origin !== origin) return;
      for (const record of resources.values()) held.push({ sibling: `${one} ${name}`, record });
    } catch (error) {
      const look = one === "environment" ? `reconcile state list --env ${name}` : `reconcile fleet show ${name}`;
      warnings.push({
        severity: "warning",
        code: "plan/sibling-unread",
        summary: `the state of the ${one} ${name} could not be read, so nobody can say what it has: ${errorMessage(error)}`,
        fix: `make sure that what is taken over is not in it: ${look}`,
      });
    }
  };
  await inParallel(await others(), readsAtOnce, readOne);
  return {
    find: (kind, { id, name }) =>
      held.find(
        ({ record }) =>
          (record.kind === kind &&
            (id !== undefined ? record.id === id : record.id !== undefined && record.name?.toLowerCase() === name)) ||
          (id !== undefined && idsKeptBy(record).includes(identityKey(identity(kind, id)))),
      ),
    lineages,
    warnings,
  };
}

/** The other environments that the files declare, as far as they can be read. */
export const environmentsOf = ({ workspace, service, store, invocation: { flags } }: Session): Family => ({
  one: "environment",
  origin: service.client.origin,
  others: () =>
    otherEnvironments(workspace).map(([name, desired]) => ({
      name,
      read: async () => {
        const location = stateLocation({ ...workspace, desired }, flags, false);
        const insecureHttp = flags["insecure-http"] === true;
        if (location === store.location) return undefined;
        return openProtectedStore(location, { environment: process.env, insecureHttp }).read();
      },
    })),
});

function otherEnvironments({ desired: { environment }, given, readOthers }: Workspace): [string, Desired][] {
  if (environment === undefined) return [];
  return [...(readOthers?.(given) ?? [])].flatMap(([name, desired]): [string, Desired][] =>
    name === undefined || name === environment || desired === undefined ? [] : [[name, desired]],
  );
}

const wayOut = (one: Family["one"]): string => `put \${env} into the name, so that each ${one} has its own`;
const inTurns = (one: Family["one"]): string => `Two ${one}s that have one resource change it in turns`;

/**
 * `by`: what it would be taken over by. What an import names is somebody's word, which another name of the resource does
 * not change; an open create whose answer was lost would take it for what it made, and it is the other's, so that made
 * nothing.
 */
function isHeld(
  one: Family["one"],
  address: string,
  id: string,
  { sibling, record }: HeldResource,
  by: "import" | "open" | "name",
): Diagnostic {
  const fixes = {
    import: `import another one, or take the imports entry out: this one stays with the ${sibling}`,
    open: `${fixText(toRun(["state resolve", address, "--not-created"]))}, and ${wayOut(one)}`,
    name: wayOut(one),
  };
  const as = record.id === id ? record.address : `the own data volume of ${record.address}`;
  return {
    severity: "error",
    code: "plan/held-by-sibling",
    summary: `${address} cannot take ${id} over: it is ${as} of the ${sibling}`,
    detail: `${inTurns(one)}.`,
    fix: fixes[by],
    address,
  };
}

/** Not read is not free: what only its name speaks for may be a sibling's. A person may name it by its id. */
const isUnread = (address: string, id: string, unread: readonly Diagnostic[]): Diagnostic => ({
  severity: "error",
  code: "plan/sibling-unread",
  summary: `${address} does not take ${id} over by its name: ${unread.map(({ summary }) => summary).join("; ")}`,
  fix: `make that state readable from here; or, where nobody else has it: ${fixText(toRun(["import", address, id]))}`,
  address,
});

/** The plan with an error for each resource that it would take from a sibling. */
export async function refuseSiblings(family: Family, prepared: Prepared): Promise<Prepared> {
  const { one } = family;
  const { plan, desired } = prepared;
  // Whatever becomes of it: also one that is replaced or deleted is taken over before.
  const isTaken = ({ address, movedFrom = address, id }: Change): boolean =>
    id !== undefined && prepared.state.resources.get(movedFrom)?.id !== id;
  const taken = plan.changes.filter(isTaken);
  const isNameTaken = ({ code, address }: Diagnostic): boolean => code === "plan/name-taken" && address !== undefined;
  if (taken.length === 0 && !plan.diagnostics.some(isNameTaken)) return prepared;
  const siblings = await readSiblings(family);
  const refused = taken.flatMap(({ address, kind, id = "", source }) => {
    const found = siblings.find(kind, { id });
    const isOpen = prepared.state.intents.has(address);
    const wanted = desired.imports.find(({ to }) => to === address);
    const by = isOpen ? "open" : wanted === undefined ? "name" : "import";
    if (found !== undefined) return [{ ...isHeld(one, address, id, found, by), source }];
    return isOpen || wanted?.id !== undefined || siblings.warnings.length === 0
      ? []
      : [{ ...isUnread(address, id, siblings.warnings), source }];
  });
  const wishes = new Map(desired.resources.map((resource) => [resource.address, resource]));
  const said = plan.diagnostics.map((diagnostic): Diagnostic => {
    const wish = wishes.get(diagnostic.address ?? "");
    if (!isNameTaken(diagnostic) || wish === undefined) return diagnostic;
    const found = siblings.find(wish.kind, { name: wish.name.toLowerCase() });
    if (found === undefined) return diagnostic;
    const { sibling, record } = found;
    return {
      ...diagnostic,
      summary: `the name ${wish.name} is taken: ${record.address} of the ${sibling} has it (${record.id})`,
      detail: `${inTurns(one)}, so it is not taken over.`,
      fix: wayOut(one),
    };
  });
  const isAsBefore = said.every((diagnostic, at) => diagnostic === plan.diagnostics[at]);
  if (refused.length === 0 && siblings.warnings.length === 0 && isAsBefore) return prepared;
  return { ...prepared, plan: { ...plan, diagnostics: [...said, ...refused, ...siblings.warnings] } };
}

/** For `import`: the error where another environment has this resource; warnings where nobody can say. */
export async function heldBySibling(
  session: Session,
  kind: Kind,
  address: string,
  id: string,
): Promise<readonly Diagnostic[]> {
  const family = environmentsOf(session);
  const { find, warnings } = await readSiblings(family);
  const found = find(kind, { id });
  return found === undefined ? warnings : [isHeld(family.one, address, id, found, "import")];
}
