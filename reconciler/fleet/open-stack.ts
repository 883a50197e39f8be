/** What a stack is opened with: its service and budget, the values from other stacks, and what its files may name. */

import type { Budget } from "./database/budget";
import type { StackRecord } from "./database/stacks";
import { mayRead, partOfPlace, type StackState } from "./may-read";
import type { FleetSettings, StackSpec, Tenant } from "./model";
import type { ProjectInput } from "./project";
import type { Ear } from "./silence";
import type { Checkout } from "./sources/checkout";
import type { RoundEnd } from "./status";

export interface OpeningPorts {
  readonly budgetOf: (service: string) => Budget | undefined;
  /** The last outputs of another stack; absent: that stack was never applied; null: the fleet has none of this name. */
  readonly outputsOf: (stack: string) => Promise<Readonly<Record<string, unknown>> | undefined | null>;
  /** Stacks of the fleet that depend on this one. */
  readonly dependentsOf: (stack: string) => Promise<readonly Pick<StackRecord, "name">[]>;
  /** The stacks of the fleet whose state's place holds this text. */
  readonly statesWith: (text: string) => Promise<readonly StackState[]>;
  /** The other stacks whose files are the same. */
  readonly siblingsOf: (stack: StackSpec) => Promise<readonly StackState[]>;
  readonly worker: string;
  /** Told of each request to the service. */
  readonly ear?: Pick<Ear, "asked" | "heard">;
}

export function projectInput(
  { stack, settings }: { readonly stack: StackRecord; readonly settings: FleetSettings },
  ports: OpeningPorts,
  checkout: Checkout,
  inputs: Inputs["values"],
): ProjectInput {
  const service = settings.services.find(({ name }) => name === stack.spec.service);
  // Its file may name another service, with the worker's own credential: that is not what was meant.
  if (service === undefined && stack.spec.service !== undefined)
    throw new Error(
      `the fleet's file has no service ${stack.spec.service} any more, and ${stack.name} is kept right at no other one: name the service again, or let the stack go (reconcile fleet sync)`,
    );
  const budget = service === undefined ? undefined : ports.budgetOf(service.name);
  const known = settings.tenants.find(({ name }) => name === stack.spec.tenant);
  const tenant: Partial<Tenant> = known ?? {};
  // A stack that stays although its tenant left the file is nobody's whom that trusts.
  const isLeft = known === undefined && stack.spec.tenant !== "default";
  const isClosed = (settings.tenants.length > 1 || isLeft) && tenant.trusted !== true;
  return {
    stack: stack.spec,
    checkout,
    inputs,
    destroy: stack.leaving,
    worker: ports.worker,
    closedBy: isClosed ? "a fleet of several tenants" : undefined,
    mayRead: async (location) => mayRead(location, stack.spec, tenant, await ports.statesWith(partOfPlace(location))),
    siblings: () => ports.siblingsOf(stack.spec),
    ear: ports.ear,
    service,
    budget,
  };
}

export type Inputs = {
  readonly values: Readonly<Record<string, unknown>>;
  readonly used: Readonly<Record<string, unknown>>;
};

export async function readInputs({ spec }: StackRecord, { outputsOf }: OpeningPorts): Promise<Inputs | RoundEnd> {
  const values: Record<string, unknown> = {};
  const used: Record<string, unknown> = {};
  const known = new Map<string, Readonly<Record<string, unknown>>>();
  for (const name of spec.dependsOn) {
    const outputs = await outputsOf(name);
    if (outputs === null)
      return blockedBy(name, `the fleet has no stack ${name}: write one that it has under depends_on and inputs`);
    if (outputs === undefined) return blockedBy(name, `the stack ${name} has not been applied yet`);
    known.set(name, outputs);
  }
  for (const [name, { stack, output }] of Object.entries(spec.inputs)) {
    const outputs = known.get(stack) ?? {};
    if (!Object.hasOwn(outputs, output))
      return {
        end: "failed",
        why: `the stack ${stack} has no output ${output}; it has ${Object.keys(outputs).sort().join(", ") || "none"}`,
      };
    values[name] = outputs[output];
    used[`${stack}.${output}`] = outputs[output];
  }
  return { values, used };
}

/**
 * A stack that is destroyed goes before the stacks that it depends on, and needs nothing of them any more: they may
 * have left as well. Its variables have the values that it used last.
 */
export async function inputsOfLeaving(
  { name, spec, outputsUsed }: StackRecord,
  { dependentsOf }: OpeningPorts,
): Promise<Inputs | RoundEnd> {
  const [dependent] = await dependentsOf(name);
  if (dependent !== undefined)
    return blockedBy(dependent.name, `the stack ${dependent.name} depends on it, and has to be gone first`);
  const known = Object.entries(spec.inputs).flatMap(([variable, { stack, output }]) => {
    const key = `${stack}.${output}`;
    return Object.hasOwn(outputsUsed, key) ? [[variable, outputsUsed[key]] as const] : [];
  });
  return { values: Object.fromEntries(known), used: outputsUsed };
}

const blockedBy = (stack: string, why: string): RoundEnd => ({
  end: "blocked",
  why,
  waitingFor: { what: "dependency", detail: stack },
});
