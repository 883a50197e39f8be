/** Services with other rules, other ids, and other people in them. */
import type { WorldDump } from "../../../emulator";
import type { Asked, OtherService, Truth } from "./other-service";
import { nothing } from "./other-service";

/** A group that rules of another group name is not let go. */
export const keepsReferencedGroups: OtherService = {
  hear(asked, truth) {
    if (asked.operation !== "group.delete") return undefined;
    const by = truth
      .dump()
      .rules.find((rule) => rule.remote_group_id === asked.id && rule.security_group_id !== asked.id);
    if (by === undefined) return undefined;
    const message = `Security group ${asked.id} in use: a rule of ${by.security_group_id} refers to it`;
    return { status: 409, body: { error: { code: 409, message } } };
  },
};

/** Ids are integers of 17 digits, of which neighbours are one number to who reads them as such. */
export function integerIds(): OtherService {
  const numbers = new Map<string, string>();
  const uuids = new Map<string, string>();
  const uuid = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
  const numberOf = (id: string): string => {
    const present = numbers.get(id);
    if (present !== undefined) return present;
    const made = String(90071992547400000n + BigInt(numbers.size));
    numbers.set(id, made);
    uuids.set(made, id);
    return made;
  };
  return {
    spell: {
      // What is a whole text becomes a bare number.
      out: (text) => text.replace(/"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})"/g, (_, id: string) => numberOf(id)),
      file: (text) => text.replace(uuid, numberOf),
      in: (text) =>
        text.replace(/"(900719925474\d{5})"|(900719925474\d{5})/g, (_, quoted?: string, bare?: string) => {
          const id = uuids.get(quoted ?? bare ?? "") ?? "99999999-9999-4999-8999-999999999999";
          return quoted === undefined ? id : `"${id}"`;
        }),
    },
  };
}

type Change = (world: WorldDump) => WorldDump;

/** Done by hand in the console just before the chosen request gets there. */
export function meanwhile(change: Change, which: (asked: Asked) => boolean): OtherService {
  let done = false;
  return {
    async hear(asked, truth) {
      if (done || !which(asked)) return undefined;
      done = true;
      await truth.change(change);
      return undefined;
    },
  };
}

export const strangerId = "57a17000-0000-4000-8000-000000000001";
const creates: readonly string[] = ["vm.create", "volume.create", "group.create"];
export const isCreate = ({ operation }: Pick<Asked, "operation">): boolean => creates.includes(operation);

/** Somebody else's resource under the name that is asked for here: another size, flavor, owner or description. */
export async function addStranger(asked: Asked, truth: Truth): Promise<void> {
  const name = String(asked.body["name"]).toLowerCase();
  const created_at = new Date().toISOString();
  await truth.change((world) => {
    const seq = nextSeq(world);
    const project_id = world.projects[0]!.id;
    const own = { id: strangerId, seq, project_id, name, created_at };
    if (asked.operation === "volume.create") {
      const volume = {
        ...own,
        size: 1 + Number(asked.body["size"]),
        status: "available",
        attached_to: null,
        root: false,
      };
      return { ...world, volumes: [...world.volumes, volume] };
    }
    if (asked.operation === "group.create") {
      const group = { ...own, description: "somebody else's", created_by: "owner@acme.example", platform: false };
      return { ...world, groups: [...world.groups, group] };
    }
    const wanted = String(asked.body["flavor_id"]);
    const other = world.flavors.find(({ id, name }) => id !== wanted && name !== wanted)!;
    const vm = {
      ...own,
      project: String(asked.body["project"]),
      status: "ACTIVE",
      pending: null,
      flavor_id: other.id,
      image_id: world.images[1]!.id,
      owner: "owner@acme.example",
      user_id: "1041",
      region: String(asked.body["region"]),
      root_size: 50,
      floating_ip: null,
      private_ip: "10.9.9.9",
      resize_from: null,
      root_wipes: 0,
      groups: [],
    };
    return { ...world, vms: [...world.vms, vm] };
  });
}

/** Somebody's volume hangs at this VM, and no file and no state knows it. */
export function withAttached(world: WorldDump, vm: WorldDump["vms"][number]): WorldDump {
  if (!world.vms.some(({ id }) => id === vm.id)) return world;
  const volume = {
    ...{ id: strangerId, seq: nextSeq(world), project_id: vm.project_id, name: "by-hand", size: 33 },
    ...{ status: "in-use", attached_to: vm.id, root: false, created_at: vm.created_at },
  };
  return { ...world, volumes: [...world.volumes, volume] };
}

const nextSeq = (world: WorldDump): number =>
  1 + Math.max(0, ...[...world.vms, ...world.volumes, ...world.groups].map(({ seq }) => seq));

/** At the n-th create the answer is lost, before or after its effect, and a stranger of the name comes up beside it. */
export function strangerBesideLostCreate(nth: number, when: "before" | "after"): OtherService {
  const isIt = (asked: Asked): boolean => isCreate(asked) && asked.nth === nth;
  return when === "before"
    ? {
        async hear(asked, truth) {
          if (!isIt(asked)) return undefined;
          await addStranger(asked, truth);
          return nothing;
        },
      }
    : {
        async tell(asked, _answer, truth) {
          if (!isIt(asked)) return undefined;
          await addStranger(asked, truth);
          return nothing;
        },
      };
}

/** What the credential of another project sees of the same service: things of the same names with other ids. */
export function withNamesakes(world: WorldDump): WorldDump {
  const other = world.projects[1]!.id;
  let seq = nextSeq(world);
  const twin = <T extends { readonly id: string; readonly project_id: string }>(row: T): T => ({
    ...row,
    id: twinId(row.id) ?? "",
    project_id: other,
    seq: seq++,
  });
  const own = world.projects[0]!.id;
  const ours = <T extends { readonly project_id: string }>(rows: readonly T[]): readonly T[] =>
    rows.filter((row) => row.project_id === own);
  const twinId = (id: string | null): string | null => (id === null ? null : id.replace(/^.{8}/, "071e2000"));
  return {
    ...world,
    vms: [...world.vms, ...ours(world.vms).map((vm) => ({ ...twin(vm), groups: [] }))],
    volumes: [
      ...world.volumes,
      ...ours(world.volumes).map((volume) => ({ ...twin(volume), attached_to: twinId(volume.attached_to) })),
    ],
    groups: [
      ...world.groups,
      ...ours(world.groups)
        .filter(({ platform }) => !platform)
        .map(twin),
    ],
  };
}

/**
 * Ids are small integers, and each kind counts by itself: VM 101 stands beside volume 101 and group 101. `dump`: the
 * world, which tells of what kind an id is.
 */
export function ownNumbers(dump: () => WorldDump): OtherService {
  const numbers = new Map<string, string>();
  const known = { vm: [] as string[], volume: [] as string[], group: [] as string[] };
  const learn = (): void => {
    const { vms, volumes, groups } = dump();
    for (const [kind, all] of [
      ["vm", vms],
      ["volume", volumes],
      ["group", groups],
    ] as const)
      for (const { id } of all) {
        if (numbers.has(id)) continue;
        numbers.set(id, String(101 + known[kind].length));
        known[kind].push(id);
      }
  };
  const idOf = (kind: keyof typeof known, number: string): string =>
    known[kind][Number(number) - 101] ?? "99999999-9999-4999-8999-999999999999";
  const inPath: readonly (readonly [RegExp, keyof typeof known])[] = [
    [/(\/vm\/(?:[a-z]+\/)?)(\d+)/, "vm"],
    [/(\/volume\/(?:[a-z]+\/)?)(\d+)/, "volume"],
    [/(\/security-group\/)(\d+)/, "group"],
  ];
  return {
    spell: {
      out(text) {
        learn();
        return text.replace(
          /"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})"/g,
          (whole, id: string) => numbers.get(id) ?? whole,
        );
      },
      in(text) {
        if (text.startsWith("/"))
          return inPath.reduce(
            (path, [shape, kind]) =>
              path.replace(shape, (_, before: string, number: string) => before + idOf(kind, number)),
            text,
          );
        return text.replace(/"(vm_id|volume_id|remote_group)":"(\d+)"/g, (_, key: string, number: string) => {
          const kind = key === "vm_id" ? "vm" : key === "volume_id" ? "volume" : "group";
          return `"${key}":"${idOf(kind, number)}"`;
        });
      },
      file: (text) => text,
    },
  };
}
