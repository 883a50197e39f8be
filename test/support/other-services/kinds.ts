/** Every way in which the service is another one than it was taken for, and where each can strike. */
import type { WorldDump } from "../../../emulator";
import {
  answered,
  answeredAfterwards,
  bareNotFound,
  fromNth,
  onlyNth,
  refusedIn200,
  strangeAnswers,
  synchronousCreate,
  writesFromNth,
} from "./answers";
import { asynchronousVolumes, lateSnapshots, lingeringVms, noSnapshots } from "./asynchronous";
import { cutList, isList, lateLists, signs, withoutSign } from "./lists";
import { type Asked, type Exchange, isWrite, type OtherService } from "./other-service";
import {
  addStranger,
  integerIds,
  isCreate,
  keepsReferencedGroups,
  meanwhile,
  strangerBesideLostCreate,
  withAttached,
} from "./world";

export interface Kind {
  /** The n-th requests of the undisturbed run at which it is tried, one after the other; left out: once, all the time. */
  readonly places?: (heard: readonly Exchange[]) => readonly number[];
  readonly make: (nth: number, given: Given) => OtherService;
  /** It is still so for the next run. */
  readonly lasts?: true;
  /** Nothing shows it, so that a run may believe itself done. */
  readonly unseen?: true;
  /** It shows nothing at all: believed of a state that knows nothing but open creates, as docs/reliability.md says. */
  readonly empties?: true;
  /** What it leaves behind stands in the way of what the edit wants. */
  readonly otherwise?: true;
}

/** The scene it comes into. */
export interface Given {
  readonly start: WorldDump;
  /** Ids that the edit is to take away. */
  readonly lost: ReadonlySet<string>;
}

type Places = NonNullable<Kind["places"]>;

const at =
  (which: (asked: Asked) => boolean): Places =>
  (heard) =>
    heard.flatMap(({ asked }, index) => (which(asked) ? [index + 1] : []));
const everywhere = at(() => true);
const writes = at(isWrite);
const creates = at(isCreate);
/** Lists that show something, and so can be cut. */
const lists: Places = (heard) =>
  heard.flatMap(({ asked, shown }, index) => (isList(asked) && (shown ?? 0) > 0 ? [index + 1] : []));
const where =
  (places: Places, some: (asked: Asked) => boolean): Places =>
  (heard) =>
    heard.some(({ asked }) => some(asked)) ? places(heard) : [];
const once: Places = () => [1];

const named = <T>(entries: Readonly<Record<string, T>>, kind: (name: string, value: T) => readonly [string, Kind]) =>
  Object.fromEntries(Object.entries(entries).map(([name, value]) => kind(name, value)));

/**
 * They are the service's own form: of a write they are a yes, and that a group has no rules is believed, as
 * docs/reliability.md says.
 */
const ownForm = ["200 without a body", "200 with an empty object", "200 with an empty list", "200 with null"];
const foreign = Object.keys(strangeAnswers).filter((name) => !ownForm.includes(name));
const reads = at((asked) => !isWrite(asked) && asked.operation !== "group.rule.list");
const readsOf =
  (which: (asked: Asked) => boolean) =>
  (asked: Asked): boolean =>
    !isWrite(asked) && asked.operation !== "group.rule.list" && which(asked);
const lastingAnswers = ["404 in HTML", "404 without a body", "502 in HTML", "a login page"];
const laterAnswers = ["404 in HTML", "502 in HTML", "a login page"];
const some = (names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, strangeAnswers[name]!] as const));

export const kinds: Readonly<Record<string, Kind>> = {
  ...named(some(foreign), (name, answer) => [
    `${name}, once`,
    { places: everywhere, make: (nth) => answered(answer, onlyNth(nth)) },
  ]),
  ...named(some(ownForm), (name, answer) => [
    `${name} to a read, once`,
    { places: reads, make: (nth) => answered(answer, readsOf(onlyNth(nth))), unseen: true },
  ]),
  ...named(some(ownForm), (name, answer) => [
    `${name} to all reads, from here on`,
    {
      places: reads,
      make: (nth) => answered(answer, readsOf(fromNth(nth))),
      ...{ lasts: true, unseen: true, empties: true },
    },
  ]),
  ...named(some(lastingAnswers), (name, answer) => [
    `${name}, from here on`,
    { places: everywhere, make: (nth) => answered(answer, fromNth(nth)), lasts: true },
  ]),
  ...named(some(laterAnswers), (name, answer) => [
    `${name}, after the effect`,
    { places: writes, make: (nth) => answeredAfterwards(answer, onlyNth(nth)) },
  ]),
  ...named(refusedIn200, (name, answer) => [
    `${name} in a 200`,
    { places: writes, make: (nth) => answered(answer, writesFromNth(nth)), lasts: true },
  ]),
  ...named(signs, (name, cut) => [
    `a list cut, with ${name}`,
    { places: lists, make: (nth) => cutList(0, cut, fromNth(nth)), lasts: true },
  ]),
  ...named(signs, (name, cut) => [
    `lists of more than one cut, with ${name}`,
    { places: where(once, isList), make: () => cutList(1, cut), lasts: true },
  ]),
  // That a group has no rules is believed.
  "a list cut without a sign": {
    places: (heard) => lists(heard).filter((nth) => heard[nth - 1]?.asked.operation !== "group.rule.list"),
    make: (nth) => cutList(0, withoutSign, onlyNth(nth)),
    unseen: true,
  },
  "not found without the envelope": { make: () => bareNotFound, lasts: true },
  "volumes that take a while": {
    places: where(once, ({ operation }) => operation.startsWith("volume.")),
    make: () => asynchronousVolumes(3),
    lasts: true,
  },
  "deleted VMs that linger as DELETED": {
    places: where(once, ({ operation }) => operation === "vm.delete"),
    make: () => lingeringVms(4, "DELETED"),
    lasts: true,
  },
  "deleted VMs that linger as deleting": {
    places: where(once, ({ operation }) => operation === "vm.delete"),
    make: () => lingeringVms(4, "deleting"),
    lasts: true,
  },
  "snapshots that never come up": {
    places: where(once, ({ operation }) => operation === "vm.snapshot"),
    make: () => noSnapshots,
    lasts: true,
  },
  "snapshots that come up late": {
    places: where(once, ({ operation }) => operation === "vm.snapshot"),
    make: () => lateSnapshots(3),
  },
  "lists that show late what was created": { places: where(once, isCreate), make: () => lateLists(3) },
  "a VM that is there at once": {
    places: where(once, ({ operation }) => operation === "vm.create"),
    make: () => synchronousCreate,
    lasts: true,
  },
  "a volume attached by hand": {
    places: everywhere,
    make: (nth, { start, lost }) => {
      const vm = start.vms.find(({ id }) => lost.has(id)) ?? start.vms[0];
      return vm === undefined ? {} : meanwhile((world) => withAttached(world, vm), onlyNth(nth));
    },
    lasts: true,
    otherwise: true,
  },
  "groups that are referred to are kept": {
    places: where(once, ({ operation }) => operation === "group.delete"),
    make: () => keepsReferencedGroups,
    lasts: true,
    otherwise: true,
  },
  "ids that are integers of 17 digits": { make: integerIds, lasts: true },
  "a stranger of the name, before the create": {
    places: creates,
    make: (nth) => {
      let done = false;
      return {
        async hear(asked, truth) {
          if (done || !isCreate(asked) || asked.nth < nth) return undefined;
          done = true;
          await addStranger(asked, truth);
          return undefined;
        },
      };
    },
    lasts: true,
    otherwise: true,
  },
  "a stranger of the name beside a create that was lost": {
    places: creates,
    make: (nth) => strangerBesideLostCreate(nth, "before"),
    lasts: true,
    otherwise: true,
  },
  "a stranger of the name beside a create whose answer was lost": {
    places: creates,
    make: (nth) => strangerBesideLostCreate(nth, "after"),
    lasts: true,
    otherwise: true,
  },
};
