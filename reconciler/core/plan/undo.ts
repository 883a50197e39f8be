/**
 * What was declared before a run, as far as the records say it: the desired state of an `undo`. How the tool behaves
 * (lifecycle, flush, rules_mode) is as the file says it today, where the file still declares the resource.
 */
import type { Change } from "../diff/changes";
import type { Address } from "../model/address";
import { type Closed, closedWith, type DesiredResource } from "../model/desired";
import type { Diagnostic } from "../model/diagnostic";
import { behavingAsDeclared, recordAsDeclared, recordAsDesired, withReferences } from "../model/facts";
import { type FieldRow, fieldsOf } from "../model/fields";
import { told, toRun } from "../model/fix";
import { addressesByIdentity, identity, identityKey, identityKeyOf } from "../model/identity";
import { source } from "../model/kind-facts";
import { ofKind, perKind } from "../model/kinds";
import type { Before, Deed, RecordedResource } from "../model/recorded";
import { inShell } from "../text/in-shell";
import { itemAt } from "../text/invariant";
import { fieldsIn } from "../text/objects";
import type { Consent } from "./consent";
import type { Plan } from "./plan";

export interface Undo {
  readonly desired: Closed;
  readonly diagnostics: readonly Diagnostic[];
}

/** What the parts of an undo are decided by. */
interface Then {
  readonly before: Before;
  readonly present: ReadonlyMap<Address, RecordedResource>;
  /** Which address managed a resource then, and which does now, by its identity. */
  readonly addressesThen: ReadonlyMap<string, Address>;
  readonly addressesNow: ReadonlyMap<string, Address>;
}

/** Nothing where nobody knows the id. */
const atIdentity = <T>(table: ReadonlyMap<string, T>, record: RecordedResource): T | undefined =>
  table.get(identityKeyOf(record) ?? "");

const deedOn = (record: RecordedResource, { before }: Then): Deed | undefined => atIdentity(before.did, record);

/**
 * `present`: what the state has now. Only what a run made since is deleted, and only what a run deleted is made anew:
 * what was taken over since is let go, and what was let go since is taken back.
 */
export function desiredBefore(before: Before, present: ReadonlyMap<Address, RecordedResource>, current: Closed): Undo {
  const then: Then = {
    before,
    present,
    addressesThen: addressesByIdentity(before.records.values()),
    addressesNow: addressesByIdentity(present.values()),
  };
  const declared = new Map(current.resources.map((resource) => [resource.address, resource]));
  const wishFor = (record: RecordedResource, addresses: ReadonlyMap<string, Address>): DesiredResource =>
    behavingAsDeclared(namedByAddress(recordAsDeclared(record), addresses), declared.get(record.address));
  const records = [...before.records.values()];
  const wished = records.map((record) => wishFor(record, then.addressesThen));
  const since = [...present.values()].filter((record) => isNewSince(record, then));
  const byHand = since.filter((record) => deedOn(record, then) === undefined);
  const letGo = since.filter((record) => deedOn(record, then) === "took");
  const meant = new Set([...wished, ...byHand].map(({ address }) => address));
  return {
    desired: closedWith(current, {
      resources: [...wished, ...byHand.map((record) => wishFor(record, then.addressesNow))],
      imports: records.flatMap((record) => takenBack(record, then)),
      moved: movedSince(then),
      removed: letGo.map(({ address }) => ({ from: address, destroy: false, source })),
      leftOut: { resources: current.resources.filter(({ address }) => !meant.has(address)), moved: current.moved },
      files: [],
    }),
    diagnostics: [
      ...records.flatMap((record, index) => notKnown(itemAt(wished, index), record, then)),
      ...anotherSince(then),
      ...replacedSince(then),
      ...records.flatMap((record) => leftAsItIs(record, then)),
    ],
  };
}

/** It was under no address then. Without an id it is what a create is making. */
const isNewSince = (record: RecordedResource, { before, addressesThen }: Then): boolean =>
  record.id !== undefined && atIdentity(addressesThen, record) === undefined && !before.records.has(record.address);

/** It is under no address now, and no run deleted it: nothing is made beside it while the service shows it. */
function takenBack(record: RecordedResource, then: Then): Closed["imports"] {
  const { address, id } = record;
  const inItsPlace = then.present.get(address);
  // Whether what is under the address now, if anything, goes back to another one.
  const isFreeAgain = inItsPlace === undefined || goesBackTo(inItsPlace, then) !== undefined;
  const isLetGo = isFreeAgain && isNowhere(record, then) && deedOn(record, then) !== "deleted";
  if (id === undefined || !isLetGo) return [];
  const again = neverKnown(recordAsDesired(record)).length === 0 ? true : undefined;
  return [{ to: address, id, again, source }];
}

const isNowhere = (record: RecordedResource, { addressesNow }: Then): boolean =>
  atIdentity(addressesNow, record) === undefined;

/**
 * The address of then of what has another one now; `undefined` where it has to stay, because one or the other address
 * is wanted by what is still there.
 */
function goesBackTo(record: RecordedResource, then: Then): Address | undefined {
  const to = atIdentity(then.addressesThen, record);
  if (to === undefined || to === record.address || then.present.has(to)) return undefined;
  const inItsPlace = then.before.records.get(record.address);
  return inItsPlace === undefined || deedOn(inItsPlace, then) === "deleted" ? to : undefined;
}

/** What had another address then goes back to that one: nothing is deleted and made for it. */
const movedSince = (then: Then): Closed["moved"] =>
  [...then.present.values()].flatMap((record) => {
    const to = goesBackTo(record, then);
    return to === undefined ? [] : [{ from: record.address, to, source }];
  });

/** Under the address of then is another resource. `inItsPlace`: a run made it, and the one of then is under no address. */
const othersSince = (then: Then) =>
  [...then.before.records.values()].flatMap((wanted) => {
    const other = then.present.get(wanted.address);
    if (wanted.id === undefined || other?.id === undefined || other.id === wanted.id) return [];
    return [{ wanted, other, inItsPlace: deedOn(other, then) === "made" && isNowhere(wanted, then) }];
  });

/** What no run made in the place of the one of then would be changed into that. */
const anotherSince = (then: Then): Diagnostic[] =>
  othersSince(then).flatMap(({ wanted: { address, id }, other, inItsPlace }): Diagnostic[] => {
    if (inItsPlace || goesBackTo(other, then) !== undefined) return [];
    const forgets = "forgets the one that is there now and leaves it alive, so that the undo can take the other back";
    return [
      {
        severity: "error",
        code: "undo/another",
        summary: `${address} was ${id} before, and is ${other.id} now`,
        detail: "An undo would change the one into the other.",
        ...told([toRun(["state rm", address], forgets)]),
        address,
      },
    ];
  });

/** What a run made in the place of another one does not hold what that one held. */
const replacedSince = (then: Then): Diagnostic[] =>
  othersSince(then).flatMap(({ wanted, other, inItsPlace }): Diagnostic[] => {
    const held = inItsPlace ? emptied(wanted) : undefined;
    if (held === undefined) return [];
    const { address } = wanted;
    return [
      {
        severity: "warning",
        code: "undo/stays",
        summary: `${address} was ${held} before, and is ${other.id} now: an undo does not bring that one back`,
        address,
      },
    ];
  });

/** Fields of which a file that leaves them out says nothing. */
const silentFields = perKind((kind) =>
  Object.entries<FieldRow>(fieldsOf[kind]).flatMap(([key, { field, absent, effect, type }]) =>
    absent === "unset" && effect === "in_place" && type !== "reference" ? [{ key, field }] : [],
  ),
);

/** What a run declared first stays as it is: what it was before is written nowhere. */
function leftAsItIs(record: RecordedResource, { addressesNow, present }: Then): Diagnostic[] {
  const now = present.get(atIdentity(addressesNow, record) ?? "");
  if (now === undefined) return [];
  return silentFields[record.kind].flatMap(({ key, field }): Diagnostic[] =>
    fieldsIn(record)[key] !== undefined || fieldsIn(now)[key] === undefined
      ? []
      : [
          {
            severity: "warning",
            code: "undo/stays",
            summary: `${record.address} keeps its ${field}: none was declared before, and what it was is not known`,
            fix: "declare the one that you want, and apply that",
            address: record.address,
          },
        ],
  );
}

/** What a resource held that comes back empty. A kind that is not named here holds nothing. */
function emptied(former: RecordedResource): string | undefined {
  const { name, id } = former;
  if (ofKind(former, "vm") !== undefined) return `VM ${name} (${id}) with its disks`;
  const volume = ofKind(former, "volume");
  return volume && `volume ${name} (${id}, ${volume.sizeGb} GB)`;
}

export interface WayBack {
  readonly before: Before;
  readonly run: string;
  /** Said with the plan. */
  readonly stays: readonly Diagnostic[];
}

/**
 * The plan back to what was before a run: each change says so. What is made again comes back empty: it takes the consent
 * that a resource takes which vanished by itself.
 */
export function wayBackPlan(planned: Plan, { before, run, stays }: WayBack): Plan {
  const plan = {
    ...planned,
    changes: planned.changes.map((change) => ({ ...inFiles(change), ...undoing(change, run) })),
    diagnostics: [...stays, ...planned.diagnostics.map((one) => inFiles(withItsFix(one)))],
  };
  const asked = new Set(plan.consents.flatMap(({ kind, address }) => (kind === "recreate" ? [address] : [])));
  const returns = plan.changes.flatMap(({ action, address }): Consent[] => {
    const former = before.records.get(address);
    if (action !== "create" || former?.id === undefined || asked.has(address)) return [];
    const what = emptied(former);
    if (what === undefined) return [];
    return [
      {
        kind: "recreate",
        address,
        detail: `${address} would be made anew: ${what} was deleted, and what was on it does not come back; it comes back empty`,
        grant: `--recreate ${inShell(address)} (or all)`,
      },
    ];
  });
  return returns.length === 0 ? plan : { ...plan, consents: [...plan.consents, ...returns] };
}

/** A record stands in no line of a file. */
const inFiles = <T extends Pick<Change, "source">>(one: T): T =>
  one.source === source ? { ...one, source: undefined } : one;

/** The files are not what an undo is planned from. */
function withItsFix(one: Diagnostic): Diagnostic {
  const rest = `--exclude ${inShell(one.address ?? "ADDR")} undoes the rest`;
  switch (one.code) {
    case "plan/shrink":
      return { ...one, fix: `${rest}; the volume keeps its size` };
    case "plan/import-not-found":
    case "plan/import-unseen":
      return { ...one, fix: rest };
    default:
      return one;
  }
}

function undoing({ reason, fields, because }: Change, run: string): Pick<Change, "because" | "source"> {
  if (reason === "let_go") return { because: `it was there before run ${run} or a later one took it over` };
  const names = [...new Set(fields.map(({ field }) => field))].join(", ");
  const isOfRun = ["declared", "changed", "removed", "imported", "moved"].includes(reason);
  return isOfRun ? { because: `undoes run ${run}${names === "" ? "" : `: ${names}`}`, source: undefined } : { because };
}

/** The id of that time may have changed by now; the address has not. */
const namedByAddress = (wish: DesiredResource, addresses: ReadonlyMap<string, Address>): DesiredResource =>
  withReferences(wish, (reference, kind) => {
    const address = "id" in reference ? addresses.get(identityKey(identity(kind, reference.id))) : undefined;
    return address === undefined ? reference : { address };
  });

/** What a create needs and no record knew. */
const neverKnown = ({ kind, lifecycle }: DesiredResource): string[] =>
  Object.values<FieldRow>(fieldsOf[kind]).flatMap(({ absent, field }) =>
    (absent === "missing" || absent === "inherited") && lifecycle.ignoreChanges.includes(field) ? [field] : [],
  );

function notKnown(wish: DesiredResource, record: RecordedResource, then: Then): Diagnostic[] {
  const missing = neverKnown(wish);
  if (missing.length === 0 || then.present.has(record.address) || deedOn(record, then) !== "deleted") return [];
  return [
    {
      severity: "error",
      code: "undo/not-known",
      summary: `${wish.address} cannot be made again: the state never knew its ${missing.join(", ")}`,
      fix: `--exclude ${inShell(wish.address)}, or declare it in the file and apply that`,
      address: wish.address,
    },
  ];
}
