/** The disks in a VM's record: where they are listed, which volume each is, and what tells the root disk. */
import { deepEqual } from "../../core/text/deep-equal";
import { fieldsIn, isObject } from "../../core/text/objects";
import { builtInDialect } from "../built-in";
import type { Dialect, Pointers, RecordPlace } from "../dialect";
import { pointerTo } from "../likely-key";
import { asText, findAtPath } from "../places";
import { compilePointers, findText } from "../pointers";
import { type FieldFinding, idNames, isId, type KnownThings, type LearntPlace, learnPlace, type Made } from "./place";
import { knownReferenceIn, type Leaf, leavesOf, lettersAndDigits, samePlace, withCut } from "./values";

/** The list of a VM's disks, and how one of them is read. */
export function volumesOfVm(
  dialect: Dialect,
  records: readonly unknown[],
  { volumes, volumeNames, flavors, images, made }: KnownThings,
): FieldFinding[] {
  const { volumes: places, volume_entry: said } = dialect.records.vm;
  const lists: { place: RecordPlace; entries: readonly unknown[]; isSaid: boolean }[] = [];
  for (const place of places) {
    const [path] = compilePointers([place]);
    const entries = records.flatMap((record) => {
      const found = path === undefined ? undefined : findAtPath(record, path);
      return Array.isArray(found) ? found : [];
    });
    if (entries.length > 0) lists.push({ place, entries, isSaid: true });
  }
  const visit = (value: unknown, at: string, depth: number): void => {
    if (!isObject(value) || depth > 3) return;
    for (const [key, member] of Object.entries(value)) {
      const here = at + pointerTo(key);
      const isCalled = /volume|disk|drive|blockdevice|storage/.test(lettersAndDigits(key));
      const add = (place: RecordPlace, entries: readonly unknown[]): void => {
        const known = lists.find((list) => samePlace(list.place, place));
        if (known === undefined) lists.push({ place, entries, isSaid: false });
        else if (!known.isSaid) lists[lists.indexOf(known)] = { ...known, entries: [...known.entries, ...entries] };
      };
      if (Array.isArray(member) && member.length > 0 && (isCalled || member.some((item) => namesOne(item, volumes))))
        add(here, member);
      else if (isObject(member) && isCalled && Object.keys(member).length > 0 && Object.values(member).every(isObject))
        if (Object.keys(member).some((id) => volumes.has(id)) || volumes.size === 0)
          add(
            { in: here, keys: "id" },
            Object.entries(member).map(([id, entry]) => ({ ...fieldsIn(entry), id })),
          );
        else if (Object.values(member).some((entry) => namesOne(entry, volumes)))
          add({ in: `${here}/*` }, Object.values(member));
        else visit(member, here, depth + 1);
      else visit(member, here, depth + 1);
    }
  };
  for (const record of records) visit(record, "", 0);
  const naming = lists.filter(({ entries }) => entries.some((entry) => namesOne(entry, volumes)));
  const proven = naming.find(({ place }) => typeof place === "string") ?? naming[0];
  // No dialect can say that volumes stand there by their names: the volumes themselves tell what they hang on.
  const areNames = (list: { readonly entries: readonly unknown[] }): boolean =>
    list.entries.some((entry) => volumeNames?.has(asText(entry) ?? "") === true);
  const list = proven ?? lists.find((one) => !areNames(one));
  if (list === undefined)
    return [lists.length > 0 ? { field: "volumes", nowhere: true, learnt: true } : { field: "volumes" }];
  const entryLeaves = list.entries.map((entry): readonly Leaf[] =>
    isObject(entry) ? leavesOf(entry) : [{ place: "", names: ["id"], value: asText(entry) ?? null }],
  );
  const shown = { field: "volumes", place: list.place, learnt: !list.isSaid ? (true as const) : undefined };
  const learntId = learnPlace(
    {
      names: [...idNames, /^(volume|disk|drive)(id|ref)?$/],
      fits: isId,
      refersTo: proven === undefined ? undefined : () => volumes,
    },
    // The list may leave out root disks: one entry that is proven to be a volume tells the place for all of them.
    proven === undefined ? entryLeaves : entryLeaves.filter((_, index) => namesOne(list.entries[index], volumes)),
    { volumes, flavors, images },
  );
  const id = proven === undefined && learntId !== undefined ? withoutLink(learntId) : learntId;
  const idAt = id === undefined ? compilePointers(said.id) : compilePointers([id.place]);
  const root =
    (made === undefined ? undefined : rootMade(list.entries, entryLeaves, idAt, made)) ?? rootOf(entryLeaves);
  // What was given and finds something in every entry is kept; and what a root disk is, a person knows best.
  const saidId = list.entries.every((entry) => (findText(entry, compilePointers(said.id)) ?? "") !== "")
    ? givenPlace(said.id, builtInDialect.records.vm.volume_entry.id)
    : undefined;
  const saidRoot = givenPlace(said.root, builtInDialect.records.vm.volume_entry.root);
  return [shown, entryField("id", id, saidId), entryField("root", root, saidRoot)];
}

/** Where no list of volumes tells their ids, a link that names a volume holds it at its end. */
function withoutLink(learnt: LearntPlace): LearntPlace {
  const [, before] =
    /^(?:[a-z]+:\/\/)?\S*?(\/?[^/\s]*(?:volume|disk|drive|storage)[^/\s]*\/)[^/\s]+$/i.exec(learnt.shows ?? "") ?? [];
  return before === undefined ? learnt : { ...learnt, place: withCut(learnt.place, `*${before}{value}`) };
}

/** The first place of those that were given, where they are not those that are built in. */
const givenPlace = (given: Pointers, builtIn: Pointers): RecordPlace | undefined =>
  deepEqual(given, builtIn) ? undefined : given[0];

function entryField(
  name: "id" | "root",
  learnt: LearntPlace | undefined,
  given: RecordPlace | undefined,
): FieldFinding {
  const field = `volume_entry.${name}`;
  if (given !== undefined) return { field, place: given };
  return learnt === undefined ? { field } : { field, ...learnt, learnt: true };
}

const namesOne = (entry: unknown, known: ReadonlySet<string>): boolean =>
  known.size > 0 &&
  (isObject(entry) ? leavesOf(entry) : [{ names: ["id"], value: asText(entry) ?? null }]).some(
    // A number may count anything, unless its key says that it is an id.
    ({ names: [name = ""], value }) =>
      (typeof value === "string" || /(id|no|ref|key)$/.test(name)) &&
      knownReferenceIn(String(value), known) !== undefined,
  );

/** What tells the root disk of a VM that a trial has made from the data disk that it asked for. */
function rootMade(
  entries: readonly unknown[],
  leaves: readonly (readonly Leaf[])[],
  idAt: ReturnType<typeof compilePointers>,
  made: Made,
): LearntPlace | undefined {
  const of = entries.map((entry) => {
    const id = asText(entry) ?? findText(entry, idAt) ?? "";
    return made.root.has(id) ? "root" : made.data.has(id) ? "data" : undefined;
  });
  if (!of.includes("data")) return undefined;
  // Data disks are listed alone.
  if (!of.includes("root") && of.every((one) => one === "data"))
    return { place: { value: "", is: "-" }, shows: "data disks alone" };
  const valuesAt = (place: RecordPlace, which: "root" | "data"): ReadonlySet<string> =>
    new Set(
      leaves.flatMap((all, index) => {
        const leaf = of[index] === which ? all.find((one) => samePlace(one.place, place)) : undefined;
        return leaf === undefined ? [] : [String(leaf.value)];
      }),
    );
  const told = leaves.flat().flatMap(({ place, names: [name = ""], value }) => {
    if (typeof place !== "string" || /(id|uuid|name|size|source|href|self|link|gb)$/.test(name)) return [];
    const [root, data] = [valuesAt(place, "root"), valuesAt(place, "data")];
    const [word] = root;
    if (root.size !== 1 || word === undefined || data.has(word) || isOfOneAlone(word, made.root)) return [];
    const isTruth = typeof value === "boolean" && word === "true";
    return [
      {
        place: isTruth ? place : { value: place, is: word },
        shows: word,
        score: isTruth ? 2 : /boot|root|type|role|kind|purpose/.test(name) ? 1 : 0,
      },
    ];
  });
  const [best] = told.sort((one, other) => other.score - one.score);
  return best;
}

/** What no root disk of another VM shows: a text with its id in it, an id or a serial number, a moment. */
const isOfOneAlone = (text: string, ids: ReadonlySet<string>): boolean =>
  [...ids].some((id) => text.includes(id)) || /^(?=.*\d)(?!\/dev\/)[\w.:+-]{8,}$/.test(text) || /^\d{4,}$/.test(text);

/** The yes of a word for yes or no, as it is written there. */
function affirmed(word: string): string {
  const yes = /^(yes|no)$/i.test(word) ? "yes" : "true";
  if (word === word.toUpperCase()) return yes.toUpperCase();
  return word[0] === word[0]?.toUpperCase() ? yes[0]?.toUpperCase() + yes.slice(1) : yes;
}

/** What tells the root disk from the others: a flag, the first place in the order of booting, a device, a word. */
function rootOf(entries: readonly (readonly Leaf[])[]): LearntPlace | undefined {
  for (const leaf of entries.flat()) {
    if (typeof leaf.place !== "string") continue;
    const [name = ""] = leaf.names;
    const shows = String(leaf.value);
    const isFlag = /^(is)?(root|boot|bootable|system|primary)(disk|volume)?$/.test(name);
    if (isFlag && typeof leaf.value === "boolean") return { place: leaf.place, shows };
    if (isFlag && /^[01]$/.test(shows)) return { place: { value: leaf.place, is: 1 }, shows };
    if (isFlag && /^(yes|no|true|false)$/i.test(shows))
      return { place: { value: leaf.place, is: affirmed(shows) }, shows };
    if (typeof leaf.value === "number" && /^boot(index|order)$/.test(name))
      return { place: { value: leaf.place, is: 0 }, shows };
    if (typeof leaf.value === "string" && /^device(name)?$/.test(name) && /(vd|sd|xvd|hd)a\d?$/.test(leaf.value))
      return { place: { value: leaf.place, is: leaf.value }, shows };
    if (typeof leaf.value === "string" && /^(root|system|boot|os)(disk)?$/.test(lettersAndDigits(leaf.value)))
      return { place: { value: leaf.place, is: leaf.value }, shows };
  }
  return undefined;
}
