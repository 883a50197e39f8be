/** The fields of the table as properties of a program: `flavor_id` is `flavorId`. */

import type { FieldRow, Rows } from "../core/model/fields";
import { isOneOf, keysOf } from "../core/text/objects";
import type { Property, Props } from "./handler";
import { asProperty } from "./one-desired";

const types = { text: "string", remark: "string", name: "string", size: "integer", flag: "boolean" } as const;

type Camel<S extends string> = S extends `${infer Head}_${infer Tail}` ? `${Head}${Capitalize<Camel<Tail>>}` : S;
type PropertyName<F extends Rows> = Camel<F[keyof F]["field"]>;

/** The properties of a kind whose fields are all plain. `descriptions` take the place of the rows' own where users of programs need other words. */
export function rowProperties<F extends Rows>(
  rows: F,
  descriptions: Partial<Record<PropertyName<F>, string>>,
): Record<PropertyName<F>, Property> {
  const said: Readonly<Record<string, string | undefined>> = descriptions;
  const properties: Record<string, Property> = {};
  for (const row of Object.values(rows)) {
    const name = asProperty(row.field);
    properties[name] = { ...propertyOf(row), description: said[name] ?? row.about };
  }
  // One property for each row.
  return properties as Record<PropertyName<F>, Property>;
}

function propertyOf({ type, absent, effect, observed }: FieldRow): Omit<Property, "description"> {
  const plain = isOneOf(type, keysOf(types)) ? types[type] : undefined;
  return {
    type: plain ?? "string",
    required: absent !== "unset" && typeof absent === "string" ? true : undefined,
    onlyToCreate: (absent === "missing" || absent === "inherited") && observed !== true ? true : undefined,
    replaces: effect === "replace" ? true : undefined,
    values: typeof type === "string" ? undefined : type,
  };
}

export const propertyNames = (rows: Rows): string[] => Object.values(rows).map(({ field }) => asProperty(field));

/** The values of a desired state or a record, by the names of properties; absent values stay absent. */
export const propertyValues = <F extends Rows>(rows: F, values: { readonly [K in keyof F]?: unknown }): Props =>
  Object.fromEntries(
    Object.entries(rows).flatMap(([key, row]) => {
      const value = values[key];
      return value === undefined ? [] : [[asProperty(row.field), value] as const];
    }),
  );

/** The properties that may be left out and then have no value. */
export const optionalNames = (rows: Rows): string[] =>
  Object.values(rows)
    .filter(({ absent }) => absent === "unset")
    .map(({ field }) => asProperty(field));
