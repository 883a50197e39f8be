/** Where operations are commonly found: by rule and not by a list of paths, the usual place first. */
import type { Kind } from "../../core/model/kinds";
import { type AssumedOperation, rowOf } from "../../core/model/operation";
import { keysOf, tableOf } from "../../core/text/objects";
import { remembered } from "../../core/text/remembered";
import type { Route } from "../dialect";
import { lettersAndDigits } from "./values";

export type Learnt = Kind | "flavor" | "image" | "region";

/** What a kind is called: words, the usual ones first. The few before the comma are also looked for below verbs. */
const nounsOf: Readonly<Record<Learnt, readonly string[]>> = {
  vm: [
    ...["vm", "server", "instance", "machine", "virtual machine", "droplet", "compute", "node", "linode", "guest"],
    ...["compute instance", "cloud server", "virtual server", "vps", "host"],
  ],
  volume: [
    ...["volume", "disk", "drive", "storage", "block storage", "block volume", "data disk", "storage volume"],
    ...["block device", "block", "volume claim", "persistent volume", "data volume"],
  ],
  group: [
    ...["security group", "firewall", "sg", "group", "secgroup", "firewall group", "network security group"],
    ...["access group", "acl", "security policy", "network policy", "policy", "ruleset"],
  ],
  flavor: [
    ...["flavor", "size", "plan", "type", "instance type", "machine type", "server type", "vm type", "product"],
    ...["offering", "service offering", "package", "sku", "flavour", "profile", "vm size", "spec", "shape"],
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
  readonly noun: string;
  readonly text: string;
  readonly isPlural: boolean;
  readonly casing: Casing;
}

export const capitalized = (word: string): string => word.charAt(0).toUpperCase() + word.slice(1);

export const pluralOf = (word: string): string =>
  word.endsWith("y") ? `${word.slice(0, -1)}ies` : word.endsWith("s") ? `${word}es` : `${word}s`;

function written(noun: string, isPlural: boolean, casing: Casing): string {
  const all = noun.split(" ");
  const last = all.at(-1) ?? "";
  const words = isPlural ? [...all.slice(0, -1), pluralOf(last)] : all;
  if (casing === "pascal") return words.map(capitalized).join("");
  if (casing === "camel") return words.map((word, index) => (index === 0 ? word : capitalized(word))).join("");
  return words.join(casing === "kebab" ? "-" : casing === "snake" ? "_" : "");
}

const formsOf = (noun: string): readonly Form[] =>
  [false, true].flatMap((isPlural) =>
    casings.map((casing) => ({ noun, text: written(noun, isPlural, casing), isPlural, casing })),
  );

const forms: Readonly<Record<Learnt, readonly Form[]>> = tableOf(keysOf(nounsOf), (kind) =>
  nounsOf[kind].flatMap(formsOf),
);

/** Every way to write what a kind is called, one and several of it. */
export const nouns: Readonly<Record<Learnt, readonly string[]>> = tableOf(keysOf(nounsOf), (kind) => [
  ...new Set(forms[kind].map(({ text }) => text)),
]);

/** Words for resources of any kind, plain and one after the other for a regular expression. */
export const anyNoun = [
  ...new Set(
    Object.values(nounsOf)
      .flat()
      .map((noun) => noun.replaceAll(" ", "")),
  ),
].join("|");

/** Whether a text has a word for this kind in it, however it is written: DescribeVirtualMachines. */
export const saysKind = (kind: Learnt, text: string): boolean =>
  nouns[kind].some((noun) => lettersAndDigits(text).includes(lettersAndDigits(noun)));

// The name of an operation begins with its kind.
export const recordOfOperation = (operation: AssumedOperation): Learnt => operation.split(".")[0] as Learnt;

/** What a list is asked for with: what it is a list of may stand in any part of it. */
export type Asking = Pick<Route, "method" | "path" | "query" | "headers" | "body">;

/** How a noun stands at one place of a request. */
interface StyledNoun {
  readonly isPlural: boolean;
  /** `undefined`: one word that is written small tells nothing of how several are written. */
  readonly casing: Casing | undefined;
}

/** How the lists found so far are asked for, as the next one probably is as well. */
export interface Style extends StyledNoun {
  /** The request as JSON, with the places of the noun: one of them, or each where a kind stands as a whole word. */
  readonly pieces: readonly (string | StyledNoun)[];
}

/** Empty: what a kind is called stands nowhere in the request. With all places of a noun first, then with one alone. */
export function stylesOf({ method, path, query, headers, body }: Asking, kind: Learnt): readonly Style[] {
  const text = JSON.stringify({ method, path, query, headers, body });
  const found = forms[kind].flatMap((form) => wholeIn(text, form).map((at) => ({ at, form })));
  // Of a path the last word counts, and of a body the first: what a query in it wants to be shown comes after that.
  const inBody = body === undefined ? [] : found.filter(({ at }) => at > text.indexOf('"body":'));
  const [main] = inBody.length > 0 ? inBody.sort((one, other) => one.at - other.at) : found.sort(lastAndLongest);
  if (main === undefined) return [];
  // { path: /vms/list, body: { kind: vm } } speaks of one kind twice.
  const also = found.filter(
    ({ at, form }) =>
      form.noun === main.form.noun &&
      (at + form.text.length <= main.at || at >= endOf(main)) &&
      /["/=]/.test(text.charAt(at - 1)) &&
      /["/?&]/.test(text.charAt(at + form.text.length)),
  );
  const places = [...new Map([main, ...also].map((one) => [one.at, one])).values()];
  const single = styleAt(text, [main], main);
  return places.length > 1 ? [styleAt(text, places, main), single] : [single];
}

/** The same of what reads: another method may change what it is guessed for. */
export const stylesOfRead = (asking: Asking, kind: Learnt): readonly Style[] =>
  asking.method === "GET" || asking.method === "POST" ? stylesOf(asking, kind) : [];

function styleAt(text: string, places: readonly FoundForm[], main: FoundForm): Style {
  const pieces: (string | StyledNoun)[] = [];
  let from = 0;
  for (const place of places.toSorted((one, other) => one.at - other.at)) {
    pieces.push(text.slice(from, place.at), nounOfForm(place));
    from = endOf(place);
  }
  return { ...nounOfForm(main), pieces: [...pieces, text.slice(from)] };
}

const nounOfForm = ({ form: { text, isPlural, casing } }: FoundForm): StyledNoun => ({
  isPlural,
  casing: casing === "pascal" || /[-_A-Z]/.test(text) ? casing : undefined,
});

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

/** The same request with another noun. */
const inStyle = ({ pieces }: Style, noun: string, casing: Casing): Asking =>
  JSON.parse(
    pieces
      .map((piece) => (typeof piece === "string" ? piece : written(noun, piece.isPlural, piece.casing ?? casing)))
      .join(""),
  );

/** The same request about something that the kinds' table does not have, such as a job. */
export const askingFor = (style: Style, word: string): Asking => inStyle(style, word, "kebab");

/** The same where one is asked for, or several, at every place of the noun. */
export const inNumber = (style: Style, isPlural: boolean): Style => ({
  ...style,
  isPlural,
  pieces: style.pieces.map((piece) => (typeof piece === "string" ? piece : { ...piece, isPlural })),
});

/** Verbs below which lists are, and before which the noun stands. */
const suffixes = ["/list", "/detail", "/all", "/describe", "/search"];
/** Each verb costs a request for every word that it is tried with. */
const wordsWithVerbs = 4;

export interface Candidate {
  readonly asking: Asking;
  /** It is asked for as another list is. */
  readonly style?: Style;
}

/** With what tells it from others. */
type Keyed = readonly [key: string, candidate: Candidate];

const keyed = (candidate: Candidate): Keyed => {
  const { method, path, query, headers, body } = candidate.asking;
  return [JSON.stringify([method, path, query, headers, body]), candidate];
};
const getting = (path: string): Keyed => keyed({ asking: { method: "GET", path } });

interface UsualWords {
  /** By rule, below the usual folder. */
  readonly byRule: readonly Keyed[];
  /** What is looked for in folders that were told. */
  readonly several: readonly string[];
  readonly singly: readonly string[];
}

/** The same for every service: a doctor with a trial asks for them hundreds of times. */
const usualWords: Readonly<Record<Learnt, UsualWords>> = tableOf(keysOf(nounsOf), (kind) => {
  const few = nounsOf[kind].slice(0, wordsWithVerbs);
  const plain = forms[kind].filter(({ casing }) => casing !== "pascal").map(({ text }) => text);
  const usual = few.flatMap((noun) => formsOf(noun).flatMap(({ text, casing }) => (casing === "kebab" ? [text] : [])));
  const byRule = [
    ...plain.map((noun) => `/api/v1/${noun}`),
    ...suffixes.flatMap((suffix) => usual.map((noun) => `/api/v1/${noun}${suffix}`)),
  ];
  return {
    byRule: byRule.map(getting),
    several: forms[kind]
      .filter(({ isPlural, casing }) => isPlural && casing !== "pascal" && casing !== "joined")
      .map(({ text }) => text),
    // Where a folder is called as one thing is, the few usual words are enough.
    singly: few.map((noun) => noun.replaceAll(" ", "-")),
  };
});

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

/** What a list of this kind would be asked for with, were it asked for as another list is. */
const inStyleOf = (style: Style, kind: Learnt): readonly Keyed[] =>
  forms[kind]
    .filter(({ isPlural, casing }) => isPlural === style.isPlural && casing === (style.casing ?? casing))
    .filter(({ casing }) => style.casing !== undefined || casing !== "pascal")
    .map(({ noun, casing }) => keyed({ asking: inStyle(style, noun, casing), style }));

/** A doctor with a trial finds the same few styles at each of its looks. */
const styledAs = remembered((text) => {
  const { style, kind }: { readonly style: Style; readonly kind: Learnt } = JSON.parse(text);
  return inStyleOf(style, kind);
}, 1000);

/**
 * First the route of the dialect, since every plan uses that. What another list is asked for with comes next, with
 * another noun alone; all else is tried with GET. They are made as they are asked for: mostly one of the first holds.
 */
export function* candidates(
  operation: AssumedOperation,
  route: Route | null,
  styles: readonly Style[],
  told: readonly string[],
  folders: readonly string[] = [],
): Generator<Candidate> {
  const { path, alsoAt = [] } = rowOf(operation);
  const kind = recordOfOperation(operation);
  const styled = styles.flatMap((style) => styledAs(JSON.stringify({ style, kind })) ?? []);
  const { byRule, several, singly } = usualWords[kind];
  const within = (words: readonly string[]): readonly Keyed[] =>
    folders.flatMap((folder) => words.map((word) => getting(`${folder}/${word}`)));
  const inTurn: readonly (() => readonly Keyed[])[] = [
    () => [...(route === null ? [] : [keyed({ asking: route })]), ...[...told, path, ...alsoAt].map(getting)],
    () => styled,
    () => within(several),
    () => byRule,
    () => within(singly),
  ];
  // A usual path may well be one that is asked for as another list is.
  const alike = new Map(styled);
  const seen = new Set<string>();
  for (const some of inTurn)
    for (const [key, one] of some()) {
      if (seen.has(key)) continue;
      seen.add(key);
      yield { ...alike.get(key), ...one };
    }
}

/** What a list of what hangs on what is called, apart from the volumes, and below a VM. */
const attachmentWords = [
  "attachment",
  "volume attachment",
  "disk attachment",
  "server volume",
  "vm disk",
  "attached volume",
];
const belowVm = [
  ...["attachments", "volumes", "disks", "volume-attachments", "volume_attachments", "os-volume_attachments"],
  ...["volumeAttachments", "drives", "disk-attachments", "attached-volumes", "storage", "block-devices"],
];

/** Requests for it: as the other lists are asked for, in their folders, and below the list of VMs for one of them. */
export function attachmentAskings(
  styles: readonly Style[],
  folders: readonly string[],
  vms: Asking | undefined,
): readonly Asking[] {
  const at = (path: string): Asking => ({ method: "GET", path });
  const styled = styles.flatMap((style) =>
    attachmentWords.flatMap((noun) =>
      (style.casing === undefined ? (["kebab", "snake", "camel"] as const) : [style.casing]).map((casing) =>
        inStyle(style, noun, casing),
      ),
    ),
  );
  const beside = ["/api/v1", ...folders].flatMap((folder) =>
    attachmentWords.slice(0, 3).map((noun) => at(`${folder}/${written(noun, true, "kebab")}`)),
  );
  const base = vms?.method === "GET" ? vms.path.replace(/\/$/, "").replace(listEnd, "") : "";
  const below =
    base === "" || base.includes("{")
      ? []
      : belowVm.map((end): Asking => ({ ...vms, method: "GET", path: `${base}/{id}/${end}` }));
  const all = [...styled, ...below, ...beside];
  return [...new Map(all.map((one) => [JSON.stringify(one), one])).values()];
}

const listEnd = /\/(list|detail|details|all|describe|search|query)$/;

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
  const bases = plain === undefined ? [] : [...new Set([plain.replace(listEnd, ""), plain])];
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
