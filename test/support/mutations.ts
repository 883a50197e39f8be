/** Hostile versions of a text, each from a number: the same number makes the same text on every machine. */

export type Random = () => number;

/** A small generator of known quality (mulberry32). */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export const pick = <T>(random: Random, items: readonly T[]): T => items[Math.floor(random() * items.length)]!;

const colour = "\u001b[2J\u001b[31m";
const words: readonly string[] = [
  "__proto__",
  "constructor",
  "prototype",
  "toString",
  "hasOwnProperty",
  colour,
  "\u0000",
  "\u202e",
  "\u0085",
  "\ud800",
  "\r",
  "1e999",
  "-0",
  "9007199254740993",
  "NaN",
  "null",
  "true",
  "[]",
  "{}",
  '""',
  "\\u001b]0;x\\u0007",
  "\\u0000",
  "&a [*a, *a]",
  "*a",
  "<<: {__proto__: {polluted: 1}}",
  "!!js/function x",
  "!!binary AAAA",
  "? a",
  "|",
  ">-",
  "---\n",
  "...\n",
  "%YAML 1.1\n",
  "# ",
  "\t",
  "../../../etc/passwd",
  "$" + "{var.x}",
  "$" + "{each.value}",
  `$${"{".repeat(50)}`,
  "x".repeat(5000),
  "[".repeat(500),
  "{a: ".repeat(200),
  "0x10",
  "1_000",
  "2026-01-01",
  "vm.web",
  "vm.web[a]",
  "volume.data",
  "'",
  '"',
  ",",
  ":",
  "\n",
  "\n  ",
];

const values: readonly unknown[] = [
  null,
  true,
  0,
  -1,
  1.5,
  2 ** 53,
  1e308,
  "",
  " ",
  "x",
  colour,
  "\u0000",
  "__proto__",
  "constructor",
  "x".repeat(5000),
  [],
  {},
  [[]],
  [null],
  { id: {} },
  { kind: "vm" },
  { kind: "group", group: {} },
  "vm.web",
  "vm.__proto__",
  "1969-12-31T23:59:59Z",
];

export function mutateText(text: string, random: Random): string {
  let mutated = text;
  for (let times = 1 + Math.floor(random() * 3); times > 0; times--) {
    const at = Math.floor(random() * (mutated.length + 1));
    const end = Math.min(mutated.length, at + Math.floor(random() * random() * 40));
    switch (Math.floor(random() * 6)) {
      case 0:
        mutated = mutated.slice(0, at) + mutated.slice(end);
        break;
      case 1:
        mutated = mutated.slice(0, at) + pick(random, words) + mutated.slice(end);
        break;
      case 2:
        mutated = mutated.slice(0, end) + mutated.slice(at);
        break;
      case 3:
        mutated = mutated.slice(0, at);
        break;
      case 4:
        mutated = mutated.slice(0, at) + String.fromCharCode(Math.floor(random() * 0x300)) + mutated.slice(at + 1);
        break;
      default: {
        // A whole word, so that it stays a document more often.
        const found = [...mutated.matchAll(/[A-Za-z0-9_.-]+/g)];
        const word = found.length === 0 ? undefined : pick(random, found);
        if (word !== undefined)
          mutated = mutated.slice(0, word.index) + pick(random, words) + mutated.slice(word.index + word[0].length);
      }
    }
  }
  return mutated;
}

/** Still JSON, but not what anybody expects at one place or three. */
export function mutateJson(text: string, random: Random): string {
  const root = { value: JSON.parse(text) as unknown };
  for (let times = 1 + Math.floor(random() * 3); times > 0; times--) {
    let holder: Record<string, unknown> = root;
    let key = "value";
    for (let depth = Math.floor(random() * 7); depth > 0; depth--) {
      const inside = holder[key];
      if (typeof inside !== "object" || inside === null) break;
      const keys = Object.keys(inside);
      if (keys.length === 0) break;
      holder = inside as Record<string, unknown>;
      key = pick(random, keys);
    }
    switch (Math.floor(random() * 4)) {
      case 0:
        if (holder !== root) delete holder[key];
        break;
      case 1: {
        const inside = holder[key];
        if (typeof inside === "object" && inside !== null && !Array.isArray(inside))
          Object.defineProperty(inside, pick(random, words), {
            value: structuredClone(pick(random, values)),
            enumerable: true,
            configurable: true,
            writable: true,
          });
        break;
      }
      default:
        holder[key] = structuredClone(pick(random, values));
    }
  }
  return JSON.stringify(root.value) ?? "null";
}
