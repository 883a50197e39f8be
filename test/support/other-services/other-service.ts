/**
 * A service of other making: the emulated one behind a door that answers differently. What the door hears may never
 * reach the true service, and what the true service says may be told in another way; the world behind it is known all
 * the time, so that what is believed outside can be held against what is.
 */
import type { RunningEmulator, WorldDump } from "../../../emulator";
import { type EmulatorOperation, emulatorOperations } from "../../../emulator/operations";
import { buildRoutes, matchRoute } from "../../../emulator/routes";
import { type Heard, serveHere, type Told } from "../in-memory";
import { closeHere, listenHere, serverThat } from "../loopback";

export interface Asked {
  /** 1 for the first since the door was last opened. */
  readonly nth: number;
  /** 1 for the first of its operation. */
  readonly nthOfItsKind: number;
  /** So many had been answered by then. */
  readonly answered: number;
  readonly operation: EmulatorOperation | "unknown";
  readonly method: string;
  readonly path: string;
  /** Of the path. */
  readonly id: string;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** As JSON, unless it is a page. */
  readonly body?: unknown;
  /** What is said as it is: a page of HTML, or nothing at all. */
  readonly text?: string;
}

/** The connection ends without an answer. */
export const nothing = "nothing";
type Said = Answer | typeof nothing | undefined;

export interface OtherService {
  /** Instead of the true service, which then hears nothing of it; `undefined`: it is passed on. */
  readonly hear?: (asked: Asked, truth: Truth) => Said | Promise<Said>;
  /** How the answer of the true service is told; `undefined`: as it is. */
  readonly tell?: (asked: Asked, answer: Answer, truth: Truth) => Said | Promise<Said>;
  /** Other spellings of everything that comes in and goes out, such as ids; `file`: in what its users have written. */
  readonly spell?: Spelling;
}

export interface Spelling {
  in(text: string): string;
  out(text: string): string;
  file(text: string): string;
}

export interface Truth {
  dump(): WorldDump;
  /** Changes the world behind everybody's back. */
  change(edit: (world: WorldDump) => WorldDump): Promise<void>;
}

/** A request with what was true when it arrived at the true service, and what that said. */
export interface Exchange {
  readonly asked: Asked;
  readonly status: number;
  /** How many items the true service listed; `undefined`: it listed none. */
  readonly shown: number | undefined;
  /** It was passed on. */
  readonly arrived: boolean;
  /** The world just before a write that arrived. */
  readonly world: WorldDump | undefined;
}

const idsIn = ({ vms, volumes, groups }: WorldDump): string[] => [...vms, ...volumes, ...groups].map(({ id }) => id);

/** Of a list as the true service tells it. */
export function itemsOf({ status, body }: Answer): readonly unknown[] | undefined {
  if (status !== 200) return undefined;
  if (Array.isArray(body)) return body;
  if (typeof body !== "object" || body === null || !("data" in body)) return undefined;
  return Array.isArray(body.data) ? body.data : undefined;
}

export interface Door {
  readonly url: string;
  /** Opens it anew: what was heard so far is forgotten. */
  open(service: OtherService): void;
  /** From now on it is this one. */
  become(service: OtherService): void;
  readonly heard: readonly Exchange[];
  readonly truth: Truth;
  /** Ids of what others have made behind everybody's back since it was opened, and at which request. */
  readonly added: ReadonlyMap<string, number>;
  close(): Promise<void>;
}

const routes = buildRoutes(emulatorOperations);
const same = (text: string): string => text;
export const plain: Spelling = { in: same, out: same, file: same };

export const isWrite = ({ method }: Pick<Asked, "method">): boolean => method !== "GET";

export async function openDoor(emulator: RunningEmulator): Promise<Door> {
  let service: OtherService = {};
  let heard: Exchange[] = [];
  let seen = new Map<string, number>();
  let added = new Map<string, number>();
  const truth: Truth = {
    dump: () => emulator.dump(),
    async change(edit) {
      const before = emulator.dump();
      const known = new Set(idsIn(before));
      const after = edit(before);
      for (const id of idsIn(after)) if (!known.has(id)) added.set(id, seen.get("") ?? 0);
      await emulator.load(after);
    },
  };

  const answerOf = async (given: Heard): Promise<Answer> => {
    const told = await emulator.answer(given);
    return { status: told?.status ?? 500, body: JSON.parse(told?.text ?? "null") as unknown };
  };

  async function hear(given: Heard): Promise<Told | undefined> {
    const present = service;
    const spell = present.spell ?? plain;
    const path = spell.in(given.url);
    const text = spell.in(given.text);
    const asked = read(given.method, path, text);
    const instead = await present.hear?.(asked, truth);
    const arrived = instead === undefined;
    const world = arrived && isWrite(asked) ? emulator.dump() : undefined;
    const true_ = arrived ? await answerOf({ ...given, url: path, text }) : undefined;
    const said = true_ === undefined ? instead : ((await present.tell?.(asked, true_, truth)) ?? true_);
    const status = said === nothing || said === undefined ? 0 : said.status;
    heard.push({ asked, status, shown: true_ === undefined ? undefined : itemsOf(true_)?.length, arrived, world });
    if (said === nothing || said === undefined) return undefined;
    return {
      status: said.status,
      headers: { "content-type": "application/json", ...said.headers },
      text: spell.out(said.text ?? JSON.stringify(said.body ?? null)),
    };
  }

  function read(method: string, path: string, text: string): Asked {
    const bare = path.split("?")[0]!;
    const match = matchRoute(routes, method, bare);
    const operation = match.status === "found" ? match.operation : "unknown";
    const count = (key: string): number => {
      const next = (seen.get(key) ?? 0) + 1;
      seen.set(key, next);
      return next;
    };
    const id = match.status === "found" ? (match.params["id"] ?? "") : "";
    return {
      nth: count(""),
      nthOfItsKind: count(operation),
      answered: heard.length,
      operation,
      method,
      path,
      id,
      body: jsonOf(text),
    };
  }

  const server = serverThat(hear);
  const url = await listenHere(server);
  const here = serveHere(hear, url);
  return {
    url,
    open(next) {
      service = next;
      heard = [];
      seen = new Map();
      added = new Map();
    },
    become(next) {
      service = next;
    },
    get heard() {
      return heard;
    },
    truth,
    get added() {
      return added;
    },
    async close() {
      await here.close();
      await closeHere(server);
    },
  };
}

function jsonOf(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}
