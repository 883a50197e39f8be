/**
 * The operations of the service: one row each, with everything that is known of it. Documented ones are in the contract,
 * so their method and path are facts; assumed ones exist where the dialect says so, and their method and path are what
 * is usual. The names are those that the dialect, the plan, the events and the emulator use.
 */
import type { groupCalls } from "../../kinds/group/calls";
import { kindTable } from "../../kinds/table";
import type { vmCalls } from "../../kinds/vm/calls";
import type { volumeCalls } from "../../kinds/volume/calls";
import { keysOf } from "../text/objects";
import type { OperationRow } from "./operation-row";

export type { Fallback, Method, RequestKind } from "./operation-row";

type CallsOfKinds = typeof vmCalls & typeof volumeCalls & typeof groupCalls;
// Each kind of the table has its calls there, and the type names them all.
const operationsOfKinds: CallsOfKinds = Object.assign({}, ...keysOf(kindTable).map((kind) => kindTable[kind].calls));

export const operations = {
  ...operationsOfKinds,
  "flavor.list": listOfCatalogue(
    "flavor",
    "Flavors",
    "Lists the flavors (instance sizes).",
    "A flavor's name cannot be resolved to its id.",
  ),
  "image.list": listOfCatalogue(
    "image",
    "Images",
    "Lists the base images.",
    "An image's name cannot be resolved to its id.",
  ),
  "region.list": listOfCatalogue("region", "Regions", "Lists the regions.", "A region's name cannot be checked."),
} as const satisfies Readonly<Record<string, OperationRow>>;

function listOfCatalogue<
  const One extends string,
  const Many extends string,
  const About extends string,
  const Cost extends string,
>(one: One, many: Many, about: About, cost: Cost) {
  const instead = "Nothing is checked before a create, and the name is compared with the one applied last.";
  return {
    method: "GET",
    path: `/api/v1/${one}/list`,
    kind: "read",
    call: `list${many}`,
    assumed: { builtIn: true, ability: `lists${many}`, about, cost, instead },
    items: ["", "/items", `/${one}s`, "/results"],
    alsoAt: [`/api/v1/${one}`, `/api/v1/${one}s`],
  } as const;
}

type OperationRows = typeof operations;

export type Operation = keyof OperationRows;
export type AssumedOperation = {
  [O in Operation]: OperationRows[O] extends { assumed: object } ? O : never;
}[Operation];
export type DocumentedOperation = Exclude<Operation, AssumedOperation>;
export type ListOperation = { [O in Operation]: OperationRows[O] extends { items: object } ? O : never }[Operation];

/** The names under which decisions ask for an operation, each with it. */
export type AbilityOperations = {
  readonly [O in Operation as OperationRows[O] extends { assumed: { ability: infer A extends string } } ? A : never]: O;
};
export type Ability = keyof AbilityOperations;

/** The operations of which a request is an id alone, by the methods that send them. */
export type CallsById = {
  readonly [O in Operation as OperationRows[O] extends { sends: "id" } ? OperationRows[O]["call"] : never]: O;
};

export const operationNames = keysOf(operations);

export const rowOf = (operation: Operation): OperationRow => operations[operation];

export const isAssumed = (operation: Operation): operation is AssumedOperation =>
  rowOf(operation).assumed !== undefined;

export const isList = (operation: Operation): operation is ListOperation => rowOf(operation).items !== undefined;

export const assumedOperations = operationNames.filter(isAssumed);
export const documentedOperations = operationNames.filter(
  (operation): operation is DocumentedOperation => !isAssumed(operation),
);
export const listOperations = operationNames.filter(isList);

export const abilityOperations: ReadonlyMap<Ability, Operation> = new Map(
  operationNames.flatMap((operation) => {
    // The type has the same names from the same rows.
    const ability = rowOf(operation).assumed?.ability as Ability | undefined;
    return ability === undefined ? [] : [[ability, operation] as const];
  }),
);

/** The ids that a request of it has to carry. */
export const idsInPath = (operation: Operation): readonly string[] =>
  [...rowOf(operation).path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? "");
