/**
 * The dialect of the twin: the operations that the real service's dialect has, at the addresses of the embedded
 * service; and the twin's records show no more than the real ones.
 */
import { operations } from "../../emulator/operations";
import { type Live, type LiveVm, shownOf } from "../core/model/live";
import { assumedOperations } from "../core/model/operation";
import type { Dialect } from "../dialect/dialect";
import { mergeDialect } from "../dialect/merge-dialect";

export function twinDialect(dialect: Dialect, live: Live): Dialect {
  const routes = Object.fromEntries(
    assumedOperations.map((operation) => {
      const { method, path } = operations[operation];
      return [operation, dialect.operations[operation] === null ? null : { method, path }];
    }),
  );
  const vms = shownOf(live, "vm");
  const { named_groups } = dialect.limits;
  const hidden = (["flavor", "image", "owner", "volumes"] as const satisfies readonly (keyof LiveVm)[]).filter(
    (field) => dialect.records.vm[field].length === 0 || (vms.length > 0 && vms.every((vm) => vm[field] === undefined)),
  );
  return mergeDialect({
    operations: routes,
    records: { vm: Object.fromEntries(hidden.map((field) => [field, []])) },
    rules: dialect.rules,
    limits: named_groups === undefined ? undefined : { named_groups },
  });
}

/** The operations that the embedded service must be told to have and to lack. */
export const twinOperations = (dialect: Dialect): { readonly with: string[]; readonly without: string[] } => ({
  with: assumedOperations.filter((operation) => dialect.operations[operation] !== null),
  without: assumedOperations.filter((operation) => dialect.operations[operation] === null),
});
