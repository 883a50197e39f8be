/** The blocks of the kinds, beside the fields of core/model/fields.ts, which stand before `lifecycle`. */
import type {
  AnyCase,
  Argv,
  Duration,
  Flag,
  ForEach,
  Interpolated,
  Port,
  PortNumber,
  PortText,
  Reference,
  ShareOfSome,
  Text,
  Variables,
} from "./values";

/** One rule. What it does not say is not restricted. @json {"allOf":[{"not":{"required":["remote_ip","remote_group"]}},{"if":{"required":["protocol"],"properties":{"protocol":{"description":"One without ports.","enum":["icmp","ICMP"]}}},"then":{"not":{"required":["dst_port"]}}}]} */
export interface Rule {
  /** false: as if the rule were not written. */
  enabled?: Flag;
  /** Inbound or outbound traffic. @default ingress */
  direction?: "ingress" | "egress" | Interpolated;
  /** The address family. Default: IPv4, or IPv6 when remote_ip is IPv6. */
  ethertype?: "IPv4" | "IPv6" | Interpolated;
  /** tcp, udp, icmp, or any. Default: any. A list makes a rule of each item. */
  protocol?: "tcp" | "udp" | "icmp" | "any" | AnyCase | Interpolated | ProtocolWord[];
  /** A destination port, or a range such as 8000-8010 (the dialect's rules.port_range says how it is sent). Left out: all ports. Not for icmp. A list makes a rule of each item. */
  dst_port?: PortNumber | PortText | DstPort[];
  /** Source (ingress) or destination (egress) as address or CIDR. Not together with remote_group. A list makes a rule of each item. */
  remote_ip?: Text | Text[];
  /** The group whose members are admitted: its key, key[each], its address, self, or {id: …}. Not together with remote_ip. A list makes a rule of each item. */
  remote_group?: Reference | Reference[];
  /** Free text stored with the rule. */
  description?: Text;
}

type ProtocolWord = "tcp" | "udp" | "icmp" | "any" | AnyCase | Interpolated;

type DstPort = PortNumber | PortText;

/** What may stand behind flush_confirmed: true when this volume must be detached. */
export type Flush = {
  /** ask: someone says yes or --confirm-flush is given. command: the command exits 0. stop: the VM is stopped meanwhile. @default ask */
  via?: "ask" | "command" | "stop" | Interpolated;
  /** The program and its arguments that flush the volume; used with via: command. */
  command?: Argv;
  env?: Variables;
} | null;

/** A command that is owed to the guest: from before the request that makes it necessary until it ended with 0. It may run twice, and has to bear that. */
export type GuestCommand = {
  /** The program and its arguments. It is told RECONCILE_REASON, RECONCILE_ADDRESS, RECONCILE_VM_ID, RECONCILE_VM_IP, and of a volume RECONCILE_VOLUME_ID and RECONCILE_VOLUME_SIZE. */
  command: Argv;
  /** After that time it is ended, with all it started. Default: 15m for after_ready, 5m for after_attach. */
  timeout?: Duration;
  env?: Variables;
  /** when_changed: a command that is written anew is owed again. */
  again?: "when_changed" | Interpolated;
} | null;

interface KindLifecycle {
  /** Refuse every plan that would delete or replace it, also where the block is removed. Default: false. */
  prevent_destroy?: Flag;
  /** Fields whose differences are left alone. */
  ignore_changes?: ("name" | Interpolated)[] | null;
}

/** How changes of this VM are carried out. */
export type VmLifecycle =
  | (KindLifecycle & {
      /** What a new image_id does: rebuild in place (wipes the root disk), replace the VM, or nothing. @default rebuild */
      on_image_change?: "rebuild" | "replace" | "ignore" | Interpolated;
      /** Take a snapshot before these steps. */
      snapshot_before?: ("rebuild" | "resize" | "delete" | Interpolated)[] | null;
      /** Delete the floating IP together with the VM. */
      delete_floating_ip?: Flag;
      /** What becomes of the volumes that outlive a deleted VM. @default retain */
      preserved_volumes?: "retain" | "delete" | Interpolated;
      /** Decides what becomes of a VM in VERIFY_RESIZE. */
      verify_resize?: {
        /** auto: confirm the resize once the check passes. manual: wait for someone to confirm it. @default auto */
        confirm?: "auto" | "manual" | Interpolated;
        /** What must succeed before the resize is confirmed. Left out: being settled in VERIFY_RESIZE is enough. */
        check?: CheckBlock;
        /** How long the check may take. Default: 2m. */
        timeout?: Duration;
        /** What happens when the check fails: revert the resize, or leave it in VERIFY_RESIZE. @default revert */
        on_failure?: "revert" | "leave" | Interpolated;
      } | null;
    })
  | null;

/** How changes of this volume are carried out. */
export type VolumeLifecycle = KindLifecycle | null;

/** How changes of this group are carried out. */
export type GroupLifecycle =
  | (KindLifecycle & {
      /** Where the service cannot delete a rule: replace the group without a gap, or keep the rule and list it as exposure. @default replace */
      on_rule_removal?: "replace" | "keep" | Interpolated;
    })
  | null;

/** What a block of every kind may have beside the fields of its kind. */
interface Repeated {
  /** One resource for each item: a list of keys, a map (its values are ${each.value}), or a number n for the keys 0 to n-1. Addresses are then vm.web[a]. */
  for_each?: ForEach;
  /** false: as if the block were not written. What exists is deleted, with the usual consents. */
  enabled?: Flag;
}

/** A virtual machine. @def vm */
export type VmBlock =
  | (Repeated & {
      /** How many VMs of this block may be down at a time: 2, or 25%. Left out: as many as --parallelism. */
      max_unavailable?: ShareOfSome;
      /** How this VM is reached by SSH; overrides the file's, field by field. */
      ssh?: Ssh;
      lifecycle?: VmLifecycle;
    })
  | null;

/** A data volume. @def volume */
export type VolumeBlock = (Repeated & { lifecycle?: VolumeLifecycle }) | null;

/** A security group. @def group */
export type GroupBlock = (Repeated & { lifecycle?: GroupLifecycle }) | null;

/** Values for every VM. */
export type VmDefaults = { lifecycle?: VmLifecycle } | null;

/** Values for every volume. */
export type VolumeDefaults = { lifecycle?: VolumeLifecycle } | null;

/** Values for every group. */
export type GroupDefaults = { lifecycle?: GroupLifecycle } | null;

/** @minProperties 1 @maxProperties 2 @needs env command */
export interface CheckBlock {
  /** A TCP port of the VM that must accept connections. */
  tcp?: Port;
  /** A URL that must answer with success. */
  http?: Text;
  /** A command on this machine that must exit 0: the program and its arguments. */
  command?: Argv;
  env?: Variables;
}

/** How VMs are reached by SSH, by reconcile ssh and reconcile output. Nothing in the service changes with it. */
export type Ssh = {
  /** The user to log in as. --user wins. */
  user?: Text;
  /** The machine to go through: the address of a VM such as vm.bastion, user@host, or none. --jump wins. */
  jump?: Text;
  /** The private key, relative to this file, or from ~. */
  identity_file?: Text;
  /** Where sshd listens. Left out: 22, or what your own ssh_config says. */
  port?: Port;
} | null;

/** Values by kind. */
export type Defaults = { vm?: VmDefaults; volume?: VolumeDefaults; group?: GroupDefaults } | null;
