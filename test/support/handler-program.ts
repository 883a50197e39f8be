/**
 * A program of parts, brought up by the handlers alone in the order that Pulumi's engine keeps: check, diff, then same,
 * update, create or replace (old ones first where the handler says so, dependents before them), at last the deletes.
 */

import {
  type Handler,
  type HandlerContext,
  PartialFailure,
  type Props,
  unknownValue,
} from "../../reconciler/one/handler";
import { type DesiredPart, isPartReference } from "../../reconciler/one/parts";
import { handlers } from "../../reconciler/one/table";
import type { BenchWorld } from "./bench-world";

export interface ProgramResource {
  readonly part: DesiredPart;
  id: string;
  inputs: Props;
  outputs: Props;
}

export interface HandlerProgram {
  readonly resources: Map<string, ProgramResource>;
  readonly log: string[];
  /** What was done, such as `update vm.db`. */
  up(parts: readonly DesiredPart[]): Promise<string[]>;
  refresh(): Promise<void>;
}

export function contextFor(
  world: BenchWorld,
  log: string[] = [],
  signal = new AbortController().signal,
): HandlerContext {
  const { emit: _emit, ...service } = world.ports;
  return { service: async () => service, signal, log: (severity, message) => void log.push(`${severity}: ${message}`) };
}

export function createHandlerProgram(world: BenchWorld): HandlerProgram {
  const resources = new Map<string, ProgramResource>();
  const log: string[] = [];
  const context = contextFor(world, log);
  const handlerOf = (part: DesiredPart): Handler => handlers[part.type];

  /** Ids where they are known; what is about to be made again counts as not known yet. */
  const resolve = (value: unknown, renewed: ReadonlySet<string>): unknown => {
    if (isPartReference(value))
      return renewed.has(value.part) ? unknownValue : (resources.get(value.part)?.id ?? unknownValue);
    if (Array.isArray(value)) return value.map((item) => resolve(item, renewed));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, resolve(item, renewed)]));
  };

  const check = (part: DesiredPart, inputs: Props): Props => {
    const checked = handlerOf(part).check(inputs);
    if (checked.failures.length > 0) throw new Error(`${part.address}: ${JSON.stringify(checked.failures)}`);
    return checked.inputs;
  };

  async function remove(address: string, done: string[]): Promise<void> {
    const resource = resources.get(address)!;
    done.push(`delete ${address}`);
    await handlerOf(resource.part).delete(context, resource.id, resource.outputs);
    resources.delete(address);
  }

  async function create(part: DesiredPart, inputs: Props, done: string[]): Promise<void> {
    done.push(`create ${part.address}`);
    try {
      resources.set(part.address, { part, inputs, ...(await handlerOf(part).create(context, inputs)) });
    } catch (error) {
      if (error instanceof PartialFailure) resources.set(part.address, { part, inputs, ...error.kept });
      throw error;
    }
  }

  /** Everything that would have to be made again if `address` were, deepest first. */
  async function dependents(address: string): Promise<string[]> {
    const found: string[] = [];
    for (const [other, resource] of resources) {
      if (other === address || !mentions(resource.part.inputs, address)) continue;
      const inputs = resolve(resource.part.inputs, new Set([address])) as Props;
      const { replaces } = await handlerOf(resource.part).diff(
        context,
        resource.id,
        resource.outputs,
        check(resource.part, inputs),
      );
      if (replaces.length > 0) found.push(...(await dependents(other)), other);
    }
    return [...new Set(found)];
  }

  return {
    resources,
    log,
    async up(parts) {
      const done: string[] = [];
      const leftovers: ProgramResource[] = [];
      for (const part of parts) {
        const inputs = check(part, resolve(part.inputs, new Set()) as Props);
        const old = resources.get(part.address);
        if (old === undefined) {
          await create(part, inputs, done);
          continue;
        }
        const handler = handlerOf(part);
        const kept = ignoring(part, old, inputs);
        const difference = await handler.diff(context, old.id, old.outputs, kept);
        if (difference.changes.length === 0) resources.set(part.address, { ...old, part, inputs: kept });
        else if (difference.replaces.length === 0) {
          done.push(`update ${part.address}`);
          try {
            resources.set(part.address, {
              part,
              inputs: kept,
              ...(await handler.update(context, old.id, old.outputs, kept)),
            });
          } catch (error) {
            if (error instanceof PartialFailure) resources.set(part.address, { part, inputs: kept, ...error.kept });
            throw error;
          }
        } else if (difference.deleteBeforeReplace) {
          for (const dependent of await dependents(part.address)) await remove(dependent, done);
          await remove(part.address, done);
          await create(part, check(part, resolve(part.inputs, new Set()) as Props), done);
        } else {
          leftovers.push(old);
          await create(part, kept, done);
        }
      }
      const wanted = new Set(parts.map(({ address }) => address));
      for (const old of leftovers.reverse()) {
        done.push(`delete old ${old.part.address}`);
        await handlerOf(old.part).delete(context, old.id, old.outputs);
      }
      for (const address of [...resources.keys()].reverse()) {
        if (wanted.has(address)) continue;
        const { deletedWith } = resources.get(address)!.part;
        if (deletedWith !== undefined && !wanted.has(deletedWith)) resources.delete(address);
        else await remove(address, done);
      }
      return done;
    },
    async refresh() {
      for (const [address, resource] of resources) {
        const read = await handlerOf(resource.part).read(context, resource.id, resource.outputs);
        if (read === undefined) resources.delete(address);
        else resources.set(address, { ...resource, inputs: read.inputs, outputs: read.outputs });
      }
    },
  };
}

function mentions(value: unknown, address: string): boolean {
  if (isPartReference(value)) return value.part === address;
  return typeof value === "object" && value !== null && Object.values(value).some((item) => mentions(item, address));
}

const ignoring = (part: DesiredPart, old: ProgramResource, inputs: Props): Props =>
  Object.fromEntries(
    Object.entries(inputs).map(([name, value]) => [name, part.ignoreChanges.includes(name) ? old.inputs[name] : value]),
  );
