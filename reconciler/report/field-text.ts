/** What a change of a field costs, from the table of fields, for people who are about to make the change. */

import { parseAddress } from "../core/model/address";
import { fieldsOf } from "../core/model/fields";
import { type Kind, kinds } from "../core/model/kinds";
import { nearestName } from "../core/text/nearest";
import { hang } from "./style";

export interface NamedField {
  readonly kind: Kind;
  readonly field: string;
  readonly about: string;
  readonly costs: string;
}

/**
 * Finds fields by `flavor_id`, `vm.flavor_id` or `vm.db.flavor_id`; an address means every field of its kind, and an
 * empty name every field.
 */
export function namedFields(name: string): readonly NamedField[] {
  const all = kinds.flatMap((kind) =>
    Object.values(fieldsOf[kind]).map(({ field, about, costs }): NamedField => ({ kind, field, about, costs })),
  );
  const last = name.slice(name.lastIndexOf(".") + 1);
  const [first = ""] = name.split(".");
  const kind = name.includes(".") ? (kinds.find((one) => one === first) ?? parseAddress(name)?.kind) : undefined;
  if (name === "") return all;
  if (kinds.some((one) => one === name)) return all.filter((row) => row.kind === name);
  const exact = all.filter((row) => row.field === last && (kind === undefined || row.kind === kind));
  if (exact.length > 0) return exact;
  const ofKind = all.filter((row) => row.kind === kind);
  const near = nearestName(
    last,
    ofKind.map(({ field }) => field),
  );
  return near === undefined ? ofKind : ofKind.filter(({ field }) => field === near);
}

export const fieldsText = (fields: readonly NamedField[], width: number): string =>
  fields
    .flatMap(({ kind, field, about, costs }) => [
      `${kind}.${field}`,
      ...hang("  ", about, width),
      ...hang("  a change   ", costs, width),
    ])
    .join("\n");

/** Fields of a file by their names in the schema. */
export const schemaFieldsText = (
  fields: readonly { readonly name: string; readonly about: string; readonly words: readonly string[] }[],
  width: number,
): string =>
  fields
    .flatMap(({ name, about, words }) => [
      name,
      ...(about === "" ? [] : hang("  ", about, width)),
      ...(words.length === 0 ? [] : hang("  one of     ", words.join(", "), width)),
    ])
    .join("\n");
