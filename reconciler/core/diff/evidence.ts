/**
 * Whether something that bears the name of an open create is what that create made. A name is no identity: whatever the
 * service shows and the create had said is compared. What differs in anything is somebody else's; what agrees in something
 * and differs in nothing is ours. One of which only the name is known is ours when the service had accepted the create,
 * and a question where even that is not known.
 *
 * That it was not there before the create was sent (`idsBefore`) is looked at before this. No nonce is put into a group's
 * description: the description is the user's, and taking the nonce out again would be a second request for every group and a
 * wrong text in the service whenever a run dies between the two. The rules and the description that were sent tell as much.
 */
import { type Index, isUuid, resolveShown } from "../canonical/catalogue";
import { cutNames, isOtherName, sameOwner } from "../canonical/names";
import { canonicalLiveRule, describeRule, ruleKey } from "../canonical/rules";
import type { DesiredResource } from "../model/desired";
import { type FieldRow, fieldsOf } from "../model/fields";
import { type Kind, kindRows, ofKind } from "../model/kinds";
import { findSeen, type Live, type LiveGroup, type LiveOf, type LiveVm, type LiveVolume } from "../model/live";
import type { Intent, RecordedResource } from "../model/recorded";
import { groupAddressNamed, type Rule } from "../model/rule";
import { fieldsIn } from "../text/objects";

export interface Evidence {
  readonly agrees: readonly string[];
  /** In words: `its size is 20 GB, not 5 GB`. */
  readonly differs: readonly string[];
}

/** The lists in which a name or an id is looked up, where they were read. */
export interface NameIndexes {
  readonly flavors: Index | undefined;
  readonly images: Index | undefined;
  readonly volumeSize?: (id: string) => number | undefined;
}

export interface Stranger<L> {
  readonly live: L;
  readonly because: readonly string[];
}

export interface Judged<L> {
  readonly ours: readonly L[];
  /** Only their name says that the create made them. */
  readonly doubtful: readonly L[];
  readonly strangers: readonly Stranger<L>[];
}

export type Made = LiveOf[Kind];

/** `desired`: stands in for an intent that remembers nothing of what it sent. */
export function judgeMade<L extends Made>(
  intent: Intent,
  candidates: readonly L[],
  lookup: NameIndexes,
  desired?: DesiredResource,
): Judged<L> {
  const ours: L[] = [];
  const doubtful: L[] = [];
  const strangers: Stranger<L>[] = [];
  for (const live of candidates) {
    const { agrees, differs } = compareMade(intent.record ?? desired, live, lookup);
    if (differs.length > 0) strangers.push({ live, because: differs });
    else if (agrees.length > 0 || intent.accepted === true) ours.push(live);
    else doubtful.push(live);
  }
  return { ours, doubtful, strangers };
}

/** A service that cuts names shows what it made under another one than was sent. */
export const saysCut = ({ id, name: shown }: Pick<Made, "id" | "name">, name: string): string =>
  `${id} was not there before and is called ${shown}, which may be all that the service left of ${name}`;

/**
 * What an open create may have made where nothing bears its name: what bears the beginning of it, was not there before, is
 * nobody else's, and differs in nothing else.
 */
export function cutByService<L extends Made>(
  intent: Intent,
  named: (name: string) => readonly L[],
  lookup: NameIndexes,
  desired?: DesiredResource,
): string | undefined {
  const candidates = cutNames(intent.name.toLowerCase())
    .flatMap(named)
    .filter(({ id }) => !intent.idsBefore.includes(id));
  const { ours, doubtful } = judgeMade(intent, candidates, lookup, desired);
  const [found] = [...ours, ...doubtful];
  return found === undefined ? undefined : saysCut(found, intent.name);
}

/**
 * What says that the id of a record is another resource's by now: the service shows what no request changes otherwise than
 * it was recorded. `undefined`: nothing does. `wasGone`: it was proven not to be there, so that another name says it too.
 */
export function otherByNow(
  recorded: RecordedResource | undefined,
  live: Live,
  { id = recorded?.id, wasGone = false }: { readonly id?: string; readonly wasGone?: boolean } = {},
): string | undefined {
  const seen = recorded === undefined ? undefined : findSeen(live, recorded.kind, id);
  if (recorded === undefined || seen === undefined) return undefined;
  const found: Gathered = { agrees: [], differs: [] };
  for (const [key, { field, effect, verb }] of Object.entries<FieldRow>(fieldsOf[seen.kind])) {
    const [shown, known] = [fieldsIn(seen)[key], fieldsIn(recorded)[key]];
    if (effect === "replace" || (wasGone && key === "name"))
      compareField(found, field, shown, known, !isOther(key, shown, known));
    else if (verb === "grow" && typeof shown === "number" && typeof known === "number")
      compareField(found, field, gb(shown), gb(known), shown >= known);
  }
  const [differs] = found.differs;
  return differs === undefined
    ? undefined
    : `${differs}: it may be another ${kindRows[seen.kind].noun} that has the id by now`;
}

function isOther(key: string, shown: unknown, known: unknown): boolean {
  if (typeof shown !== "string" || typeof known !== "string") return shown !== known;
  return key === "owner" ? !sameOwner(shown, known) : isOtherName(shown, known);
}

type SentCreate = Intent["record"] | DesiredResource;

export function compareMade(sent: SentCreate, live: Made, lookup: NameIndexes): Evidence {
  const found: Gathered = { agrees: [], differs: [] };
  compareOfKind(live.kind, sent, live, found, lookup);
  return found;
}

type SentOf<K extends Kind> = Extract<SentCreate, { readonly kind: K }>;

type Gathered = { readonly [K in keyof Evidence]: string[] };

function compareField({ agrees, differs }: Gathered, field: string, shown: unknown, wanted: unknown, isSame?: boolean) {
  if (shown === undefined || wanted === undefined || isSame === undefined) return;
  if (isSame) agrees.push(field);
  else differs.push(`its ${field} is ${String(shown)}, not ${String(wanted)}`);
}

type Compare<K extends Kind> = (sent: SentOf<K>, live: LiveOf[K], found: Gathered, lookup: NameIndexes) => void;

function compareOfKind<K extends Kind>(
  kind: K,
  sent: SentCreate,
  live: LiveOf[K],
  found: Gathered,
  lookup: NameIndexes,
) {
  const own: { readonly [P in Kind]?: Compare<P> } = { vm: compareSentVm, volume: compareVolume, group: compareGroup };
  const same = ofKind(sent, kind);
  if (same !== undefined) (own[kind] ?? compareRows)(same, live, found, lookup);
}

/** Of a kind that is its rows alone: every row that was sent and shows. */
function compareRows(sent: object, live: LiveOf[Kind], found: Gathered): void {
  for (const [key, { field, sentAs }] of Object.entries<FieldRow>(fieldsOf[live.kind])) {
    if (sentAs === undefined || key === "name") continue;
    const [shown, wanted] = [fieldsIn(live)[key], fieldsIn(sent)[key]];
    compareField(found, field, shown, wanted, shown === wanted);
  }
}

function compareSentVm(sent: SentOf<"vm">, live: LiveVm, found: Gathered, lookup: NameIndexes): void {
  compareField(found, "flavor", live.flavor, sent.flavor, sameEntry(live.flavor, sent.flavor, lookup.flavors));
  const image = "imageId" in sent ? (sent.imageId ?? sent.image) : sent.image;
  compareField(found, "image", live.image, image, sameEntry(live.image, image, lookup.images));
  const { owner } = live;
  const isTold = owner !== undefined && sent.owner?.includes("@") === owner.includes("@");
  compareField(found, "owner", owner, sent.owner, isTold ? sameOwner(owner, sent.owner) : undefined);
  const size = dataVolumeSize(live, lookup);
  compareField(found, "data volume", gb(size), gb(sent.sizeGb), size === sent.sizeGb);
}

function compareVolume(sent: SentOf<"volume">, live: LiveVolume, found: Gathered): void {
  compareField(found, "size", gb(live.sizeGb), gb(sent.sizeGb), live.sizeGb === sent.sizeGb);
  // A volume hangs on nothing when it is created. It is attached after its id is written down.
  if (typeof live.attachedTo === "string") found.differs.push(`it is attached to ${live.attachedTo}`);
}

function compareGroup(sent: SentOf<"group">, live: LiveGroup, evidence: Gathered): void {
  const [shown, wanted] = [live.description, sent.description].map((text) => text && JSON.stringify(text));
  // When the create sent no description, the service may have written one, or somebody else did: a description then
  // proves nothing.
  if (sent.description !== undefined)
    compareField(evidence, "description", shown ?? live.description, wanted, shown === wanted);
  else if (live.description === "") evidence.agrees.push("description");
  compareRules(live, sent.rules, evidence);
}

/** Whether both mean the same entry; `undefined`: one is a name, one an id, and no list tells. */
function sameEntry(shown: string | undefined, wanted: string | undefined, index: Index | undefined) {
  if (shown === undefined || wanted === undefined) return undefined;
  if (shown === wanted) return true;
  const [one, other] = [resolveShown(shown, index), resolveShown(wanted, index)];
  if (one.found === "one" && other.found === "one") return one.entry.id === other.entry.id;
  return isUuid(shown) && isUuid(wanted) ? false : undefined;
}

function dataVolumeSize({ volumes }: LiveVm, { volumeSize }: NameIndexes): number | undefined {
  if (volumes === undefined || volumes.every((disk) => disk.root === undefined)) return undefined;
  const data = volumes.filter((disk) => disk.root !== true);
  return data.length === 1 ? volumeSize?.(data[0]?.id ?? "") : undefined;
}

/** A group is created together with its rules. The rule that lets everything out is the service's own. */
function compareRules({ rules }: LiveGroup, sent: readonly Rule[], evidence: Gathered): void {
  const isById = (rule: Rule): boolean => groupAddressNamed(rule) === undefined;
  if (rules === undefined || !sent.every(isById)) return;
  const have = new Set(rules.map((rule) => ruleKey(canonicalLiveRule(rule))));
  const shown = rules.filter((rule) => rule.platform !== true).map(canonicalLiveRule);
  const wanted = new Set(sent.map((rule) => ruleKey(rule)));
  const missing = sent.find((rule) => !have.has(ruleKey(rule)));
  const extra = shown.find((rule) => rule.direction === "ingress" && !wanted.has(ruleKey(rule)));
  if (missing !== undefined) evidence.differs.push(`it lacks the rule ${describeRule(missing)}`);
  if (extra !== undefined) evidence.differs.push(`it has the rule ${describeRule(extra)}`);
  // A create without rules is no evidence: every new group would agree with it.
  if (missing === undefined && extra === undefined && wanted.size > 0) evidence.agrees.push("rules");
}

const gb = (size: number | undefined): string | undefined => (size === undefined ? undefined : `${size} GB`);

/** `3f2c… (its size is 20 GB, not 5 GB)`, for messages. */
export const describeStrangers = (strangers: readonly Stranger<Made>[]): string =>
  strangers.map(({ live, because }) => `${live.id} (${because.join("; ")})`).join(", ");
