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

/** What a list is asked for with: what it is a list of may stand in any part of it. */
export type Asking = Pick<Route, "method" | "path" | "query" | "headers" | "body">;

/** How the lists found so far are asked for, as the next one probably is as well: what stands around the noun, as JSON. */
export interface Style {
  readonly before: string;
  readonly after: string;
  readonly isPlural: boolean;
  /** `undefined`: one word that is written small tells nothing of how several are written. */
  readonly casing: Casing | undefined;
}

/** `undefined`: what a kind is called stands nowhere in the request. */
export function styleOf({ method, path, query, headers, body }: Asking, kind: Learnt): Style | undefined {
  const text = JSON.stringify({ method, path, query, headers, body });
  const found = forms[kind].flatMap((form) => wholeIn(text, form).map((at) => ({ at, form })));
  // Of a path the last word counts, and of a body the first: what a query in it wants to be shown comes after that.
  const inBody = body === undefined ? [] : found.filter(({ at }) => at > text.indexOf('"body":'));
  const [first] = inBody.length > 0 ? inBody.sort((one, other) => one.at - other.at) : found.sort(lastAndLongest);
  if (first === undefined) return undefined;
  const { at, form } = first;
  const isTelling = form.casing === "pascal" || /[-_A-Z]/.test(form.text);
  return {
    before: text.slice(0, at),
    after: text.slice(at + form.text.length),
    isPlural: form.isPlural,
    casing: isTelling ? form.casing : undefined,
  };
}

interface FoundForm {
  readonly at: number;
  readonly form: Form;
}

const lastAndLongest = (one: FoundForm, other: FoundForm): number => endOf(other) - endOf(one) || one.at - other.at;
const endOf = ({ at, form }: FoundForm): number => at + form.text.length;

/** Where it stands as a whole word of a path, or as the end of one word after a verb: listVirtualMachines. */
function wholeIn(text: string, { text: word, casing }: Form): readonly number[] {
  const places: number[] = [];
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    const [before, after] = [text.charAt(at - 1), text.charAt(at + word.length)];
    const isWhole = /[/=.:_\s"({-]/.test(before) || (casing === "pascal" && /[a-z]/.test(before));
    if (isWhole && !/[a-zA-Z]/.test(after)) places.push(at);
  }
  return places;
}

/** The same request with other words in the place of the noun. */
const inStyle = ({ before, after }: Style, text: string): Asking => JSON.parse(before + text + after);

/** The same request about something that the kinds' table does not have, such as a job. */
export const askingFor = (style: Style, word: string, isPlural = style.isPlural): Asking =>
  inStyle(style, (style.casing === "pascal" ? upper(word) : word) + (isPlural ? "s" : ""));

/** Verbs below which lists are, and before which the noun stands. */
const suffixes = ["/list", "/detail", "/all", "/describe", "/search"];
/** Each verb costs a request for every word that it is tried with. */
const wordsWithVerbs = 4;

export interface Candidate {
  readonly asking: Asking;
  /** It is asked for as another list is. */
  readonly style?: Style;
}

/** The folders in which the requests that were told are: lists of other kinds may be beside them, or further up. */
export function foldersOf(paths: readonly string[]): readonly string[] {
  const folders = new Set<string>();
  for (const path of paths) {
    const [fixed = ""] = path.split(/[{:]/);
    for (let at = fixed.replace(/\/$/, "").lastIndexOf("/"); at > 0; at = fixed.lastIndexOf("/", at - 1))
      folders.add(fixed.slice(0, at));
  }
  return [...folders].filter((folder) => folder !== "/api" && folder !== "/api/v1").slice(0, mostFolders);
}

const mostFolders = 6;

/**
 * First the route of the dialect, since every plan uses that. What another list is asked for with comes next, with
 * another noun alone; all else is tried with GET.
 */
export function candidates(
  operation: AssumedOperation,
  route: Route | null,
  styles: readonly Style[],
  told: readonly string[],
  folders: readonly string[] = [],
): readonly Candidate[] {
  const { path, alsoAt = [] } = rowOf(operation);
  const kind = recordOfOperation(operation);
  const styled = styles.flatMap((style) =>
    forms[kind]
      .filter(({ isPlural, casing }) => isPlural === style.isPlural && casing === (style.casing ?? casing))
      .filter(({ casing }) => style.casing !== undefined || casing !== "pascal")
      .map(({ text }): Candidate => ({ asking: inStyle(style, text), style })),
  );
  const plain = forms[kind].filter(({ casing }) => casing !== "pascal").map(({ text }) => text);
  const usual = called[kind]
    .slice(0, wordsWithVerbs)
    .flatMap((noun) => formsOf(noun).flatMap(({ text, casing }) => (casing === "kebab" ? [text] : [])));
  const byRule = [
    ...plain.map((noun) => `/api/v1/${noun}`),
    ...suffixes.flatMap((suffix) => usual.map((noun) => `/api/v1/${noun}${suffix}`)),
  ];
  const several = forms[kind].filter(({ isPlural, casing }) => isPlural && casing !== "pascal" && casing !== "joined");
  const besides = folders.flatMap((folder) => several.map(({ text }) => `${folder}/${text}`));
  // Where a folder is called as one thing is, the few usual words are enough.
  const singly = folders.flatMap((folder) =>
    called[kind].slice(0, wordsWithVerbs).map((noun) => `${folder}/${noun.replaceAll(" ", "-")}`),
  );
  const at = (paths: readonly string[]): readonly Candidate[] =>
    paths.map((one) => ({ asking: { method: "GET", path: one } }));
  const all = [
    ...(route === null ? [] : [{ asking: route }]),
    ...at([...told, path, ...alsoAt]),
    ...styled,
    ...at(besides),
    ...at(byRule),
    ...at(singly),
  ];
  const keyOf = ({ asking: { method, path: one, query, headers, body } }: Candidate): string =>
    JSON.stringify([method, one, query, headers, body]);
  // A usual path may well be one that is asked for as another list is.
  const alike = new Map(styled.map((one) => [keyOf(one), one]));
  const first = new Map<string, Candidate>();
  for (const one of all) if (!first.has(keyOf(one))) first.set(keyOf(one), { ...alike.get(keyOf(one)), ...one });
  return [...first.values()];
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
  const plain = list?.replace(/\/$/, "");
  const bases =
    plain === undefined
      ? []
      : [...new Set([plain.replace(/\/(list|detail|details|all|describe|search|query)$/, ""), plain])];
  const below = bases.flatMap((base) => [
    // Where lists end with a slash, everything mostly does.
    ...(plain === list ? [] : [`${base}/{id}/`]),
    `${base}/{id}`,
    `${base}/get/{id}`,
    `${base}/details/{id}`,
    `${base}/detail/{id}`,
    `${base}/describe/{id}`,
    `${base === "" ? "/" : base}?id={id}`,
  ]);
  return [...new Set([...said, ...told, ...below, path, ...alsoAt])];
}
