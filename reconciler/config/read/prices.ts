/** `prices:` of the file, or a price list of its own: amounts as they are written, and no amount that nobody wrote. */

import type { Prices } from "../../core/model/prices";
import { decimalOf, decimalText } from "../../core/text/decimal";
import { nearestText } from "../../core/text/nearest";
import { type OpenNamedFile, openNamed } from "../environments";
import {
  fieldOf,
  readEnum,
  readMap,
  readText,
  reportValue,
  requireKey,
  type Subject,
  subjectWithin,
  type ValuesOfRow,
} from "../fields";
import { readOwnYaml } from "../own-files";
import { addNumberProblems, type Problems, placesOfNumbers } from "../problems";
import type { PriceList } from "../rows/sections";
import { type SectionContext, valueOfSetting } from "../sections";
import type { Merged } from "../sources";
import {
  type ConfigSource,
  isMap,
  keyOffset,
  type Path,
  placeOf,
  positionOf,
  valueAt,
  type YamlFile,
} from "../yaml/file";

const priceKeys = ["currency", "per", "vm", "volume_gb", "floating_ip", "image_gb"] as const;

export interface PricesContext extends SectionContext {
  readonly open: OpenNamedFile | undefined;
  /** A list that was given beside the files: it stands in place of theirs. */
  readonly given?: ConfigSource | undefined;
}

export function readPrices({ settings }: Merged, context: PricesContext): Prices | undefined {
  const { problems, open, given } = context;
  if (given !== undefined) return readPriceFile(given, problems);
  const found = valueOfSetting("prices", settings, context);
  if (found === undefined) return undefined;
  const { subject, value } = found;
  if (isMap(value)) return readPriceList(subject, value);
  if (typeof value !== "string") return undefined;
  const opened = openNamed(value, subject.place([]), open, problems);
  return opened === undefined ? undefined : readPriceFile(opened, problems);
}

/** Where amounts of money may stand in the desired states that a file holds; the file itself is one where nothing else is said. */
export function placesOfAmounts(file: YamlFile, states: readonly Path[] = [[]]): ReadonlySet<number> {
  if ((file.oddNumbers ?? []).length === 0) return new Set();
  const lists = states.flatMap((path) => {
    const environments = [...path, "environments"];
    const named = valueAt(file.root, environments);
    const environmentsOf = isMap(named) ? Object.keys(named) : [];
    return [
      [...path, "prices"],
      [...path, "checks", "at_most"],
      ...environmentsOf.map((name) => [...environments, name, "prices"]),
    ];
  });
  return placesOfNumbers(file, lists);
}

function readPriceFile(source: ConfigSource, problems: Problems): Prices | undefined {
  const file = readOwnYaml(source, problems, {
    what: "price list",
    code: "config/wrong-type",
    keys: [...priceKeys],
    fix: "write currency: EUR, vm: { m1.small: 9.90 } and what else has a price",
  });
  addNumberProblems(file, problems, placesOfNumbers(file, [[]]));
  if (!isMap(file.root)) return undefined;
  for (const key of Object.keys(file.root)) refuseUnknown(key, file, problems);
  const subject: Subject = { problems, place: (path, on) => placeOf(file, path, on ?? "value") };
  return readPriceList(subject, file.root);
}

/** A key of a price list that stands in the desired state is judged by the schema. */
function refuseUnknown(key: string, file: YamlFile, problems: Problems): void {
  if (priceKeys.some((known) => known === key) || key.startsWith("x-") || key === "$schema" || !isMap(file.root))
    return;
  problems.add({
    code: "config/unknown-key",
    summary: `the key ${key} is not known here`,
    fix: nearestText(key, priceKeys, (near) => `write ${near}`) ?? `one of ${priceKeys.join(", ")}`,
    at: { source: file, offset: keyOffset(file.root, key) ?? 0 },
  });
}

function readPriceList(subject: Subject, values: ValuesOfRow<PriceList>): Prices | undefined {
  const currency = readText(subject, values, "currency");
  requireKey(subject, values, "currency", "add currency: EUR");
  if (currency !== undefined && !/^[A-Za-z]{2,8}$/.test(currency))
    reportValue(subject, ["currency"], currency, "a currency such as EUR");
  const per = readEnum(subject, values, "per", ["month", "hour"]) ?? "month";
  const flavors = readMap(subject, values, "vm");
  const vm = Object.keys(flavors).flatMap((flavor): [string, string][] => {
    const price = readPrice(subjectWithin(subject, "vm"), flavors, flavor);
    return price === undefined ? [] : [[flavor, price]];
  });
  const one = (key: "volume_gb" | "floating_ip" | "image_gb"): string | undefined => readPrice(subject, values, key);
  const [volumeGb, floatingIp, imageGb] = [one("volume_gb"), one("floating_ip"), one("image_gb")];
  if (currency === undefined) return undefined;
  return {
    currency,
    per,
    vm: Object.fromEntries(vm),
    volumeGb,
    floatingIp,
    imageGb,
    source: positionOf(subject.place([], "key")),
  };
}

/** YAML reads `0.1` as the nearest number, whose shortest text is `0.1` again: the amount is what was written. */
export function readPrice<V extends object>(subject: Subject, values: V, key: keyof V & string): string | undefined {
  const value = fieldOf(values, key);
  if (value === undefined) return undefined;
  const amount = typeof value === "number" || typeof value === "string" ? decimalOf(String(value)) : undefined;
  if (amount !== undefined && amount.units >= 0n) return decimalText(amount);
  return reportValue(subject, [key], value, "an amount such as 9.90, not below 0");
}
