/**
 * What the suite must know of a deployment to test it: where the undescribed operations are and how records are read.
 * The file is the product's dialect; what the suite does not use of it is passed over. Written apart from the product's
 * own reader, so that a mistake there cannot hide one here.
 */
import { readFileSync } from "node:fs";
import { parse } from "yaml";

export interface DialectOperation {
  readonly method: string;
  readonly path: string;
}

export interface Dialect {
  /** Beside the documented ones; null: this service does not have it. */
  readonly operations: Readonly<Record<string, DialectOperation | null>>;
  readonly items: Readonly<Record<string, readonly string[]>>;
  readonly records: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;
  readonly volumeEntry: { readonly id: readonly string[]; readonly root: readonly string[] };
  readonly states: Readonly<Record<"running" | "stopped" | "verify_resize" | "failed", readonly string[]>>;
  readonly next: readonly string[];
  readonly pageParam: string;
  readonly authorization: string;
}

export const builtInDialect: Dialect = {
  operations: {},
  items: {},
  records: {
    vm: {
      id: ["/id"],
      name: ["/name"],
      status: ["/status", "/state"],
      flavor: ["/flavor_id", "/flavor/id", "/flavor/name", "/flavor"],
      image: ["/image_id", "/image/id", "/image"],
      owner: ["/owner", "/owner/email", "/owner_email"],
      floating_ip: ["/floating_ip", "/floating_ip/address"],
      private_ip: ["/private_ip", "/private_ip/address"],
      volumes: ["/volumes", "/volume_ids"],
    },
    volume: {
      id: ["/id"],
      name: ["/name"],
      size: ["/size"],
      status: ["/status"],
      attached_to: ["/attached_to", "/vm_id", "/attachments/0/vm_id"],
    },
    group: {
      id: ["/id", "/security_group_id", "/group_id", "/security_group/id"],
      name: ["/name"],
      description: ["/description"],
      rules: ["/rules", "/security_group_rules"],
    },
    flavor: { id: ["/id"], name: ["/name"] },
    image: { id: ["/id"], name: ["/name"] },
    region: { id: ["/id"], name: ["/name"] },
  },
  volumeEntry: { id: ["", "/id", "/volume_id"], root: ["/root", "/bootable"] },
  states: {
    running: ["ACTIVE", "RUNNING", "running"],
    stopped: ["SHUTOFF", "STOPPED", "stopped"],
    verify_resize: ["VERIFY_RESIZE"],
    failed: ["ERROR", "error"],
  },
  next: ["/page/next"],
  pageParam: "page",
  authorization: "Bearer {token}",
};

/** The built-in dialect with what the file says in its place. */
// biome-ignore lint/suspicious/noExplicitAny: the file is a person's; a part that is not there reads as undefined
function dialectFrom(file: any): Dialect {
  const base = builtInDialect;
  const operations: Record<string, DialectOperation | null> = {};
  const items: Record<string, readonly string[]> = {};
  for (const [name, given] of Object.entries<Partial<DialectOperation> & { items?: unknown }>(file?.operations ?? {})) {
    operations[name] = given === null ? null : { method: given.method ?? "GET", path: given.path ?? "" };
    if (given?.items !== undefined) items[name] = pointers(given.items);
  }
  const records = Object.fromEntries(
    Object.entries(base.records).map(([kind, fields]) => {
      const { volume_entry: _, ...given } = file?.records?.[kind] ?? {};
      const read = Object.entries(given).map(([field, value]) => [field, pointers(value)]);
      return [kind, { ...fields, ...Object.fromEntries(read) }];
    }),
  );
  const entry = file?.records?.vm?.volume_entry;
  return {
    operations,
    items,
    records,
    volumeEntry: {
      id: pointers(entry?.id ?? base.volumeEntry.id),
      root: pointers(entry?.root ?? base.volumeEntry.root),
    },
    states: { ...base.states, ...(file?.states?.vm ?? {}) },
    next: pointers(file?.pagination?.next ?? base.next),
    pageParam: file?.pagination?.param ?? base.pageParam,
    authorization: file?.authorization?.header ?? base.authorization,
  };
}

export const readDialect = (path: string): Dialect => dialectFrom(parse(readFileSync(path, "utf8")));

const pointers = (value: unknown): readonly string[] => (Array.isArray(value) ? value.map(String) : [String(value)]);

/** What the first pointer that leads somewhere leads to. */
export function readPointers(value: unknown, tried: readonly string[], fits = (_: unknown): boolean => true): unknown {
  for (const pointer of tried) {
    const found = pointer
      .split("/")
      .slice(1)
      .reduce<unknown>(
        (inner, key) => (isObject(inner) || Array.isArray(inner) ? (inner as never)[key] : undefined),
        value,
      );
    if (found !== undefined && fits(found)) return found;
  }
  return undefined;
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
