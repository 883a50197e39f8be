/** The sizes of volumes: where a record shows them, and in which unit. */
import type { RecordPlace } from "../dialect";
import { compilePointers, findSize, findText } from "../pointers";
import type { KnownThings, LearntPlace } from "./place";
import { type Leaf, saidMore, samePlace } from "./values";

/** What each record shows, and where. */
export type Leaves = readonly (readonly Leaf[])[];

/** Where the numbers of a trial's own volumes are their sizes in one unit, and others have other numbers. */
export function sizeSent(
  leaves: Leaves,
  records: readonly unknown[],
  id: RecordPlace | undefined,
  { made }: KnownThings,
): LearntPlace | undefined {
  if (id === undefined || made === undefined) return undefined;
  const idAt = compilePointers([id]);
  const sizes = records.map((record) => made.sizes.get(findText(record, idAt) ?? ""));
  for (const { place } of leaves.flat()) {
    if (typeof place !== "string" || samePlace(place, id)) continue;
    const shown = leaves.map((all) => Number(all.find((leaf) => samePlace(leaf.place, place))?.value ?? Number.NaN));
    const ratios = new Set(sizes.flatMap((size, nth) => (size === undefined ? [] : [(shown[nth] ?? 0) / size])));
    const [ratio] = ratios;
    const isSize = ratios.size === 1 && ratio !== undefined && (ratio === 1 || ratio in unitsOfRatios);
    if (isSize && shown.every((one) => one > 0) && new Set(shown).size > 1) return { place, shows: String(shown[0]) };
  }
  return undefined;
}

const unitsOfRatios: Readonly<Record<number, NonNullable<Exclude<RecordPlace, string>["unit"]>>> = {
  [10 ** 9]: "B",
  1024: "MB",
  [1024 ** 2]: "KB",
  [1024 ** 3]: "B",
};

/**
 * Whether volumes whose sizes are known show numbers of a unit that no dialect has. A service may make what is larger
 * than it was asked for, but no part of a GB, nor hundreds of times as large, nor each as many times.
 */
export function isInNoUnit(
  place: RecordPlace,
  records: readonly unknown[],
  id: RecordPlace | undefined,
  { made }: KnownThings,
): boolean {
  const [sizeAt, idAt] = [compilePointers([place]), compilePointers(id === undefined ? [] : [id])];
  const known = records.flatMap((record) => {
    const [gb, shown] = [made?.sizes.get(findText(record, idAt) ?? ""), findSize(record, sizeAt)];
    return gb === undefined || shown === undefined ? [] : [{ gb, shown, ratio: shown / gb }];
  });
  const isAlike = new Set(known.map(({ gb }) => gb)).size > 1 && new Set(known.map(({ ratio }) => ratio)).size === 1;
  return known.some(
    ({ shown, ratio }) =>
      !(ratio === 1 || ratio in unitsOfRatios) && (isAlike || ratio >= 500 || !Number.isInteger(shown)),
  );
}

/** The place of a size with its unit, told by volumes whose sizes are known, or by numbers that can only be bytes. */
export function inUnit(
  learnt: LearntPlace,
  records: readonly unknown[],
  id: RecordPlace | undefined,
  { made }: KnownThings,
): LearntPlace | undefined {
  const { place } = learnt;
  if (id === undefined) return undefined;
  if (typeof place === "object" && place.unit !== undefined) return undefined;
  const [sizeAt, idAt] = [compilePointers([place]), compilePointers([id])];
  const shown = records.flatMap((record) => {
    const size = Number(findText(record, sizeAt) ?? Number.NaN);
    return Number.isFinite(size) && size > 0 ? [{ size, id: findText(record, idAt) ?? "" }] : [];
  });
  const ratios = shown.flatMap(({ size, id: of }) => {
    const gb = made?.sizes.get(of);
    return gb === undefined ? [] : [size / gb];
  });
  const ratio = ratios[0] ?? (shown.length > 0 && shown.every(({ size }) => size >= 10 ** 7) ? 1024 ** 3 : 1);
  const unit = unitsOfRatios[ratio];
  return unit === undefined ? undefined : { ...learnt, place: saidMore(place, { unit }) };
}
