/** Unrolls a for_each: a list of keys, a map of keys to values, or a number of instances. */
import { eachKeyProblem } from "../core/model/address";
import {
  type Each,
  type InterpolationScope,
  interpolate,
  keepingSecrets,
  type SecretPart,
  storedInTheClear,
} from "./interpolation";
import { holdsOpen, referenceIn, withoutMarks, withoutReference } from "./open-text";
import { type Problems, shown } from "./problems";
import { isMap, type Path, type Place, type YamlMap } from "./yaml/file";
import { parseValue } from "./yaml/reader";

type Fail = (summary: string, detail?: string, step?: Path, fix?: string) => void;

export function expandForEach(
  written: unknown,
  at: (step: Path) => Place,
  scope: InterpolationScope,
  room: number,
  problems: Problems,
): Each[] {
  const fail: Fail = (summary, detail, step = [], fix) =>
    problems.add({ code: "config/for-each", summary, detail, fix, at: at(step) });
  const tooMany = (): void =>
    fail(
      "for_each makes too many instances",
      `at most ${room} more are possible here`,
      [],
      "split them into projects, each in a folder and with a state of its own",
    );
  const { scope: told, secrets } = keepingSecrets(scope);
  const given = interpolate(written, told, (problem, step) => problems.add({ ...problem, at: at(step) }));
  if (given === undefined) return [];
  // A variable given on the command line is text: 3, [a, b] and {a: 1} mean there what they mean in a file.
  const value = typeof given === "string" ? parseValue(given) : given;
  const expectation = "expected a list, a map or a whole number";
  if (typeof value === "number") {
    if (Number.isInteger(value) && value >= 0 && value <= room) return numbered(value);
    if (value > room && Number.isInteger(value)) tooMany();
    else fail(`for_each cannot be ${shown(value)}`, expectation);
    return [];
  }
  const isList = Array.isArray(value);
  if (!isList && !isMap(value)) {
    const isWords = typeof given === "string" && !/^\s*[[{]/.test(given);
    const fix = isWords ? `write [${given.trim().replaceAll(/[\s,]+/g, ", ")}]` : undefined;
    fail(`for_each cannot be ${shown(given)}`, expectation, [], fix);
    return [];
  }
  // The items of a list are parts of addresses. The keys of a map are as well, and no secrets.
  if (isList) for (const { name, path } of secrets) problems.add({ ...storedInTheClear(name, path), at: at(path) });
  const items = eachItems(value, secrets, fail);
  if (items.length <= room) return items;
  tooMany();
  return [];
}

const numbered = (count: number): Each[] =>
  Array.from({ length: count }, (_, index) => ({ key: String(index), hasValue: false }));

/** An instance for each item of a list, or for each entry of a map. */
function eachItems(value: readonly unknown[] | YamlMap, secrets: readonly SecretPart[], fail: Fail): Each[] {
  const items: Each[] = [];
  const seen = new Set<string>();
  const all: readonly (readonly [unknown, string | number, Omit<Each, "key">])[] = isMap(value)
    ? Object.keys(value).map((key) => [key, key, { value: value[key], hasValue: true, ...secretPartsOf(key, secrets) }])
    : value.map((item, index) => [item, index, { hasValue: false }]);
  for (const [item, step, own] of all) {
    if (item === undefined) continue;
    const problem = keyProblem(item, seen);
    if (problem !== undefined) fail(problem.summary, problem.detail, [step], problem.fix);
    else items.push({ key: String(item), ...own });
    if (typeof item !== "object") seen.add(String(item));
  }
  return items;
}

/** Those of the value under one key. */
function secretPartsOf(key: string, secrets: readonly SecretPart[]): Pick<Each, "secrets"> {
  const own = secrets.filter(({ path: [first = key] }) => first === key);
  return own.length === 0 ? {} : { secrets: own.map(({ name, path }) => ({ name, path: path.slice(1) })) };
}

/** Why a key makes no instance. `seen`: the keys before it. */
function keyProblem(
  item: unknown,
  seen: ReadonlySet<string>,
): { readonly summary: string; readonly detail?: string; readonly fix?: string } | undefined {
  // A key is part of an address, which has to be known before anything is planned.
  const isOpen = typeof item === "string" && (holdsOpen(item) || referenceIn(item) !== undefined);
  if (typeof item === "object" || isOpen)
    return {
      summary: `a key of for_each cannot be ${isOpen ? withoutMarks(withoutReference(item)) : shown(item)}`,
      detail: "expected text or a number",
      fix: "use a map: its values are ${each.value}",
    };
  const key = String(item);
  if (key.includes("${"))
    return {
      summary: `the for_each key ${shown(key)} holds an interpolation`,
      detail: "one may stand in values, not in keys",
      fix: "use a list, or a variable that is the whole map: for_each: ${var.NAME}",
    };
  const problem = eachKeyProblem(key);
  if (problem !== undefined) return { summary: `the for_each key ${shown(key)} ${problem}` };
  if (seen.has(key)) return { summary: `the for_each key ${key} is given twice`, fix: "keep one of the two" };
  return undefined;
}
