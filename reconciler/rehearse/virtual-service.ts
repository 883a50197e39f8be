/** The embedded service without a socket and without waiting: one call is one decision, and time passes when everybody waits. */
import { authenticate } from "../../emulator/access";
import { decide } from "../../emulator/operations";
import { seedChanges } from "../../emulator/seed";
import { applyChanges, createWorld } from "../../emulator/world";
import { documentedOperations, type Operation } from "../core/model/operation";
import { builtInDialect } from "../dialect/built-in";
import type { Clock } from "../engine/ports";
import type { ServiceClient } from "../service/client";
import { inProcessClient, type WorldCalls } from "./in-process-client";
import { virtualClock } from "./virtual-clock";

export function virtualService(from: Date): { readonly client: ServiceClient; readonly clock: Clock } {
  const world = createWorld();
  let ids = 0;
  const newId = (): string => {
    ids += 1;
    return `11111111-1111-4111-8111-${String(ids).padStart(12, "0")}`;
  };
  applyChanges(world, seedChanges({}, newId, 0));
  const caller = authenticate(world, "Bearer ops-token", true);
  if (caller === undefined) throw new Error("the embedded service knows no caller");
  const settings = {
    strict: false,
    secondMs: 1000,
    pageSize: 100,
    portRange: null,
    autoConfirmResize: false,
    keepsNamedGroups: false,
  };
  const calls: WorldCalls = {
    nowMs: from.getTime(),
    call(operation, body, options = {}) {
      const decision = decide(operation, {
        world,
        settings,
        caller,
        params: { id: options.id ?? "", rule_id: options.ruleId ?? "" },
        query: new URLSearchParams(options.query ?? ""),
        body,
        now: calls.nowMs,
        newId,
        staleMs: 0,
        pageShift: 0,
      });
      applyChanges(world, decision.changes);
      return decision;
    },
  };
  const clock = virtualClock((now) => {
    calls.nowMs = now;
  }, from.getTime());
  const client = inProcessClient(calls, has, (until) => clock.sleep(Math.max(0, until - clock.now())));
  return { client, clock };
}

const known = new Set<string>([
  ...documentedOperations,
  ...Object.entries(builtInDialect.operations).flatMap(([name, route]) => (route === null ? [] : [name])),
]);
const has = (operation: Operation): boolean => known.has(operation);
