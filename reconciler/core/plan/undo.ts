/**
 * What was declared before a run, as far as the records say it: the desired state of an `undo`. How the tool behaves
 * (lifecycle, flush, rules_mode) is as the file says it today, where the file still declares the resource.
 */
import type { Change } from "../diff/changes";
import type { Address } from "../model/address";
import { type Closed, closedWith, type DesiredResource } from "../model/desired";
import type { Diagnostic } from "../model/diagnostic";
import { behavingAsDeclared, recordAsDesired, withReferences } from "../model/facts";
import { fieldsOf } from "../model/fields";
import { source } from "../model/kind-facts";
import type { Kind } from "../model/kinds";
import type { RecordedByKind, RecordedResource } from "../model/recorded";
import type { Consent } from "./consent";
import type { Plan } from "./plan";

export interface Undo {
  readonly desired: Closed;
  readonly diagnostics: readonly Diagnostic[];
}

/** `present`: what the state has now. A resource that is not in it would be created again. */
export function desiredBefore(
  before: ReadonlyMap<Address, RecordedResource>,
  present: ReadonlyMap<Address, RecordedResource>,
  current: Closed,
): Undo {
  const addresses = new Map<string, Address>();
  for (const { id, address } of before.values()) if (id !== undefined) addresses.set(id, address);
  const declared = new Map(current.resources.map((resource) => [resource.address, resource]));
  const diagnostics: Diagnostic[] = [];
  const resources = [...before.values()].map((record) => {
    const wish = namedByAddress(recordAsDesired(record), addresses);
    if (!present.has(record.address)) diagnostics.push(...notKnown(wish));
    return behavingAsDeclared(wish, declared.get(record.address));
  });
  const moved = movedSince(before, present);
  return { desired: closedWith(current, { resources, imports: [], moved, removed: [], files: [] }), diagnostics };
}

/** What had another address then goes back to that one: nothing is deleted and made for it. */
function movedSince(
  before: ReadonlyMap<Address, RecordedResource>,
  present: ReadonlyMap<Address, RecordedResource>,
): Closed["moved"] {
  const then = new Map(
    [...before.values()].flatMap((one) => (one.id === undefined ? [] : [[`${one.kind}:${one.id}`, one.address]])),
  );
  return [...present.values()].flatMap(({ kind, id, address: from }) => {
    const to = then.get(`${kind}:${id}`);
    return to === undefined || to === from || before.has(from) || present.has(to) ? [] : [{ from, to, source }];
  });
}

/** What a resource held that comes back empty. A kind that is not named here holds nothing. */
const holds: { readonly [K in Kind]?: (former: RecordedByKind[K]) => string } = {
  vm: ({ name, id }) => `VM ${name} (${id}) with its disks`,
  volume: ({ name, id, sizeGb }) => `volume ${name} (${id}, ${sizeGb} GB)`,
};
// The kind goes beside the record: from that the compiler sees that both are of one kind.
const emptied = <K extends Kind>(kind: K, former: RecordedByKind[K]) => holds[kind]?.(former);

/**
 * The plan back to what was before a run: each change says so. What is made again comes back empty: it takes the consent
 * that a resource takes which vanished by itself.
 */
export function wayBackPlan(
  planned: Plan,
  { before, run }: { before: ReadonlyMap<Address, RecordedResource>; run: string },
): Plan {
  const plan = {
    ...planned,
    changes: planned.changes.map((change) => ({ ...change, ...undoing(change, run) })),
    diagnostics: planned.diagnostics.map((one) =>
      one.code === "plan/shrink"
        ? { ...one, fix: `--exclude ${one.address} undoes the rest; the volume keeps its size` }
        : one,
    ),
  };
  const asked = new Set(plan.consents.flatMap(({ kind, address }) => (kind === "recreate" ? [address] : [])));
  const returns = plan.changes.flatMap(({ action, address }): Consent[] => {
    const former = before.get(address);
    if (action !== "create" || former?.id === undefined || asked.has(address)) return [];
    const what = emptied(former.kind, former);
    if (what === undefined) return [];
    return [
      {
        kind: "recreate",
        address,
        detail: `${address} would be made anew: ${what} was deleted, and what was on it does not come back; it comes back empty`,
        grant: `--recreate ${address} (or all)`,
      },
    ];
  });
  return returns.length === 0 ? plan : { ...plan, consents: [...plan.consents, ...returns] };
}

function undoing({ reason, fields, because }: Change, run: string): Pick<Change, "because" | "source"> {
  const names = [...new Set(fields.map(({ field }) => field))].join(", ");
  const isOfRun = reason === "declared" || reason === "changed" || reason === "removed";
  return isOfRun ? { because: `undoes run ${run}${names === "" ? "" : `: ${names}`}`, source: undefined } : { because };
}

/** The id of that time may have changed by now; the address has not. */
const namedByAddress = (wish: DesiredResource, addresses: ReadonlyMap<string, Address>): DesiredResource =>
  withReferences(wish, (reference) => {
    const address = "id" in reference ? addresses.get(reference.id) : undefined;
    return address === undefined ? reference : { address };
  });

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
