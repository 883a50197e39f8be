/**
 * The environments of one file have a state each. What one of them has is taken over by no other: both would change it
 * in turns. Their states are read only where a plan takes something over, or finds a name taken.
 */
import type { Desired } from "../core/model/desired";
import type { Diagnostic } from "../core/model/diagnostic";
import { fixText, toRun } from "../core/model/fix";
import type { Kind } from "../core/model/kinds";
import type { RecordedResource } from "../core/model/recorded";
import { readState } from "../core/state/text";
import { errorMessage } from "../core/text/errors";
import { onlyDefined } from "../core/text/objects";
import type { Prepared } from "../engine/plan";
import { openProtectedStore } from "../store/open";
import { stateLocation } from "./compose";
import type { Session } from "./session";
import type { Workspace } from "./workspace";

interface HeldResource {
  readonly environment: string;
  readonly record: RecordedResource;
}

interface Siblings {
  find(
    kind: Kind,
    by: { readonly id?: string | undefined; readonly name?: string | undefined },
  ): HeldResource | undefined;
  readonly warnings: readonly Diagnostic[];
}

/** Reads the states of the other environments, without a lock. */
async function readSiblings({ workspace, service, store, invocation }: Session): Promise<Siblings> {
  const held: HeldResource[] = [];
  const warnings: Diagnostic[] = [];
  for (const [environment, desired] of otherEnvironments(workspace)) {
    const { flags } = invocation;
    try {
      const location = stateLocation({ ...workspace, desired }, flags, false);
      if (location === store.location) continue;
      const insecureHttp = flags["insecure-http"] === true;
      const read = readState(await openProtectedStore(location, { environment: process.env, insecureHttp }).read(), "");
      if (!read.ok) throw new Error(read.problem);
      const { scope, resources } = read.state;
      if (scope !== undefined && scope.origin !== service.client.origin) continue;
      for (const record of resources.values()) held.push({ environment, record });
    } catch (error) {
      warnings.push({
        severity: "warning",
        code: "plan/sibling-unread",
        summary: `the state of the environment ${environment} could not be read, so nobody can say what it has: ${errorMessage(error)}`,
        fix: `make sure that what is taken over is not in it: reconcile state list --env ${environment}`,
      });
    }
  }
  return {
    find: (kind, { id, name }) =>
      held.find(
        ({ record }) =>
          record.kind === kind &&
          (id !== undefined ? record.id === id : record.id !== undefined && record.name?.toLowerCase() === name),
      ),
    warnings,
  };
}

/** The other environments that the files declare, as far as they can be read. */
function otherEnvironments({ desired: { environment }, given, readOthers }: Workspace): [string, Desired][] {
  if (environment === undefined) return [];
  return [...(readOthers?.(given) ?? [])].flatMap(([name, desired]): [string, Desired][] =>
    name === undefined || name === environment || desired === undefined ? [] : [[name, desired]],
  );
}

const wayOut = "put ${env} into the name, so that each environment has its own";

/** `isOpen`: it would be taken for what a create made whose answer was lost. It is the other's, so that made nothing. */
const isHeld = (address: string, id: string, { environment, record }: HeldResource, isOpen = false): Diagnostic => ({
  severity: "error",
  code: "plan/held-by-sibling",
  summary: `${address} cannot take ${id} over: it is ${record.address} of the environment ${environment}`,
  detail: "Two environments that have one resource change it in turns.",
  fix: isOpen ? `${fixText(toRun(["state resolve", address, "--not-created"]))}, and ${wayOut}` : wayOut,
  address,
});

/** Not read is not free: what only its name speaks for may be the other environment's. A person may name it by its id. */
const isUnread = (address: string, id: string, unread: readonly Diagnostic[]): Diagnostic => ({
  severity: "error",
  code: "plan/sibling-unread",
  summary: `${address} does not take ${id} over by its name: ${unread.map(({ summary }) => summary).join("; ")}`,
  fix: `make that state readable from here; or, where nobody else has it: ${fixText(toRun(["import", address, id]))}`,
  address,
});

/** The plan with an error for each resource that it would take from another environment. */
export async function refuseSiblings(session: Session, prepared: Prepared): Promise<Prepared> {
  const { plan, desired } = prepared;
  const taken = plan.changes.filter(({ action, id }) => action === "import" && id !== undefined);
  const isNameTaken = ({ code, address }: Diagnostic): boolean => code === "plan/name-taken" && address !== undefined;
  if (taken.length === 0 && !plan.diagnostics.some(isNameTaken)) return prepared;
  if (session.workspace.desired.environment === undefined) return prepared;
  const siblings = await readSiblings(session);
  const refused = taken.flatMap(({ address, kind, id = "", source }) => {
    const found = siblings.find(kind, { id });
    const isOpen = prepared.state.intents.has(address);
    if (found !== undefined) return [{ ...isHeld(address, id, found, isOpen), ...onlyDefined({ source }) }];
    const isNamed = desired.imports.some((one) => one.to === address && one.id !== undefined);
    return isOpen || isNamed || siblings.warnings.length === 0
      ? []
      : [{ ...isUnread(address, id, siblings.warnings), ...onlyDefined({ source }) }];
  });
  const wishes = new Map(desired.resources.map((resource) => [resource.address, resource]));
  const said = plan.diagnostics.map((diagnostic): Diagnostic => {
    const wish = wishes.get(diagnostic.address ?? "");
    if (!isNameTaken(diagnostic) || wish === undefined) return diagnostic;
    const found = siblings.find(wish.kind, { name: wish.name.toLowerCase() });
    if (found === undefined) return diagnostic;
    const { environment, record } = found;
    return {
      ...diagnostic,
      summary: `the name ${wish.name} is taken: ${record.address} of the environment ${environment} has it (${record.id})`,
      detail: "Two environments that have one resource change it in turns, so it is not taken over.",
      fix: wayOut,
    };
  });
  if (refused.length === 0 && siblings.warnings.length === 0 && said.every((one, at) => one === plan.diagnostics[at]))
    return prepared;
  return { ...prepared, plan: { ...plan, diagnostics: [...said, ...refused, ...siblings.warnings] } };
}

/** For `import`: the error where another environment has this resource; warnings where nobody can say. */
export async function heldBySibling(
  session: Session,
  kind: Kind,
  address: string,
  id: string,
): Promise<readonly Diagnostic[]> {
  if (session.workspace.desired.environment === undefined) return [];
  const { find, warnings } = await readSiblings(session);
  const found = find(kind, { id });
  return found === undefined ? warnings : [isHeld(address, id, found)];
}
