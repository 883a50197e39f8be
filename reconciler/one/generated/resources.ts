// Made by scripts/generate-provider.mjs from the table of handlers; do not edit.
/** What a Vm is asked to be. */
export type VmInputs = {
  /** 3 to 50 characters of a-z, 0-9 and hyphen; upper case is lower-cased. Left out, the resource's own name. */
  readonly name: string;
  /** Flavor name or id; both are the same flavor. A change resizes in place. */
  readonly flavorId: string;
  /** Image id, or a name that the service's list resolves. A change rebuilds the VM and wipes its root disk; see onImageChange. */
  readonly imageId: string;
  /** Username or e-mail address; the service stores the e-mail, so a username is never a difference. */
  readonly owner: string;
  /** Your user id in the service. */
  readonly userId: string;
  /** The project to build in. */
  readonly project: string;
  /** The region to build in. */
  readonly region: string;
  /** Root disk in GB; 50 when left out. Cannot be changed. */
  readonly rootSize?: number | undefined;
  /** Data volume in GB, at least 1. Grows in place, which detaches it for a moment and so needs flushConfirmed. */
  readonly size: number;
  /** true: no public address. Left out, it has one. */
  readonly skipFloatingIp?: boolean | undefined;
  /** Keep it running or stopped. Left out: not managed. */
  readonly power?: "running" | "stopped" | undefined;
  /** What may stand behind the confirmation that a volume was flushed before it is detached: ask (flushConfirmed, the default), command (a program that flushes it), or stop (the VM is stopped meanwhile). */
  readonly flush?: {
    /** ask, command or stop. */
    readonly via?: "ask" | "command" | "stop" | undefined;
    /** The program and its arguments, for via: command. It runs on the machine that runs the program. */
    readonly command?: readonly string[] | undefined;
    /** Variables of this machine that it gets besides PATH, HOME, LANG, TZ, TMPDIR and the RECONCILE_ values. */
    readonly env?: readonly string[] | undefined;
  } | undefined;
  /** A command that is owed after the VM was made, replaced or rebuilt, until it ended with 0; an update that follows runs what is still owed. */
  readonly afterReady?: {
    /** The program and its arguments. It runs on the machine that runs the program, and may run twice. */
    readonly command: readonly string[];
    /** How long it may take, such as 5m; then it is ended and stays owed. */
    readonly timeout?: string | undefined;
    /** Variables of this machine that it gets besides PATH, HOME, LANG, TZ, TMPDIR and the RECONCILE_ values. */
    readonly env?: readonly string[] | undefined;
    /** when_changed: another command text makes it owed again. */
    readonly again?: "when_changed" | undefined;
  } | undefined;
  /** A command that is owed after the VM's own data volume was attached or grew, until it ended with 0; an update that follows runs what is still owed. */
  readonly afterAttach?: {
    /** The program and its arguments. It runs on the machine that runs the program, and may run twice. */
    readonly command: readonly string[];
    /** How long it may take, such as 5m; then it is ended and stays owed. */
    readonly timeout?: string | undefined;
    /** Variables of this machine that it gets besides PATH, HOME, LANG, TZ, TMPDIR and the RECONCILE_ values. */
    readonly env?: readonly string[] | undefined;
    /** when_changed: another command text makes it owed again. */
    readonly again?: "when_changed" | undefined;
  } | undefined;
  /** What another imageId leads to. */
  readonly onImageChange?: "rebuild" | "replace" | "ignore" | undefined;
  /** Take a snapshot before these. */
  readonly snapshotBefore?: readonly ("rebuild" | "resize" | "delete")[] | undefined;
  /** Delete the public address with the VM. */
  readonly deleteFloatingIp?: boolean | undefined;
  /** What becomes of the data volume that outlives the VM. Volumes managed as resources of their own are never touched, and what hangs on a VM that was imported or adopted always stays. */
  readonly preservedVolumes?: "retain" | "delete" | undefined;
  /** How a resize is decided that waits in VERIFY_RESIZE: confirmed once the check passes, reverted when it does not. */
  readonly verifyResize?: {
    /** auto (the default), or manual: somebody decides it outside. */
    readonly confirm?: "auto" | "manual" | undefined;
    /** One of tcp, http and command. */
    readonly check?: {
      /** A port that must accept a connection. */
      readonly tcp?: number | undefined;
      /** A URL that must answer with success; {ip} is the VM's address. */
      readonly http?: string | undefined;
      /** A program that must end with 0; {ip} is the VM's address. */
      readonly command?: readonly string[] | undefined;
      /** Variables of this machine that it gets besides PATH, HOME, LANG, TZ, TMPDIR and the RECONCILE_ values. */
      readonly env?: readonly string[] | undefined;
    } | undefined;
    /** How long the check may take, such as 2m, which is the default. */
    readonly timeout?: string | undefined;
    /** What a failed check leads to: revert (the default) or leave. */
    readonly onFailure?: "revert" | "leave" | undefined;
  } | undefined;
  /** You state that the volume was unmounted or synced inside the guest, so that it may be detached. Kept with the resource: set it before the change that detaches. */
  readonly flushConfirmed?: boolean | undefined;
  /** The id of an existing resource to take over instead of creating one. Nothing is sent that would lose data; once it is taken over the property may stay or go. "none" says of a create whose outcome is not known that it made nothing. */
  readonly adopt?: string | undefined;
};

/** What is kept of a Vm: its inputs, what the service added, and the engine's own record of it. */
export type VmOutputs = VmInputs & {
  /** Its state when it was last looked at, in the service's own word. */
  readonly status?: string | undefined;
  /** The public address, where it has one and the service shows it. */
  readonly floatingIp?: string | undefined;
  /** The address in the private network, where the service shows it. */
  readonly privateIp?: string | undefined;
  /** The data volume created with it, where the service shows which it is. */
  readonly dataVolumeId?: string | undefined;
  readonly recorded?: unknown;
};

/** What a Volume is asked to be. */
export type VolumeInputs = {
  /** The volume's name. Left out, the resource's own name. The service cannot rename a volume: a change makes an empty new one. */
  readonly name: string;
  /** Size in GB. Grows in place; shrinking is refused. The filesystem is grown inside the guest. */
  readonly size: number;
  /** What may stand behind the confirmation that a volume was flushed before it is detached: ask (flushConfirmed, the default), command (a program that flushes it), or stop (the VM is stopped meanwhile). */
  readonly flush?: {
    /** ask, command or stop. */
    readonly via?: "ask" | "command" | "stop" | undefined;
    /** The program and its arguments, for via: command. It runs on the machine that runs the program. */
    readonly command?: readonly string[] | undefined;
    /** Variables of this machine that it gets besides PATH, HOME, LANG, TZ, TMPDIR and the RECONCILE_ values. */
    readonly env?: readonly string[] | undefined;
  } | undefined;
  /** You state that the volume was unmounted or synced inside the guest, so that it may be detached. Kept with the resource: set it before the change that detaches. */
  readonly flushConfirmed?: boolean | undefined;
  /** The id of an existing resource to take over instead of creating one. Nothing is sent that would lose data; once it is taken over the property may stay or go. "none" says of a create whose outcome is not known that it made nothing. */
  readonly adopt?: string | undefined;
};

/** What is kept of a Volume: its inputs, what the service added, and the engine's own record of it. */
export type VolumeOutputs = VolumeInputs & {
  readonly recorded?: unknown;
};

/** What a VolumeAttachment is asked to be. */
export type VolumeAttachmentInputs = {
  /** The id of the VM. */
  readonly vmId: string;
  /** The id of the volume. */
  readonly volumeId: string;
  /** What may stand behind the confirmation that a volume was flushed before it is detached: ask (flushConfirmed, the default), command (a program that flushes it), or stop (the VM is stopped meanwhile). */
  readonly flush?: {
    /** ask, command or stop. */
    readonly via?: "ask" | "command" | "stop" | undefined;
    /** The program and its arguments, for via: command. It runs on the machine that runs the program. */
    readonly command?: readonly string[] | undefined;
    /** Variables of this machine that it gets besides PATH, HOME, LANG, TZ, TMPDIR and the RECONCILE_ values. */
    readonly env?: readonly string[] | undefined;
  } | undefined;
  /** You state that the volume was unmounted or synced inside the guest, so that it may be detached. Kept with the resource: set it before the change that detaches. */
  readonly flushConfirmed?: boolean | undefined;
  /** A command that is owed after the volume was attached or grew, or the VM was rebuilt, until it ended with 0; an update that follows runs what is still owed. */
  readonly afterAttach?: {
    /** The program and its arguments. It runs on the machine that runs the program, and may run twice. */
    readonly command: readonly string[];
    /** How long it may take, such as 5m; then it is ended and stays owed. */
    readonly timeout?: string | undefined;
    /** Variables of this machine that it gets besides PATH, HOME, LANG, TZ, TMPDIR and the RECONCILE_ values. */
    readonly env?: readonly string[] | undefined;
    /** when_changed: another command text makes it owed again. */
    readonly again?: "when_changed" | undefined;
  } | undefined;
};

/** What is kept of a VolumeAttachment: its inputs, what the service added, and the engine's own record of it. */
export type VolumeAttachmentOutputs = VolumeAttachmentInputs & {
  readonly recorded?: unknown;
};

/** What a SecurityGroup is asked to be. */
export type SecurityGroupInputs = {
  /** 3 to 50 characters of a-z, 0-9 and hyphen; upper case is lower-cased. Left out, the resource's own name. */
  readonly name: string;
  /** Free text. */
  readonly description?: string | undefined;
  /** What is admitted. Created with the group in one request, but for rules that name the group itself. */
  readonly rules?: readonly {
    /** ingress (the default) or egress. */
    readonly direction?: "ingress" | "egress" | undefined;
    /** IPv4 (the default) or IPv6; follows remoteIp. */
    readonly ethertype?: "IPv4" | "IPv6" | undefined;
    /** tcp, udp, icmp, or any when left out. */
    readonly protocol?: "tcp" | "udp" | "icmp" | "any" | undefined;
    /** The port, or a range such as 8000-8010 where the service knows ranges. All ports when left out. */
    readonly dstPort?: string | undefined;
    /** A CIDR. Left out, and without remoteGroup: everyone. */
    readonly remoteIp?: string | undefined;
    /** The id of another security group; self means the group the rule is in. Use this or remoteIp. */
    readonly remoteGroup?: string | undefined;
    /** Free text, stored with the rule when it is made. */
    readonly description?: string | undefined;
  }[] | undefined;
  /** authoritative: rules that are not declared here are removed. shared: rules made elsewhere stay, which is what SecurityGroupRule needs; those declared here before are removed. additive: no rule is ever removed. */
  readonly rulesMode?: "authoritative" | "additive" | "shared" | undefined;
  /** Where the service cannot delete one rule: replace the group, or keep the rule and warn about it. */
  readonly onRuleRemoval?: "replace" | "keep" | undefined;
  /** The id of an existing resource to take over instead of creating one. Nothing is sent that would lose data; once it is taken over the property may stay or go. "none" says of a create whose outcome is not known that it made nothing. */
  readonly adopt?: string | undefined;
};

/** What is kept of a SecurityGroup: its inputs, what the service added, and the engine's own record of it. */
export type SecurityGroupOutputs = SecurityGroupInputs & {
  readonly recorded?: unknown;
};

/** What a SecurityGroupRule is asked to be. */
export type SecurityGroupRuleInputs = {
  /** The id of the group the rule is in. */
  readonly securityGroupId: string;
  /** ingress (the default) or egress. */
  readonly direction?: "ingress" | "egress" | undefined;
  /** IPv4 (the default) or IPv6; follows remoteIp. */
  readonly ethertype?: "IPv4" | "IPv6" | undefined;
  /** tcp, udp, icmp, or any when left out. */
  readonly protocol?: "tcp" | "udp" | "icmp" | "any" | undefined;
  /** The port, or a range such as 8000-8010 where the service knows ranges. All ports when left out. */
  readonly dstPort?: string | undefined;
  /** A CIDR. Left out, and without remoteGroup: everyone. */
  readonly remoteIp?: string | undefined;
  /** The id of another security group; self means the group the rule is in. Use this or remoteIp. */
  readonly remoteGroup?: string | undefined;
  /** Free text, stored with the rule when it is made. */
  readonly description?: string | undefined;
  /** Where the service cannot delete one rule: fail, or keep it in the service and warn. A rule whose group is deleted with it needs neither: use the option deletedWith. */
  readonly onRuleRemoval?: "fail" | "keep" | undefined;
};

/** What is kept of a SecurityGroupRule: its inputs, what the service added, and the engine's own record of it. */
export type SecurityGroupRuleOutputs = SecurityGroupRuleInputs & {
  /** The id of the rule in its group. */
  readonly ruleId?: string | undefined;
  readonly recorded?: unknown;
};

export interface InputsOf {
  readonly Vm: VmInputs;
  readonly Volume: VolumeInputs;
  readonly VolumeAttachment: VolumeAttachmentInputs;
  readonly SecurityGroup: SecurityGroupInputs;
  readonly SecurityGroupRule: SecurityGroupRuleInputs;
}

export interface OutputsOf {
  readonly Vm: VmOutputs;
  readonly Volume: VolumeOutputs;
  readonly VolumeAttachment: VolumeAttachmentOutputs;
  readonly SecurityGroup: SecurityGroupOutputs;
  readonly SecurityGroupRule: SecurityGroupRuleOutputs;
}
