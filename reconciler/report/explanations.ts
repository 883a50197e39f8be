/**
 * Every code a diagnostic can carry: what it means and what to do. `reconcile explain` and docs/errors.md are views of
 * this table; a test holds that no code is missing.
 */
export interface Explanation {
  readonly means: string;
  readonly todo: string;
}

const row = (means: string, todo: string): Explanation => ({ means, todo });

export const explanations: Readonly<Record<string, Explanation>> = {
  "apply/ambiguous": row(
    "After a create, several new VMs bear its name, so it cannot be told which one is yours.",
    "Import the right one by its id and delete the other in the service.",
  ),
  "apply/check-failed": row(
    "The health check after a resize did not pass in time. With on_failure: revert the VM went back to its old size.",
    "Look at why the VM does not answer; allow more time with verify_resize.timeout.",
  ),
  "apply/failed": row(
    "A step failed; what depends on it was skipped, everything else was done.",
    "Read the message of the step, mend it, and run the same command again.",
  ),
  "apply/flush-failed": row(
    "The flush command did not exit with 0, so the volume was not detached.",
    "Repair the command, or flush by hand and say so with --confirm-flush.",
  ),
  "apply/group-attached": row(
    "A replaced group is still attached to VMs, and the service has no call that moves them.",
    "Move the VMs to the new group in the service's console; the next run deletes the old one.",
  ),
  "apply/id-unknown": row(
    "The VM was created, and this service has no list in which to find its id.",
    "Give the id with: reconcile import ADDR ID.",
  ),
  "apply/interrupted": row(
    "The run was stopped while this step was under way.",
    "Run the same command again: it looks first and goes on.",
  ),
  "apply/no-id": row(
    "A step needs a resource that has no id yet, mostly because its own create did not succeed.",
    "Look at the first failed step; the next run goes on from there.",
  ),
  "apply/not-listed": row(
    "A create was accepted, but the VM did not show in the list in time.",
    "Run the same command again; service.timing.vm_create_timeout allows more time.",
  ),
  "apply/outcome-unknown": row(
    "The answer to a create was lost and the service gives no way to look it up. Repeating it could make a second one.",
    "Look in the console: reconcile import ADDR ID if it exists, reconcile state resolve ADDR --not-created if it does not.",
  ),
  "apply/resize-undone": row(
    "The service took a resize back by itself; the VM is as it was.",
    "The flavor may not be provisionable: choose another, or ask the service's operator.",
  ),
  "apply/resize-waits": row(
    "A resized VM waits in VERIFY_RESIZE for a decision that only somebody outside can make.",
    "Confirm or revert it in the console, then run the same command again.",
  ),
  "apply/timeout": row(
    "The service was still working when the time allowed was over. Nothing is lost.",
    "Run the same command again: it goes on waiting. service.timing.vm_create_timeout allows more.",
  ),
  "apply/unknown": row(
    "A request was sent and its answer was lost, and looking did not settle it.",
    "Run the same command again: it looks before it acts.",
  ),
  "apply/vm-failed": row(
    "The service put the VM into a failed state.",
    "The next run offers to replace it, or use --replace ADDR.",
  ),
  "apply/volume-failed": row(
    "The service created the volume in a failed state.",
    "Delete it with --replace ADDR, or ask the service's operator.",
  ),
  "apply/waiting": row("A step waits for something outside.", "The message names it; then run the same command again."),
  "cli/bad-flag": row("A flag has a value it cannot have.", "The message shows one it can."),
  "cli/bad-var": row("--var was given without a name or without a value.", "--var NAME=VALUE"),
  "cli/not-applied": row(
    "A resource is declared but was never applied, so an export leaves it out.",
    "Run reconcile apply, then export again.",
  ),
  "cli/occupied": row(
    "The folder to write into has a file of that name already.",
    "Name another folder with --out, or move the file away.",
  ),
  "cli/cannot-listen": row(
    "The address given with --listen cannot be listened on.",
    "Choose another, or --listen none.",
  ),
  "cli/file-exists": row(
    "A file that would be written exists already; it is left as it is.",
    "Name another, or move it away.",
  ),
  "cli/file-unreadable": row(
    "A file named on the command line or in another file cannot be read.",
    "Correct the path or the rights.",
  ),
  "cli/file-unwritable": row("The file named by --out cannot be written.", "Name another file, or correct the rights."),
  "cli/name-missing": row("A snapshot needs a name.", "--name NAME"),
  "cli/no-files": row(
    "The folder has no YAML file of the desired state.",
    "Name a file, or write one with: reconcile init.",
  ),
  "cli/system": row(
    "The operating system refused something; the message is its own.",
    "Look at the path, the rights and the space.",
  ),
  "cli/unknown-code": row("There is no such code.", "reconcile explain lists all of them."),
  "cli/unknown-shell": row("There is no completion for that shell.", "bash, zsh or fish"),
  "config/alias-limit": row(
    "The YAML aliases of the file expand to more than is reasonable.",
    "Write the repeated parts as defaults or for_each.",
  ),
  "config/conflicting-setting": row("Two files set the same top-level value differently.", "Keep it in one of them."),
  "config/control-character": row("The file holds a control character.", "Remove it; it is mostly pasted by accident."),
  "config/duplicate-key": row(
    "A key stands twice, in one file or in two.",
    "Rename or remove one; both places are named.",
  ),
  "config/duplicate-name": row(
    "Two resources of a kind have one name in the service.",
    "Give one of them another name.",
  ),
  "config/duplicate-rule": row(
    "Two rules of a group admit the same traffic; the service would refuse the whole group.",
    "Remove one; both places are named.",
  ),
  "config/encoding": row("The file is not UTF-8 text.", "Save it as UTF-8."),
  "config/for-each": row(
    "for_each is neither a list, nor a map, nor a number, or has keys an address cannot hold.",
    "Use letters, digits, dots, hyphens and underscores as keys, each once.",
  ),
  "config/forbidden-key": row(
    "A key has a meaning of its own inside JavaScript and is refused.",
    "Choose another key.",
  ),
  "config/interpolation": row(
    "${…} names nothing, or is not closed.",
    "${var.NAME}, ${each}, ${each.value}; $${ for a literal one.",
  ),
  "config/invalid-import": row(
    "An imports entry is not complete or names nothing that is declared.",
    "{ to: ADDR, id: … }, or name: for a VM.",
  ),
  "config/invalid-move": row(
    "A moved entry leads nowhere, in a circle, or from something that is still declared.",
    "{ from: OLD, to: NEW }, where NEW is declared and OLD is not.",
  ),
  "config/invalid-name": row(
    "A name is not one word of a-z, 0-9 and hyphens, 3 to 50 long.",
    "Give it a name: that is.",
  ),
  "config/invalid-removal": row(
    "A removed entry names something that is still declared.",
    "Remove the block, or the entry.",
  ),
  "config/invalid-rule": row(
    "A rule contradicts itself: two remotes, a port where there is none, an IPv6 range in an IPv4 rule.",
    "The message says which.",
  ),
  "config/invalid-value": row("A value is out of its range.", "The message says what is expected."),
  "config/missing": row("A required field is missing.", "Write it, or put it under defaults."),
  "config/not-allowed": row("A value is none of those allowed.", "The message lists them and the nearest."),
  "config/reference-needs-key": row("A reference names a for_each block as a whole.", "Name one of its keys: web[a]."),
  "config/reserved-name": row("The name belongs to the platform.", "Choose another."),
  "config/size-over-limit": row(
    "A volume is larger than the service's console accepts; the service itself may take it.",
    "A warning only.",
  ),
  "config/unknown-key": row("A key is not known here.", "The nearest right one is in the message."),
  "config/unknown-reference": row(
    "A reference names nothing that is declared.",
    "The nearest right one is in the message, or { id: … } for something outside this file.",
  ),
  "config/unknown-variable": row("A variable is set or used that is not declared.", "vars: { NAME: {} }"),
  "config/variable-without-value": row(
    "A variable has neither a default nor a value.",
    "--var NAME=VALUE, --var-file, RECONCILE_VAR_NAME, or a default.",
  ),
  "config/version": row("The file's version is missing or not one that this program reads.", "version: 1"),
  "config/wrong-type": row("A value is of the wrong type.", "The message says which is expected."),
  "config/yaml-syntax": row("The file is not YAML.", "The message is the parser's, at its place."),
  "consent/approval": row("Nobody approved the plan.", "Answer yes, give --auto-approve, or apply a saved plan."),
  "consent/data-loss": row("The plan loses data for good.", "--allow-data-loss, if that is what you want."),
  "consent/empty": row(
    "The desired state became empty: more often a lost file than a wish.",
    "--allow-empty, or reconcile destroy.",
  ),
  "consent/flush": row(
    "A volume has to come off its VM, and nobody said that it is flushed.",
    "--confirm-flush ADDR, or flush.via: command or stop.",
  ),
  "consent/prevent-destroy": row(
    "A resource that is protected would be deleted or replaced. The state remembers the protection when the block is gone.",
    "Set lifecycle.prevent_destroy: false, apply that, and then do it.",
  ),
  "dialect/documented-operation": row(
    "The dialect describes an operation that the contract fixes.",
    "Remove it from the dialect.",
  ),
  "dialect/error-rule": row(
    "A rule under errors can never apply, or names no condition.",
    "The message says which and lists the conditions.",
  ),
  "dialect/missing": row("The dialect lacks a required part.", "The message names it."),
  "dialect/not-allowed": row("A value of the dialect is none of those allowed.", "The message lists them."),
  "dialect/placeholder": row(
    "A path of the dialect lacks a placeholder, or has one that is not known.",
    "{id}, and {rule_id} for a rule.",
  ),
  "dialect/state-twice": row("One word stands under two states.", "Keep it under one."),
  "dialect/unknown-key": row("The dialect has a key that is not known.", "The nearest right one is in the message."),
  "dialect/wrong-type": row("A value of the dialect is of the wrong type.", "The message says which is expected."),
  "internal/invariant": row(
    "A bug in reconcile.",
    "Please report it with the command you ran and RECONCILE_DEBUG=1 set.",
  ),
  "exposure/gap": row(
    "Between the steps of the plan, a group may for a while admit more than before and after together, or less than both.",
    "Look at the step and the traffic that are named; apply the change in two halves if that moment matters.",
  ),
  "exposure/idle-egress": row(
    "Egress rules of the group restrict nothing, because the service's own rules let the same traffic out.",
    "Take them out, or have the service's own rule removed if your deployment permits that.",
  ),
  "exposure/open-port": row(
    "A port that manages a machine or hands out its data is open to the whole internet.",
    "Name the networks that need it in remote_ip, or a group in remote_group.",
  ),
  "import/for-each": row(
    "One instance of a for_each does not tell the block of all of them.",
    "Generate it under a key of its own, and make a for_each of the blocks by hand.",
  ),
  "listing/egress": row(
    "The listing restricts what may leave, and a service that lets everything out of every group by itself undoes that.",
    "Once the groups exist, reconcile exposure shows what really leaves them.",
  ),
  "listing/group-failed": row(
    "The service did not create one group of the listing; the others are not affected.",
    "Correct it in the listing and import that group alone, or translate it with --convert, which fits names.",
  ),
  "listing/not-imported": row(
    "The service refused the listing as a whole; nothing was created.",
    "Read what the service says; reconcile doctor checks the credential and the project.",
  ),
  "listing/outcome-unknown": row(
    "The answer to the import was lost, so whether the groups exist is not known.",
    "Look at the groups in the service before importing again: names that are there already would fail.",
  ),
  "listing/port-ranges": row(
    "Some rules have ranges of ports, and the dialect does not say how this service takes a range in one rule.",
    'Import through the service (without --convert), or set rules.port_range: "{min}-{max}" in the dialect.',
  ),
  "listing/unreadable": row(
    "The file is not a listing of security groups as another cloud's command line prints it.",
    "Give the JSON output of describe-security-groups as it is.",
  ),
  "plan/data-volume-unknown": row(
    "The data volume of a VM cannot be grown, because the service's records do not show which one it is.",
    "Describe records.vm.volumes in the dialect, or declare a volume of its own.",
  ),
  "plan/egress-open": row(
    "The service lets everything out of every group, so declared egress rules restrict nothing.",
    "A warning: do not rely on them.",
  ),
  "plan/flavor-ambiguous": row("A flavor name means several flavors.", "Write one of the ids."),
  "plan/flavor-unknown": row("The service has no such flavor.", "Use one that it lists."),
  "plan/forbidden": row(
    "A resource may not be looked at with this credential; the record stands in for it.",
    "Use a credential that may read it.",
  ),
  "plan/gone": row(
    "A resource the state knows is no longer shown. It was deleted, or the credential lost the right to see it: both look the same.",
    "If it still exists, stop and check the credential before applying.",
  ),
  "plan/group-names-unobserved": row(
    "This service shows a group's rules but not its name and description.",
    "A note: changes of those behind the tool's back are not seen.",
  ),
  "plan/id-unknown": row(
    "The id of a VM cannot be learnt on this service.",
    "After the run: reconcile import ADDR ID.",
  ),
  "plan/image-ambiguous": row("An image name means several images.", "Write one of the ids."),
  "plan/image-name-moved": row(
    "An image name means another image than when the VM was built. A running VM is not rebuilt for that.",
    "Write the new id as image_id to rebuild from it.",
  ),
  "plan/image-unknown": row("The service has no such image.", "Use one that it lists."),
  "plan/image-unlisted": row("An image id is not in the list; it may be private.", "A note: it is sent as it is."),
  "plan/image-unresolved": row(
    "An image is given by name, and this service has no list that says which id that is.",
    "Write the image's id as image_id.",
  ),
  "plan/left-alone": row(
    "A resource stands on another of which nothing certain is known, so it is not touched in this run.",
    "Settle the other one first; the message names it.",
  ),
  "plan/no-checkout": row(
    "The files that a saved plan was made from are neither beside it as they were, nor below the working folder.",
    "Apply it in a checkout, from the folder it was made in.",
  ),
  "plan/target-too-narrow": row(
    "The plan would take something away from a resource that the targets leave out.",
    "Target that too, or leave --target out.",
  ),
  "plan/attached-elsewhere": row(
    "A volume is attached to another VM than the one that was asked for.",
    "Detach it there first, or name the VM it is on.",
  ),
  "plan/bad-id": row("An id that is put together of two parts is not.", "VM-ID/VOLUME-ID, or GROUP-ID/RULE-ID."),
  "plan/rule-stays": row(
    "This service cannot delete one rule, so the rule stays although nothing declares it any more.",
    "Replace the group, or delete the rule in the service's console.",
  ),
  "plan/unobserved": row(
    "The resource cannot be looked at on this service.",
    "Describe in the dialect what the service has.",
  ),
  "plan/unseen-loss": row(
    "A change would lose something that cannot be shown beforehand.",
    "Look at the resource in the service before you go on.",
  ),
  "plan/import-managed": row(
    "What is to be imported is managed under another address already.",
    "A moved entry, or remove the imports entry.",
  ),
  "plan/import-not-found": row("What is to be imported is not shown by the service.", "Correct the id or name."),
  "plan/move-occupied": row(
    "The address a record is to move to has a record already.",
    "reconcile state rm ADDR, or remove the moved entry.",
  ),
  "plan/name-ambiguous": row("Several resources bear the name wanted.", "Say which one with an imports entry."),
  "plan/name-taken": row(
    "Something with that name exists and the state does not know it. It is neither taken over nor made twice.",
    "An imports entry, --adopt for a VM, or another name.",
  ),
  "plan/outcome-unknown": row(
    "An earlier create got no answer, and this service gives no way to look it up.",
    "reconcile import ADDR ID if it exists, reconcile state resolve ADDR --not-created if it does not.",
  ),
  "plan/region-ambiguous": row("A region name means several regions.", "Write one of the ids."),
  "plan/region-unknown": row("The service has no such region.", "Use one that it lists."),
  "plan/rule-kept": row(
    "A rule that the file does not declare is kept, because on_rule_removal is keep and the service cannot delete one rule.",
    "on_rule_removal: replace, or delete it in the console.",
  ),
  "plan/rules-unobserved": row(
    "The rules of a group could not be read; the record stands in.",
    "Check the credential's rights.",
  ),
  "plan/shrink": row(
    "A size became smaller. The service only grows volumes.",
    "Set it back, or make a new volume and copy the data.",
  ),
  "plan/stale": row(
    "A saved plan no longer fits: the state or the service moved on, or it is another one than it was reviewed for.",
    "Plan again, review, and apply the new plan.",
  ),
  "plan/tampered": row("A saved plan was changed after it was made.", "Plan again with --out."),
  "plan/unknown-address": row(
    "An address names nothing that is declared or recorded.",
    "The nearest right one is in the message.",
  ),
  "plan/unreadable": row("The file is no plan that this program reads.", "Plan again with --out."),
  "plan/vm-failed": row(
    "A VM is in a failed state. It is left as it is, since replacing it loses its root disk.",
    "--replace ADDR",
  ),
  "plan/vms-unobserved": row(
    "This service has no way to look at VMs; they are known from the state alone.",
    "A note: what was changed behind the tool's back is not seen.",
  ),
  "plan/volume-failed": row(
    "A volume is in a failed state. It is left as it is.",
    "Only you can say whether its data is still wanted; --replace ADDR makes an empty one.",
  ),
  "pull/disk-of-vm": row(
    "The volume asked for is the root disk or the data disk of its VM.",
    "Nothing to do: it stands in that VM's block as root_size or size.",
  ),
  "pull/fill-in": row(
    "No record of the service shows this value, so the file leaves it out.",
    "Give it with --project, --region or --user-id, or write it into the file.",
  ),
  "pull/not-found": row(
    "The service shows nothing under an id that was asked for.",
    "Correct the id, and check with reconcile doctor that this credential sees the project.",
  ),
  "pull/several": row("Several VMs bear the name that was given.", "Give the id of one of them."),
  "pull/vms-unlisted": row("This service has no list of VMs.", "Name them one by one: reconcile pull --vm ID."),
  "rehearse/twin-differs": row(
    "A plan made on the twin is not the plan made for the service, so the twin lacks something the service has.",
    "Take what the rehearsal says of that resource with a grain of salt, and report how its records look.",
  ),
  "service/bad_request": row(
    "The service refused a request as invalid; the message is its own.",
    "Correct the value it names.",
  ),
  "service/base-url": row(
    "The base URL cannot be used.",
    "http(s)://host[:port][/path], without a credential in it, or embedded.",
  ),
  "service/conflict": row("The service refused because of something that exists already.", "The message names it."),
  "service/credential-command": row(
    "The credential command of the dialect failed or printed nothing usable.",
    "Run it by hand; it prints the token on one line.",
  ),
  "service/credential-refused": row(
    "The service does not accept the credential.",
    "Set RECONCILE_TOKEN or RECONCILE_AUTHORIZATION anew.",
  ),
  "service/embedded": row(
    "The embedded service could not start.",
    "Another command may be using the same world; wait for it.",
  ),
  "service/flush_not_confirmed": row("The service wants a confirmed flush before a detach.", "--confirm-flush ADDR"),
  "service/forbidden": row("The credential may not do that.", "Use one that may, or leave the resource out."),
  "service/group_attached": row(
    "A security group is attached to VMs and cannot be deleted.",
    "Take it off the VMs first.",
  ),
  "service/insecure-http": row(
    "The credential would be sent in the clear over plain http.",
    "Use https, or --insecure-http if you know the network.",
  ),
  "service/invalid_id": row("The service does not know that form of id.", "Check the id."),
  "service/invalid_state": row(
    "The resource is in a state in which that cannot be done.",
    "Run the same command again when it has settled.",
  ),
  "service/malformed-credential": row(
    "The credential holds characters that no header may hold.",
    "Set it without line breaks.",
  ),
  "service/name_taken": row(
    "The name is used by another resource of the project.",
    "Choose another name or import that one.",
  ),
  "service/no-base-url": row("No service is named.", "service.base_url, RECONCILE_BASE_URL or --base-url."),
  "service/no-credential": row(
    "There is no credential.",
    "RECONCILE_TOKEN, RECONCILE_AUTHORIZATION, or authorization.command in the dialect.",
  ),
  "service/not-this-service": row("Whatever answers at the base URL is not this service.", "Check the base URL."),
  "service/not_found": row(
    "The service has no such resource in this project.",
    "Check the id and the credential's project.",
  ),
  "service/refused": row(
    "The answer was refused for safety, for example a redirect.",
    "Use the address it names as base URL.",
  ),
  "service/root_disk": row("A root disk cannot be resized.", "Only data volumes grow."),
  "service/rule_exists": row("The rule is there already.", "Nothing: this counts as success."),
  "service/unauthenticated": row(
    "The service does not accept the credential.",
    "Set RECONCILE_TOKEN or RECONCILE_AUTHORIZATION anew.",
  ),
  "service/unavailable": row("The service is not available; nothing was done.", "Run the same command again later."),
  "service/unknown": row(
    "The answer was lost; it may or may not have been done.",
    "Run the same command again: it looks first.",
  ),
  "service/unreachable": row("Nothing answers at the base URL.", "Check the address and the network."),
  "service/unreadable": row(
    "An answer does not fit the dialect.",
    "The message shows the pointers tried, the keys found, and the line that would fix it.",
  ),
  "service/unsupported": row(
    "This service does not have that operation.",
    "See docs/dialect.md for what is done without it.",
  ),
  "service/volume_attached": row(
    "The volume is attached and cannot be grown or deleted.",
    "It must come off its VM first; plan does that.",
  ),
  "state/bad-address": row("That is no address.", "vm.KEY, volume.KEY or group.KEY, with [EACH] for for_each."),
  "state/cut-off": row(
    "The last line of the journal was cut off by a dying process. It was never acknowledged to anybody and is ignored.",
    "Nothing.",
  ),
  "state/damaged": row(
    "The encrypted state or plan is not as it was written: damaged, changed, or put together from several.",
    "Restore it from a copy (reconcile state push COPY).",
  ),
  "state/key-bad": row(
    "The key, or how encryption is set, cannot be used.",
    "RECONCILE_STATE_KEY: 32 bytes in base64 (openssl rand -base64 32), or a passphrase of at least 12 characters.",
  ),
  "state/key-missing": row(
    "The state or the plan is encrypted, or has to be, and there is no key.",
    "Set RECONCILE_STATE_KEY or RECONCILE_STATE_KEY_COMMAND.",
  ),
  "state/key-wrong": row(
    "It is encrypted with another key. Nothing was read or written.",
    "Give the key it was encrypted with; after a change of keys, the former one as RECONCILE_STATE_KEY_PREVIOUS.",
  ),
  "state/lease-lost": row("Somebody else took the lock over; nothing more was written.", "Run the same command again."),
  "state/empty": row(
    "The state holds no resource, so there is nothing to export.",
    "Run reconcile apply first, or name the right state with --state.",
  ),
  "state/locked": row(
    "Another run holds the state; the message says who, where and since when.",
    "Wait for it (--lock-timeout 5m does); reconcile state unlock if it is gone.",
  ),
  "state/moved-on": row("The state changed between the plan and its application.", "Run the same command again."),
  "state/no-orphan": row("There is no such orphan.", "reconcile orphans list"),
  "state/not-encrypted": row(
    "It is in the clear, and RECONCILE_STATE_ENCRYPTION=required.",
    "Run once with the key and without `required`: the first run that writes encrypts it.",
  ),
  "state/nothing-open": row("No create is open at that address.", "reconcile state list"),
  "state/occupied": row(
    "The address or the id is taken in the state.",
    "The message says by what, and how to free it.",
  ),
  "state/older": row("The pushed state is older than the present one.", "--force, if it shall really take its place."),
  "state/other-lineage": row(
    "The pushed state belongs to another history.",
    "--force, if it shall really take its place.",
  ),
  "state/quarantined": row(
    "One record of the state is damaged and was set aside. Everything else goes on.",
    "reconcile import ADDR ID, or reconcile state rm ADDR.",
  ),
  "state/resolve-how": row(
    "state resolve needs to know how the create ended.",
    "--not-created, or reconcile import ADDR ID.",
  ),
  "state/shrinks": row("The pushed state forgets resources.", "--force, or forget them one by one with state rm."),
  "state/still-held": row("The lock's holder is alive.", "--force, only if that process is really gone."),
  "state/store-failed": row(
    "The place where the state lives failed: rights, space or network.",
    "Mend it and run the same command again; nothing was sent after the failure.",
  ),
  "state/wait-stopped": row(
    "You stopped a run that waited for another one's lock.",
    "Nothing was sent or written; run it again when you like.",
  ),
  "state/unknown-address": row("The state has no such address.", "reconcile state list"),
  "state/unreadable": row(
    "The state as a whole cannot be read.",
    "Restore a copy, or start anew and import what exists.",
  ),
};
