/** Codes of a run: what goes wrong in a step, with the service or with the state. */
import type { DiagnosticCode } from "../../core/model/diagnostic-code";
import { type Explanation, row } from "./row";

export const running = {
  "apply/ambiguous": row(
    "After a create, several new VMs have its name, so it is unknown which of them the create made.",
    "Import the right one by its id and delete the other in the service.",
  ),
  "apply/attached-since": row(
    "Directly before a VM was to be deleted, a volume hung on it that the plan did not know, or its data volume was not the one that the plan named. The VM was not deleted.",
    "Run the same command again: the new plan names the volumes on it.",
  ),
  "apply/check-failed": row(
    "The health check after a resize did not pass in time. With on_failure: revert the VM went back to its old size.",
    "Look at why the VM does not answer; allow more time with verify_resize.timeout.",
  ),
  "apply/failed": row(
    "A step failed; what depends on it was skipped, everything else was done.",
    "Read the message of the step, correct the cause, and run the same command again.",
  ),
  "apply/flush-failed": row(
    "The flush command did not exit with 0, or not within 15 minutes, so the volume was not detached.",
    "Repair the command, or flush by hand, with flush: { via: ask } in the file and --confirm-flush ADDR.",
  ),
  "apply/group-attached": row(
    "A replaced group is still attached to VMs, and the service has no call that moves them.",
    "Move the VMs to the new group in the service's console; the next run deletes the old one.",
  ),
  "apply/group-named": row(
    "The service does not delete a group that rules of other groups name. Groups that name each other are left as orphans.",
    "Take the named rules away first, and delete the group with the next run; for orphans: reconcile orphans delete ID.",
  ),
  "apply/id-unknown": row(
    "The VM was created, and this service has no list in which to find its id.",
    "Give the id with: reconcile import ADDR ID.",
  ),
  "apply/interrupted": row(
    "The run was stopped while this step was under way, or before its first one.",
    "Run the same command again: it looks first and goes on.",
  ),
  "apply/no-id": row(
    "A step needs a resource that has no id yet, mostly because its own create did not succeed.",
    "Look at the first failed step; the next run goes on from there.",
  ),
  "apply/mount-again": row(
    "A volume came off a VM and hangs on it again, or grew, and the file declares no after_attach for it. The service ends at the block device: inside the guest the volume is not mounted, and its filesystem has its old size.",
    "Mount it in the guest and extend the filesystem, such as with mount -a and resize2fs; or declare after_attach on it, which does that every time.",
  ),
  "apply/not-listed": row(
    "A create was accepted, but the VM did not show in the list in time.",
    "Run the same command again; service.timing.vm_create_timeout allows more time.",
  ),
  "apply/not-stopped": row(
    "A volume was to be flushed by stopping its VM, and the VM is not stopped, or nothing shows whether it is. Nothing was sent.",
    "Run the same command again: it plans on the VM as it is now. Or flush by hand, and say so with --confirm-flush ADDR.",
  ),
  "apply/not-seen": row(
    "The service accepted a write, and what the write was to bring about does not show, although the service can be looked at. The state does not count it as done.",
    "Run the same command again: it looks first, and sends again what is still missing. A create is not sent again by itself: look in the console, and say --recreate ADDR if it is not there.",
  ),
  "apply/outcome-unknown": row(
    "A create was accepted and its resource does not show, or an answer was lost and nothing shows whether the request took effect. Repeating it could make a second resource.",
    "Look in the console: reconcile import ADDR ID if it exists, reconcile state resolve ADDR --not-created if it does not; for an attach or a detach --attached or --detached.",
  ),
  "apply/owed": row(
    "A command of after_attach or after_ready did not end with 0, or was not run. It is owed: every run runs it first until it ended with 0. What depends on it was skipped, and nothing was undone.",
    "Read what it printed, correct the cause, and run the same command again. After it was done by hand: reconcile state resolve ADDR --paid.",
  ),
  "apply/resize-undone": row(
    "The service took a resize back by itself; the VM is as it was.",
    "The flavor may not be provisionable: choose another, or ask the service's operator.",
  ),
  "apply/resize-waits": row(
    "A resized VM waits in VERIFY_RESIZE for a decision that only somebody outside can make.",
    "Confirm or revert it in the console, then run the same command again.",
  ),
  "apply/skipped": row(
    "A step was not carried out, because the run ended before it or a step that it needs did not succeed.",
    "Correct what the other messages say, then run the same command again.",
  ),
  "apply/snapshot-failed": row(
    "The image of a snapshot ended in a failed state, so the rebuild, resize or delete that needed the snapshot was not carried out.",
    "Delete the image in the service, run reconcile state resolve ADDR --not-created, and apply again: another snapshot is taken.",
  ),
  "apply/snapshot-missing": row(
    "A snapshot was accepted, and its image is not listed, so the rebuild, resize or delete that needed the snapshot was not carried out.",
    "Run the same command again: it looks for the snapshot, and takes no second one. If it was never made: reconcile state resolve ADDR --not-created.",
  ),
  "apply/timeout": row(
    "The service was still working when the time allowed was over. Nothing is lost.",
    "Run the same command again: it goes on waiting. service.timing.vm_create_timeout allows more.",
  ),
  "apply/unknown": row(
    "A request was sent, its answer was lost, and a look did not tell whether it took effect.",
    "Run the same command again: it looks before it acts.",
  ),
  "apply/value-not-shown": row(
    "A step needs a value that only the service knows, such as the address of a new VM, and the service did not show it in time. Nothing was sent without it.",
    "Say in the dialect where the record of a VM has its addresses (records.vm.private_ip, records.vm.floating_ip), then run the same command again.",
  ),
  "apply/vm-failed": row(
    "The service put the VM into a failed state.",
    "The next run offers to replace it, or use --replace ADDR.",
  ),
  "apply/volume-not-settled": row(
    "The service accepted an operation on a volume, and its record does not show the effect in the time allowed. Nothing is forgotten.",
    "Run the same command again: it looks first. The setting that the message names (service.timing.discovery_window, or vm_create_timeout while it shows a state in transition) allows more; states.volume in the dialect says what a state means.",
  ),
  "apply/volume-changed": row(
    "Directly before a volume was to be deleted, it was not what the plan or the list of orphans had named: it had another size, or hung on a VM. It was not deleted.",
    "Run the same command again: a new plan names what would be lost now.",
  ),
  "apply/volume-failed": row(
    "The service created the volume in a failed state, or an operation on it ended in one.",
    "Delete it with --replace ADDR, or ask the service's operator.",
  ),
  "apply/waiting": row("A step waits for something outside.", "The message names it; then run the same command again."),
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
  "trust/address": row(
    "The run is closed (--no-programs, RECONCILE_PROGRAMS=none), and only a file says where the credential is to be sent. Its author would decide who gets it, so nothing was sent.",
    "RECONCILE_BASE_URL or --base-url; further addresses that files may name: RECONCILE_ADDRESSES.",
  ),
  "trust/path": row(
    "The run is closed (--no-programs, RECONCILE_PROGRAMS=none), and a file lies outside of the checkout, perhaps by a link.",
    "Move it into the checkout, or set RECONCILE_FILES_BELOW to a folder above both.",
  ),
  "trust/program": row(
    "Something needs a program that a file names, and this run starts none (--no-programs, RECONCILE_PROGRAMS=none). It is refused before anything is sent, and not left out.",
    "Run it without --no-programs where the files were reviewed. Of a credential: RECONCILE_TOKEN, or a dialect given with --dialect or RECONCILE_DIALECT, whose helper is run.",
  ),
  "trust/state": row(
    "The run is closed (--no-programs, RECONCILE_PROGRAMS=none), and only a file says where a state is: at an address that would get the password of the state, or outside of the checkout.",
    "RECONCILE_STATE or --state. What `reads` names may be on the same server, in a bucket, or below the checkout; further addresses: RECONCILE_ADDRESSES.",
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
  "service/not_proven": row(
    "An answer says that a resource does not exist, but not in the service's own envelope. A proxy may have sent it, so it proves nothing.",
    "Check the base URL. If the service itself answers like this, the message shows the line for `errors` in the dialect.",
  ),
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
  "service/throttled": row(
    "The service asked for fewer requests for longer than a request is waited for: five minutes, or twice `service.timing.request_timeout` where that is more. What it asks for within that is waited out exactly, and counts beside the request's own time.",
    "Run the same command again later. `limits: { requests_per_second: … }` in the dialect keeps below what the service bears.",
  ),
  "service/unauthenticated": row(
    "The service does not accept the credential.",
    "Set RECONCILE_TOKEN or RECONCILE_AUTHORIZATION anew.",
  ),
  "service/unavailable": row("The service is not available; nothing was done.", "Run the same command again later."),
  "service/unknown": row(
    "The answer was lost; the request may or may not have taken effect.",
    "Run the same command again: it looks first.",
  ),
  "service/trial-left": row(
    "A trial of the doctor made resources that still exist.",
    "Run reconcile doctor --trial again: it first deletes what .reconcile/trial.json names.",
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
    "It must be detached first; a plan does that.",
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
  "state/empty": row(
    "The state holds no resource, so there is nothing to export.",
    "Run reconcile apply first, or name the right state with --state.",
  ),
  "state/half-moved": row(
    "A move of records to another state was cut off, so both states may have the same resources. Nothing is planned or sent before it is finished.",
    "Run reconcile apply, for either of the two projects: it finishes the move first. The message says where the other state lies.",
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
    "The state or the plan is encrypted with another key. Nothing was read or written.",
    "Give the key with which it was encrypted; after a change of keys, the former one as RECONCILE_STATE_KEY_PREVIOUS.",
  ),
  "state/lease-lost": row("Somebody else took the lock over; nothing more was written.", "Run the same command again."),
  "state/locked": row(
    "Another run holds the state; the message says who, where and since when.",
    "Wait for it (--lock-timeout 5m does); reconcile state unlock if it is gone.",
  ),
  "state/moved-on": row("The state changed between the plan and its application.", "Run the same command again."),
  "state/gone": row(
    "The store answers that there is no state, and this machine has seen one there. A proxy, a replica that lags, a cache or a path that was rewritten may answer so; a run on an empty state would make everything a second time.",
    "Look again in a minute. If the state was removed on purpose, --new-state begins a new one; if it was lost, push a copy with reconcile state push COPY --new-state.",
  ),
  "state/other-state": row(
    "The store answers with a state of another lineage than the one that this machine has seen there: another project's, or one that somebody has put in its place.",
    "Check the address of the state. If it was replaced on purpose, --new-state takes what is there now.",
  ),
  "state/went-back": row(
    "The store answers with an older state than this machine has seen there, as a replica that lags or a cache does. A run on it would forget what was made since.",
    "Look again in a minute. If a backup was restored on purpose, --new-state takes what is there now; what was made since the backup then has to be imported.",
  ),
  "state/newer": row(
    "A state, its journal or a saved plan was written by a newer version of reconcile. It may name resources that this version does not know, so nothing reads it and nothing replaces it, --force included.",
    "Install the version that wrote it, or a later one. Do not push a copy over it: what was made since is forgotten, and made a second time.",
  ),
  "state/no-run": row(
    "The state remembers no such run, or no longer the records from before it. The last 50 runs are remembered.",
    "reconcile history lists them.",
  ),
  "drift/not-accepted": row(
    "drift --accept writes only what a file says for one resource in plain words.",
    "Write it by hand, or let the next apply undo the drift.",
  ),
  "undo/files-ahead": row(
    "An undo changes the service and the state, and the files still declare what it undoes.",
    "Undo it in the files as well, or the next apply does it again.",
  ),
  "undo/later-runs": row(
    "An undo goes back to the time before its run, so it also undoes what later runs did.",
    "Read the plan, or undo a later run only.",
  ),
  "undo/not-known": row(
    "A resource of that time is gone, and the state never knew all fields that its create needs.",
    "Leave it out with --exclude, or declare it in the file.",
  ),
  "state/no-orphan": row("There is no such orphan.", "reconcile orphans list"),
  "state/not-encrypted": row(
    "The state is in the clear, and RECONCILE_STATE_ENCRYPTION=required; or a saved plan is in the clear although there is a key, so that anybody could have written it.",
    "A state: run once with the key and without `required`; the first run that writes encrypts it. A plan: make it again with the key set.",
  ),
  "state/nothing-open": row("No create is open at that address.", "reconcile state list"),
  "state/occupied": row(
    "The address or the id is taken in the state.",
    "The message says by what, and how to free it.",
  ),
  "apply/bug": row(
    "A step stopped on a bug of reconcile itself. The state is fine, and nothing more was started.",
    "Run the same command again: it looks at what the step had sent. Please report it, with the output under RECONCILE_DEBUG=1.",
  ),
  "state/older": row(
    "The pushed state is older than the present one.",
    "--force, if it is really to replace the present one.",
  ),
  "state/other-lineage": row(
    "The pushed state belongs to another history.",
    "--force, if it is really to replace the present one.",
  ),
  "state/quarantined": row(
    "One record of the state is damaged and was set aside. Everything else goes on.",
    "reconcile import ADDR ID, or reconcile state rm ADDR.",
  ),
  "state/resolve-how": row(
    "state resolve needs to know how the create ended.",
    "--not-created, or reconcile import ADDR ID.",
  ),
  "state/shrinks": row(
    "The pushed state forgets resources: an id, a create under way, an orphan or a damaged record that the present one has.",
    "Push the present one (reconcile state pull) with your changes. With --force they are forgotten, and what the file declares of them is made a second time.",
  ),
  "state/still-held": row("The lock's holder is alive.", "--force, only if that process is really gone."),
  "state/store-failed": row(
    "The place where the state lives failed: rights, space or network.",
    "Correct the cause and run the same command again; nothing was sent after the failure.",
  ),
  "state/unknown-address": row("The state has no such address.", "reconcile state list"),
  "state/unreadable": row(
    "The state as a whole cannot be read, or lines of its journal were lost. Their content is unknown, so nothing is planned on the rest.",
    "Restore a copy with reconcile state push COPY --force. Where there is none, reconcile state pull --force prints what is left: compare it with what exists, push it with --force, and import what it lacks.",
  ),
  "state/wait-stopped": row(
    "You stopped a run that waited for another one's lock, or for a state that did not answer.",
    "Nothing was sent or written; run it again when you like.",
  ),
} satisfies Partial<Record<DiagnosticCode, Explanation>>;
