/** Which operations a deployment has, and one request against the world. The table itself is operation-rows.ts. */
import { type Decision, type Request, refusals } from "./decision";
import { operations } from "./operation-rows";

export { operations };

export type Operation = keyof typeof operations;

// The table has these keys and no others.
export const operationNames = Object.keys(operations) as readonly Operation[];

export const isOperation = (name: string): name is Operation => Object.hasOwn(operations, name);

/** Which operations this deployment has. */
export function chooseOperations(options: {
  readonly contractOnly?: boolean;
  readonly with?: readonly string[];
  readonly without?: readonly string[];
}): readonly Operation[] {
  return operationNames.filter((name) => {
    const { availability } = operations[name];
    if (options.without?.includes(name)) return false;
    if (options.with?.includes(name)) return true;
    return availability === "documented" || (availability === "assumed" && options.contractOnly !== true);
  });
}

/** One request against the world: the answer, and the changes that are its whole effect. */
export function decide(operation: Operation, request: Request): Decision {
  if (request.caller.projectId === undefined && operation !== "group.import")
    return refusals.forbidden("the caller belongs to no project");
  return operations[operation].decide(request);
}
