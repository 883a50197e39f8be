/**
 * Each resource as the files want it, beside what the service shows, with the differences marked. The plan says what
 * differs; texts are not compared, because a flavor's name and its id mean the same flavor.
 */

import type { Change } from "../core/diff/changes";
import { type Address, compareAddresses, type Kind } from "../core/model/address";
import type { DesiredResource } from "../core/model/desired";
import { valueSeen } from "../core/model/evidence";
import { addressesByIdentity, lookUpIn } from "../core/model/identity";
import { type Live, sight } from "../core/model/live";
import type { RecordedResource } from "../core/model/recorded";
import { sideRows } from "./kind-words";
import { valueText } from "./style";
import { type SideRow, short } from "./told-rows";

export interface Side {
  readonly address: Address;
  readonly kind: Kind;
  /** Absent when the resource is as the files want it. */
  readonly action?: Change["action"];
  /** The reason of the change in one sentence. */
  readonly because?: string;
  /** not_there: nothing was made yet; gone: the resource existed before; unseen: nobody could look. */
  readonly live: "seen" | "not_there" | "gone" | "unseen";
  readonly rows: readonly SideRow[];
}

export interface SidesInput {
  readonly desired: readonly DesiredResource[];
  readonly records: ReadonlyMap<Address, RecordedResource>;
  /** Absent when nobody looked since the records were written. */
  readonly live?: Live;
  readonly changes: readonly Change[];
}

export function sidesOf({ desired, records, live, changes }: SidesInput): Side[] {
  const wanted = new Map(desired.map((resource) => [resource.address, resource]));
  const changed = new Map(changes.map((change) => [change.address, change]));
  const addressOf = lookUpIn(addressesByIdentity(records.values()));
  const addresses = [...new Set([...wanted.keys(), ...records.keys(), ...changed.keys()])].sort(compareAddresses);
  return addresses.flatMap((address): Side[] => {
    const change = changed.get(address);
    const record = records.get(change?.movedFrom ?? address) ?? records.get(address);
    const goes = change?.action === "delete" || change?.action === "forget";
    const want = goes ? undefined : wanted.get(address);
    const kind = want?.kind ?? record?.kind ?? change?.kind;
    if (kind === undefined) return [];
    const id = change?.id ?? record?.id;
    const sighting = id === undefined || live === undefined ? undefined : sight(live, kind, id);
    const shown = valueSeen(sighting);
    const rows = sideRows(kind, { want, record, shown, catalogue: live?.catalogue ?? {}, addressOf });
    return [
      {
        address,
        kind,
        ...(change === undefined ? {} : { action: change.action, because: short(change.because) }),
        live: seenAs(sighting?.seen, id, live),
        rows: markedRows(rows, change),
      },
    ];
  });
}

function seenAs(seen: "yes" | "gone" | "unobserved" | undefined, id: string | undefined, live: Live | undefined) {
  if (id === undefined) return "not_there";
  if (live === undefined || seen === undefined) return "unseen";
  return seen === "yes" ? "seen" : seen === "gone" ? "gone" : "unseen";
}

/** The rows with the differences that the plan has. The plan has a rule as its text. */
function markedRows(rows: readonly SideRow[], change: Change | undefined): SideRow[] {
  if (change === undefined) return [...rows];
  if (change.action === "create" || change.action === "delete") return rows.map((one) => ({ ...one, differs: true }));
  const fields = new Map(change.fields.filter(({ field }) => field !== "rules").map((one) => [one.field, one]));
  const rules = new Set(
    change.fields.flatMap(({ field, before, after }) =>
      field === "rules" ? [before, after].flatMap((text) => (typeof text === "string" ? [short(text)] : [])) : [],
    ),
  );
  return rows.map((one): SideRow => {
    if (one.field === "rule") {
      const differs = [one.desired, one.live].some((text) => text !== undefined && rules.has(text));
      return differs && (one.desired === undefined || one.live === undefined) ? { ...one, differs: true } : one;
    }
    const field = fields.get(one.field);
    if (field === undefined) return one;
    const { live: _, recorded: __, ...rest } = one;
    return {
      ...rest,
      live: field.before === null ? undefined : short(valueText(one.field, field.before)),
      differs: true,
    };
  });
}
