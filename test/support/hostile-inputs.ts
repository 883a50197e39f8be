/** Hostile versions of a text and of a request, each from a number: the same number makes the same on every machine. */
import { connect } from "node:net";
import { emulatorOperations, operations } from "../../emulator/operations";

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

/*
 * Random and hostile requests, reproducible from a seed: wrong types, odd values, deep and huge JSON, bad UTF-8, path
 * tricks, and now and then a sensible one so that there is something to hit. They go over a raw socket, since a client
 * library would repair half of them.
 */

const fieldNames =
  "name size id flavor_id image_id owner project region root_size skip_floating_ip image flavor vm_id volume_id flush_confirmed description rules direction dst_port ethertype protocol remote_ip remote_group SecurityGroups __proto__ constructor toString".split(
    " ",
  );

const oddTexts = [
  ..."|0|-1|1e9|0x10|NaN|null|true|..|../../etc/passwd|%00|a b|default|web|tcp|IPv4|ingress|icmp|443|70000|10.0.0.0/8|::/0|10.0.0.0/99|m1.small|__proto__".split(
    "|",
  ),
  "\u0000\u001b[31m",
  "\u202eevil",
  "\ud800",
  "x".repeat(300),
  "00000000-0000-4000-8003-000000000001",
];

function oddValue(chance: Random, depth: number): unknown {
  const roll = Math.floor(chance() * (depth > 3 ? 7 : 10));
  if (roll < 4) return pick(chance, oddTexts);
  if (roll === 4) return pick(chance, [0, -1, 1.5, 1e308, 2 ** 53, -0, 443]);
  if (roll === 5) return pick(chance, [true, false, null]);
  if (roll === 6) return [];
  if (roll === 7) return Array.from({ length: Math.floor(chance() * 5) }, () => oddValue(chance, depth + 1));
  return oddObject(chance, depth + 1);
}

function oddObject(chance: Random, depth: number): Record<string, unknown> {
  const entries = Array.from({ length: Math.floor(chance() * 8) }, () => [
    pick(chance, fieldNames),
    oddValue(chance, depth),
  ]);
  return Object.fromEntries(entries) as Record<string, unknown>;
}

const sensible: Record<string, unknown> = {
  "vm.create": {
    flavor_id: "m1.small",
    id: "1",
    image_id: "00000000-0000-4000-8003-000000000001",
    name: "web",
    owner: "ops",
    project: "acme",
    region: "in-west-1",
    size: "1",
  },
  "volume.create": { name: "disk", size: "1" },
  "group.create": { name: "web", rules: [{ protocol: "tcp", dst_port: "443", remote_ip: "10.0.0.0/8" }] },
  "group.import": {
    SecurityGroups: [
      {
        GroupName: "web",
        IpPermissions: [{ IpProtocol: "tcp", FromPort: 1, ToPort: 2, IpRanges: [{ CidrIp: "10.0.0.0/8" }] }],
      },
    ],
  },
};

/** A sensible body with one to three things wrong somewhere in it. */
function spoilt(chance: Random, body: unknown): unknown {
  const copy = structuredClone(body) as Record<string, unknown>;
  for (let n = 0; n <= chance() * 3; n += 1) {
    let place: Record<string, unknown> = copy;
    for (;;) {
      const key = pick(chance, Object.keys(place));
      const inner = place[key ?? ""];
      if (
        key !== undefined &&
        typeof inner === "object" &&
        inner !== null &&
        Object.keys(inner).length > 0 &&
        chance() < 0.7
      ) {
        place = inner as Record<string, unknown>;
        continue;
      }
      place[key ?? "x"] = oddValue(chance, 1);
      break;
    }
  }
  return copy;
}

function bodyOf(chance: Random, operation: string): Buffer {
  const roll = chance();
  const known = sensible[operation];
  if (roll < 0.1 && known !== undefined) return Buffer.from(JSON.stringify(known));
  if (roll < 0.45 && known !== undefined) return Buffer.from(JSON.stringify(spoilt(chance, known)));
  if (roll < 0.7) return Buffer.from(JSON.stringify(chance() < 0.8 ? oddObject(chance, 0) : oddValue(chance, 0)));
  if (roll < 0.75) return Buffer.from(pick(chance, ["[", '{"a":', "{"]).repeat(1 + Math.floor(chance() * 50_000)));
  if (roll < 0.8)
    return Buffer.from(Array.from({ length: 1 + Math.floor(chance() * 200) }, () => Math.floor(chance() * 256)));
  if (roll < 0.85)
    return Buffer.concat([Buffer.from('{"name":"'), Buffer.from([0xc3, 0x28, 0xed, 0xa0, 0x80]), Buffer.from('"}')]);
  if (roll < 0.86) return Buffer.alloc((1 << 20) + Math.floor(chance() * 4096), 0x20);
  if (roll < 0.9)
    return Buffer.from(pick(chance, ["{", "{}}", "nul", '"\\u12', "\ufeff{}", "{'a':1}", "01", "-", "[1,]", ""]));
  return Buffer.alloc(0);
}

function pathOf(chance: Random, path: string): string {
  const filled = path.replace(/\{[a-z_]+\}/g, () =>
    pick(chance, [
      "x",
      "..",
      "%2e%2e",
      "%2F",
      "%00",
      "%",
      "%zz",
      "a/b",
      "__proto__",
      "a".repeat(2000),
      "00000000-0000-4000-8004-000000000001",
      "99999999-9999-4999-8999-999999999999",
    ]),
  );
  const roll = chance();
  if (roll < 0.82) return filled;
  if (roll < 0.84) return `${filled}/`;
  if (roll < 0.86) return `/${filled}`;
  if (roll < 0.89) return filled.replace("/api", pick(chance, ["/API", "/api/..", "/./api", "", "/api\\", "/%61pi"]));
  if (roll < 0.95)
    return `${filled}?${pick(chance, ["page=-1", "page=%", "page=1e9", "page[]=1", "delete_floating_ip=maybe", "&&=&", "a".repeat(5000)])}`;
  return pick(chance, [
    "*",
    "http://evil.example/api/v1/vm/list",
    "/",
    "/api",
    "/api/v1/vm/create/x",
    "/_controlled",
    "/api/v1/vm/rename/%c0%af",
  ]);
}

export interface HostileRequest {
  readonly method: string;
  readonly bytes: Buffer;
  readonly told: string;
}

export function hostileRequest(chance: Random): HostileRequest {
  const operation = pick(chance, emulatorOperations);
  const row = operations[operation];
  const method =
    chance() < 0.85 ? row.method : pick(chance, ["PUT", "OPTIONS", "TRACE", "PATCH", "DELETE", "get", "PROPFIND"]);
  const path = pathOf(chance, row.path);
  const body = method === "GET" && chance() < 0.8 ? Buffer.alloc(0) : bodyOf(chance, operation);
  const token =
    chance() < 0.85
      ? "Bearer x"
      : pick(chance, [
          "Bearer x",
          "member-token",
          "inactive-token",
          "outsider-token",
          "homeless-token",
          "",
          "Bearer ",
          "\u00ff\u00fe",
          "Bearer __proto__",
        ]);
  const type =
    chance() < 0.9
      ? "application/json"
      : pick(chance, [
          "application/json",
          "application/json",
          "application/json; charset=utf-8",
          "text/plain",
          "",
          "application/jsonp",
        ]);
  const head = [
    `${method} ${path} HTTP/1.1`,
    "Host: 127.0.0.1",
    "Connection: close",
    token === "" ? "" : `Authorization: ${token}`,
    type === "" ? "" : `Content-Type: ${type}`,
    body.length === 0 && chance() < 0.5 ? "" : lengthOf(chance, body),
  ].filter((line) => line !== "");
  const bytes = Buffer.concat([Buffer.from(`${head.join("\r\n")}\r\n\r\n`, "latin1"), body]);
  return { method, bytes, told: `${head[0]} [${body.length} bytes: ${body.subarray(0, 200).toString("latin1")}]` };
}

function lengthOf(chance: Random, body: Buffer): string {
  if (chance() < 0.97) return `Content-Length: ${body.length}`;
  return pick(chance, [
    "Content-Length: -1",
    "Content-Length: 1e3",
    "Content-Length: 5\r\nContent-Length: 6",
    "Transfer-Encoding: chunked\r\nContent-Length: 3",
    "Transfer-Encoding: bogus",
  ]);
}

export interface RawAnswer {
  readonly status: number;
  readonly body: string;
}

/** Sends bytes and reads until the other side closes. A request that never ends is closed by us after its bytes are out. */
export function sendRaw(port: number, bytes: Buffer): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    const socket = connect(port, "127.0.0.1", () => socket.end(bytes));
    socket.on("data", (chunk) => chunks.push(chunk));
    socket.on("error", reject);
    socket.on("close", () => {
      const text = Buffer.concat(chunks).toString("utf8");
      const status = Number(/^HTTP\/1\.1 ([0-9]{3}) /.exec(text)?.[1] ?? 0);
      resolve({ status, body: text.slice(text.indexOf("\r\n\r\n") + 4) });
    });
  });
}
