/** What the resources of a kind are to others, as the definitions in reconciler/kinds say it. */
import type { HangsOn, Relation } from "../../kinds/definition";
import { kindTable } from "../../kinds/table";
import type { Reference } from "./desired";
import { isKind, type Kind, kinds, perKind } from "./kinds";

type OnHost = HangsOn & { readonly kind: Kind };

const isHangsOn = (relation: Relation): relation is OnHost => relation.is === "hangs-on" && isKind(relation.kind);

const relationsOf = perKind((kind): readonly Relation[] => kindTable[kind].relations);

/** Where the resources of a kind hang; `undefined`: on nothing. */
export const hostOf = perKind((kind): OnHost | undefined => relationsOf[kind].find(isHangsOn));

/** The kinds that hang on each. */
export const hangersOf = perKind((host): readonly Kind[] => kinds.filter((kind) => hostOf[kind]?.kind === host));

const namesRelationsOf = (kind: Kind) =>
  relationsOf[kind].flatMap((relation) => (relation.is === "names" ? [relation] : []));

/** The word for a resource of the kind itself, where a field names others of its kind. */
export const selfWordOf = perKind((kind) => namesRelationsOf(kind).find((named) => named.kind === kind)?.itself);

/** No two of these kinds have one name in a project. */
export const isNamed = perKind((kind) => relationsOf[kind].some(({ is }) => is === "named"));

/** The fields whose texts may hold a value of another resource. */
export const readingFieldsOf = perKind((kind) =>
  relationsOf[kind].flatMap((relation) => (relation.is === "reads" ? relation.fields : [])),
);

const hosts = kinds.flatMap((kind) => hostOf[kind] ?? []);
const attaches: ReadonlySet<string> = new Set(hosts.map(({ attach }) => attach));
const detachOperations: ReadonlySet<string> = new Set(hosts.map(({ detach }) => detach));

export const isDetach = (operation: string): boolean => detachOperations.has(operation);

/** The host onto which a request puts something; `undefined`: it puts nothing anywhere. */
export const hostAttachedTo = (action: {
  readonly operation: string;
  readonly vm?: unknown;
  readonly host?: Reference;
}): Reference | undefined =>
  // The one kind with requests of its own that hangs names its host so.
  attaches.has(action.operation) ? (action.host ?? (action.vm as Reference)) : undefined;
