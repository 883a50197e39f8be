/** Which operations a deployment has, and one request against the world. The table itself is operation-rows.ts. */
import { type Reply, type Request, refusals } from "./decision";
import { operationRows } from "./operation-rows";

export { operationRows as operations };

export type EmulatorOperation = keyof typeof operationRows;

// The table has these keys and no others.
export const emulatorOperations = Object.keys(operationRows) as readonly EmulatorOperation[];

export const isOperation = (name: string): name is EmulatorOperation => Object.hasOwn(operationRows, name);

/** Which operations this deployment has. */
export const chooseOperations = (options: {
  readonly contractOnly?: boolean;
  readonly with?: readonly string[];
  readonly without?: readonly string[];
}): readonly EmulatorOperation[] =>
  emulatorOperations.filter((name) => {
    const { availability } = operationRows[name];
    if (options.without?.includes(name)) return false;
    if (options.with?.includes(name)) return true;
    return availability === "documented" || (availability === "assumed" && options.contractOnly !== true);
  });

/** One request against the world: the answer, and the changes that are its whole effect. */
export function decideOperation(operation: EmulatorOperation, request: Request): Reply {
  if (request.caller.projectId === undefined && operation !== "group.import")
    return refusals.forbidden("the caller belongs to no project");
  return operationRows[operation].decide(request);
}
