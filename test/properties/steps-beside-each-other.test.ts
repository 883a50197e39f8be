/**
 * Steps of one address run beside each other, each waits for the service, and each writes what became true into the
 * record. In whatever order their requests are answered, the record is the one that they leave when each waits for the
 * one before, and what it says of the rules is what the service has.
 */
import { describe, expect, it } from "vitest";
import type { Outcome } from "../../reconciler/core/model/outcome";
import type { RecordedResource } from "../../reconciler/core/model/recorded";
import type { ServiceClient } from "../../reconciler/service/client";
import { desiredOf } from "../support/desired-file";
import { type Capabilities, virtualWorld } from "../support/virtual-world";

interface Edit {
  readonly can: Capabilities;
  readonly before: string;
  readonly after: string;
  readonly address: string;
  /** The requests of the edit, in any order. */
  readonly requests: readonly (keyof ServiceClient)[];
}

const rule = (port: number): string => `{ protocol: tcp, dst_port: ${port}, remote_ip: 0.0.0.0/0 }`;
const group = (description: string, ...ports: number[]): string =>
  `groups: { web: { name: web-group, description: ${description}, rules: [${ports.map(rule).join(", ")}] } }\n`;

const edits: Readonly<Record<string, Edit>> = {
  "a group that is described anew, with two rules more": {
    can: {},
    before: group("first", 80),
    after: group("second", 80, 443, 8443),
    address: "group.web",
    requests: ["updateGroup", "createRule", "createRule"],
  },
  "a group that is described anew, with a rule more and one less": {
    can: { with: ["group.rule.delete"] },
    before: group("first", 80, 81),
    after: group("second", 80, 443),
    address: "group.web",
    requests: ["updateGroup", "createRule", "deleteRule"],
  },
  "a group with three rules more": {
    can: { with: ["group.rule.delete"] },
    before: group("first", 80),
    after: group("first", 80, 443, 8443, 9443),
    address: "group.web",
    requests: ["createRule", "createRule", "createRule"],
  },
  "a group with three rules less": {
    can: { with: ["group.rule.delete"] },
    before: group("first", 80, 443, 8443, 9443),
    after: group("first", 80),
    address: "group.web",
    requests: ["deleteRule", "deleteRule", "deleteRule"],
  },
};

const orders = (count: number): number[][] =>
  count === 0
    ? [[]]
    : orders(count - 1).flatMap((order) =>
        Array.from({ length: count }, (_, at) => [...order.slice(0, at), count - 1, ...order.slice(at)]),
      );

const refused: Outcome<never> = { status: "rejected", condition: "forbidden", message: "not today" };

/** The record and the rules in the service after the edit; `null` in the order: one after the other. */
async function carryOut(edit: Edit, order: readonly number[] | null, refuses: number) {
  const stage = virtualWorld(edit.can);
  await stage.apply(await stage.plan(desiredOf(edit.before)));
  let asked = 0;
  const requests = new Set<PropertyKey>(edit.requests);
  const seen: string[] = [];
  // Each request waits for its turn before it takes effect, and as long again for its answer.
  const slow = new Proxy(stage.client, {
    get(target, key) {
      const real = Reflect.get(target, key) as unknown;
      if (!requests.has(key) || typeof real !== "function") return real;
      return async (...given: unknown[]) => {
        const own = asked++;
        seen.push(String(key));
        const waitMs = order === null ? 0 : 1000 * (1 + (order[own] ?? 0));
        await stage.clock.sleep(waitMs);
        // By the request, not by its turn: the same one is refused in every order.
        const isRefused = ((refuses >> (key === "updateGroup" ? 0 : 1 + portOf(given))) & 1) === 1;
        const outcome: unknown = isRefused ? refused : await real.apply(target, given);
        await stage.clock.sleep(waitMs);
        return outcome;
      };
    },
  });
  const ports = stage.ports as { oneAtATime?: boolean };
  if (order === null) ports.oneAtATime = true;
  await stage.applyWith(slow, await stage.plan(desiredOf(edit.after)));
  const record: RecordedResource | undefined = (await stage.state()).resources.get(edit.address);
  const rules = [...stage.emulated.world.tables.rule.values()].flatMap((one) => one.port_range_min ?? []);
  return { record, rules: rules.sort((a, b) => a - b), seen };
}

/** Rules that are added are told apart by their port; a delete by its place among the ids that were given. */
function portOf(given: readonly unknown[]): number {
  const [, input] = given;
  const port = typeof input === "object" && input !== null && "portMin" in input ? Number(input.portMin) : 0;
  return port === 443 ? 0 : port === 8443 ? 1 : 2;
}

describe.each(Object.entries(edits))("%s", (_, edit) => {
  for (let refuses = 0; refuses < 8; refuses++)
    it(`leaves one record in every order; refused: ${refuses.toString(2).padStart(3, "0")}`, async () => {
      const calm = await carryOut(edit, null, refuses);
      expect(calm.seen.length).toBeGreaterThan(0);
      for (const order of orders(edit.requests.length)) {
        const { record, rules } = await carryOut(edit, order, refuses);
        expect({ order, record }).toEqual({ order, record: calm.record });
        const recorded = record?.kind === "group" ? record.rules.flatMap(({ ports }) => ports?.min ?? []) : [];
        expect({ order, recorded: recorded.sort((a, b) => a - b) }).toEqual({ order, recorded: rules });
      }
    });
});
