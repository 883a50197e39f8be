/**
 * The engine's client directly on an emulated world: the same answers, read by the same code, without HTTP and without
 * waiting.
 */

import type { Reply } from "../../emulator/decision";
import { abilitiesOf } from "../core/model/abilities";
import { type ListOperation, type Operation, operations } from "../core/model/operation";
import { accepted, type Outcome } from "../core/model/outcome";
import { operationOfList, type PagedOperation } from "../dialect/answers";
import { builtInDialect } from "../dialect/built-in";
import { judgeAnswer } from "../dialect/conditions";
import type { Dialect } from "../dialect/dialect";
import { type Reading, readAll } from "../dialect/reading";
import { createRecordReaders } from "../dialect/records";
import type { Ids } from "../dialect/requests";
import { callsOver, type OneRequest } from "../service/calls";
import type { ServiceClient } from "../service/client";

/** A world that takes calls; each call is one decision. */
export interface WorldCalls {
  nowMs: number;
  call(
    operation: Operation,
    body?: unknown,
    options?: { readonly id?: string; readonly ruleId?: string; readonly query?: string },
  ): Reply;
}

/**
 * The caller says which operations are served now; the answers are read by the built-in dialect with every list that it
 * knows.
 */
const listRoute = (name: ListOperation) => ({
  method: "GET" as const,
  path: `/${name}`,
  items: operations[name].items,
});
const dialect = {
  ...builtInDialect,
  operations: {
    ...builtInDialect.operations,
    "volume.list": listRoute("volume.list"),
    "group.list": listRoute("group.list"),
  },
};
const recordReaders = createRecordReaders(dialect);

/** What a dialect says of the service itself. */
export type ServiceForm = Pick<Dialect, "rules" | "limits">;

export function inProcessClient(
  emulated: WorldCalls,
  has: (operation: Operation) => boolean,
  holdUntil: (ms: number) => Promise<void>,
  { rules, limits }: ServiceForm = builtInDialect,
): ServiceClient {
  const send = <T>(
    operation: Operation,
    request: OneRequest,
    reader: (payload: unknown) => Reading<T>,
  ): Promise<Outcome<T>> => call(operation, request, (body) => reader(recordReaders.payload(operation, body)));

  async function call<T>(
    operation: Operation,
    request: OneRequest,
    reader: (body: unknown) => Reading<T>,
  ): Promise<Outcome<T>> {
    if (!has(operation)) return { status: "rejected", condition: "unsupported", message: `no ${operation}` };
    // Values that JSON leaves out are not sent.
    const body = request.body === undefined ? undefined : JSON.parse(JSON.stringify(request.body));
    const { id, rule_id: ruleId } = request.ids ?? {};
    const decision = emulated.call(operation, body, { id, ruleId, query: request.query?.replace(/^\?/, "") });
    if (decision.holdUntil !== undefined) await holdUntil(decision.holdUntil);
    const outcome = judgeAnswer(
      operation,
      { status: decision.status, text: JSON.stringify(decision.body) ?? "" },
      { errors: dialect.errors, nowMs: emulated.nowMs, scrub: (text) => text },
    );
    return outcome.status === "accepted" ? reader(outcome.value) : outcome;
  }
  const list = async <T extends { readonly id: string }>(
    operation: PagedOperation,
    ids: Ids,
    readRecord: (record: unknown) => Reading<T>,
  ): Promise<Outcome<readonly T[]>> => {
    const all: T[] = [];
    for (let page: string | undefined = ""; page !== undefined; ) {
      let next: string | undefined;
      const outcome: Outcome<readonly T[]> = await call(operationOfList(operation), { ids, query: page }, (body) => {
        next = recordReaders.nextPage(operation, body);
        const found = recordReaders.page(operation, body, {});
        return found.status === "accepted" ? readAll(found.value.items, readRecord) : found;
      });
      if (outcome.status !== "accepted") return outcome;
      all.push(...outcome.value);
      page = next === undefined ? undefined : next.includes("?") ? next.slice(next.indexOf("?") + 1) : `page=${next}`;
    }
    return accepted(all);
  };
  return {
    origin: "embedded",
    can: abilitiesOf(has, limits),
    takesPortRanges: rules.port_range !== null,
    close: async () => undefined,
    ...callsOver({ send, list }, recordReaders, rules),
  };
}
