/** Where operations are commonly found: by rule and not by a list of paths, the usual place first. */
import type { Kind } from "../../core/model/kinds";
import { type AssumedOperation, rowOf } from "../../core/model/operation";
import { tableOf } from "../../core/text/objects";
import type { Route } from "../dialect";

export type Learnt = Kind | "flavor" | "image" | "region";

/** What a kind is called: words, the usual ones first. The few before the comma are also looked for below verbs. */
const called: Readonly<Record<Learnt, readonly string[]>> = {
  vm: [
    ...["vm", "server", "instance", "machine", "virtual machine", "droplet", "compute", "node", "linode", "guest"],
    ...["compute instance", "cloud server", "vps", "host"],
  ],
  volume: [
    ...["volume", "disk", "drive", "storage", "block storage", "block volume", "data disk", "storage volume"],
    ...["block device", "block"],
  ],
  group: [
    ...["security group", "firewall", "sg", "group", "secgroup", "firewall group", "network security group"],
    ...["access group", "acl"],
  ],
  flavor: [
    ...["flavor", "size", "plan", "type", "instance type", "machine type", "server type", "vm type", "product"],
    ...["offering", "service offering", "package", "sku", "flavour", "profile", "vm size", "spec"],
  ],
  image: [
    ...["image", "template", "system", "os", "operating system", "os image", "vm image", "distribution", "iso"],
    ...["machine image"],
  ],
  region: [
    ...["region", "zone", "site", "location", "availability zone", "datacenter", "data center", "dc", "area"],
    ...["pop"],
  ],
};

type Casing = "kebab" | "snake" | "camel" | "joined" | "pascal";
const casings: readonly Casing[] = ["kebab", "snake", "camel", "joined", "pascal"];

interface Form {
  readonly text: string;
  readonly isPlural: boolean;
  readonly casing: Casing;
}

const upper = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

function written(words: readonly string[], casing: Casing): string {
  if (casing === "pascal") return words.map(upper).join("");
  if (casing === "camel") return words.map((word, index) => (index === 0 ? word : upper(word))).join("");
  return words.join(casing === "kebab" ? "-" : casing === "snake" ? "_" : "");
}

const formsOf = (noun: string): readonly Form[] =>
  [false, true].flatMap((isPlural) => {
    const words = noun.split(" ");
    const last = words.at(-1) ?? "";
    const inNumber = isPlural ? [...words.slice(0, -1), last.endsWith("s") ? `${last}es` : `${last}s`] : words;
    return casings.map((casing) => ({ text: written(inNumber, casing), isPlural, casing }));
  });

const forms: Readonly<Record<Learnt, readonly Form[]>> = tableOf(
  ["vm", "volume", "group", "flavor", "image", "region"],
  (kind) => called[kind].flatMap(formsOf),
);

/** Every way to write what a kind is called, one and several of it. */
export const nouns: Readonly<Record<Learnt, readonly string[]>> = tableOf(
  ["vm", "volume", "group", "flavor", "image", "region"],
  (kind) => [...new Set(forms[kind].map(({ text }) => text))],
);

/** Words for resources of any kind, plain and one after the other for a regular expression. */
export const anyNoun = [
  ...new Set(
    Object.values(called)
      .flat()
      .map((noun) => noun.replaceAll(" ", "")),
  ),
].join("|");

// The name of an operation begins with its kind.
export const recordOfOperation = (operation: AssumedOperation): Learnt => operation.split(".")[0] as Learnt;

/** How the lists found so far are written, which the next one probably is as well: what stands around the noun. */
export interface Style {
  readonly before: string;
  readonly after: string;
  readonly isPlural: boolean;
  readonly casing: Casing;
}

/** `undefined`: what a kind is called stands nowhere in the path. */
export function styleOf(path: string, kind: Learnt): Style | undefined {
  let best: { readonly at: number; readonly form: Form } | undefined;
  for (const form of forms[kind]) {
    const at = path.lastIndexOf(form.text);
    const [before, after] = [path.charAt(at - 1), path.charAt(at + form.text.length)];
    // A whole word of a path, or the end of one word after a verb: listVirtualMachines.
    const isWhole = /[/=.:_-]/.test(before) || (form.casing === "pascal" && /[a-z]/.test(before));
    if (at < 1 || !isWhole || /[a-zA-Z]/.test(after)) continue;
    if (best === undefined || form.text.length > best.form.text.length) best = { at, form };
  }
  if (best === undefined) return undefined;
  const { at, form } = best;
  return {
    before: path.slice(0, at),
    after: path.slice(at + form.text.length),
    isPlural: form.isPlural,
    casing: form.casing,
  };
}

/** Verbs below which lists are, and before which the noun stands. */
const suffixes = ["/list", "/detail", "/all", "/describe", "/search"];
/** Each verb costs a request for every word that it is tried with. */
const wordsWithVerbs = 4;

/**
 * First the path of the dialect with its own method, since every plan uses that. All other paths are tried with GET
 * alone.
 */
export function candidates(
  operation: AssumedOperation,
  route: Route | null,
  styles: readonly Style[],
  told: readonly string[],
): readonly string[] {
  const { path, alsoAt = [] } = rowOf(operation);
  const kind = recordOfOperation(operation);
  const said = route === null ? [] : [route.path];
  const inStyle = styles.flatMap(({ before, after, isPlural, casing }) =>
    forms[kind]
      .filter((form) => form.isPlural === isPlural && (form.casing === casing || !/[-_A-Z]/.test(form.text)))
      .map((form) => `${before}${form.text}${after}`),
  );
  const plain = forms[kind].filter(({ casing }) => casing !== "pascal").map(({ text }) => text);
  const usual = called[kind]
    .slice(0, wordsWithVerbs)
    .flatMap((noun) => formsOf(noun).flatMap(({ text, casing }) => (casing === "kebab" ? [text] : [])));
  const byRule = [
    ...plain.map((noun) => `/api/v1/${noun}`),
    ...suffixes.flatMap((suffix) => usual.map((noun) => `/api/v1/${noun}${suffix}`)),
  ];
  return [...new Set([...said, ...told, path, ...alsoAt, ...inStyle, ...byRule])];
}

/** Paths of one item of a list: below the list's path, or below its beginning. */
export function placesOfOne(
  operation: AssumedOperation,
  route: Route | null,
  list: string | undefined,
  told: readonly string[],
): readonly string[] {
  const { path, alsoAt = [] } = rowOf(operation);
  const said = route !== null && route.method === "GET" ? [route.path] : [];
  const bases =
    list === undefined
      ? []
      : [...new Set([list.replace(/\/(list|detail|details|all|describe|search|query)$/, ""), list])];
  const below = bases.flatMap((base) => [
    `${base}/{id}`,
    `${base}/get/{id}`,
    `${base}/details/{id}`,
    `${base}/detail/{id}`,
    `${base}/describe/{id}`,
    `${base}?id={id}`,
  ]);
  return [...new Set([...said, ...told, ...below, path, ...alsoAt])];
}
