/** What this process has deleted, and made in its place. */
import { type Kind, kindRows } from "../core/model/kinds";
import type { HandlerService, Props } from "./handler";
import type { NamedId } from "./named-ids";

const gone = new WeakMap<HandlerService["client"], Map<string, string>>();
const successors = new WeakMap<HandlerService["client"], Map<string, string>>();

function inMap(of: typeof gone, { client }: HandlerService): Map<string, string> {
  const known = of.get(client) ?? new Map<string, string>();
  of.set(client, known);
  return known;
}

const takenOff = new WeakMap<HandlerService["client"], Set<string>>();

/** Where an attachment of the program had it, this process has taken it off; or has put it on a VM since. */
export function noteTakenOff({ client }: HandlerService, volumeId: string, isOff: boolean): void {
  const known = takenOff.get(client) ?? new Set<string>();
  takenOff.set(client, known);
  if (isOff) known.add(volumeId);
  else known.delete(volumeId);
}

export const isTakenOff = ({ client }: HandlerService, volumeId: string): boolean =>
  takenOff.get(client)?.has(volumeId) === true;

const replaced = new WeakMap<HandlerService["client"], Set<string>>();

/** Its difference has told that another one takes its place, and so that it goes. */
export function noteReplaced({ client }: HandlerService, { kind, id }: NamedId): void {
  const known = replaced.get(client) ?? new Set<string>();
  replaced.set(client, known.add(`${kind}:${id}`));
}

export const isReplaced = ({ client }: HandlerService, { kind, id }: NamedId): boolean =>
  replaced.get(client)?.has(`${kind}:${id}`) === true;

/** This process has deleted it. */
export const noteGone = (service: HandlerService, { kind, id }: NamedId, name: unknown): void =>
  void inMap(gone, service).set(`${kind} ${String(name)}`, id);

/** What has the name of something that this process has deleted is what that was replaced by. */
export function noteSuccessor(service: HandlerService, { kind, id }: NamedId, name: unknown): void {
  const former = inMap(gone, service).get(`${kind} ${String(name)}`);
  if (former !== undefined) inMap(successors, service).set(`${kind}:${former}`, id);
}

/**
 * The inputs of what is made anew because the VM or the group that it is of was replaced. Where the user's targets name
 * only that one, the engine deletes what hangs on it and makes it again with the former id.
 */
export function withSuccessors(
  service: HandlerService,
  inputs: Props,
  named: Readonly<Record<string, Kind>>,
): { readonly props: Props; readonly says: ReadonlySet<string> } {
  const known = successors.get(service.client);
  const says = new Set<string>();
  const props: Record<string, unknown> = { ...inputs };
  for (const [property, kind] of Object.entries(named)) {
    const id = inputs[property];
    const next = known?.get(`${kind}:${String(id)}`);
    if (next === undefined) continue;
    props[property] = next;
    says.add(
      `${kindRows[kind].fullNoun} ${String(id)} was replaced by ${next} in this run, whose targets leave out what hangs on it: it is made on ${next}`,
    );
  }
  return { props, says };
}
