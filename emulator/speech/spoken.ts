/**
 * A dialect as the emulator uses it: the file that the client reads, interpreted by code that was written from
 * docs/dialect.md alone. A place where the client reads a value is a place where the emulator writes it.
 */
export type SpokenScalar = string | number | boolean;

export interface SpokenSelector {
  readonly in?: string;
  readonly keys?: string;
  readonly where?: Readonly<Record<string, SpokenScalar | readonly SpokenScalar[]>>;
  readonly value?: string;
  readonly join?: readonly string[];
  readonly cut?: string;
  readonly case?: "lower" | "upper";
  readonly is?: SpokenScalar | readonly SpokenScalar[];
  readonly unit?: string;
  readonly absent?: string;
  readonly none?: SpokenScalar | readonly SpokenScalar[];
  readonly direction?: string;
  /** What stands there is a name, and not an id. */
  readonly by?: string;
}

export type Place = string | SpokenSelector;

export interface SpokenPaging {
  readonly next?: readonly Place[];
  readonly next_header?: string | null;
  readonly as?: string;
  readonly links?: string;
  readonly param?: string;
  readonly marker?: readonly Place[];
  readonly number?: number;
  readonly offset?: boolean;
  readonly size_param?: string;
}

export interface SpokenRoute {
  readonly method: string;
  readonly path: string;
  readonly query?: Readonly<Record<string, SpokenScalar>>;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly item?: readonly Place[];
  readonly items?: readonly Place[];
  readonly pagination?: SpokenPaging;
  readonly alternatives?: readonly SpokenRoute[];
  readonly for_each?: "region" | readonly string[];
}

export interface SpokenNameRule {
  readonly shortest?: number;
  readonly longest?: number;
  readonly pattern?: string;
  readonly says?: string;
}

export interface RefusalRule {
  readonly is: string;
  readonly status?: number;
  readonly code?: SpokenScalar;
  readonly message?: string;
}

type Places<K extends string> = Readonly<Record<K, readonly Place[]>>;
type SpokenWords<K extends string> = Readonly<Record<K, readonly string[]>>;

export interface SpokenWait extends Omit<SpokenRoute, "item" | "items" | "pagination"> {
  readonly id: readonly Place[];
  readonly status: readonly Place[];
  readonly done: readonly string[];
  readonly failed: readonly string[];
}

/** A list of what hangs on what; its path may name the VM. */
export type SpokenAttachments = SpokenRoute & Places<"vm" | "volume">;

/** The dialect with every default filled in. */
export interface SpokenDialect {
  readonly wait?: SpokenWait;
  readonly attachments?: SpokenAttachments;
  readonly operations: Readonly<Record<string, SpokenRoute | null>>;
  readonly records: {
    readonly vm: Places<"id" | "name" | "status" | "floating_ip" | "private_ip" | "volumes"> &
      Partial<Places<"flavor" | "image" | "owner">> & { readonly volume_entry: Places<"id" | "root"> };
    readonly volume: Places<"id" | "name" | "size" | "status" | "attached_to">;
    readonly group: Places<"id" | "name" | "description" | "rules">;
    readonly flavor: Places<"id" | "name">;
    readonly image: Places<"id" | "name" | "status">;
    readonly region: Places<"id" | "name">;
    readonly snapshot: Places<"image">;
  };
  readonly states: {
    readonly vm: SpokenWords<"running" | "stopped" | "verify_resize" | "ready" | "changing" | "failed" | "gone">;
    readonly volume: SpokenWords<"ready" | "changing" | "failed" | "gone">;
    readonly image: SpokenWords<"ready" | "failed">;
  };
  readonly pagination: SpokenPaging;
  readonly rules: { readonly port_range: string | null };
  readonly limits: { readonly unique?: readonly string[]; readonly named_groups?: "kept" | "refused" };
  readonly authorization: { readonly name: string; readonly header: string };
  readonly answers: Readonly<Record<string, { readonly item: readonly Place[] } | undefined>>;
  readonly envelope: {
    readonly data: readonly Place[];
    readonly error: { readonly code: readonly Place[]; readonly message: readonly Place[] };
    readonly success?: { readonly value: string; readonly is: SpokenScalar | readonly SpokenScalar[] };
  };
  readonly names: Readonly<Partial<Record<"vm" | "volume" | "group", SpokenNameRule>>>;
  readonly values: Readonly<Record<string, SpokenScalar>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly fingerprint?: { readonly from: readonly Place[]; readonly header?: string; readonly send: string };
  readonly retry_after: string | { readonly header: string; readonly as?: "seconds" | "date" | "epoch" } | null;
  readonly errors: readonly RefusalRule[];
}

/** Where the value of a place stands. */
export const pointerOf = (place: Place | undefined): string =>
  typeof place === "string" ? place : `${place?.in ?? ""}${place?.value ?? ""}`;

export const pointerTokens = (pointer: string): readonly string[] =>
  pointer
    .split("/")
    .slice(1)
    .map((token) => token.replaceAll("~1", "/").replaceAll("~0", "~"));

// `Array.isArray` does not narrow a readonly list away.
export const firstOf = <T>(value: T | readonly T[]): T | undefined => (Array.isArray(value) ? value[0] : (value as T));
