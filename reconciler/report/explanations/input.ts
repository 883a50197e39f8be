/** Codes for wrong input: the command line, the files, the dialect, listings. */
import type { DiagnosticCode } from "../../core/model/diagnostic-code";
import { type Explanation, row } from "./row";

export const input = {
  "cli/bad-flag": row("A flag has a value it cannot have.", "The message shows one it can."),
  "cli/bad-var": row("--var was given without a name or without a value.", "--var NAME=VALUE"),
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
  "cli/file-unwritable": row(
    "The file named by --out or --write cannot be written.",
    "Name another file, or correct the rights.",
  ),
  "cli/name-missing": row("A snapshot needs a name.", "--name NAME"),
  "cli/no-address": row(
    "Neither the state nor the service shows an address of this VM, or of the one that it is reached through.",
    "reconcile vm list; `records.vm` of the dialect says where a record has its addresses.",
  ),
  "cli/no-files": row(
    "The folder has no YAML file of the desired state.",
    "Name a file, or write one with: reconcile init.",
  ),
  "cli/no-ssh": row(
    "`reconcile ssh` starts the ssh of your machine, and there is none, or it cannot be started.",
    "Install OpenSSH's client, or use the address that reconcile vm list shows.",
  ),
  "cli/not-applied": row(
    "A resource is declared but was never applied, so an export leaves it out.",
    "Run reconcile apply, then export again.",
  ),
  "cli/occupied": row(
    "The folder to write into has a file of that name already.",
    "Name another folder with --out, or move the file away.",
  ),
  "cli/output-lost": row(
    "Standard output could not be written, so what is there is cut short. The run went on to its end and is recorded.",
    "Make room where it goes (a full disk, most often); `reconcile plan` shows what is left to do.",
  ),
  "cli/package-missing": row(
    "The command needs a package that is not installed, since most people never use it.",
    "Install the package that the message names, beside this one.",
  ),
  "cli/system": row(
    "The operating system refused something; the message is its own.",
    "Look at the path, the rights and the space.",
  ),
  "cli/unknown-code": row("There is no such code.", "reconcile explain lists all of them."),
  "cli/usage": row(
    "The command line has a word, flag or number of words that the command does not take.",
    "`reconcile help COMMAND` shows what it takes.",
  ),
  "cli/unknown-output": row(
    "The state has no output of that name.",
    "reconcile output lists those there are; they are recorded at the end of reconcile apply.",
  ),
  "cli/unknown-shell": row("There is no completion for that shell.", "bash, zsh or fish"),
  "config/alias-limit": row(
    "The YAML aliases of the file expand to more than is reasonable.",
    "Write the repeated parts as defaults or for_each.",
  ),
  "config/component-circle": row(
    "A component uses itself, or is handed its own outputs; the message shows the circle.",
    "Use another file, or hand one of them something that does not come from the others.",
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
  "config/environment": row(
    "The file declares environments and none of them was chosen, or one that it does not declare.",
    "--env NAME, or RECONCILE_ENV; there is no default, so that nobody changes one environment and means another.",
  ),
  "config/file-unreadable": row(
    "A file that the desired state names (a file of variables, a component) cannot be read.",
    "Paths are relative to the file that names them; `npm:` files are in node_modules.",
  ),
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
  "config/lookup-failed": row(
    "What the file looks up in the service was not found, is there more than once, or could not be looked at.",
    "Correct the id or the name; where several have the name, say the id of the one that is meant.",
  ),
  "config/read-failed": row(
    "The outputs of another project that the file reads could not be read.",
    "Check the place of that state in reads, and that this machine may read it; the other project has to be applied once.",
  ),
  "config/not-known-yet": row(
    "A value that only the service knows, such as the address of a VM, stands where its value is needed before anything is planned.",
    "It may stand in a rule's remote_ip, in descriptions, in check and flush commands and URLs, and in outputs.",
  ),
  "config/reference-needs-key": row("A reference names a for_each block as a whole.", "Name one of its keys: web[a]."),
  "config/reserved-name": row("The name belongs to the platform.", "Choose another."),
  "config/sensitive": row(
    "A sensitive value stands where it would be stored in the clear: in the state, in the service, or in a saved plan.",
    "Use it in the check of a resize, and save plans with a key (RECONCILE_STATE_KEY); elsewhere use a variable that is not sensitive.",
  ),
  "config/size-over-limit": row(
    "A volume is larger than the service's console accepts; the service itself may take it.",
    "A warning only.",
  ),
  "config/shared-name": row(
    "Two environments of one file want the same name in one project of one service. The one that is applied second would find the other's resource.",
    'Put the environment into the name: name: "${env}-web".',
  ),
  "config/too-large": row(
    "The files of the desired state are larger than a run could hold in its memory, or the lists of one rule stand for more than 10,000 rules.",
    "Split them into projects, each in a folder and with a state of its own; write ranges of ports and CIDRs in a rule.",
  ),
  "config/unknown-key": row("A key is not known here.", "The nearest right one is in the message."),
  "config/unknown-reference": row(
    "A reference names nothing that is declared.",
    "The nearest right one is in the message, or { id: … } for something outside this file.",
  ),
  "config/unknown-variable": row("A variable is set or used that is not declared.", "vars: { NAME: {} }"),
  "config/unused-parameter": row(
    "A component declares a parameter that nothing in it uses.",
    "Use it as ${param.NAME}, or take it out of the parameters.",
  ),
  "config/variable-circle": row(
    "The default of a variable uses other variables that use it in turn; the message shows the circle.",
    "Give one of them a value of its own.",
  ),
  "config/variable-without-value": row(
    "A variable has neither a default nor a value.",
    "--var NAME=VALUE, --var-file, RECONCILE_VAR_NAME, or a default.",
  ),
  "config/version": row("The file's version is missing or not one that this program reads.", "version: 1"),
  "config/wrong-type": row("A value is of the wrong type.", "The message says which is expected."),
  "config/yaml-syntax": row("The file is not YAML.", "The message is the parser's, at its place."),
  "dialect/credential-header": row(
    "A header of the dialect would carry a credential that is written in the file.",
    "Take it out of the file. RECONCILE_TOKEN has the credential, and authorization.name the header that it is sent in.",
  ),
  "dialect/documented-operation": row(
    "The dialect describes an operation that the contract fixes.",
    "Remove it from the dialect.",
  ),
  "dialect/does-not-fit": row(
    "A line of the dialect does not hold for the service that was looked at.",
    "The message has the line that would. `reconcile doctor --out FILE` writes all of them.",
  ),
  "dialect/not-proven": row(
    "On the embedded service that speaks it, the dialect did not hold.",
    "The message names the part of the life, and what was otherwise; `reconcile dialect prove FILE` tries all of it.",
  ),
  "dialect/says-more": row(
    "The doctor does not write over a dialect that says more than the new one.",
    "Start from it with --dialect FILE --out FILE, or write into another file.",
  ),
  "dialect/error-rule": row(
    "A rule under errors can never apply, or names no condition.",
    "The message says which and lists the conditions.",
  ),
  "dialect/invalid-name": row(
    "A key of the dialect is not allowed where it stands.",
    "Letters, digits, hyphens and underscores.",
  ),
  "dialect/missing": row("The dialect lacks a required part.", "The message names it."),
  "dialect/name-pattern": row("A pattern for names is not a regular expression.", "The message shows one that is."),
  "dialect/paging": row(
    "A list is said to go on in two ways at once, or to have pages of a size that no parameter carries.",
    "Keep one of marker, number and offset: the one that this service has. A size needs its size_param.",
  ),
  "dialect/not-allowed": row("A value of the dialect is none of those allowed.", "The message lists them."),
  "dialect/placeholder": row(
    "A path of the dialect lacks a placeholder, or has one that is not known.",
    "{id}, and {rule_id} for a rule.",
  ),
  "dialect/state-twice": row("One word stands under two states.", "Keep it under one."),
  "dialect/todo": row(
    "The dialect has a `todo`: something that a person has to find out.",
    "Find it out, correct the line that it speaks of, and take it out of todo.",
  ),
  "dialect/unknown-key": row("The dialect has a key that is not known.", "The nearest right one is in the message."),
  "dialect/wrong-type": row("A value of the dialect is of the wrong type.", "The message says which is expected."),
  "import/for-each": row(
    "One instance of a for_each does not tell the block of all of them.",
    "Generate it under a key of its own, and make a for_each of the blocks by hand.",
  ),
  "internal/invariant": row(
    "A bug in reconcile.",
    "Please report it with the command you ran and RECONCILE_DEBUG=1 set.",
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
    'Import through the service (without --convert), or write rules: { port_range: "{min}-{max}" } in the dialect.',
  ),
  "listing/unreadable": row(
    "The file is not a listing of security groups as another cloud's command line prints it.",
    "Give the JSON output of describe-security-groups as it is.",
  ),
  "pull/disk-of-vm": row(
    "The volume asked for is the root disk or the data disk of its VM.",
    "Nothing to do: it stands in that VM's block as root_size or size.",
  ),
  "pull/fill-in": row(
    "No record of the service shows this value, so the file leaves it out.",
    "Give it with --project, --region or --user-id, or write it into the file.",
  ),
  "pull/not-seen": row(
    "This service has no list of that kind, so a pull cannot tell what exists of it.",
    "Name it by its id, as the message says.",
  ),
  "pull/not-found": row(
    "The service shows nothing under an id that was asked for.",
    "Correct the id, and check with reconcile doctor that this credential sees the project.",
  ),
  "pull/several": row("Several VMs have the name that was given.", "Give the id of one of them."),
  "pull/vms-unlisted": row("This service has no list of VMs.", "Name them one by one: reconcile pull --vm ID."),
} satisfies Partial<Record<DiagnosticCode, Explanation>>;
