/**
 * What the emulated world consists of. Every entity is a plain JSON value with an id, so that one put or drop of a whole
 * entity is the only kind of change there is: the journal, the snapshot and a dump all hold these and nothing else.
 * Fields of VM, volume and group are spelt as their records show them; what no record shows is marked.
 */
export type ProjectRole = "owner" | "admin" | "member";

export interface Project {
  readonly id: string;
  readonly name: string;
}

export interface Membership {
  readonly project_id: string;
  readonly role: ProjectRole;
  readonly active: boolean;
}

export interface User {
  readonly id: string;
  readonly email: string;
  readonly username: string;
  /** The well-known token of a made-up user; the emulator never keeps a credential it was sent. */
  readonly token?: string;
  readonly system_admin: boolean;
  readonly memberships: readonly Membership[];
}

export interface Flavor {
  readonly id: string;
  readonly name: string;
  readonly vcpus: number;
  readonly ram_gb: number;
  /** Not shown. False: listed, and every VM of it ends in ERROR. */
  readonly provisionable: boolean;
}

export interface Image {
  readonly id: string;
  readonly name: string;
  /** Not shown. The project a snapshot belongs to; null: part of the catalogue, seen by all. */
  readonly project_id: string | null;
  readonly created_at: string;
}

export interface Region {
  readonly id: string;
  readonly name: string;
}

/** What belongs to a project. */
interface Owned {
  readonly id: string;
  /** Not shown. The order of creation, which lists and their page cursors follow. */
  readonly seq: number;
  readonly project_id: string;
  readonly name: string;
  readonly created_at: string;
}

export interface Vm extends Owned {
  /** The name by which the create named its project. */
  readonly project: string;
  readonly status: string;
  /**
   * Not shown. The state that the VM reaches by itself, and when: a build goes on while nobody looks, and across
   * restarts.
   */
  readonly pending: Pending | null;
  readonly flavor_id: string;
  readonly image_id: string;
  readonly owner: string;
  readonly user_id: string;
  readonly region: string;
  readonly root_size: number;
  readonly floating_ip: string | null;
  readonly private_ip: string | null;
  /** Not shown. Between a resize and its confirm or revert: what a revert goes back to. */
  readonly resize_from: { readonly flavor_id: string; readonly status: string } | null;
  /** Not shown. How often the root disk was wiped by a rebuild. */
  readonly root_wipes: number;
  /** Not shown. Security groups attached to the VM; no contract call changes them. */
  readonly groups: readonly string[];
}

export interface Pending {
  readonly until: number;
  readonly becomes: Partial<Omit<Vm, "id" | "seq">>;
}

export interface Volume extends Owned {
  readonly size: number;
  readonly status: string;
  readonly attached_to: string | null;
  readonly root: boolean;
}

export interface Group extends Owned {
  readonly description: string;
  /** The creator's e-mail, which later lets that member edit or delete the group. */
  readonly created_by: string;
  /** Platform-managed: nobody updates or deletes it. */
  readonly platform: boolean;
}

/** What a rule lets through. */
export interface RuleShape {
  readonly direction: "ingress" | "egress";
  readonly ether_type: "IPv4" | "IPv6";
  readonly protocol: string | null;
  readonly port_range_min: number | null;
  readonly port_range_max: number | null;
  readonly remote_ip_prefix: string | null;
  readonly normalized_cidr: string | null;
  readonly remote_group_id: string | null;
  readonly description: string;
}

/** Spelt as the contract's "rule as returned". */
export interface RuleEntity extends RuleShape {
  readonly id: string;
  readonly security_group_id: string;
  readonly project_id: string;
  readonly name: string | null;
  readonly remote_address_group_id: string | null;
  readonly belongs_to_default_sg: boolean;
  readonly revision_number: number;
  readonly created_at: string;
}

/** A floating IP; it outlives its VM unless the delete says otherwise. */
export interface FloatingIp {
  readonly id: string;
  readonly project_id: string;
  readonly vm_id: string | null;
}

/** A single number of the world itself, such as how far its clock was moved. */
export interface WorldSetting {
  readonly id: string;
  readonly value: number;
}

export interface Entities {
  readonly project: Project;
  readonly user: User;
  readonly flavor: Flavor;
  readonly image: Image;
  readonly region: Region;
  readonly vm: Vm;
  readonly volume: Volume;
  readonly group: Group;
  readonly rule: RuleEntity;
  readonly floating_ip: FloatingIp;
  readonly setting: WorldSetting;
}

export type EntityKind = keyof Entities;

export const entityKinds = [
  "project",
  "user",
  "flavor",
  "image",
  "region",
  "vm",
  "volume",
  "group",
  "rule",
  "floating_ip",
  "setting",
] as const satisfies readonly EntityKind[];

export type Put = { readonly [K in EntityKind]: { readonly put: K; readonly value: Entities[K] } }[EntityKind];
export interface Drop {
  readonly drop: EntityKind;
  readonly id: string;
}
export type WorldChange = Put | Drop;
