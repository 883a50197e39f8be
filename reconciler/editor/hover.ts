/** What the cursor is on, in words: what a field means and what a change of it costs, and what the state remembers. */
import { fieldAt } from "../config/schema-fields";
import { isMap, valueAt } from "../config/yaml/file";
import { type Address, componentOf, localAddress } from "../core/model/address";
import { fieldsOf } from "../core/model/fields";
import { isKind, type Kind, kinds, sectionOf } from "../core/model/kinds";
import type { RecordedResource, State } from "../core/model/recorded";
import { credentialMask } from "../core/text/credential-mask";
import { fieldsIn } from "../core/text/objects";
import { printable } from "../core/text/printable";
import { recordText } from "../report/record-text";
import type { Cursor } from "./cursor";
import { placeAt } from "./names";
import { type EditedProject, nameAtPlace, type ProjectName, placesOfProject } from "./project";

/** What the last look left in each state that lies on this machine, by environment. */
export type StatesByEnvironment = ReadonlyMap<string | undefined, State>;

export function hover(
  project: EditedProject,
  file: string,
  offset: number,
  cursor: Cursor,
  schema: unknown,
  states: StatesByEnvironment,
): string | undefined {
  const names = project.files.get(file)?.names;
  const place = names === undefined ? undefined : placeAt(names, offset);
  const name = place === undefined ? undefined : nameAtPlace(project, file, place);
  if (name !== undefined) return aboutName(project, name, states);
  return aboutField(project, file, cursor.path, schema, states);
}

function aboutName(project: EditedProject, name: ProjectName, states: StatesByEnvironment): string {
  const { sort, key, home } = name;
  const declared = placesOfProject(project, name).find(({ is }) => is === "declared");
  const title = `**${sort}.${key}**`;
  if (declared === undefined) return `${title}: not declared`;
  const root = project.files.get(declared.file)?.source.root;
  if (isKind(sort)) {
    const shown = recordsOfName(project, home, sort, key, states).map(
      ({ environment, record }) =>
        `${environment === undefined ? "" : `${environment}:\n`}${recordText(record.address, record, undefined, { width: 78 })}`,
    );
    const most = shown.slice(0, 3);
    const rest = shown.length - most.length;
    return most.length === 0
      ? `${title}\n\nNot in the state: the next apply creates it.`
      : `${title}, when it was last looked at:\n\n\`\`\`text\n${most.join("\n").trimEnd()}\n${rest > 0 ? `and ${rest} more\n` : ""}\`\`\``;
  }
  const written = withoutSecret(valueAt(root, declared.path));
  return `${title}${written === null || written === undefined ? "" : `\n\n\`\`\`json\n${JSON.stringify(written, null, 2).slice(0, 1000)}\n\`\`\``}`;
}

/** What a file says of a sensitive variable, parameter or output, without its value. */
const withoutSecret = (written: unknown): unknown =>
  isMap(written) && written["sensitive"] === true
    ? Object.fromEntries(
        Object.entries(written).map(([key, value]) => [
          key,
          ["default", "value"].includes(key) ? credentialMask : value,
        ]),
      )
    : written;

/** A text of the service as code, whatever of Markdown it holds itself. */
function asCode(text: string): string {
  const shown = printable(text);
  const longest = Math.max(0, ...[...shown.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return longest === 0 ? `${fence}${shown}${fence}` : `${fence} ${shown} ${fence}`;
}

function aboutField(
  project: EditedProject,
  file: string,
  path: Cursor["path"],
  schema: unknown,
  states: StatesByEnvironment,
): string | undefined {
  const field = fieldAt(schema, path);
  if (field === undefined || path.length === 0) return undefined;
  const [section, key, name] = path;
  const kind =
    kinds.find((one) => sectionOf[one] === section) ?? (section === "defaults" && isKind(key) ? key : undefined);
  const last =
    kind === undefined || section === "defaults" || path.length !== 3
      ? []
      : lastValues(project, file, kind, String(key), String(name), states);
  const seen = last.length === 0 ? "" : `\n\nWhen it was last looked at: ${last.join(", ")}.`;
  return `**${path.filter((step) => typeof step === "string").join(".")}**\n\n${field.about.replace(" A change: ", "\n\nA change: ")}${seen}`;
}

const mostRecordsShown = 5;

/** The recorded values of a field, `vm.web[a] m1.small` where there are several. */
function lastValues(
  project: EditedProject,
  file: string,
  kind: Kind,
  key: string,
  field: string,
  states: StatesByEnvironment,
): string[] {
  const under = Object.entries(fieldsOf[kind]).find(([, row]) => row.field === field)?.[0];
  const found = recordsOfName(project, file, kind, key, states).flatMap(({ environment, record }) => {
    const value = under === undefined ? undefined : fieldsIn(record)[under];
    if (value === undefined || typeof value === "object") return [];
    return [
      {
        value: asCode(String(value)),
        where: `${environment === undefined ? "" : `${environment} `}${record.address}`,
      },
    ];
  });
  if (found.length === 1) return found.map(({ value }) => value);
  const more = found.length - mostRecordsShown;
  return [
    ...found.slice(0, mostRecordsShown).map(({ value, where }) => `${value} (${where})`),
    ...(more > 0 ? [`and ${more} more`] : []),
  ];
}

function recordsOfName(
  { main }: EditedProject,
  home: string,
  kind: Kind,
  key: string,
  states: StatesByEnvironment,
): { readonly environment: string | undefined; readonly record: RecordedResource }[] {
  const isMain = main.includes(home);
  const fits = (address: Address): boolean => {
    if ((componentOf(address) === "") !== isMain) return false;
    const local = localAddress(address);
    return local === `${kind}.${key}` || local.startsWith(`${kind}.${key}[`);
  };
  return [...states].flatMap(([environment, { resources }]) =>
    [...resources.values()].flatMap((record) => (fits(record.address) ? [{ environment, record }] : [])),
  );
}
