/**
 * What a new world starts with: a project with its people, a catalogue with ids that never change, and the platform's
 * `default` group. A seed adds to it or replaces parts of it; a twin seeds whole VMs, volumes and groups with the
 * fields that are known. A full dump is a seed too.
 */
import { networkOf } from "./cidr";
import type {
  Flavor,
  Group,
  Image,
  Project,
  ProjectRole,
  Region,
  RuleEntity,
  User,
  Vm,
  Volume,
  WorldChange,
} from "./entities";
import { anyTraffic, defaultEgress, ruleEntityOf } from "./rule";
import { changesOfDump, type WorldDump } from "./world";

export interface UserSeed {
  readonly email: string;
  readonly id?: string;
  readonly username?: string;
  readonly token?: string;
  /** Left out: the owner is not a member of the project. */
  readonly role?: ProjectRole;
  readonly active?: boolean;
  readonly system_admin?: boolean;
}

export interface WorldSeed {
  /** The name of the callers' project. */
  readonly project: string;
  /** In addition to the built-in owners. */
  readonly users: readonly UserSeed[];
  /** In place of the built-in entries. */
  readonly flavors: readonly (Partial<Flavor> & { readonly name: string })[];
  readonly images: readonly (Partial<Image> & { readonly name: string })[];
  readonly regions: readonly (Partial<Region> & { readonly name: string })[];
  readonly vms: readonly (Partial<Vm> & { readonly name: string })[];
  readonly volumes: readonly (Partial<Volume> & { readonly name: string; readonly size: number })[];
  readonly groups: readonly (Partial<Group> & { readonly name: string })[];
  readonly rules: readonly (Partial<RuleEntity> & { readonly security_group_id: string })[];
}

const id = (block: number, n: number): string =>
  `00000000-0000-4000-8${String(block).padStart(3, "0")}-${String(n).padStart(12, "0")}`;

const ownProjectId = id(1, 1);
const otherProjectId = id(1, 2);

const builtInFlavors: readonly Flavor[] = (
  [
    ["m1.small", 1, 2, true],
    ["m1.medium", 2, 4, true],
    ["m1.large", 4, 8, true],
    ["m1.xlarge", 8, 16, true],
    ["c1.small", 2, 2, true],
    ["c1.large", 8, 8, true],
    ["r1.large", 4, 32, true],
    ["g1.soldout", 8, 64, false],
  ] as const
).map(([name, vcpus, ram_gb, provisionable], n) => ({ id: id(2, n + 1), name, vcpus, ram_gb, provisionable }));

const catalogueSince = "2026-01-01T00:00:00.000Z";
const builtInImages: readonly Image[] = ["ubuntu-24.04", "ubuntu-22.04", "debian-12", "rocky-9"].map((name, n) => ({
  id: id(3, n + 1),
  name,
  project_id: null,
  created_at: catalogueSince,
}));

const builtInRegions: readonly Region[] = ["in-west-1", "in-south-1", "eu-central-1"].map((name) => ({
  id: name,
  name,
}));

/** What VMs are made from, for a deployment that knows flavors or images by their names alone. */
export const namedCatalogue = (isByName: (kind: "flavor" | "image") => boolean): Partial<WorldSeed> => ({
  ...(isByName("flavor") && { flavors: builtInFlavors.map((one) => ({ ...one, id: one.name })) }),
  ...(isByName("image") && { images: builtInImages.map((one) => ({ ...one, id: one.name })) }),
});

type SeededPerson = readonly [token: string, email: string, project: string | null, role: ProjectRole, active: boolean];
const people: readonly SeededPerson[] = [
  ["owner-token", "owner@acme.example", ownProjectId, "owner", true],
  ["ops-token", "ops@acme.example", ownProjectId, "owner", true],
  ["member-token", "member@acme.example", ownProjectId, "member", true],
  ["other-member-token", "other@acme.example", ownProjectId, "member", true],
  ["inactive-token", "inactive@acme.example", ownProjectId, "member", false],
  ["outsider-token", "outsider@other.example", otherProjectId, "owner", true],
  ["homeless-token", "homeless@nowhere.example", null, "member", false],
];

const builtInUsers: readonly User[] = [
  ...people.map(([token, email, project_id, role, active], n) => ({
    id: String(1041 + n),
    email,
    username: email.replace(/@.*$/, ""),
    token,
    system_admin: false,
    memberships: project_id === null ? [] : [{ project_id, role, active }],
  })),
  {
    id: "1000",
    email: "admin@platform.example",
    username: "admin",
    token: "admin-token",
    system_admin: true,
    memberships: [],
  },
];

const isDump = (seed: Partial<WorldSeed> | WorldDump): seed is WorldDump =>
  "version" in seed && seed.version === 1 && seed.projects !== undefined;

/** The changes that make the first world. */
export function seedChanges(
  seed: Partial<WorldSeed> | WorldDump,
  newId: () => string,
  now: number,
  firstSeq = 1,
): WorldChange[] {
  if (isDump(seed)) return changesOfDump(seed);
  const created_at = new Date(now).toISOString();
  const projects: Project[] = [
    { id: ownProjectId, name: seed.project ?? "acme" },
    { id: otherProjectId, name: seed.project === "other" ? "another" : "other" },
  ];
  const flavors =
    seed.flavors?.map((flavor) => ({ id: newId(), vcpus: 1, ram_gb: 1, provisionable: true, ...flavor })) ??
    builtInFlavors;
  const images =
    seed.images?.map((image) => ({ id: newId(), project_id: null, created_at, ...image })) ?? builtInImages;
  const regions = seed.regions?.map((region) => ({ id: region.name, ...region })) ?? builtInRegions;
  const flavorIdOf = (given: string | undefined): string =>
    flavors.find((flavor) => flavor.id === given || flavor.name === given)?.id ?? given ?? flavors[0]?.id ?? "";

  let seq = firstSeq;
  const vms: Vm[] = (seed.vms ?? []).map((vm) => ({
    id: newId(),
    project_id: ownProjectId,
    project: seed.project ?? "acme",
    status: "ACTIVE",
    pending: null,
    image_id: images[0]?.id ?? "",
    owner: "ops@acme.example",
    user_id: "1042",
    region: regions[0]?.name ?? "",
    root_size: 50,
    floating_ip: null,
    private_ip: null,
    resize_from: null,
    root_wipes: 0,
    groups: [],
    created_at,
    ...vm,
    seq: seq++,
    flavor_id: flavorIdOf(vm.flavor_id),
  }));
  const volumes: Volume[] = (seed.volumes ?? []).map((volume) => ({
    id: newId(),
    project_id: ownProjectId,
    status: (volume.attached_to ?? null) === null ? "available" : "in-use",
    attached_to: null,
    root: false,
    created_at,
    ...volume,
    seq: seq++,
  }));
  const groups: Group[] = (seed.groups ?? []).map((group) => ({
    id: newId(),
    project_id: ownProjectId,
    description: "",
    created_by: "ops@acme.example",
    platform: group.name === "default",
    created_at,
    ...group,
    seq: seq++,
  }));
  const rules: RuleEntity[] = (seed.rules ?? []).map((rule) => {
    const network = networkOf(rule.remote_ip_prefix ?? "");
    const ether_type = rule.remote_ip_prefix?.includes(":") ? "IPv6" : "IPv4";
    const shape = { ...anyTraffic, direction: "ingress", ether_type, normalized_cidr: network?.cidr ?? null } as const;
    const group = { id: rule.security_group_id, project_id: ownProjectId, platform: false };
    return { ...ruleEntityOf(shape, group, newId(), created_at), ...rule };
  });
  for (const project of projects) {
    if (groups.some((group) => group.platform && group.project_id === project.id)) continue;
    const group: Group = {
      id: id(4, project.id === ownProjectId ? 1 : 2),
      seq: seq++,
      project_id: project.id,
      name: "default",
      description: "Default security group",
      created_by: "platform",
      platform: true,
      created_at,
    };
    groups.push(group);
    rules.push(...defaultEgress(group, newId, created_at));
  }
  const users = [...builtInUsers, ...(seed.users ?? []).map((user) => userOf(user, newId))];
  return [
    ...projects.map((value) => ({ put: "project", value }) as const),
    ...users.map((value) => ({ put: "user", value }) as const),
    ...flavors.map((value) => ({ put: "flavor", value }) as const),
    ...images.map((value) => ({ put: "image", value }) as const),
    ...regions.map((value) => ({ put: "region", value }) as const),
    ...vms.map((value) => ({ put: "vm", value }) as const),
    ...volumes.map((value) => ({ put: "volume", value }) as const),
    ...groups.map((value) => ({ put: "group", value }) as const),
    ...rules.map((value) => ({ put: "rule", value }) as const),
  ];
}

const userOf = (seed: UserSeed, newId: () => string): User => ({
  id: seed.id ?? newId(),
  email: seed.email,
  username: seed.username ?? seed.email.replace(/@.*$/, ""),
  ...(seed.token === undefined ? {} : { token: seed.token }),
  system_admin: seed.system_admin ?? false,
  memberships:
    seed.role === undefined ? [] : [{ project_id: ownProjectId, role: seed.role, active: seed.active ?? true }],
});
