/** What the engine says in the words of a file, in the words of a program: `dstPort`, and no addresses of its own. */
import { fieldsOf } from "../core/model/fields";
import { type Kind, kindRows, kinds } from "../core/model/kinds";
import { operationNames } from "../core/model/operation";

const fields: ReadonlySet<string> = new Set([
  ...Object.values(fieldsOf).flatMap((rows) => Object.values(rows).map(({ field }) => field)),
  ...["on_image_change", "snapshot_before", "delete_floating_ip", "preserved_volumes", "verify_resize", "on_failure"],
  ...["dst_port", "remote_ip", "remote_group", "rules_mode", "on_rule_removal", "flush_confirmed", "attach_to"],
]);

/** Names that this package gives where the program gives none. One that is counted has a sign that no program can give. */
const ownNames: Readonly<Record<string, string>> = {
  "vm.host": "the VM",
  "volume.attachment": "the volume",
  "volume.other_": "a volume of the VM",
  "group.rule": "the group",
};

export const asProperty = (field: string): string =>
  field.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());

/** What is behind the kind in `vm.create`. */
const operationVerbs: ReadonlySet<string> = new Set(
  operationNames.flatMap((operation) => /^[^.]+\.([^.]+)$/.exec(operation)?.[1] ?? []),
);

const nounPattern = kinds.map((kind) => kindRows[kind].noun).join("|");
/** Where the noun stands before the address already, it is not said twice. The value of a variable stays as it is. */
const resourceAddress = new RegExp(
  `(?:\\b(?:${nounPattern}) )?(?<![\\w.=])(${kinds.join("|")})\\.([\\w-]+)(?![\\w.])`,
  "g",
);

/** Only the command line ends with one, and only it applies. */
const exitCode = " (exit code 4)";
const nextRun = /\bthe next apply\b/g;

export const inProgramWords = (text: string): string =>
  text
    .replaceAll(exitCode, "")
    .replace(nextRun, "the next update")
    .replace(/\b[a-z]+(?:_[a-z]+)+\b/g, (word) => (fields.has(word) ? asProperty(word) : word))
    .replace(resourceAddress, (whole, kind: Kind, name: string) =>
      operationVerbs.has(name)
        ? whole
        : (ownNames[`${kind}.${name.replace(/^other_\d+$/, "other_")}`] ?? `${kindRows[kind].noun} ${name}`),
    );
