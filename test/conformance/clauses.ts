/**
 * The service's contract, clause by clause: every row of its tables and every numbered rule, in a few words of our own.
 * A case cites the clauses it holds; clauses.test.ts sees to it that none is left without one. What the contract leaves
 * open is a clause too (a gap): its case shows how little may be relied on. `untestable` says why no request can tell.
 */
export interface Clause {
  readonly text: string;
  readonly gap?: true;
  readonly untestable?: string;
}

const gap = (text: string): Clause => ({ text, gap: true });
const untestable = (text: string, why: string): Clause => ({ text, gap: true, untestable: why });

export const clauses = {
  "Scope 1": { text: "VMs, volumes, groups and rules belong to the authenticated user's project" },
  "Scope 2": { text: "bodies are JSON" },
  "Scope 3": { text: "a VM create is only acknowledged; a stop blocks until the VM has stopped" },
  "Scope 4": { text: "groups are made with their rules atomically, or in bulk from another provider's listing" },
  "Scope 5": { text: "volumes outlive the VMs they were attached to" },
  "Scope 6": {
    text: "flavor, image, region, project, user, floating IP and private address are referred to, not managed",
  },

  "Envelope data": { text: "payload of a success; a plain text when it only acknowledges" },
  "Envelope error": { text: "an integer code and a message text" },
  "Envelope page": { text: "next, prev and total_size" },
  "Envelope bare strings": {
    text: "rebuild, VM resize, attach, detach and volume resize answer with one JSON text, no object",
  },

  "VM create flavor_id": { text: "required; a flavor's name or id; a listed one may still be impossible to provision" },
  "VM create id": { text: "required; the caller's user id, not the VM's" },
  "VM create image_id": { text: "required; UUID of a base image" },
  "VM create name": { text: "required; 3-50 of a-z, 0-9 and hyphen; upper case becomes lower case" },
  "VM create owner": { text: "required; username or e-mail; the e-mail is stored" },
  "VM create project": { text: "required" },
  "VM create region": { text: "required; one of the region list" },
  "VM create root_size": { text: "GB as text; empty is the default of 50" },
  "VM create size": { text: "required; data volume in GB, at least 1; empty or 0 is 400" },
  "VM create skip_floating_ip": { text: "true: a private address only; otherwise a public one as well" },
  "VM create no id": { text: "the VM's id is not known at acceptance; the list and the name tell it" },

  "Group name": { text: "required on create, like a VM's name; left out: 400 `name cannot be empty`" },
  "Group description": { text: "optional free text" },
  "Group rules": { text: "create only; left out: an empty group without inbound traffic" },
  "Group update fields": {
    text: "name and description optional, one at least; the one left out stays; a taken name is a conflict",
  },

  "Rule input optional": { text: "no field of a rule is required" },
  "Rule input description": { text: "free text, stored" },
  "Rule input direction": { text: "ingress or egress" },
  "Rule input dst_port": { text: "port as text; none for icmp" },
  "Rule input ethertype": { text: "IPv4 or IPv6" },
  "Rule input protocol": { text: "tcp, udp, icmp, in lower case only" },
  "Rule input remote_ip": { text: "a CIDR; not together with remote_group" },
  "Rule input remote_group": { text: "another group's UUID; not together with remote_ip" },

  "Rule id": { text: "text" },
  "Rule security_group_id": { text: "the group it is in" },
  "Rule project_id": { text: "text" },
  "Rule name": { text: "null for a rule made through the interface" },
  "Rule direction": { text: "ingress or egress" },
  "Rule protocol": { text: "text" },
  "Rule port_range_min": { text: "dst_port as an integer" },
  "Rule port_range_max": { text: "dst_port as an integer" },
  "Rule ether_type": { text: "what was sent as ethertype" },
  "Rule remote_ip_prefix": { text: "what was sent as remote_ip" },
  "Rule normalized_cidr": { text: "text" },
  "Rule remote_group_id": { text: "what was sent as remote_group" },
  "Rule remote_address_group_id": { text: "text" },
  "Rule belongs_to_default_sg": { text: "boolean" },
  "Rule revision_number": { text: "integer" },
  "Rule description": { text: "as sent" },
  "Rule created_at": { text: "a timestamp" },

  "Import SecurityGroups": { text: "array of groups" },
  "Import GroupName": { text: "the group's name" },
  "Import Description": { text: "the group's description" },
  "Import IpPermissions": { text: "ingress permissions" },
  "Import IpPermissionsEgress": { text: "egress permissions" },
  "Import FromPort": { text: "integer" },
  "Import ToPort": { text: "integer" },
  "Import IpProtocol": { text: "text" },
  "Import IpRanges": { text: "IPv4 ranges, each with a description" },
  "Import Ipv6Ranges": { text: "IPv6 ranges, each with a description" },
  "Import PrefixListIds": { text: "prefix lists, each with a description" },
  "Import UserIdGroupPairs": { text: "peer groups, each with a description" },

  "Report imported": { text: "how many groups were made" },
  "Report failed": { text: "how many groups failed" },
  "Report groups": { text: "one entry a group" },
  "Report name": { text: "the group's name" },
  "Report id": { text: "the new group's id" },
  "Report status": { text: "created or failed" },
  "Report rules_created": { text: "how many rules were made in it" },
  "Report skipped": { text: "the sources that could not be represented" },
  "Report error": { text: "why it failed" },

  "Body rename VM": { text: "name" },
  "Body rebuild VM": { text: "image" },
  "Body resize VM": { text: "flavor" },
  "Body snapshot VM": { text: "name" },
  "Body create volume": { text: "name and size as texts" },
  "Body attach volume": { text: "vm_id and volume_id" },
  "Body detach volume": { text: "vm_id, volume_id and a boolean flush_confirmed" },
  "Body resize volume": { text: "the new size in GB as text" },

  "Delete VM message": { text: "data.message is a text" },
  "Delete VM preserved_volumes": {
    text: "ids of the volumes that outlived the VM and exist until deleted by themselves",
  },

  "Record gap VM": gap("no field of a VM record is shown"),
  "Record gap volume": gap("no field of a volume record is shown"),
  "Record gap group": gap("no field of a group record is shown"),

  "States VERIFY_RESIZE": { text: "the one VM state with a name" },
  "States volume": gap("no volume state is named"),
  "States invalid transition": {
    text: "rebuild, resize, snapshot, stop, start, reboot and delete may fail with an invalid state transition",
  },
  "Transition resize": { text: "a resize leads to VERIFY_RESIZE and waits to be confirmed or reverted" },
  "Transition create": { text: "an accepted create provisions for about a minute" },
  "Transition stop": { text: "running becomes stopped; the call blocks for about 20 seconds" },
  "Transition gaps": gap("from which states an operation is allowed, and where the other operations lead"),

  "Endpoints authorization": { text: "every operation needs the Authorization header" },
  "Endpoints ids": { text: "ids in paths are texts" },

  "VM row create": { text: "202 and a plain acknowledgement" },
  "VM row rename": { text: "an acknowledgement" },
  "VM row rebuild": { text: "a bare text" },
  "VM row resize": { text: "a bare text, then VERIFY_RESIZE" },
  "VM row snapshot": { text: "an object of texts with the image id among them" },
  "VM row stop": { text: "an acknowledgement once the VM has stopped" },
  "VM row start": { text: "an acknowledgement" },
  "VM row reboot": { text: "an acknowledgement" },
  "VM row delete": { text: "an optional query delete_floating_ip; a message and the preserved volumes" },
  "VM errors create": { text: "bad request, conflict, internal error" },
  "VM errors rename": { text: "bad request, forbidden, internal error" },
  "VM errors change": { text: "rebuild, resize, snapshot: bad request, invalid state transition, internal error" },
  "VM errors power": { text: "stop, start, reboot, delete: invalid state transition, internal error" },

  "Volume row create": { text: "answers with the volume" },
  "Volume row get": { text: "answers with the volume" },
  "Volume row attach": { text: "a bare text" },
  "Volume row detach": { text: "a bare text" },
  "Volume row resize": { text: "a bare text" },
  "Volumes rule 1": { text: "a volume is made in the caller's project" },
  "Volumes rule 2": { text: "attach and detach: a volume or VM of elsewhere is not found" },
  "Volumes rule 3": { text: "detach without flush_confirmed true is refused as not flushed" },
  "Volumes rule 4": { text: "a resize only grows, and only the device" },
  "Volumes rule 5": { text: "a root disk is not resized" },
  "Volumes rule 6": { text: "an attached volume is not resized: `Volume is attached and cannot be extended`" },
  "Volumes rule 7": { text: "get and resize: a volume of elsewhere is not found" },
  "Volumes rule 8": { text: "every volume operation may answer bad request and internal error" },

  "Group row create": { text: "answers with the group's id and its rules" },
  "Group row update": { text: "answers with the group" },
  "Group row delete": { text: "an acknowledgement; the group and its rules are gone" },
  "Group row add rule": { text: "answers with the rule under data" },
  "Group row list rules": { text: "answers with every rule under data" },
  "Group row import": { text: "answers with the report" },
  "Groups rule 1": {
    text: "any active member may create; the creator's e-mail is kept and lets them edit and delete later",
  },
  "Groups rule 2": { text: "rules come all or none; two identical ones are a conflict that takes the group back" },
  "Groups rule 3": { text: "create: 400, conflict, internal error" },
  "Groups rule 4": { text: "update: nothing given, not permitted or platform-managed, name taken, internal error" },
  "Groups rule 5": { text: "delete: invalid id, not permitted or platform-managed, attached to VMs, internal error" },
  "Groups rule 6": {
    text: "an identical rule is 409 with the fixed message; else invalid, not permitted, internal error",
  },
  "Groups rule 7": { text: "list rules: invalid id, internal error" },
  "Groups rule 8": {
    text: "import: best effort across groups, all or none within one, four kinds of sources skipped and reported; invalid request, internal error",
  },

  "Gap undescribed operations": gap("lists of VMs, flavors, images, regions; confirm, revert; volume deletion"),
  "Gap success codes": gap("no success code but the 202"),
  "Gap rename name": gap("which names a rename takes"),
  "Gap rebuild image": gap("what a rebuild's image may be"),
  "Gap group create answer": gap("how the answer of a group create is laid out"),
  "Gap group update answer": gap("how the answer of a group update is laid out"),
  "Gap volume create": gap("which names and sizes a volume takes, and its record"),
  "Gap volume get": gap("the fields of the volume's details"),
  "Gap snapshot keys": gap("the keys of a snapshot's answer"),

  "Authentication 1": { text: "every operation takes an Authorization header" },
  "Authentication 2": { text: "operations act in the caller's project" },
  "Authentication 3": {
    text: "active members create; members change their own groups; owners, admins and system admins any",
  },
  "Authentication 4": { text: "platform-managed groups, `default` among them, are neither updated nor deleted" },
  "Authentication 5": untestable("format and origin of the credential", "the credential is the tester's to bring"),

  "Events 1": untestable("events and webhooks", "what does not exist cannot be asked for"),

  "Errors 1": { text: "errors use the envelope" },
  "Errors 2": { text: "the named conditions" },
  "Errors 3": { text: "400 `name cannot be empty`; 400 for a VM's empty or zero size; 409 for an identical rule" },
  "Errors 4": gap("the other status and error codes"),

  "Limit names": { text: "VM and group names: 3-50 of a-z, 0-9, hyphen" },
  "Limit data volume": { text: "at least 1 GB; the console takes up to 1600" },
  "Limit root volume": { text: "50 by default, then fixed" },
  "Limit provisioning": { text: "about a minute" },
  "Limit stop": { text: "about 20 seconds, blocking" },
  "Limit volume resize": { text: "only larger" },
  "Limit rates": untestable("rate limits and quotas", "finding one would take a flood of requests"),

  "Versioning 1": { text: "the version is the path prefix /api/v1" },
} as const satisfies Record<string, Clause>;

export type ClauseId = keyof typeof clauses;
