/** A world without HTTP: one call is one decision whose changes are applied, at a time the test says, with counted ids. */
import { authenticate } from "../../emulator/access";
import type { EmulatorSettings, Reply } from "../../emulator/decision";
import type { WorldChange } from "../../emulator/entities";
import { decideOperation, type EmulatorOperation } from "../../emulator/operations";
import { seedChanges, type WorldSeed } from "../../emulator/seed";
import { applyChanges, createWorld, dumpWorld, type World } from "../../emulator/world";

export interface CallOptions {
  readonly id?: string;
  readonly ruleId?: string;
  readonly as?: string;
  readonly query?: string;
  readonly staleMs?: number;
  readonly pageShift?: number;
}

/** A world at one moment. Each that starts from it goes its own way. */
export interface WorldMoment {
  readonly things: readonly WorldChange[];
  readonly ids: number;
  readonly nowMs: number;
}

export interface EmulatedWorld {
  readonly world: World;
  nowMs: number;
  /** How many ids were given. */
  ids: number;
  call(operation: EmulatorOperation, body?: unknown, options?: CallOptions): Reply;
  dump(): ReturnType<typeof dumpWorld>;
}

export function emulatedWorld(
  settings: Partial<EmulatorSettings> = {},
  seed: Partial<WorldSeed> = {},
  from?: WorldMoment,
): EmulatedWorld {
  const world = createWorld();
  const newId = () => {
    emulated.ids += 1;
    return `11111111-1111-4111-8111-${String(emulated.ids).padStart(12, "0")}`;
  };
  const emulated: EmulatedWorld = {
    world,
    nowMs: from?.nowMs ?? 1_000_000,
    ids: from?.ids ?? 0,
    call(operation, body, options = {}) {
      const decision = decideOperation(operation, {
        world,
        settings: {
          strict: false,
          secondMs: 1000,
          pageSize: 100,
          portRange: null,
          autoConfirmResize: false,
          keepsNamedGroups: false,
          ...settings,
        },
        caller: authenticate(world, `Bearer ${options.as ?? "ops-token"}`, true)!,
        params: { id: options.id ?? "", rule_id: options.ruleId ?? "" },
        query: new URLSearchParams(options.query ?? ""),
        body,
        now: emulated.nowMs,
        newId,
        staleMs: options.staleMs ?? 0,
        pageShift: options.pageShift ?? 0,
      });
      applyChanges(world, decision.changes);
      return decision;
    },
    dump: () => dumpWorld(world, emulated.nowMs),
  };
  applyChanges(world, from?.things ?? seedChanges(seed, newId, 0));
  return emulated;
}

/** Everything in a world, for another one to start from. */
export const momentOf = ({ world, ids, nowMs }: EmulatedWorld): WorldMoment => ({
  // Each table holds the entities of its kind.
  things: Object.entries(world.tables).flatMap(([put, table]) =>
    [...table.values()].map((value) => ({ put, value }) as unknown as WorldChange),
  ),
  ids,
  nowMs,
});

export const imageId = "00000000-0000-4000-8003-000000000001";
export const unknownId = "99999999-9999-4999-8999-999999999999";

export const vmBody = (changes: Record<string, unknown> = {}) => ({
  flavor_id: "m1.small",
  id: "1042",
  image_id: imageId,
  name: "web",
  owner: "ops",
  project: "acme",
  region: "in-west-1",
  size: "10",
  ...changes,
});

/** A VM that is built, with the ids of its disks. */
export function builtVm(emulated: EmulatedWorld, changes: Record<string, unknown> = {}) {
  const answer = emulated.call("vm.create", vmBody(changes));
  if (answer.status !== 202) throw new Error(JSON.stringify(answer.body));
  emulated.nowMs += 60_000;
  const vm = emulated.dump().vms.at(-1)!;
  const disks = emulated.dump().volumes.filter((volume) => volume.attached_to === vm.id);
  return { id: vm.id, root: disks.find((disk) => disk.root)!.id, data: disks.find((disk) => !disk.root)!.id };
}

export const vmOf = (emulated: EmulatedWorld, id: string) => emulated.dump().vms.find((vm) => vm.id === id)!;
export const messageOf = (decision: Reply) => (decision.body as { error?: { message: string } }).error?.message;

export function createdGroup(emulated: EmulatedWorld, body: unknown, as?: string): string {
  const answer = emulated.call("group.create", body, as === undefined ? {} : { as });
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
  return (answer.body as { id: string }).id;
}
