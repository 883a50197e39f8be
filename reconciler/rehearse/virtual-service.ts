/**
 * The embedded service without a socket and without waiting: one call is one decision, and time passes when everything
 * waits.
 */

import { authenticate } from "../../emulator/access";
import type { WorldChange } from "../../emulator/entities";
import { isEntityId } from "../../emulator/fields";
import { decideOperation } from "../../emulator/operations";
import { seedChanges } from "../../emulator/seed";
import { applyChanges, createWorld } from "../../emulator/world";
import { documentedOperations } from "../core/model/operation";
import { addAll } from "../core/text/objects";
import { builtInDialect } from "../dialect/built-in";
import { inProcessClient, type ServiceForm, type WorldCalls } from "./in-process-client";
import { virtualClock } from "./virtual-clock";

/** A service at one moment. Each caller that starts from it gets a service of its own with that history. */
export interface VirtualMoment {
  readonly changes: readonly WorldChange[];
  readonly ids: number;
  readonly nowMs: number;
}

type Provided = Readonly<Record<"flavors" | "images" | "regions" | "vms" | "groups", readonly string[]>>;

export function newService(from: Date): VirtualMoment {
  let ids = 0;
  const changes = seedChanges({}, () => numberedId(++ids), 0);
  return { changes, ids, nowMs: from.getTime() };
}

const numberedId = (count: number): string => `11111111-1111-4111-8111-${String(count).padStart(12, "0")}`;

export function virtualService(from: VirtualMoment, form: ServiceForm) {
  const world = createWorld();
  let { ids } = from;
  const newId = (): string => numberedId(++ids);
  applyChanges(world, from.changes);
  const changed: WorldChange[] = [...from.changes];
  const caller = authenticate(world, "Bearer ops-token", true);
  if (caller === undefined) throw new Error("the embedded service knows no caller");
  const settings = {
    strict: false,
    secondMs: 1,
    pageSize: 100,
    portRange: form.rules.port_range,
    autoConfirmResize: false,
    keepsNamedGroups: form.limits.named_groups !== undefined,
  };
  const calls: WorldCalls = {
    nowMs: from.nowMs,
    call(operation, body, options = {}) {
      const decision = decideOperation(operation, {
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
      addAll(changed, decision.changes);
      return decision;
    },
  };
  const clock = virtualClock((now) => {
    calls.nowMs = now;
  }, from.nowMs);
  const client = inProcessClient(
    calls,
    (operation) => operationsKnown.has(operation),
    (until) => clock.sleep(Math.max(0, until - clock.now())),
    form,
  );
  const missing = (kind: "flavor" | "image" | "region" | "vm" | "group", names: readonly string[]): string[] =>
    [...new Set(names)].filter((name) => !world.index.has(`${kind}/name/${name}`) && !world.tables[kind].has(name));
  const known = (name: string) => ({ id: isEntityId(name) ? name : newId(), name });
  /** Adds flavors, images and regions by name or id, VMs and groups by id; existing ones stay as they are. */
  function provide({ flavors, images, regions, vms, groups }: Provided): void {
    const created_at = new Date(from.nowMs).toISOString();
    const sizes = { vcpus: 1, ram_gb: 1, provisionable: true };
    const changes: WorldChange[] = [
      ...missing("flavor", flavors).map((name) => ({ put: "flavor", value: { ...known(name), ...sizes } }) as const),
      ...missing("image", images).map(
        (name) => ({ put: "image", value: { ...known(name), project_id: null, created_at } }) as const,
      ),
      ...missing("region", regions).map((name) => ({ put: "region", value: { id: name, name } }) as const),
      ...elsewhere({ vms: missing("vm", vms), groups: missing("group", groups) }),
    ];
    applyChanges(world, changes);
    addAll(changed, changes);
  }
  /** Things that were made before, and that no file declares. */
  function elsewhere({ vms, groups }: { readonly vms: string[]; readonly groups: string[] }): WorldChange[] {
    const ids = new Set([...vms, ...groups]);
    if (ids.size === 0) return [];
    const named = (id: string, index: number) => ({ id, name: `elsewhere-${world.nextSeq + index}` });
    const seed = { vms: vms.map(named), groups: groups.map(named) };
    return seedChanges(seed, newId, from.nowMs, world.nextSeq).filter(
      (change) => "put" in change && ids.has(change.value.id),
    );
  }
  const moment = (): VirtualMoment => ({ changes: [...changed], ids, nowMs: clock.now() });
  return { client, clock, provide, moment };
}

const operationsKnown = new Set<string>([
  ...documentedOperations,
  ...Object.entries(builtInDialect.operations).flatMap(([name, route]) => (route === null ? [] : [name])),
]);
