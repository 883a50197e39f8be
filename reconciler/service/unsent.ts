/** Refusals of a request that was not sent. */
import type { Operation } from "../core/model/operation";
import { type Rejection, rejected } from "../core/model/outcome";
import type { PagedOperation } from "../dialect/answers";

export const unsupported = (operation: Operation | PagedOperation): Rejection =>
  rejected(
    "unsupported",
    `this service has no ${operation}: the dialect does not name it`,
    `in the dialect: operations: { ${operation}: { method: …, path: … } }`,
  );

export const fieldMissing = (operation: Operation, fields: readonly string[]): Rejection =>
  rejected(
    "unsupported",
    `${operation} was not sent: the record shows nothing at ${fields.join(" or ")} that can stand there`,
    `correct {field:…} in the dialect's operations.${operation}`,
  );

export const invalidId = (operation: Operation | PagedOperation): Rejection =>
  rejected(
    "invalid_id",
    `${operation} was not sent: the id is empty, too long, no segment of a path, or holds what no id may hold`,
  );
