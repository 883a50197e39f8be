/**
 * The product with one kind more: what a test puts in the place of the tables of kinds, of the emulator's rows and of
 * the validator that is compiled from the schema. Everything else is the product as it is.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { vi } from "vitest";
import type { KindDefinition } from "../../../reconciler/kinds/definition";

type Module = Record<string, unknown>;

/** For `reconciler/kinds/table`. */
export const tableWith = (
  original: typeof import("../../../reconciler/kinds/table"),
  kind: string,
  definition: KindDefinition,
): Module => ({ ...original, kindTable: { ...original.kindTable, [kind]: definition } });

/** For `emulator/entities` and `emulator/operation-rows`. */
export const entitiesWith = (original: typeof import("../../../emulator/entities"), kind: string): Module => ({
  ...original,
  entityKinds: [...original.entityKinds, kind],
});
export const rowsWith = (original: typeof import("../../../emulator/operation-rows"), rows: Module): Module => ({
  ...original,
  operationRows: { ...original.operationRows, ...rows },
});

/** What is used of two scripts that have no types. */
interface Compiler {
  createAjv(): import("ajv").default;
  withoutDescriptions(key: string, value: unknown): unknown;
}
interface KindRows {
  fillsOver(tables: object): { fillDesired(schema: object): void };
}

/** For `reconciler/config/generated/desired-state`: the schema as `npm run generate` would write it, compiled. */
export async function validatorWith(): Promise<Module> {
  const [{ createAjv, withoutDescriptions }, { fillsOver }, { fieldsOf, ignorable }, { kindRows }] = await Promise.all([
    vi.importActual<Compiler>("../../../scripts/ajv.mjs"),
    vi.importActual<KindRows>("../../../scripts/kind-rows.mjs"),
    vi.importActual<typeof import("../../../reconciler/core/model/fields")>("../../../reconciler/core/model/fields"),
    vi.importActual<typeof import("../../../reconciler/core/model/kinds")>("../../../reconciler/core/model/kinds"),
  ]);
  const path = join(__dirname, "../../../schemas/desired-state.schema.json");
  const schema = JSON.parse(readFileSync(path, "utf8"), withoutDescriptions);
  fillsOver({ fieldsOf, ignorable, kindRows }).fillDesired(schema);
  const validate = createAjv().compile(JSON.parse(JSON.stringify(schema), withoutDescriptions));
  return { problemsOf: (value: unknown) => (validate(value) ? [] : (validate.errors ?? [])) };
}
