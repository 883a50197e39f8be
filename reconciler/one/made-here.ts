/** What this process has deleted, and made in its place. */
import { type Kind, kindRows } from "../core/model/kinds";
import type { HandlerService, Props } from "./handler";
import type { NamedId } from "./named-ids";
import { perClient } from "./per-client";

const gone = perClient(() => new Map<string, string>());
const successors = perClient(() => new Map<string, string>());
const takenOff = perClient(() => new Map<string, string>());
const replaced = perClient(() => new Set<string>());
const said = perClient(() => new Map<string, Props>());

/** Where an attachment of the program had it, this process has taken it off. */
export const noteTakenOff = (service: HandlerService, volumeId: string, vmId: string): void =>
  void takenOff(service).set(volumeId, vmId);

/** It has put it on a VM since. */
export const notePutOn = (service: HandlerService, volumeId: string): void => void takenOff(service).delete(volumeId);

/** The VM that this process has taken it off. */
export const takenOffFrom = (service: HandlerService, volumeId: string): string | undefined =>
  takenOff(service).get(volumeId);

/** Its difference has told that another one takes its place, and so that it goes. */
export const noteReplaced = (service: HandlerService, { kind, id }: NamedId): void =>
  void replaced(service).add(`${kind}:${id}`);

export const isReplaced = (service: HandlerService, { kind, id }: NamedId): boolean =>
  replaced(service).has(`${kind}:${id}`);

/** What its difference was asked for with: where the engine replaces it then, it goes as that says. */
export const noteSaid = (service: HandlerService, thing: string, inputs: Props): void =>
  void said(service).set(thing, inputs);

export const saidOf = (service: HandlerService, thing: string): Props | undefined => said(service).get(thing);

/** This process has deleted it. */
export const noteGone = (service: HandlerService, { kind, id }: NamedId, name: unknown): void =>
  void gone(service).set(`${kind} ${String(name)}`, id);

/** What has the name of something that this process has deleted is what that was replaced by. */
export function noteSuccessor(service: HandlerService, { kind, id }: NamedId, name: unknown): void {
  const former = gone(service).get(`${kind} ${String(name)}`);
  if (former !== undefined) successors(service).set(`${kind}:${former}`, id);
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
  const known = successors(service);
  const says = new Set<string>();
  const props: Record<string, unknown> = { ...inputs };
  for (const [property, kind] of Object.entries(named)) {
    const id = inputs[property];
    const next = known.get(`${kind}:${String(id)}`);
    if (next === undefined) continue;
    props[property] = next;
    says.add(
      `${kindRows[kind].fullNoun} ${String(id)} was replaced by ${next} in this run, whose targets leave out what hangs on it: it is made on ${next}`,
    );
  }
  return { props, says };
}
