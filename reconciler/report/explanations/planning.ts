/** Codes of a plan: about the resources, the consents that it needs, who can reach what, and the rehearsal. */
import type { DiagnosticCode } from "../../core/model/diagnostic-code";
import { type Explanation, row } from "./row";

export const planning = {
  "consent/accept-service": row(
    "The state is of another service, project or credential than this one, or the service shows nothing that the state remembers. An absence in another service or project proves nothing, so nothing counts as gone.",
    "Use the address, the file and the credential that the state was made with. If the service has moved, or everything is really gone: --accept-service.",
  ),
  "consent/approval": row("Nobody approved the plan.", "Answer yes, give --auto-approve, or apply a saved plan."),
  "consent/data-loss": row(
    "The plan loses data for good: each loss is listed with its id and its size.",
    "--allow-loss ADDR permits the loss of one resource, --allow-data-loss every one that the plan lists.",
  ),
  "consent/empty": row(
    "The desired state became empty, which is more often a lost file than a wish.",
    "--allow-empty, or reconcile destroy.",
  ),
  "consent/flush": row(
    "A volume has to come off its VM, and nobody has confirmed that it is flushed.",
    "--confirm-flush ADDR, or flush.via: command or stop.",
  ),
  "consent/prevent-destroy": row(
    "A resource that is protected, by its block or by `protect:` of its environment, would be deleted, replaced or wiped. The state remembers the protection when the block is gone, and until an apply has recorded that it was switched off.",
    "`--unprotect ADDR`, this once, at a terminal or with a saved plan; `protect: { allow: [rebuild] }` for what an environment protects; or set lifecycle.prevent_destroy: false, apply that, and then do it.",
  ),
  "consent/recreate": row(
    "A resource of the state is not shown by the service any more and would be created again. A credential that lost the right to see it is shown just what a deletion looks like, so a plan says what it saw and asks.",
    "Check that it is really gone, and that the credential may see all of its kind; then --recreate ADDR for each, or all.",
  ),
  "consent/removal": row(
    "The file no longer declares more than half of what the state has, and at least five resources; most often the file was cut by mistake.",
    "Check that the file is whole; then --allow-removal N (the number that the plan names) or all, or reconcile destroy.",
  ),
  "consent/missing": row(
    "A program carries out a plan that needs consents which it was not given; nothing was sent.",
    "Hand them in as grants, after a person has seen what the plan lists and agreed.",
  ),
  "consent/unlisted": row(
    "A step would lose something that the plan did not list by its id; it was not sent.",
    "Plan again, and look at what it would lose.",
  ),
  "move/cannot": row(
    "The parts cannot be taken out of their project as they are: they lie in a circle with what would stay, a volume would part from its VM, or both projects have something of one name that differs. Nothing was written.",
    "Do what the message says, or name other parts; reconcile move without --yes shows it again.",
  ),
  "move/would-change": row(
    "With the files as they would be, one of the two projects would plan a change that neither has today. Nothing was written.",
    "The message names the change. Most often the target's defaults, region or project differ: write the value into the block first.",
  ),
  "plan/import-differs": row(
    "The imported resource differs from the file in a field that the service cannot change in place.",
    "Write the service's value into the file. Otherwise the next plan replaces the resource, and asks before it does.",
  ),
  "watch/files-changing": row(
    "The files changed each time they were read, so what they declare is not known.",
    "Put a whole new file in place of the old one: write it beside it, then rename it.",
  ),
  "exposure/gap": row(
    "Between the steps of the plan, a group may for a while admit more than before and after together, or less than both.",
    "Look at the step and the traffic that are named; apply the change in two halves if that moment matters.",
  ),
  "exposure/idle-egress": row(
    "Egress rules of the group restrict nothing, because the service's own rules let the same traffic out.",
    "Remove them, or have the service's own rule removed if your deployment permits that.",
  ),
  "exposure/open-port": row(
    "A port that manages a machine or hands out its data is open to the whole internet.",
    "Name the networks that need it in remote_ip, or a group in remote_group.",
  ),
  "plan/address-unread": row(
    "A VM's record has something in the place of an address that is no IP address. It counts as not shown, and no command and no check gets it.",
    "Describe in the dialect where the record has the address: records.vm.floating_ip, records.vm.private_ip.",
  ),
  "plan/attached-elsewhere": row(
    "A volume is attached to another VM than the one that was asked for.",
    "Detach it there first, or name the VM it is on.",
  ),
  "plan/bad-id": row("An id that is put together of two parts is not.", "VM-ID/VOLUME-ID, or GROUP-ID/RULE-ID."),
  "plan/attachments-unseen": row(
    "A VM is to be deleted, or is gone, and no record shows which volumes hang on it. They live on; those that the answer to the delete names become orphans.",
    "Describe records.vm.volumes in the dialect, or operations.volume.list if the service has it.",
  ),
  "plan/data-volume-kept": row(
    "preserved_volumes: delete takes only the volume that was created with the VM, known by its id and size and hanging on it. This is another volume, so it stays as an orphan.",
    "reconcile orphans list names it once the VM is gone; reconcile orphans delete ID deletes it.",
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
    "A resource may not be looked at with this credential; the state's record is used instead for it.",
    "Use a credential that may read it.",
  ),
  "plan/gone": row(
    "A resource the state knows is gone, and the plan says by which evidence. Its record is kept among the orphans as missing, and is taken back when the service shows the resource again.",
    "If it still exists, stop and check the credential before applying.",
  ),
  "plan/run-under-way": row(
    "Another run holds the lock of the state while this plan is made, so a change that looks unfinished may be under way.",
    "Plan again when it has ended; `reconcile apply --lock-timeout 5m` waits for it.",
  ),
  "plan/shown-again": row(
    "Something that was missing shows again. It is taken back where its address is declared and free; else it is an orphan like any other.",
    "Nothing, or reconcile import ADDR ID to manage it again, or reconcile orphans delete ID.",
  ),
  "plan/group-named": row(
    "A group is to be deleted, or replaced, while rules of other groups name it. The service may drop those rules, or refuse.",
    "Take the rules away first, and delete the group with the next apply. A service that is known to keep such groups: `limits: { named_groups: kept }` in the dialect, and the plan takes the rules away first.",
  ),
  "plan/rule-idle": row(
    "A rule names a group that is not there any more. It admits nobody, and this service cannot delete one rule.",
    "A note: the rule goes with the next replacement of its group.",
  ),
  "plan/group-names-unobserved": row(
    "This service shows a group's rules but not its name and description.",
    "A note: changes that others make to them are not seen.",
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
    "An image is given by name, and no list says which id that is: this service has none, or --no-refresh was given.",
    "Write the image's id as image_id.",
  ),
  "plan/import-by-name": row(
    "A VM is to be imported by its name, and nothing lists the VMs: this service has no such list, or --no-refresh was given.",
    "Give its id instead of its name.",
  ),
  "plan/import-managed": row(
    "The resource to import is managed under another address already.",
    "A moved entry, or remove the imports entry.",
  ),
  "plan/import-not-found": row("The service does not show the resource to import.", "Correct the id or name."),
  "plan/not-listed-yet": row(
    "A VM is not in the list of VMs, and was created a moment ago, or its own data volume says that it hangs on it. A list may be behind, so the VM counts as existing for now.",
    "Plan again when service.timing.discovery_window is over; apply waits for it and looks again by itself. If the VM is gone and its volume still names it: reconcile state rm ADDR.",
  ),
  "plan/import-unseen": row(
    "This credential may not look at the resource to import, so nothing proves that it exists.",
    "Use a credential that may read it, or correct the id.",
  ),
  "plan/project-removed": row(
    "A change removes the files of a project, and its VMs, volumes and groups would stay in the service with nobody to manage them.",
    "Destroy the project with its former files, then remove them.",
  ),
  "plan/renamed-key": row(
    "One block is gone and another one just like it is new, as after a rename of its key. The resource would be deleted and created again.",
    "Write the moved entry that the message names, or nothing if they are two different things.",
  ),
  "plan/left-out": row(
    "It depends on a resource that --exclude names, so this plan leaves it as it is too.",
    "Nothing, or plan without --exclude.",
  ),
  "plan/left-alone": row(
    "A resource depends on another one of which nothing certain is known, so this run does not change it.",
    "Settle the other one first; the message names it.",
  ),
  "plan/move-needs-key": row(
    "A moved entry names whole blocks, and only one of the two has a for_each.",
    'Name the instance: { from: vm.db, to: "vm.web[a]" }.',
  ),
  "plan/move-occupied": row(
    "The address to which a record would move has a record already.",
    "reconcile state rm ADDR, or remove the moved entry.",
  ),
  "plan/name-ambiguous": row("Several resources have the name.", "Say which one with an imports entry."),
  "plan/circle": row(
    "Resources that do not exist yet use values of each other in their texts, such as ${group.web.id}: each has to exist before the other.",
    "Take one of the values out of its text; it can be written in after the first apply, when both exist.",
  ),
  "plan/held-by-sibling": row(
    "What is to be taken over is in the state of another environment of the same file. Two environments that have one resource change it in turns.",
    "Put ${env} into the name, so that each environment has its own, or take it out of the other one first: reconcile state rm ADDR --env OTHER.",
  ),
  "plan/sibling-unread": row(
    "Something is taken over, and the state of another environment of the same file could not be read: it may have that resource.",
    "Look there with whoever may read it: reconcile state list --env OTHER.",
  ),
  "plan/name-not-said": row(
    "A group that was taken over would be replaced, on a service that does not show what it is called, and the file does not say it. The replacement would give it a name that was made up.",
    "Write its name into the block (name: …), as the service's console shows it.",
  ),
  "plan/name-taken": row(
    "Something else with that name exists: unknown to the state, left out by the targets, or let go. It is neither taken over nor made twice.",
    "An imports entry, --adopt for a VM, --target for what is left out, or another name.",
  ),
  "plan/checkout-differs": row(
    "The files in this checkout are not the ones that the saved plan was made from. The plan is applied as it was reviewed; later changes of the files are not applied.",
    "Plan again to see what is left.",
  ),
  "plan/no-checkout": row(
    "The files that a saved plan was made from are not beside it unchanged, and not below the working folder.",
    "Apply it in a checkout, from the folder it was made in.",
  ),
  "plan/not-owed": row(
    "The file declares after_attach or after_ready on something that exists already. A command that is new owes nothing by itself: it is run after the next attach, grow, move, create or rebuild.",
    "To run it now: reconcile owe ADDR, then reconcile apply; or reconcile apply --owe ADDR.",
  ),
  "plan/not-shown": row(
    "The service accepted a write, and no operation or record of this service shows what it brought about: nobody can see whether it was done.",
    "Look in the console. An operation or a pointer in the dialect with which it can be looked at ends the note.",
  ),
  "plan/outcome-unknown": row(
    "An earlier create, attach or detach got no answer or does not show, and nothing the service shows settles it.",
    "reconcile import ADDR ID if it exists, reconcile state resolve ADDR --not-created if it does not; for an attach or a detach --attached or --detached.",
  ),
  "plan/power-unobserved": row(
    "The service shows no power state, and no run has started or stopped the VM yet.",
    "The stop or start is sent; lifecycle.ignore_changes: [power] leaves it as it is.",
  ),
  "plan/name-refused": row(
    "The name is one that this service does not take, by the rules of its dialect.",
    "Choose another name, or correct names in the dialect.",
  ),
  "plan/port-range": row(
    "A rule with a range of ports is to be created, and the dialect does not say how this service takes a range in one rule.",
    'rules: { port_range: "{min}-{max}" } in the dialect where the service takes that, or one rule for each port.',
  ),
  "plan/region-ambiguous": row("A region name means several regions.", "Write one of the ids."),
  "plan/region-unknown": row("The service has no such region.", "Use one that it lists."),
  "plan/rollout": row(
    "VMs are changed in waves, as the file's rollout says.",
    "Nothing: the note lists the VMs of each wave.",
  ),
  "plan/rule-kept": row(
    "A rule that the file does not declare is kept, because on_rule_removal is keep and the service cannot delete one rule.",
    "on_rule_removal: replace, or delete it in the console.",
  ),
  "plan/rule-stays": row(
    "This service cannot delete one rule, so the rule stays although nothing declares it any more.",
    "Replace the group, or delete the rule in the service's console.",
  ),
  "plan/rules-unobserved": row(
    "The rules of a group could not be read; the state's record is used instead.",
    "Check the credential's rights.",
  ),
  "plan/shrink": row(
    "A size became smaller. The service only grows volumes.",
    "Set it back, or make a new volume and copy the data.",
  ),
  "plan/state-unsaid": row(
    "A resource shows a state that is deleted on some services and stopped on others, and the dialect gives the word no meaning. Nothing is removed or made anew on a guess.",
    "Look in the service's console what it means, and write the word under states.vm or states.volume of the dialect.",
  ),
  "plan/stale": row(
    "A saved plan no longer fits: the state or the service moved on, or it is another one than it was reviewed for.",
    "Plan again, review, and apply the new plan.",
  ),
  "plan/tampered": row("A saved plan was changed after it was made.", "Plan again with --out."),
  "plan/target-too-narrow": row(
    "The plan would take something away from a resource that --target or --exclude leaves out.",
    "Target that too or exclude less, or plan without both flags.",
  ),
  "plan/unknown-address": row(
    "An address names nothing that is declared or recorded.",
    "The nearest right one is in the message.",
  ),
  "plan/unobserved": row(
    "The resource cannot be looked at on this service.",
    "Describe in the dialect what the service has.",
  ),
  "plan/unreadable": row("The file is no plan that this program reads.", "Plan again with --out."),
  "plan/unseen-loss": row(
    "A change would lose something that cannot be shown beforehand.",
    "Look at the resource in the service before you go on.",
  ),
  "plan/value-not-shown": row(
    "A text of the file has a value that only the service knows, and nothing will tell it: the record does not show it, or nothing in this plan creates the resource.",
    "The message says what would supply it: the dialect line for the place of an address in a VM's record, a wider --target, or an import.",
  ),
  "plan/vm-failed": row(
    "A VM is in a failed state. It is left as it is, since replacing it loses its root disk.",
    "--replace ADDR",
  ),
  "plan/vms-unobserved": row(
    "This service has no way to look at VMs; they are known from the state alone.",
    "A note: changes that others make in the service are not seen.",
  ),
  "plan/volume-failed": row(
    "A volume is in a failed state. It is left as it is.",
    "Only you can say whether its data is still wanted; --replace ADDR makes an empty one.",
  ),
  "check/cost-unknown": row(
    "The file's checks limit what a month costs, and something that the plan makes or changes has no price.",
    "Add its price to the list: `prices:`, --prices or RECONCILE_PRICES; 0 where there is nothing to pay.",
  ),
  "check/flavor": row("The file's checks do not allow this flavor.", "One of checks.flavors."),
  "check/hours": row(
    "The file's checks say when plans are carried out, and it is not that time.",
    "Wait, or change checks.hours.",
  ),
  "check/image": row("The file's checks do not allow this image.", "One of checks.images."),
  "check/lifecycle": row(
    "The file's checks require a lifecycle field that this resource does not have.",
    "Add the field that the message names.",
  ),
  "check/monthly-cost": row(
    "After this plan a month would cost more than the file's checks allow.",
    "Ask for less, or raise checks.at_most.monthly_cost. A plan that saves is carried out all the same.",
  ),
  "check/monthly-increase": row(
    "This plan would raise the cost of a month by more than the file's checks allow at once.",
    "Do it in parts with --target, or raise checks.at_most.monthly_increase.",
  ),
  "check/name": row("A name does not fit the pattern of the file's checks.", "A name that fits checks.names."),
  "check/region": row("The file's checks do not allow this region.", "One of checks.regions."),
  "check/removals": row(
    "The plan removes more at once than the file's checks allow.",
    "Remove them in parts with --target, or raise checks.at_most.remove.",
  ),
  "check/stops": row(
    "The plan takes more VMs down than the file's checks allow.",
    "Change them in parts with --target, or raise checks.at_most.stop.",
  ),
  "policy/failed": row(
    "The file's policy program did not run, or its answer cannot be read. The plan is refused, since nobody knows what it would have said.",
    "It reads the plan as JSON on standard input and prints a JSON list of findings, or what conftest and OPA print.",
  ),
  "policy/not-run": row(
    "The file names a policy program, and this run starts no program that a file names (--no-programs, RECONCILE_PROGRAMS=none). The plan was not judged by it. With RECONCILE_POLICY it was judged by that program instead, and this is a note.",
    "Set RECONCILE_POLICY to a program that the author of the change cannot write to; or plan without --no-programs where the files were reviewed. --strict refuses such a plan.",
  ),
  "reachability/contradiction": row(
    "Two assertions of the file cannot both hold, whatever the rules: one demands what the other forbids.",
    "Narrow one of the two. A never takes `except:`.",
  ),
  "reachability/exception-ends": row(
    "An exception of an assertion ends within 14 days. From then on what it covers is refused.",
    "Narrow the rules that need it, or set a new `until` with its reason.",
  ),
  "reachability/exception-too-long": row(
    "An exception of an assertion is for more than a year.",
    "Write an `until` within a year.",
  ),
  "reachability/exception-unneeded": row(
    "No rule needs this exception of an assertion any more.",
    "Remove it from `allow`.",
  ),
  "reachability/one-family": row(
    "An `always` that says no ethertype holds over one of IPv4 and IPv6, and nothing of it is admitted over the other.",
    "ethertype: IPv4 (or IPv6) in the assertion, or rules for the other family.",
  ),
  "reachability/repaired": row("An assertion does not hold now, and will after the plan.", "Nothing: apply the plan."),
  "reachability/unproven": row(
    "Whether an assertion holds depends on something that rules do not say, such as the addresses of a group's members.",
    "Name the group in remote_group instead of its addresses, or narrow the assertion. --strict refuses such a plan.",
  ),
  "reachability/violated": row(
    "An assertion of the file does not hold. A plan that breaks one, even between two steps, is not carried out (exit 3); what was broken before and gets no worse is a warning.",
    "Narrow the rule that the message names, or add an exception with `until` and `reason` to the assertion.",
  ),
  "rehearse/twin-differs": row(
    "A plan made on the twin is not the plan made for the service, so the twin lacks something that the service has.",
    "Do not rely on what the rehearsal says of that resource, and report how its records look.",
  ),
} satisfies Partial<Record<DiagnosticCode, Explanation>>;
