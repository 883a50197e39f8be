/**
 * What was declared before a run, as far as the records say it: the desired state of an `undo`. How the tool behaves
 * (lifecycle, flush, rules_mode) is as the file says it today, where the file still declares the resource.
 */
import type { Address } from "../model/address";
import type { Desired, DesiredResource } from "../model/desired";
import type { Diagnostic } from "../model/diagnostic";
import { fieldsOf } from "../model/fields";
import type { RecordedResource } from "../model/recorded";
import { withReferences } from "../model/references";
import { recordAsDesired } from "./as-recorded";

export interface Undo {
  readonly desired: Desired;
  readonly diagnostics: readonly Diagnostic[];
}

/** `present`: what the state has now. A resource that is not in it would be created again. */
export function desiredBefore(
  before: ReadonlyMap<Address, RecordedResource>,
  present: ReadonlyMap<Address, RecordedResource>,
  current: Desired,
): Undo {
  const addresses = new Map<string, Address>();
  for (const { id, address } of before.values()) if (id !== undefined) addresses.set(id, address);
  const declared = new Map(current.resources.map((resource) => [resource.address, resource]));
  const diagnostics: Diagnostic[] = [];
  const resources = [...before.values()].map((record) => {
    const wish = namedByAddress(recordAsDesired(record), addresses);
    if (!present.has(record.address)) diagnostics.push(...notKnown(wish));
    return withBehaviour(wish, declared.get(record.address));
  });
  const { imports: _, moved: __, removed: ___, ...rest } = current;
  return { desired: { ...rest, resources, imports: [], moved: [], removed: [], files: [] }, diagnostics };
}

/** The id of that time may have changed by now; the address has not. */
const namedByAddress = (wish: DesiredResource, addresses: ReadonlyMap<string, Address>): DesiredResource =>
  withReferences(wish, (reference) => {
    const address = "id" in reference ? addresses.get(reference.id) : undefined;
    return address === undefined ? reference : { address };
  });

function withBehaviour(wish: DesiredResource, now: DesiredResource | undefined): DesiredResource {
  const unknown = wish.lifecycle.ignoreChanges;
  /** The lifecycle that the file says today, without comparing what no record knew. */
  const behaving = <L extends DesiredResource["lifecycle"]>(lifecycle: L): L => ({
    ...lifecycle,
    ignoreChanges: joined(lifecycle.ignoreChanges, unknown),
  });
  const command = now === undefined || !("commandFile" in now) ? {} : { commandFile: now.commandFile };
  switch (wish.kind) {
    case "vm": {
      if (now?.kind === "vm") return { ...wish, lifecycle: behaving(now.lifecycle), ...command, source: now.source };
      const verifyResize = { confirm: "auto", timeoutMs: 120_000, onFailure: "revert" } as const;
      return { ...wish, lifecycle: { ...wish.lifecycle, verifyResize } };
    }
    case "volume":
      if (now?.kind !== "volume") return wish;
      return { ...wish, flush: now.flush, lifecycle: behaving(now.lifecycle), ...command, source: now.source };
    case "group":
      if (now?.kind !== "group") return wish;
      return { ...wish, rulesMode: now.rulesMode, lifecycle: behaving(now.lifecycle), source: now.source };
    default:
      return wish satisfies never;
  }
}

const joined = (a: readonly string[], b: readonly string[]): string[] => [...new Set([...a, ...b])];

/** A field that no record knew cannot be restored. */
function notKnown(wish: DesiredResource): Diagnostic[] {
  const needed = Object.values(fieldsOf[wish.kind]).filter(
    ({ absent }) => absent === "missing" || absent === "inherited",
  );
  const missing = needed.map(({ field }) => field).filter((field) => wish.lifecycle.ignoreChanges.includes(field));
  if (missing.length === 0) return [];
  return [
    {
      severity: "error",
      code: "undo/not-known",
      summary: `${wish.address} cannot be made again: the state never knew its ${missing.join(", ")}`,
      fix: `--exclude ${wish.address}, or declare it in the file and apply that`,
      address: wish.address,
    },
  ];
}
