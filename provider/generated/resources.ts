// Made by scripts/generate-provider.mjs from the table of handlers; do not edit.
import * as pulumi from "@pulumi/pulumi";
import { CloudResource, type PropertyNames, unsetUntilGiven } from "../cloud-resource";

/** What a Vm is asked to be. */
export interface VmArgs {
  /** 3 to 50 characters of a-z, 0-9 and hyphen; upper case is lower-cased. Left out, the resource's own name. */
  name?: pulumi.Input<string> | undefined;
  /** Flavor name or id; both are the same flavor. A change resizes in place. */
  flavorId: pulumi.Input<string>;
  /** Image id, or a name that the service's list resolves. A change rebuilds the VM and wipes its root disk; see onImageChange. */
  imageId: pulumi.Input<string>;
  /** Username or e-mail address; the service stores the e-mail, so a username is never a difference. */
  owner: pulumi.Input<string>;
  /** Your user id in the service. */
  userId: pulumi.Input<string>;
  /** The project to build in. */
  project: pulumi.Input<string>;
  /** The region to build in. */
  region: pulumi.Input<string>;
  /** Root disk in GB; 50 when left out. Cannot be changed. */
  rootSize?: pulumi.Input<number> | undefined;
  /** Data volume in GB, at least 1. Grows in place, which detaches it for a moment and so needs flushConfirmed. */
  size: pulumi.Input<number>;
  /** true: no public address. Left out, it has one. */
  skipFloatingIp?: pulumi.Input<boolean> | undefined;
  /** Keep it running or stopped. Left out: not managed. */
  power?: pulumi.Input<"running" | "stopped"> | undefined;
  /** What may stand behind the confirmation that a volume was flushed before it is detached: ask (flushConfirmed, the default), command (a program that flushes it), or stop (the VM is stopped meanwhile). */
  flush?: pulumi.Input<VmFlushArgs> | undefined;
  /** A command that is owed after the VM was made, replaced or rebuilt, until it ended with 0; an update that follows runs what is still owed. */
  afterReady?: pulumi.Input<VmAfterReadyArgs> | undefined;
  /** A command that is owed after the VM's own data volume was attached or grew, until it ended with 0; an update that follows runs what is still owed. */
  afterAttach?: pulumi.Input<VmAfterAttachArgs> | undefined;
  /** What another imageId leads to. */
  onImageChange?: pulumi.Input<"rebuild" | "replace" | "ignore"> | undefined;
  /** Take a snapshot before these. */
  snapshotBefore?: pulumi.Input<pulumi.Input<"rebuild" | "resize" | "delete">[]> | undefined;
  /** Delete the public address with the VM. */
  deleteFloatingIp?: pulumi.Input<boolean> | undefined;
  /** What becomes of the data volume that outlives the VM. Volumes managed as resources of their own are never touched, and what hangs on a VM that was imported or adopted always stays. */
  preservedVolumes?: pulumi.Input<"retain" | "delete"> | undefined;
  /** How a resize is decided that waits in VERIFY_RESIZE: confirmed once the check passes, reverted when it does not. */
  verifyResize?: pulumi.Input<VmVerifyResizeArgs> | undefined;
  /** You state that the volume was unmounted or synced inside the guest, so that it may be detached. Kept with the resource: set it before the change that detaches. */
  flushConfirmed?: pulumi.Input<boolean> | undefined;
  /** The id of an existing resource to take over instead of creating one. Nothing is sent that would lose data; once it is taken over the property may stay or go. "none" says of a create whose outcome is not known that it made nothing. */
  adopt?: pulumi.Input<string> | undefined;
}

export interface VmFlushArgs {
  /** ask, command or stop. */
  via?: pulumi.Input<"ask" | "command" | "stop"> | undefined;
  /** The program and its arguments, for via: command. It runs on the machine that runs the program. */
  command?: pulumi.Input<pulumi.Input<string>[]> | undefined;
  /** Variables of this machine that it gets besides PATH, HOME, LANG, TZ, TMPDIR and the RECONCILE_ values. */
  env?: pulumi.Input<pulumi.Input<string>[]> | undefined;
}

export interface VmAfterReadyArgs {
  /** The program and its arguments. It runs on the machine that runs the program, and may run twice. */
  command: pulumi.Input<pulumi.Input<string>[]>;
  /** How long it may take, such as 5m; then it is ended and stays owed. */
  timeout?: pulumi.Input<string> | undefined;
  /** Variables of this machine that it gets besides PATH, HOME, LANG, TZ, TMPDIR and the RECONCILE_ values. */
  env?: pulumi.Input<pulumi.Input<string>[]> | undefined;
  /** when_changed: another command text makes it owed again. */
  again?: pulumi.Input<"when_changed"> | undefined;
}

export interface VmAfterAttachArgs {
  /** The program and its arguments. It runs on the machine that runs the program, and may run twice. */
  command: pulumi.Input<pulumi.Input<string>[]>;
  /** How long it may take, such as 5m; then it is ended and stays owed. */
  timeout?: pulumi.Input<string> | undefined;
  /** Variables of this machine that it gets besides PATH, HOME, LANG, TZ, TMPDIR and the RECONCILE_ values. */
  env?: pulumi.Input<pulumi.Input<string>[]> | undefined;
  /** when_changed: another command text makes it owed again. */
  again?: pulumi.Input<"when_changed"> | undefined;
}

export interface VmVerifyResizeArgs {
  /** auto (the default), or manual: somebody decides it outside. */
  confirm?: pulumi.Input<"auto" | "manual"> | undefined;
  /** One of tcp, http and command. */
  check?: pulumi.Input<VmVerifyResizeCheckArgs> | undefined;
  /** How long the check may take, such as 2m, which is the default. */
  timeout?: pulumi.Input<string> | undefined;
  /** What a failed check leads to: revert (the default) or leave. */
  onFailure?: pulumi.Input<"revert" | "leave"> | undefined;
}

export interface VmVerifyResizeCheckArgs {
  /** A port that must accept a connection. */
  tcp?: pulumi.Input<number> | undefined;
  /** A URL that must answer with success; {ip} is the VM's address. */
  http?: pulumi.Input<string> | undefined;
  /** A program that must end with 0; {ip} is the VM's address. */
  command?: pulumi.Input<pulumi.Input<string>[]> | undefined;
  /** Variables of this machine that it gets besides PATH, HOME, LANG, TZ, TMPDIR and the RECONCILE_ values. */
  env?: pulumi.Input<pulumi.Input<string>[]> | undefined;
}

export interface VmFlush {
  /** ask, command or stop. */
  via?: "ask" | "command" | "stop" | undefined;
  /** The program and its arguments, for via: command. It runs on the machine that runs the program. */
  command?: string[] | undefined;
  /** Variables of this machine that it gets besides PATH, HOME, LANG, TZ, TMPDIR and the RECONCILE_ values. */
  env?: string[] | undefined;
}

export interface VmAfterReady {
  /** The program and its arguments. It runs on the machine that runs the program, and may run twice. */
  command?: string[] | undefined;
  /** How long it may take, such as 5m; then it is ended and stays owed. */
  timeout?: string | undefined;
  /** Variables of this machine that it gets besides PATH, HOME, LANG, TZ, TMPDIR and the RECONCILE_ values. */
  env?: string[] | undefined;
  /** when_changed: another command text makes it owed again. */
  again?: "when_changed" | undefined;
}

export interface VmAfterAttach {
  /** The program and its arguments. It runs on the machine that runs the program, and may run twice. */
  command?: string[] | undefined;
  /** How long it may take, such as 5m; then it is ended and stays owed. */
  timeout?: string | undefined;
  /** Variables of this machine that it gets besides PATH, HOME, LANG, TZ, TMPDIR and the RECONCILE_ values. */
  env?: string[] | undefined;
  /** when_changed: another command text makes it owed again. */
  again?: "when_changed" | undefined;
}

export interface VmVerifyResize {
  /** auto (the default), or manual: somebody decides it outside. */
  confirm?: "auto" | "manual" | undefined;
  /** One of tcp, http and command. */
  check?: VmVerifyResizeCheck | undefined;
  /** How long the check may take, such as 2m, which is the default. */
  timeout?: string | undefined;
  /** What a failed check leads to: revert (the default) or leave. */
  onFailure?: "revert" | "leave" | undefined;
}

export interface VmVerifyResizeCheck {
  /** A port that must accept a connection. */
  tcp?: number | undefined;
  /** A URL that must answer with success; {ip} is the VM's address. */
  http?: string | undefined;
  /** A program that must end with 0; {ip} is the VM's address. */
  command?: string[] | undefined;
  /** Variables of this machine that it gets besides PATH, HOME, LANG, TZ, TMPDIR and the RECONCILE_ values. */
  env?: string[] | undefined;
}

/** What a Volume is asked to be. */
export interface VolumeArgs {
  /** The volume's name. Left out, the resource's own name. The service cannot rename a volume: a change makes an empty new one. */
  name?: pulumi.Input<string> | undefined;
  /** Size in GB. Grows in place; shrinking is refused. The filesystem is grown inside the guest. */
  size: pulumi.Input<number>;
  /** What may stand behind the confirmation that a volume was flushed before it is detached: ask (flushConfirmed, the default), command (a program that flushes it), or stop (the VM is stopped meanwhile). */
  flush?: pulumi.Input<VolumeFlushArgs> | undefined;
  /** You state that the volume was unmounted or synced inside the guest, so that it may be detached. Kept with the resource: set it before the change that detaches. */
  flushConfirmed?: pulumi.Input<boolean> | undefined;
  /** The id of an existing resource to take over instead of creating one. Nothing is sent that would lose data; once it is taken over the property may stay or go. "none" says of a create whose outcome is not known that it made nothing. */
  adopt?: pulumi.Input<string> | undefined;
}

export interface VolumeFlushArgs {
  /** ask, command or stop. */
  via?: pulumi.Input<"ask" | "command" | "stop"> | undefined;
  /** The program and its arguments, for via: command. It runs on the machine that runs the program. */
  command?: pulumi.Input<pulumi.Input<string>[]> | undefined;
  /** Variables of this machine that it gets besides PATH, HOME, LANG, TZ, TMPDIR and the RECONCILE_ values. */
  env?: pulumi.Input<pulumi.Input<string>[]> | undefined;
}

export interface VolumeFlush {
  /** ask, command or stop. */
  via?: "ask" | "command" | "stop" | undefined;
  /** The program and its arguments, for via: command. It runs on the machine that runs the program. */
  command?: string[] | undefined;
  /** Variables of this machine that it gets besides PATH, HOME, LANG, TZ, TMPDIR and the RECONCILE_ values. */
  env?: string[] | undefined;
}

/** What a VolumeAttachment is asked to be. */
export interface VolumeAttachmentArgs {
  /** The id of the VM. */
  vmId: pulumi.Input<string>;
  /** The id of the volume. */
  volumeId: pulumi.Input<string>;
  /** What may stand behind the confirmation that a volume was flushed before it is detached: ask (flushConfirmed, the default), command (a program that flushes it), or stop (the VM is stopped meanwhile). */
  flush?: pulumi.Input<VolumeAttachmentFlushArgs> | undefined;
  /** You state that the volume was unmounted or synced inside the guest, so that it may be detached. Kept with the resource: set it before the change that detaches. */
  flushConfirmed?: pulumi.Input<boolean> | undefined;
  /** A command that is owed after the volume was attached or grew, or the VM was rebuilt, until it ended with 0; an update that follows runs what is still owed. */
  afterAttach?: pulumi.Input<VolumeAttachmentAfterAttachArgs> | undefined;
}

export interface VolumeAttachmentFlushArgs {
  /** ask, command or stop. */
  via?: pulumi.Input<"ask" | "command" | "stop"> | undefined;
  /** The program and its arguments, for via: command. It runs on the machine that runs the program. */
  command?: pulumi.Input<pulumi.Input<string>[]> | undefined;
  /** Variables of this machine that it gets besides PATH, HOME, LANG, TZ, TMPDIR and the RECONCILE_ values. */
  env?: pulumi.Input<pulumi.Input<string>[]> | undefined;
}

export interface VolumeAttachmentAfterAttachArgs {
  /** The program and its arguments. It runs on the machine that runs the program, and may run twice. */
  command: pulumi.Input<pulumi.Input<string>[]>;
  /** How long it may take, such as 5m; then it is ended and stays owed. */
  timeout?: pulumi.Input<string> | undefined;
  /** Variables of this machine that it gets besides PATH, HOME, LANG, TZ, TMPDIR and the RECONCILE_ values. */
  env?: pulumi.Input<pulumi.Input<string>[]> | undefined;
  /** when_changed: another command text makes it owed again. */
  again?: pulumi.Input<"when_changed"> | undefined;
}

export interface VolumeAttachmentFlush {
  /** ask, command or stop. */
  via?: "ask" | "command" | "stop" | undefined;
  /** The program and its arguments, for via: command. It runs on the machine that runs the program. */
  command?: string[] | undefined;
  /** Variables of this machine that it gets besides PATH, HOME, LANG, TZ, TMPDIR and the RECONCILE_ values. */
  env?: string[] | undefined;
}

export interface VolumeAttachmentAfterAttach {
  /** The program and its arguments. It runs on the machine that runs the program, and may run twice. */
  command?: string[] | undefined;
  /** How long it may take, such as 5m; then it is ended and stays owed. */
  timeout?: string | undefined;
  /** Variables of this machine that it gets besides PATH, HOME, LANG, TZ, TMPDIR and the RECONCILE_ values. */
  env?: string[] | undefined;
  /** when_changed: another command text makes it owed again. */
  again?: "when_changed" | undefined;
}

/** What a SecurityGroup is asked to be. */
export interface SecurityGroupArgs {
  /** 3 to 50 characters of a-z, 0-9 and hyphen; upper case is lower-cased. Left out, the resource's own name. */
  name?: pulumi.Input<string> | undefined;
  /** Free text. */
  description?: pulumi.Input<string> | undefined;
  /** What is admitted. Created with the group in one request, but for rules that name the group itself. */
  rules?: pulumi.Input<pulumi.Input<SecurityGroupRulesItemArgs>[]> | undefined;
  /** authoritative: rules that are not declared here are removed. shared: rules made elsewhere stay, which is what SecurityGroupRule needs; those declared here before are removed. additive: no rule is ever removed. */
  rulesMode?: pulumi.Input<"authoritative" | "additive" | "shared"> | undefined;
  /** Where the service cannot delete one rule: replace the group, or keep the rule and warn about it. */
  onRuleRemoval?: pulumi.Input<"replace" | "keep"> | undefined;
  /** The id of an existing resource to take over instead of creating one. Nothing is sent that would lose data; once it is taken over the property may stay or go. "none" says of a create whose outcome is not known that it made nothing. */
  adopt?: pulumi.Input<string> | undefined;
}

export interface SecurityGroupRulesItemArgs {
  /** ingress (the default) or egress. */
  direction?: pulumi.Input<"ingress" | "egress"> | undefined;
  /** IPv4 (the default) or IPv6; follows remoteIp. */
  ethertype?: pulumi.Input<"IPv4" | "IPv6"> | undefined;
  /** tcp, udp, icmp, or any when left out. */
  protocol?: pulumi.Input<"tcp" | "udp" | "icmp" | "any"> | undefined;
  /** The port, or a range such as 8000-8010 where the service knows ranges. All ports when left out. */
  dstPort?: pulumi.Input<string> | undefined;
  /** A CIDR. Left out, and without remoteGroup: everyone. */
  remoteIp?: pulumi.Input<string> | undefined;
  /** The id of another security group; self means the group the rule is in. Use this or remoteIp. */
  remoteGroup?: pulumi.Input<string> | undefined;
  /** Free text, stored with the rule when it is made. */
  description?: pulumi.Input<string> | undefined;
}

export interface SecurityGroupRulesItem {
  /** ingress (the default) or egress. */
  direction?: "ingress" | "egress" | undefined;
  /** IPv4 (the default) or IPv6; follows remoteIp. */
  ethertype?: "IPv4" | "IPv6" | undefined;
  /** tcp, udp, icmp, or any when left out. */
  protocol?: "tcp" | "udp" | "icmp" | "any" | undefined;
  /** The port, or a range such as 8000-8010 where the service knows ranges. All ports when left out. */
  dstPort?: string | undefined;
  /** A CIDR. Left out, and without remoteGroup: everyone. */
  remoteIp?: string | undefined;
  /** The id of another security group; self means the group the rule is in. Use this or remoteIp. */
  remoteGroup?: string | undefined;
  /** Free text, stored with the rule when it is made. */
  description?: string | undefined;
}

/** What a SecurityGroupRule is asked to be. */
export interface SecurityGroupRuleArgs {
  /** The id of the group the rule is in. */
  securityGroupId: pulumi.Input<string>;
  /** ingress (the default) or egress. */
  direction?: pulumi.Input<"ingress" | "egress"> | undefined;
  /** IPv4 (the default) or IPv6; follows remoteIp. */
  ethertype?: pulumi.Input<"IPv4" | "IPv6"> | undefined;
  /** tcp, udp, icmp, or any when left out. */
  protocol?: pulumi.Input<"tcp" | "udp" | "icmp" | "any"> | undefined;
  /** The port, or a range such as 8000-8010 where the service knows ranges. All ports when left out. */
  dstPort?: pulumi.Input<string> | undefined;
  /** A CIDR. Left out, and without remoteGroup: everyone. */
  remoteIp?: pulumi.Input<string> | undefined;
  /** The id of another security group; self means the group the rule is in. Use this or remoteIp. */
  remoteGroup?: pulumi.Input<string> | undefined;
  /** Free text, stored with the rule when it is made. */
  description?: pulumi.Input<string> | undefined;
  /** Where the service cannot delete one rule: fail, or keep it in the service and warn. A rule whose group is deleted with it needs neither: use the option deletedWith. */
  onRuleRemoval?: pulumi.Input<"fail" | "keep"> | undefined;
}

const namesOfVm: PropertyNames = {"inputs":["name","flavorId","imageId","owner","userId","project","region","rootSize","size","skipFloatingIp","power","flush","afterReady","afterAttach","onImageChange","snapshotBefore","deleteFloatingIp","preservedVolumes","verifyResize","flushConfirmed","adopt"],"outputs":["status","floatingIp","privateIp","dataVolumeId"]};

/** A virtual machine. Renamed, resized (with the decision about VERIFY_RESIZE), rebuilt, started and stopped in place; what the service cannot change replaces it. */
export class Vm extends CloudResource {
  /** 3 to 50 characters of a-z, 0-9 and hyphen; upper case is lower-cased. Left out, the resource's own name. */
  declare readonly name: pulumi.Output<string>;
  /** Flavor name or id; both are the same flavor. A change resizes in place. */
  declare readonly flavorId: pulumi.Output<string>;
  /** Image id, or a name that the service's list resolves. A change rebuilds the VM and wipes its root disk; see onImageChange. */
  declare readonly imageId: pulumi.Output<string>;
  /** Username or e-mail address; the service stores the e-mail, so a username is never a difference. */
  declare readonly owner: pulumi.Output<string>;
  /** Your user id in the service. */
  declare readonly userId: pulumi.Output<string>;
  /** The project to build in. */
  declare readonly project: pulumi.Output<string>;
  /** The region to build in. */
  declare readonly region: pulumi.Output<string>;
  /** Root disk in GB; 50 when left out. Cannot be changed. */
  declare readonly rootSize: pulumi.Output<number | undefined>;
  /** Data volume in GB, at least 1. Grows in place, which detaches it for a moment and so needs flushConfirmed. */
  declare readonly size: pulumi.Output<number>;
  /** true: no public address. Left out, it has one. */
  declare readonly skipFloatingIp: pulumi.Output<boolean | undefined>;
  /** Keep it running or stopped. Left out: not managed. */
  declare readonly power: pulumi.Output<"running" | "stopped" | undefined>;
  /** What may stand behind the confirmation that a volume was flushed before it is detached: ask (flushConfirmed, the default), command (a program that flushes it), or stop (the VM is stopped meanwhile). */
  declare readonly flush: pulumi.Output<VmFlush | undefined>;
  /** A command that is owed after the VM was made, replaced or rebuilt, until it ended with 0; an update that follows runs what is still owed. */
  declare readonly afterReady: pulumi.Output<VmAfterReady | undefined>;
  /** A command that is owed after the VM's own data volume was attached or grew, until it ended with 0; an update that follows runs what is still owed. */
  declare readonly afterAttach: pulumi.Output<VmAfterAttach | undefined>;
  /** What another imageId leads to. */
  declare readonly onImageChange: pulumi.Output<"rebuild" | "replace" | "ignore" | undefined>;
  /** Take a snapshot before these. */
  declare readonly snapshotBefore: pulumi.Output<("rebuild" | "resize" | "delete")[] | undefined>;
  /** Delete the public address with the VM. */
  declare readonly deleteFloatingIp: pulumi.Output<boolean | undefined>;
  /** What becomes of the data volume that outlives the VM. Volumes managed as resources of their own are never touched, and what hangs on a VM that was imported or adopted always stays. */
  declare readonly preservedVolumes: pulumi.Output<"retain" | "delete" | undefined>;
  /** How a resize is decided that waits in VERIFY_RESIZE: confirmed once the check passes, reverted when it does not. */
  declare readonly verifyResize: pulumi.Output<VmVerifyResize | undefined>;
  /** You state that the volume was unmounted or synced inside the guest, so that it may be detached. Kept with the resource: set it before the change that detaches. */
  declare readonly flushConfirmed: pulumi.Output<boolean | undefined>;
  /** The id of an existing resource to take over instead of creating one. Nothing is sent that would lose data; once it is taken over the property may stay or go. "none" says of a create whose outcome is not known that it made nothing. */
  declare readonly adopt: pulumi.Output<string | undefined>;
  /** Its state when it was last looked at, in the service's own word. */
  declare readonly status: pulumi.Output<string | undefined>;
  /** The public address, where it has one and the service shows it. */
  declare readonly floatingIp: pulumi.Output<string | undefined>;
  /** The address in the private network, where the service shows it. */
  declare readonly privateIp: pulumi.Output<string | undefined>;
  /** The data volume created with it, where the service shows which it is. */
  declare readonly dataVolumeId: pulumi.Output<string | undefined>;

  constructor(name: string, args: VmArgs, opts?: pulumi.CustomResourceOptions) {
    super("Vm", namesOfVm, name, args, opts);
  }

  /** An existing resource by its id, to read from; the program does not manage it. */
  static get(name: string, id: pulumi.Input<pulumi.ID>, opts?: pulumi.CustomResourceOptions): Vm {
    return new Vm(name, {} as VmArgs, { ...opts, id });
  }
}
unsetUntilGiven(Vm, namesOfVm);

const namesOfVolume: PropertyNames = {"inputs":["name","size","flush","flushConfirmed","adopt"],"outputs":[]};

/** A block volume. Grows in place; one that is attached is detached for it (which needs a flush) and attached again. */
export class Volume extends CloudResource {
  /** The volume's name. Left out, the resource's own name. The service cannot rename a volume: a change makes an empty new one. */
  declare readonly name: pulumi.Output<string>;
  /** Size in GB. Grows in place; shrinking is refused. The filesystem is grown inside the guest. */
  declare readonly size: pulumi.Output<number>;
  /** What may stand behind the confirmation that a volume was flushed before it is detached: ask (flushConfirmed, the default), command (a program that flushes it), or stop (the VM is stopped meanwhile). */
  declare readonly flush: pulumi.Output<VolumeFlush | undefined>;
  /** You state that the volume was unmounted or synced inside the guest, so that it may be detached. Kept with the resource: set it before the change that detaches. */
  declare readonly flushConfirmed: pulumi.Output<boolean | undefined>;
  /** The id of an existing resource to take over instead of creating one. Nothing is sent that would lose data; once it is taken over the property may stay or go. "none" says of a create whose outcome is not known that it made nothing. */
  declare readonly adopt: pulumi.Output<string | undefined>;

  constructor(name: string, args: VolumeArgs, opts?: pulumi.CustomResourceOptions) {
    super("Volume", namesOfVolume, name, args, opts);
  }

  /** An existing resource by its id, to read from; the program does not manage it. */
  static get(name: string, id: pulumi.Input<pulumi.ID>, opts?: pulumi.CustomResourceOptions): Volume {
    return new Volume(name, {} as VolumeArgs, { ...opts, id });
  }
}
unsetUntilGiven(Volume, namesOfVolume);

const namesOfVolumeAttachment: PropertyNames = {"inputs":["vmId","volumeId","flush","flushConfirmed","afterAttach"],"outputs":[]};

/** A volume attached to a VM. Detaching it needs a confirmed flush. */
export class VolumeAttachment extends CloudResource {
  /** The id of the VM. */
  declare readonly vmId: pulumi.Output<string>;
  /** The id of the volume. */
  declare readonly volumeId: pulumi.Output<string>;
  /** What may stand behind the confirmation that a volume was flushed before it is detached: ask (flushConfirmed, the default), command (a program that flushes it), or stop (the VM is stopped meanwhile). */
  declare readonly flush: pulumi.Output<VolumeAttachmentFlush | undefined>;
  /** You state that the volume was unmounted or synced inside the guest, so that it may be detached. Kept with the resource: set it before the change that detaches. */
  declare readonly flushConfirmed: pulumi.Output<boolean | undefined>;
  /** A command that is owed after the volume was attached or grew, or the VM was rebuilt, until it ended with 0; an update that follows runs what is still owed. */
  declare readonly afterAttach: pulumi.Output<VolumeAttachmentAfterAttach | undefined>;

  constructor(name: string, args: VolumeAttachmentArgs, opts?: pulumi.CustomResourceOptions) {
    super("VolumeAttachment", namesOfVolumeAttachment, name, args, opts);
  }

  /** An existing resource by its id, to read from; the program does not manage it. */
  static get(name: string, id: pulumi.Input<pulumi.ID>, opts?: pulumi.CustomResourceOptions): VolumeAttachment {
    return new VolumeAttachment(name, {} as VolumeAttachmentArgs, { ...opts, id });
  }
}
unsetUntilGiven(VolumeAttachment, namesOfVolumeAttachment);

const namesOfSecurityGroup: PropertyNames = {"inputs":["name","description","rules","rulesMode","onRuleRemoval","adopt"],"outputs":[]};

/** A security group with its rules. Its rules are all there are, unless rulesMode is shared; then SecurityGroupRule resources may stand beside them. */
export class SecurityGroup extends CloudResource {
  /** 3 to 50 characters of a-z, 0-9 and hyphen; upper case is lower-cased. Left out, the resource's own name. */
  declare readonly name: pulumi.Output<string>;
  /** Free text. */
  declare readonly description: pulumi.Output<string | undefined>;
  /** What is admitted. Created with the group in one request, but for rules that name the group itself. */
  declare readonly rules: pulumi.Output<SecurityGroupRulesItem[] | undefined>;
  /** authoritative: rules that are not declared here are removed. shared: rules made elsewhere stay, which is what SecurityGroupRule needs; those declared here before are removed. additive: no rule is ever removed. */
  declare readonly rulesMode: pulumi.Output<"authoritative" | "additive" | "shared" | undefined>;
  /** Where the service cannot delete one rule: replace the group, or keep the rule and warn about it. */
  declare readonly onRuleRemoval: pulumi.Output<"replace" | "keep" | undefined>;
  /** The id of an existing resource to take over instead of creating one. Nothing is sent that would lose data; once it is taken over the property may stay or go. "none" says of a create whose outcome is not known that it made nothing. */
  declare readonly adopt: pulumi.Output<string | undefined>;

  constructor(name: string, args: SecurityGroupArgs, opts?: pulumi.CustomResourceOptions) {
    super("SecurityGroup", namesOfSecurityGroup, name, args, opts);
  }

  /** An existing resource by its id, to read from; the program does not manage it. */
  static get(name: string, id: pulumi.Input<pulumi.ID>, opts?: pulumi.CustomResourceOptions): SecurityGroup {
    return new SecurityGroup(name, {} as SecurityGroupArgs, { ...opts, id });
  }
}
unsetUntilGiven(SecurityGroup, namesOfSecurityGroup);

const namesOfSecurityGroupRule: PropertyNames = {"inputs":["securityGroupId","direction","ethertype","protocol","dstPort","remoteIp","remoteGroup","description","onRuleRemoval"],"outputs":["ruleId"]};

/** One rule of a security group, for groups whose rulesMode is additive, and for rules between groups that name each other. */
export class SecurityGroupRule extends CloudResource {
  /** The id of the group the rule is in. */
  declare readonly securityGroupId: pulumi.Output<string>;
  /** ingress (the default) or egress. */
  declare readonly direction: pulumi.Output<"ingress" | "egress" | undefined>;
  /** IPv4 (the default) or IPv6; follows remoteIp. */
  declare readonly ethertype: pulumi.Output<"IPv4" | "IPv6" | undefined>;
  /** tcp, udp, icmp, or any when left out. */
  declare readonly protocol: pulumi.Output<"tcp" | "udp" | "icmp" | "any" | undefined>;
  /** The port, or a range such as 8000-8010 where the service knows ranges. All ports when left out. */
  declare readonly dstPort: pulumi.Output<string | undefined>;
  /** A CIDR. Left out, and without remoteGroup: everyone. */
  declare readonly remoteIp: pulumi.Output<string | undefined>;
  /** The id of another security group; self means the group the rule is in. Use this or remoteIp. */
  declare readonly remoteGroup: pulumi.Output<string | undefined>;
  /** Free text, stored with the rule when it is made. */
  declare readonly description: pulumi.Output<string | undefined>;
  /** Where the service cannot delete one rule: fail, or keep it in the service and warn. A rule whose group is deleted with it needs neither: use the option deletedWith. */
  declare readonly onRuleRemoval: pulumi.Output<"fail" | "keep" | undefined>;
  /** The id of the rule in its group. */
  declare readonly ruleId: pulumi.Output<string | undefined>;

  constructor(name: string, args: SecurityGroupRuleArgs, opts?: pulumi.CustomResourceOptions) {
    super("SecurityGroupRule", namesOfSecurityGroupRule, name, args, opts);
  }

  /** An existing resource by its id, to read from; the program does not manage it. */
  static get(name: string, id: pulumi.Input<pulumi.ID>, opts?: pulumi.CustomResourceOptions): SecurityGroupRule {
    return new SecurityGroupRule(name, {} as SecurityGroupRuleArgs, { ...opts, id });
  }
}
unsetUntilGiven(SecurityGroupRule, namesOfSecurityGroupRule);

export interface GetFlavorArgs {
  /** Its name. */
  name?: string | undefined;
  /** Its id; instead of the name. */
  id?: string | undefined;
}

export interface GetFlavorOutputArgs {
  /** Its name. */
  name?: pulumi.Input<string> | undefined;
  /** Its id; instead of the name. */
  id?: pulumi.Input<string> | undefined;
}

export interface GetFlavorResult {
  /** Its id. */
  id?: string | undefined;
  /** Its name. */
  name?: string | undefined;
}

/** Looks up a flavor by its name or its id. It is an error when there is none, or when several have the name. Through the plugin. */
export const getFlavor = (args: GetFlavorArgs, opts: pulumi.InvokeOptions = {}): Promise<GetFlavorResult> =>
  pulumi.runtime.invoke("reconcile-cloud:index:getFlavor", args, opts);

export const getFlavorOutput = (
  args: GetFlavorOutputArgs,
  opts: pulumi.InvokeOutputOptions = {},
): pulumi.Output<GetFlavorResult> => pulumi.runtime.invokeOutput("reconcile-cloud:index:getFlavor", args, opts);

export interface GetImageArgs {
  /** Its name. */
  name?: string | undefined;
  /** Its id; instead of the name. */
  id?: string | undefined;
}

export interface GetImageOutputArgs {
  /** Its name. */
  name?: pulumi.Input<string> | undefined;
  /** Its id; instead of the name. */
  id?: pulumi.Input<string> | undefined;
}

export interface GetImageResult {
  /** Its id. */
  id?: string | undefined;
  /** Its name. */
  name?: string | undefined;
}

/** Looks up an image by its name or its id. It is an error when there is none, or when several have the name. Through the plugin. */
export const getImage = (args: GetImageArgs, opts: pulumi.InvokeOptions = {}): Promise<GetImageResult> =>
  pulumi.runtime.invoke("reconcile-cloud:index:getImage", args, opts);

export const getImageOutput = (
  args: GetImageOutputArgs,
  opts: pulumi.InvokeOutputOptions = {},
): pulumi.Output<GetImageResult> => pulumi.runtime.invokeOutput("reconcile-cloud:index:getImage", args, opts);

export interface GetRegionArgs {
  /** Its name. */
  name?: string | undefined;
  /** Its id; instead of the name. */
  id?: string | undefined;
}

export interface GetRegionOutputArgs {
  /** Its name. */
  name?: pulumi.Input<string> | undefined;
  /** Its id; instead of the name. */
  id?: pulumi.Input<string> | undefined;
}

export interface GetRegionResult {
  /** Its id. */
  id?: string | undefined;
  /** Its name. */
  name?: string | undefined;
}

/** Looks up a region by its name or its id. It is an error when there is none, or when several have the name. Through the plugin. */
export const getRegion = (args: GetRegionArgs, opts: pulumi.InvokeOptions = {}): Promise<GetRegionResult> =>
  pulumi.runtime.invoke("reconcile-cloud:index:getRegion", args, opts);

export const getRegionOutput = (
  args: GetRegionOutputArgs,
  opts: pulumi.InvokeOutputOptions = {},
): pulumi.Output<GetRegionResult> => pulumi.runtime.invokeOutput("reconcile-cloud:index:getRegion", args, opts);

export interface GetVmArgs {
  /** Its name. */
  name?: string | undefined;
  /** Its id; instead of the name. */
  id?: string | undefined;
}

export interface GetVmOutputArgs {
  /** Its name. */
  name?: pulumi.Input<string> | undefined;
  /** Its id; instead of the name. */
  id?: pulumi.Input<string> | undefined;
}

export interface GetVmResult {
  /** Its id. */
  id?: string | undefined;
  /** Its name. */
  name?: string | undefined;
  /** Its state, in the service's own word. */
  status?: string | undefined;
  /** Its flavor. */
  flavorId?: string | undefined;
  /** Its image. */
  imageId?: string | undefined;
  /** Its owner. */
  owner?: string | undefined;
  /** Its public address. */
  floatingIp?: string | undefined;
  /** Its address in the private network. */
  privateIp?: string | undefined;
  /** All its volumes, the root disk among them. */
  volumeIds?: string[] | undefined;
  /** The root disk, where the service shows which of the volumes it is. */
  rootVolumeId?: string | undefined;
  /** Its size in GB, where the service lists volumes. */
  rootSize?: number | undefined;
}

/** Looks up a VM by its name or its id. It is an error when there is none, or when several have the name. Through the plugin. */
export const getVm = (args: GetVmArgs, opts: pulumi.InvokeOptions = {}): Promise<GetVmResult> =>
  pulumi.runtime.invoke("reconcile-cloud:index:getVm", args, opts);

export const getVmOutput = (
  args: GetVmOutputArgs,
  opts: pulumi.InvokeOutputOptions = {},
): pulumi.Output<GetVmResult> => pulumi.runtime.invokeOutput("reconcile-cloud:index:getVm", args, opts);

export interface GetVolumeArgs {
  /** Its name. */
  name?: string | undefined;
  /** Its id; instead of the name. */
  id?: string | undefined;
}

export interface GetVolumeOutputArgs {
  /** Its name. */
  name?: pulumi.Input<string> | undefined;
  /** Its id; instead of the name. */
  id?: pulumi.Input<string> | undefined;
}

export interface GetVolumeResult {
  /** Its id. */
  id?: string | undefined;
  /** Its name. */
  name?: string | undefined;
  /** Its size in GB. */
  size?: number | undefined;
  /** Its state, in the service's own word. */
  status?: string | undefined;
  /** The VM that it is attached to. */
  vmId?: string | undefined;
}

/** Looks up a volume by its name or its id. It is an error when there is none, or when several have the name. Through the plugin. */
export const getVolume = (args: GetVolumeArgs, opts: pulumi.InvokeOptions = {}): Promise<GetVolumeResult> =>
  pulumi.runtime.invoke("reconcile-cloud:index:getVolume", args, opts);

export const getVolumeOutput = (
  args: GetVolumeOutputArgs,
  opts: pulumi.InvokeOutputOptions = {},
): pulumi.Output<GetVolumeResult> => pulumi.runtime.invokeOutput("reconcile-cloud:index:getVolume", args, opts);

export interface GetSecurityGroupRulesItem {
  /** Its id in the group. */
  id?: string | undefined;
  /** ingress (the default) or egress. */
  direction?: "ingress" | "egress" | undefined;
  /** IPv4 (the default) or IPv6; follows remoteIp. */
  ethertype?: "IPv4" | "IPv6" | undefined;
  /** tcp, udp, icmp, or any when left out. */
  protocol?: "tcp" | "udp" | "icmp" | "any" | undefined;
  /** The port, or a range such as 8000-8010 where the service knows ranges. All ports when left out. */
  dstPort?: string | undefined;
  /** A CIDR. Left out, and without remoteGroup: everyone. */
  remoteIp?: string | undefined;
  /** The id of another security group; self means the group the rule is in. Use this or remoteIp. */
  remoteGroup?: string | undefined;
  /** Free text, stored with the rule when it is made. */
  description?: string | undefined;
}

export interface GetSecurityGroupArgs {
  /** Its name. */
  name?: string | undefined;
  /** Its id; instead of the name. */
  id?: string | undefined;
}

export interface GetSecurityGroupOutputArgs {
  /** Its name. */
  name?: pulumi.Input<string> | undefined;
  /** Its id; instead of the name. */
  id?: pulumi.Input<string> | undefined;
}

export interface GetSecurityGroupResult {
  /** Its id. */
  id?: string | undefined;
  /** Its name. */
  name?: string | undefined;
  /** Its description. */
  description?: string | undefined;
  /** Its rules, those that the service made by itself among them. */
  rules?: GetSecurityGroupRulesItem[] | undefined;
}

/** Looks up a security group by its name or its id. It is an error when there is none, or when several have the name. Through the plugin. */
export const getSecurityGroup = (args: GetSecurityGroupArgs, opts: pulumi.InvokeOptions = {}): Promise<GetSecurityGroupResult> =>
  pulumi.runtime.invoke("reconcile-cloud:index:getSecurityGroup", args, opts);

export const getSecurityGroupOutput = (
  args: GetSecurityGroupOutputArgs,
  opts: pulumi.InvokeOutputOptions = {},
): pulumi.Output<GetSecurityGroupResult> => pulumi.runtime.invokeOutput("reconcile-cloud:index:getSecurityGroup", args, opts);

export interface GetFlavorsFlavorsItem {
  /** Its id. */
  id?: string | undefined;
  /** Its name. */
  name?: string | undefined;
}

export interface GetFlavorsArgs {
  /** Only those whose name fits, in either case; * stands for anything, as in web-*. */
  name?: string | undefined;
  /** Sorts from the highest name to the lowest, with numbers in names as numbers: of names that end in a version, the newest comes first. */
  newestFirst?: boolean | undefined;
}

export interface GetFlavorsOutputArgs {
  /** Only those whose name fits, in either case; * stands for anything, as in web-*. */
  name?: pulumi.Input<string> | undefined;
  /** Sorts from the highest name to the lowest, with numbers in names as numbers: of names that end in a version, the newest comes first. */
  newestFirst?: pulumi.Input<boolean> | undefined;
}

export interface GetFlavorsResult {
  /** The flavors that fit. */
  flavors?: GetFlavorsFlavorsItem[] | undefined;
  /** The ids, in the same order. */
  ids?: string[] | undefined;
}

/** Lists the flavors that the service shows, all or those that fit, sorted by name. None is no error. Through the plugin. */
export const getFlavors = (args: GetFlavorsArgs, opts: pulumi.InvokeOptions = {}): Promise<GetFlavorsResult> =>
  pulumi.runtime.invoke("reconcile-cloud:index:getFlavors", args, opts);

export const getFlavorsOutput = (
  args: GetFlavorsOutputArgs,
  opts: pulumi.InvokeOutputOptions = {},
): pulumi.Output<GetFlavorsResult> => pulumi.runtime.invokeOutput("reconcile-cloud:index:getFlavors", args, opts);

export interface GetImagesImagesItem {
  /** Its id. */
  id?: string | undefined;
  /** Its name. */
  name?: string | undefined;
}

export interface GetImagesArgs {
  /** Only those whose name fits, in either case; * stands for anything, as in web-*. */
  name?: string | undefined;
  /** Sorts from the highest name to the lowest, with numbers in names as numbers: of names that end in a version, the newest comes first. */
  newestFirst?: boolean | undefined;
}

export interface GetImagesOutputArgs {
  /** Only those whose name fits, in either case; * stands for anything, as in web-*. */
  name?: pulumi.Input<string> | undefined;
  /** Sorts from the highest name to the lowest, with numbers in names as numbers: of names that end in a version, the newest comes first. */
  newestFirst?: pulumi.Input<boolean> | undefined;
}

export interface GetImagesResult {
  /** The images that fit. */
  images?: GetImagesImagesItem[] | undefined;
  /** The ids, in the same order. */
  ids?: string[] | undefined;
}

/** Lists the images that the service shows, all or those that fit, sorted by name. None is no error. Through the plugin. */
export const getImages = (args: GetImagesArgs, opts: pulumi.InvokeOptions = {}): Promise<GetImagesResult> =>
  pulumi.runtime.invoke("reconcile-cloud:index:getImages", args, opts);

export const getImagesOutput = (
  args: GetImagesOutputArgs,
  opts: pulumi.InvokeOutputOptions = {},
): pulumi.Output<GetImagesResult> => pulumi.runtime.invokeOutput("reconcile-cloud:index:getImages", args, opts);

export interface GetRegionsRegionsItem {
  /** Its id. */
  id?: string | undefined;
  /** Its name. */
  name?: string | undefined;
}

export interface GetRegionsArgs {
  /** Only those whose name fits, in either case; * stands for anything, as in web-*. */
  name?: string | undefined;
  /** Sorts from the highest name to the lowest, with numbers in names as numbers: of names that end in a version, the newest comes first. */
  newestFirst?: boolean | undefined;
}

export interface GetRegionsOutputArgs {
  /** Only those whose name fits, in either case; * stands for anything, as in web-*. */
  name?: pulumi.Input<string> | undefined;
  /** Sorts from the highest name to the lowest, with numbers in names as numbers: of names that end in a version, the newest comes first. */
  newestFirst?: pulumi.Input<boolean> | undefined;
}

export interface GetRegionsResult {
  /** The regions that fit. */
  regions?: GetRegionsRegionsItem[] | undefined;
  /** The ids, in the same order. */
  ids?: string[] | undefined;
}

/** Lists the regions that the service shows, all or those that fit, sorted by name. None is no error. Through the plugin. */
export const getRegions = (args: GetRegionsArgs, opts: pulumi.InvokeOptions = {}): Promise<GetRegionsResult> =>
  pulumi.runtime.invoke("reconcile-cloud:index:getRegions", args, opts);

export const getRegionsOutput = (
  args: GetRegionsOutputArgs,
  opts: pulumi.InvokeOutputOptions = {},
): pulumi.Output<GetRegionsResult> => pulumi.runtime.invokeOutput("reconcile-cloud:index:getRegions", args, opts);

export interface GetVmsVmsItem {
  /** Its id. */
  id?: string | undefined;
  /** Its name. */
  name?: string | undefined;
  /** Its state, in the service's own word. */
  status?: string | undefined;
  /** Its flavor. */
  flavorId?: string | undefined;
  /** Its image. */
  imageId?: string | undefined;
  /** Its owner. */
  owner?: string | undefined;
  /** Its public address. */
  floatingIp?: string | undefined;
  /** Its address in the private network. */
  privateIp?: string | undefined;
  /** All its volumes, the root disk among them. */
  volumeIds?: string[] | undefined;
  /** The root disk, where the service shows which of the volumes it is. */
  rootVolumeId?: string | undefined;
}

export interface GetVmsArgs {
  /** Only those whose name fits, in either case; * stands for anything, as in web-*. */
  name?: string | undefined;
  /** Only those with this value of status. */
  status?: string | undefined;
  /** Only those with this value of flavorId. */
  flavorId?: string | undefined;
  /** Only those with this value of imageId. */
  imageId?: string | undefined;
  /** Only those with this value of owner. */
  owner?: string | undefined;
  /** Sorts from the highest name to the lowest, with numbers in names as numbers: of names that end in a version, the newest comes first. */
  newestFirst?: boolean | undefined;
}

export interface GetVmsOutputArgs {
  /** Only those whose name fits, in either case; * stands for anything, as in web-*. */
  name?: pulumi.Input<string> | undefined;
  /** Only those with this value of status. */
  status?: pulumi.Input<string> | undefined;
  /** Only those with this value of flavorId. */
  flavorId?: pulumi.Input<string> | undefined;
  /** Only those with this value of imageId. */
  imageId?: pulumi.Input<string> | undefined;
  /** Only those with this value of owner. */
  owner?: pulumi.Input<string> | undefined;
  /** Sorts from the highest name to the lowest, with numbers in names as numbers: of names that end in a version, the newest comes first. */
  newestFirst?: pulumi.Input<boolean> | undefined;
}

export interface GetVmsResult {
  /** The VMs that fit. */
  vms?: GetVmsVmsItem[] | undefined;
  /** The ids, in the same order. */
  ids?: string[] | undefined;
}

/** Lists the VMs that the service shows, all or those that fit, sorted by name. None is no error. Through the plugin. */
export const getVms = (args: GetVmsArgs, opts: pulumi.InvokeOptions = {}): Promise<GetVmsResult> =>
  pulumi.runtime.invoke("reconcile-cloud:index:getVms", args, opts);

export const getVmsOutput = (
  args: GetVmsOutputArgs,
  opts: pulumi.InvokeOutputOptions = {},
): pulumi.Output<GetVmsResult> => pulumi.runtime.invokeOutput("reconcile-cloud:index:getVms", args, opts);

export interface GetVolumesVolumesItem {
  /** Its id. */
  id?: string | undefined;
  /** Its name. */
  name?: string | undefined;
  /** Its size in GB. */
  size?: number | undefined;
  /** Its state, in the service's own word. */
  status?: string | undefined;
  /** The VM that it is attached to. */
  vmId?: string | undefined;
}

export interface GetVolumesArgs {
  /** Only those whose name fits, in either case; * stands for anything, as in web-*. */
  name?: string | undefined;
  /** Only those with this value of status. */
  status?: string | undefined;
  /** Only those with this value of vmId. */
  vmId?: string | undefined;
  /** Sorts from the highest name to the lowest, with numbers in names as numbers: of names that end in a version, the newest comes first. */
  newestFirst?: boolean | undefined;
}

export interface GetVolumesOutputArgs {
  /** Only those whose name fits, in either case; * stands for anything, as in web-*. */
  name?: pulumi.Input<string> | undefined;
  /** Only those with this value of status. */
  status?: pulumi.Input<string> | undefined;
  /** Only those with this value of vmId. */
  vmId?: pulumi.Input<string> | undefined;
  /** Sorts from the highest name to the lowest, with numbers in names as numbers: of names that end in a version, the newest comes first. */
  newestFirst?: pulumi.Input<boolean> | undefined;
}

export interface GetVolumesResult {
  /** The volumes that fit. */
  volumes?: GetVolumesVolumesItem[] | undefined;
  /** The ids, in the same order. */
  ids?: string[] | undefined;
}

/** Lists the volumes that the service shows, all or those that fit, sorted by name. None is no error. Through the plugin. */
export const getVolumes = (args: GetVolumesArgs, opts: pulumi.InvokeOptions = {}): Promise<GetVolumesResult> =>
  pulumi.runtime.invoke("reconcile-cloud:index:getVolumes", args, opts);

export const getVolumesOutput = (
  args: GetVolumesOutputArgs,
  opts: pulumi.InvokeOutputOptions = {},
): pulumi.Output<GetVolumesResult> => pulumi.runtime.invokeOutput("reconcile-cloud:index:getVolumes", args, opts);

export interface GetSecurityGroupsSecurityGroupsItem {
  /** Its id. */
  id?: string | undefined;
  /** Its name. */
  name?: string | undefined;
  /** Its description. */
  description?: string | undefined;
}

export interface GetSecurityGroupsArgs {
  /** Only those whose name fits, in either case; * stands for anything, as in web-*. */
  name?: string | undefined;
  /** Sorts from the highest name to the lowest, with numbers in names as numbers: of names that end in a version, the newest comes first. */
  newestFirst?: boolean | undefined;
}

export interface GetSecurityGroupsOutputArgs {
  /** Only those whose name fits, in either case; * stands for anything, as in web-*. */
  name?: pulumi.Input<string> | undefined;
  /** Sorts from the highest name to the lowest, with numbers in names as numbers: of names that end in a version, the newest comes first. */
  newestFirst?: pulumi.Input<boolean> | undefined;
}

export interface GetSecurityGroupsResult {
  /** The security groups that fit. */
  securityGroups?: GetSecurityGroupsSecurityGroupsItem[] | undefined;
  /** The ids, in the same order. */
  ids?: string[] | undefined;
}

/** Lists the security groups that the service shows, all or those that fit, sorted by name. None is no error. Through the plugin. */
export const getSecurityGroups = (args: GetSecurityGroupsArgs, opts: pulumi.InvokeOptions = {}): Promise<GetSecurityGroupsResult> =>
  pulumi.runtime.invoke("reconcile-cloud:index:getSecurityGroups", args, opts);

export const getSecurityGroupsOutput = (
  args: GetSecurityGroupsOutputArgs,
  opts: pulumi.InvokeOutputOptions = {},
): pulumi.Output<GetSecurityGroupsResult> => pulumi.runtime.invokeOutput("reconcile-cloud:index:getSecurityGroups", args, opts);
