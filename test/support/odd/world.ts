/**
 * What an odd service holds: VMs, volumes and groups with the contract's operations, in memory. It shares nothing with
 * the emulated service and nothing with the client. How requests are understood and answers are written is for the
 * shapes beside this file.
 */
import { randomUUID } from "node:crypto";
import type { Raw } from "../deployments/front";

export type OddKind = "vm" | "volume" | "group" | "rule";

export interface OddOptions {
  /** The n-th id of a kind. */
  readonly id?: (kind: OddKind, nth: number) => string;
  /** How long everything takes that is not done when it is answered. */
  readonly delayMs?: number;
  /** What takes its time is over after so many calls at the earliest: on a busy machine a look may come late. */
  readonly calls?: number;
  /** Volumes take their time as well. */
  readonly slowVolumes?: boolean;
  /** A rule is gone, and a group is there, a while after it was asked for. */
  readonly slowRules?: boolean;
  /** A name may be taken twice. */
  readonly twice?: boolean;
  readonly namedGroups?: "kept" | "refused";
  /** A VM that was resized is not waited with. */
  readonly selfConfirms?: boolean;
  /** How a range is written; left out: ranges are refused. */
  readonly range?: ":" | "-";
  /** An egress rule that the service puts into every group. */
  readonly ownEgress?: boolean;
  /** What was deleted is shown as deleted: for a while, or for good. */
  readonly lingers?: boolean;
  readonly stays?: boolean;
  /** What was deleted is shown as on its way for a long while, and then it is gone. */
  readonly slowDeletes?: boolean;
}

interface Vm {
  id: string;
  name: string;
  flavor_id: string;
  image_id: string;
  owner: string;
  region: string;
  status: string;
  private_ip: string;
  floating_ip: string | null;
  version: number;
  before?: string;
}
interface Volume {
  id: string;
  name: string;
  size: number;
  status: string;
  attached_to: string | null;
  root: boolean;
  region: string;
  version: number;
}
interface Group {
  id: string;
  name: string;
  description: string;
  rules: Raw[];
  version: number;
}

export class Refused extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message);
  }
}

export const flavors = [
  { id: "f-100", name: "m1.small" },
  { id: "f-200", name: "m1.medium" },
];
export const images = [
  { id: "0d3c6a52-8f6e-4b0e-9d0f-6f2d1f6a9e11", name: "ubuntu-24.04" },
  { id: "1e4d7b63-9a7f-4c1f-8e10-7a3e2a7b0f22", name: "debian-12" },
];
export const regions = [
  { id: "in-west-1", name: "West 1" },
  { id: "in-south-1", name: "East 1" },
];

export class OddWorld {
  readonly vms = new Map<string, Vm>();
  readonly volumes = new Map<string, Volume>();
  readonly groups = new Map<string, Group>();
  readonly #counts = { vm: 0, volume: 0, group: 0, rule: 0 };
  readonly #delay: number;
  #calls = 0;

  constructor(readonly options: OddOptions = {}) {
    this.#delay = options.delayMs ?? 40;
    this.#addGroup("default", "the platform's", []);
  }

  #id(kind: OddKind): string {
    return this.options.id?.(kind, ++this.#counts[kind]) ?? randomUUID();
  }

  #later(act: () => void, isSlow = true): void {
    if (!isSlow) {
      act();
      return;
    }
    const [until, late] = [this.#calls + (this.options.calls ?? 0), Date.now() + 100 * this.#delay];
    const settle = (): void => {
      if (this.#calls >= until || Date.now() >= late) act();
      else setTimeout(settle, 5).unref();
    };
    setTimeout(settle, this.#delay).unref();
  }

  #remove(kept: Map<string, Vm> | Map<string, Volume>, { id }: { readonly id: string }): void {
    const { lingers, stays, slowDeletes } = this.options;
    if (slowDeletes === true) {
      Object.assign(kept.get(id) ?? {}, { status: "deleting", attached_to: null });
      setTimeout(() => kept.delete(id), this.#delay * 30).unref();
      return;
    }
    if (lingers !== true && stays !== true) {
      kept.delete(id);
      return;
    }
    Object.assign(kept.get(id) ?? {}, { status: "deleted", attached_to: null });
    if (stays !== true) setTimeout(() => kept.delete(id), this.#delay * 8).unref();
  }

  /** What is there and was not deleted. */
  left(): { readonly vms: readonly Vm[]; readonly volumes: readonly Volume[]; readonly groups: readonly Group[] } {
    const isLeft = ({ status }: { readonly status: string }): boolean => status !== "deleted" && status !== "deleting";
    return {
      vms: [...this.vms.values()].filter(isLeft),
      volumes: [...this.volumes.values()].filter(isLeft),
      groups: [...this.groups.values()],
    };
  }

  #vm(id = ""): Vm {
    const vm = this.vms.get(id);
    if (vm === undefined) throw new Refused(404, `VM ${id} was not found in this project`);
    return vm;
  }
  #volume(id = ""): Volume {
    const volume = this.volumes.get(id);
    if (volume === undefined) throw new Refused(404, `volume ${id} was not found in this project`);
    return volume;
  }
  #group(id = ""): Group {
    const group = this.groups.get(id);
    if (group === undefined) throw new Refused(404, `security group ${id} was not found`);
    return group;
  }

  #addVolume(name: string, size: number, root: boolean, region: string): Volume {
    const volume: Volume = {
      id: this.#id("volume"),
      name,
      size,
      status: "available",
      attached_to: null,
      root,
      region,
      version: 1,
    };
    this.volumes.set(volume.id, volume);
    return volume;
  }

  #addGroup(name: string, description: string, rules: readonly Raw[]): Group {
    const group: Group = { id: this.#id("group"), name, description, rules: [], version: 1 };
    for (const rule of rules) group.rules.push(this.#rule(group, rule));
    if (this.options.ownEgress === true)
      group.rules.push(this.#rule(group, { direction: "egress", ethertype: "IPv4", protocol: undefined }));
    this.groups.set(group.id, group);
    return group;
  }

  #rule(group: Group, input: Raw): Raw {
    const [min, max = min] = String(input["dst_port"] ?? "").split(this.options.range ?? ",");
    const number = (text: string | undefined): number | null => {
      if (text === undefined || text === "") return null;
      if (!/^\d+$/.test(text)) throw new Refused(400, `dst_port ${text} is no port`);
      return Number(text);
    };
    const rule = {
      id: this.#id("rule"),
      security_group_id: group.id,
      project_id: "acme",
      name: null,
      direction: input["direction"] ?? "ingress",
      protocol: input["protocol"] ?? null,
      port_range_min: number(min),
      port_range_max: number(max),
      ether_type: input["ethertype"] ?? "IPv4",
      remote_ip_prefix: input["remote_ip"] ?? null,
      remote_group_id: input["remote_group"] ?? null,
      description: input["description"] ?? "",
      belongs_to_default_sg: false,
    };
    const { id: _, ...said } = rule;
    if (group.rules.some(({ id: __, ...other }) => JSON.stringify(other) === JSON.stringify(said)))
      throw new Refused(409, "This rule already exists in the selected security group.");
    return rule;
  }

  /** Everything that was asked of VM, volume and group by an operation of the contract or beyond it. */
  do(
    operation: string,
    { id, ruleId }: { id?: string; ruleId?: string },
    body: Raw,
  ): { status: number; payload: unknown } {
    this.#calls++;
    const done = (payload: unknown = "done", status = 200) => ({ status, payload });
    const text = (key: string): string => (body[key] === undefined ? "" : String(body[key]));
    const settled = (vm: Vm, ...states: string[]): void => {
      if (!states.includes(vm.status)) throw new Refused(409, `invalid state transition: the VM is ${vm.status}`);
    };
    const still = (volume: Volume): void => {
      if (/ing$|^deleted$/.test(volume.status)) throw new Refused(409, `the volume is ${volume.status}`);
    };
    switch (operation) {
      case "vm.list":
        return done([...this.vms.values()].map((vm) => this.#shown(vm)));
      case "volume.list":
        return done([...this.volumes.values()].map((volume) => this.#shownVolume(volume)));
      case "group.list":
        return done([...this.groups.values()]);
      case "flavor.list":
        return done(flavors);
      case "image.list":
        return done(images);
      case "region.list":
        return done(regions);
      case "vm.get":
        return done(this.#shown(this.#vm(id)));
      case "volume.get":
        return done(this.#shownVolume(this.#volume(id)));
      case "group.get":
        return done(this.#group(id));
      case "group.rule.list":
        return done(this.#group(id).rules);
      case "vm.create": {
        const name = text("name").toLowerCase();
        if (this.options.twice !== true && [...this.vms.values()].some((vm) => vm.name === name))
          throw new Refused(409, `the name ${name} is taken already`);
        const flavor = flavors.find((one) => one.id === text("flavor_id") || one.name === text("flavor_id"));
        const image = images.find((one) => one.id === text("image_id") || one.name === text("image_id"));
        if (flavor === undefined || image === undefined) throw new Refused(400, "no such flavor or image");
        const vm: Vm = {
          id: this.#id("vm"),
          name,
          flavor_id: flavor.id,
          image_id: image.id,
          owner: text("owner"),
          region: text("region"),
          status: "BUILD",
          private_ip: `10.0.0.${this.vms.size + 4}`,
          floating_ip: body["skip_floating_ip"] === true ? null : `203.0.113.${this.vms.size + 4}`,
          version: 1,
        };
        this.vms.set(vm.id, vm);
        for (const [suffix, size, root] of [
          ["root", Number(text("root_size") || 50), true],
          ["data", Number(text("size")), false],
        ] as const) {
          const volume = this.#addVolume(`${name}-${suffix}`, size, root, vm.region);
          Object.assign(volume, { status: "in-use", attached_to: vm.id });
        }
        this.#later(() => Object.assign(vm, { status: "ACTIVE" }));
        return done("accepted", 202);
      }
      case "vm.rename":
        Object.assign(this.#vm(id), { name: text("name").toLowerCase() });
        return done();
      case "vm.rebuild": {
        const vm = this.#vm(id);
        settled(vm, "ACTIVE", "SHUTOFF");
        const was = vm.status;
        const image = images.find((one) => one.id === text("image") || one.name === text("image"));
        if (image === undefined) throw new Refused(400, "no such image");
        Object.assign(vm, { status: "REBUILD", image_id: image.id });
        this.#later(() => Object.assign(vm, { status: was }));
        return done();
      }
      case "vm.resize": {
        const vm = this.#vm(id);
        settled(vm, "ACTIVE", "SHUTOFF");
        const flavor = flavors.find((one) => one.id === text("flavor") || one.name === text("flavor"));
        if (flavor === undefined) throw new Refused(400, "no such flavor");
        Object.assign(vm, { status: "RESIZE", before: vm.flavor_id, flavor_id: flavor.id });
        this.#later(() =>
          Object.assign(vm, { status: this.options.selfConfirms === true ? "ACTIVE" : "VERIFY_RESIZE" }),
        );
        return done();
      }
      case "vm.resize.confirm":
      case "vm.resize.revert": {
        const vm = this.#vm(id);
        settled(vm, "VERIFY_RESIZE");
        if (operation === "vm.resize.revert") vm.flavor_id = vm.before ?? vm.flavor_id;
        vm.status = "ACTIVE";
        return done();
      }
      case "vm.snapshot":
        return done({ image_id: images[0]?.id });
      case "vm.stop":
      case "vm.start": {
        const vm = this.#vm(id);
        const [from, by, to] =
          operation === "vm.stop" ? ["ACTIVE", "STOPPING", "SHUTOFF"] : ["SHUTOFF", "STARTING", "ACTIVE"];
        settled(vm, from as string);
        vm.status = by as string;
        this.#later(() => Object.assign(vm, { status: to }));
        return done();
      }
      case "vm.reboot":
        settled(this.#vm(id), "ACTIVE");
        return done();
      case "vm.delete": {
        const vm = this.#vm(id);
        if (vm.status === "deleted") throw new Refused(409, "the VM was deleted");
        vm.status = "DELETING";
        const kept: string[] = [];
        for (const volume of [...this.volumes.values()].filter((one) => one.attached_to === vm.id)) {
          if (!volume.root) kept.push(volume.id);
          this.#later(() => {
            if (volume.root) this.#remove(this.volumes, volume);
            else Object.assign(volume, { attached_to: null, status: "available" });
          });
        }
        this.#later(() => this.#remove(this.vms, vm));
        return done({ message: "deleted", preserved_volumes: kept });
      }
      case "volume.create": {
        const volume = this.#addVolume(text("name"), Number(text("size")), false, "in-west-1");
        if (this.options.slowVolumes === true) volume.status = "creating";
        this.#later(() => Object.assign(volume, { status: "available" }), this.options.slowVolumes);
        return done(this.#shownVolume(volume), 201);
      }
      case "volume.attach": {
        const [vm, volume] = [this.#vm(text("vm_id")), this.#volume(text("volume_id"))];
        still(volume);
        if (volume.attached_to !== null) throw new Refused(409, `volume is attached to ${volume.attached_to} already`);
        if (this.options.slowVolumes === true) volume.status = "attaching";
        // The VM may have been deleted meanwhile, and then nothing hangs on it.
        const attached = { status: "in-use", attached_to: vm.id };
        const isThere = () => this.vms.get(vm.id) === vm && !/^deleted$/i.test(vm.status);
        this.#later(
          () => Object.assign(volume, isThere() ? attached : { status: "available" }),
          this.options.slowVolumes,
        );
        return done();
      }
      case "volume.detach": {
        const volume = this.#volume(text("volume_id"));
        this.#vm(text("vm_id"));
        still(volume);
        if (body["flush_confirmed"] !== true) throw new Refused(400, "flush was not confirmed");
        if (volume.attached_to !== text("vm_id")) throw new Refused(409, "volume is not attached to this VM");
        if (this.options.slowVolumes === true) volume.status = "detaching";
        this.#later(() => Object.assign(volume, { status: "available", attached_to: null }), this.options.slowVolumes);
        return done();
      }
      case "volume.resize": {
        const volume = this.#volume(id);
        still(volume);
        if (volume.root) throw new Refused(400, "a root disk cannot be resized");
        if (volume.attached_to !== null) throw new Refused(409, "Volume is attached and cannot be extended");
        if (Number(text("size")) <= volume.size) throw new Refused(400, "a volume only grows");
        if (this.options.slowVolumes === true) volume.status = "extending";
        this.#later(
          () => Object.assign(volume, { status: "available", size: Number(text("size")) }),
          this.options.slowVolumes,
        );
        return done();
      }
      case "volume.delete": {
        const volume = this.#volume(id);
        still(volume);
        if (volume.attached_to !== null) throw new Refused(409, "volume is in use");
        if (this.options.slowVolumes === true) volume.status = "deleting";
        this.#later(() => this.#remove(this.volumes, volume), this.options.slowVolumes);
        return done();
      }
      case "group.create": {
        const name = text("name").toLowerCase();
        if (name === "") throw new Refused(400, "name cannot be empty");
        if (this.options.twice !== true && [...this.groups.values()].some((one) => one.name === name))
          throw new Refused(409, `a group with the name ${name} exists already`);
        return done(
          this.#addGroup(name, text("description"), (body["rules"] as readonly Raw[] | undefined) ?? []),
          201,
        );
      }
      case "group.update": {
        const group = this.#group(id);
        const name = text("name").toLowerCase();
        if (
          name !== "" &&
          this.options.twice !== true &&
          [...this.groups.values()].some((one) => one !== group && one.name === name)
        )
          throw new Refused(409, `a group with the name ${name} exists already`);
        Object.assign(group, {
          version: group.version + 1,
          ...(name !== "" && { name }),
          ...(body["description"] !== undefined && { description: text("description") }),
        });
        return done(group);
      }
      case "group.delete": {
        const group = this.#group(id);
        if (group.name === "default") throw new Refused(403, "a platform-managed group cannot be deleted");
        const naming = [...this.groups.values()].some(
          (one) => one !== group && one.rules.some((rule) => rule["remote_group_id"] === group.id),
        );
        if (naming && this.options.namedGroups === "refused") throw new Refused(409, "a rule names this group");
        if (!(naming && this.options.namedGroups === "kept")) {
          for (const other of this.groups.values())
            if (this.options.namedGroups === undefined)
              other.rules = other.rules.filter((rule) => rule["remote_group_id"] !== group.id);
          this.groups.delete(group.id);
        }
        return done();
      }
      case "group.rule.create": {
        const group = this.#group(id);
        const rule = this.#rule(group, body);
        group.rules.push(rule);
        group.version++;
        return done(rule, 201);
      }
      case "group.rule.delete": {
        const group =
          id === undefined || id === ""
            ? [...this.groups.values()].find(({ rules }) => rules.some((rule) => rule["id"] === ruleId))
            : this.#group(id);
        const rule = group?.rules.find((one) => one["id"] === ruleId);
        if (group === undefined || rule === undefined) throw new Refused(404, "there is no such rule");
        this.#later(() => {
          group.rules = group.rules.filter((one) => one !== rule);
          group.version++;
        }, this.options.slowRules === true);
        return done();
      }
      default:
        throw new Refused(404, "nothing is at this path");
    }
  }

  /** With the name of the VM that it hangs on, for services whose references are names. */
  #shownVolume(volume: Volume): Raw {
    return { ...volume, host: this.vms.get(volume.attached_to ?? "")?.name ?? null };
  }

  #shown(vm: Vm): Raw {
    return {
      ...vm,
      volumes: [...this.volumes.values()]
        .filter((volume) => volume.attached_to === vm.id)
        .map(({ id, root, name }) => ({ id, root, name })),
    };
  }
}
