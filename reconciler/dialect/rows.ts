/**
 * The fields of a dialect as it is written, each said once: schemas/dialect.schema.json, its validator and docs/dialect.md
 * are made from these types (scripts/schema-rows.mjs), and the types of a dialect that was read follow from them.
 */

import type { Whole } from "../config/rows/values";
import type { Kind } from "../core/model/address";

/** @maxLength 1000 */
type Line = string;
/** One thing. @maxLength 1000 @inline */
type Thing = string;
/** @maxItems 100 */
type Things = readonly Thing[];
/** @pattern ^[A-Za-z][A-Za-z0-9_]*$ */
type Word = string;
/** The value. @maxLength 500 @inline */
type Value = string | number | boolean;
/** The program, then its arguments. @minLength 1 @inline */
type Argument = string;
/** A name; RECONCILE_… are handed to no program. @pattern ^(?!RECONCILE_)[A-Za-z_][A-Za-z0-9_]*$ @inline */
type VariableName = string;
/** @pattern ^[A-Za-z0-9_-]+$ */
type HeaderName = string;
/** The header's value. @pattern ^[ -~]*$ @maxLength 1000 @inline */
type HeaderValue = string;
/** The parameter's value. @maxLength 1000 @inline */
type ParameterValue = string | number | boolean;
/** A pointer, or the name of a header. @pattern ^((/([^~/]|~[01])*)+|[A-Za-z0-9_-]+)$ @maxLength 500 @inline */
type Sign = string;
/** @maxItems 50 */
type PlaceList = readonly Place[];
/** @minItems 1 @maxItems 50 */
type ScalarList = readonly Scalar[];
/** @maxItems 100 */
type WordList = readonly Scalar[];
/** The id of a region. @minLength 1 @maxLength 200 @inline */
type RegionId = string;
/** @minItems 1 @maxItems 100 @unique */
type RegionIds = readonly RegionId[];

type AnswerWithRecord =
  | "vm.snapshot"
  | "vm.delete"
  | "volume.create"
  | "volume.get"
  | "group.create"
  | "group.rule.create"
  | "group.rule.list"
  | "group.import";

interface AnswerPlace {
  /** Where the record is within the payload, such as /server; left out: the payload itself. */
  item: Pointers;
}

export interface RecordRows {
  /** The record of a VM. */
  vm?: {
    /** The VM's id. */
    id?: Pointers;
    /** The VM's name. */
    name?: Pointers;
    /** The VM's state. */
    status?: Pointers;
    /** The flavor's name or id. */
    flavor?: Pointers;
    /** The image's name or id. */
    image?: Pointers;
    /** The owner's username or e-mail address. */
    owner?: Pointers;
    /** The public address. */
    floating_ip?: Pointers;
    /** The address on the private network. */
    private_ip?: Pointers;
    /** An array of the VM's volumes; each item is read by volume_entry. */
    volumes?: Pointers;
    /** How one item of the VM's volumes is read. */
    volume_entry?: {
      /** The volume's id; the empty pointer is for an item that is the id itself. */
      id?: Pointers;
      /** true for the root disk. */
      root?: Pointers;
    };
  };
  /** The record of a volume. */
  volume?: {
    /** The volume's id. */
    id?: Pointers;
    /** The volume's name. */
    name?: Pointers;
    /** The size in GB, as a number or as text. */
    size?: Pointers;
    /** The volume's state. */
    status?: Pointers;
    /** The id of the VM it is attached to; null or an empty text there means none. */
    attached_to?: Pointers;
  };
  /** The record of a security group. */
  group?: {
    /** The group's id. */
    id?: Pointers;
    /** The group's name. */
    name?: Pointers;
    /** The group's description. */
    description?: Pointers;
    /** The array of the group's rules. */
    rules?: Pointers;
  };
  /** The record of a flavor. */
  flavor?: {
    /** The flavor's id. */
    id?: Pointers;
    /** The flavor's name. */
    name?: Pointers;
  };
  /** The record of an image. */
  image?: {
    /** The image's id. */
    id?: Pointers;
    /** The image's name. */
    name?: Pointers;
    /** The image's state. Without one an image counts as usable once it is listed. */
    status?: Pointers;
  };
  /** The record of a region. */
  region?: {
    /** The region's id; the empty pointer is for an item that is the id itself. */
    id?: Pointers;
    /** The region's name. */
    name?: Pointers;
  };
  /** The answer to a snapshot. */
  snapshot?: {
    /** The id of the image made. */
    image?: Pointers;
  };
}

export interface StateRows {
  /** States of a VM. */
  vm?: {
    /** The VM runs. */
    running?: Words;
    /** The VM is stopped. */
    stopped?: Words;
    /** A resize waits to be confirmed or reverted. */
    verify_resize?: Words;
    /** The VM is at rest, and the word does not say whether it runs: it counts as running. */
    ready?: Words;
    /** The VM is on its way, as with any other word. */
    changing?: Words;
    /** The VM failed and will not recover by itself. */
    failed?: Words;
    /** The VM is listed still, and it is not there any more. */
    gone?: Words;
  };
  /** States of a volume. */
  volume?: {
    /** The volume is at rest. Once a word stands here, every word without a meaning counts as changing; else only those under changing do. */
    ready?: Words;
    /** The volume is on its way, and is waited for. An empty list: operations are done when they answer. */
    changing?: Words;
    /** The volume failed. */
    failed?: Words;
    /** The volume is shown still, and it is not there any more. */
    gone?: Words;
  };
  /** States of an image. A snapshot is believed when its image is ready. */
  image?: {
    /** The image can be used. */
    ready?: Words;
    /** The image could not be made. */
    failed?: Words;
  };
}

export interface EnvelopeRows {
  /** Where the payload of a success is in the body. Left out: `data`. */
  data?: Pointers;
  /** Where a refusal says what is wrong. An answer that shows a message there is no success, whatever its status. */
  error?: {
    /** The service's own code. */
    code?: Pointers;
    /** The message. */
    message?: Pointers;
  };
  /** A field that says in every answer whether it was done, whatever the HTTP status. */
  success?: {
    /** Where it is. */
    value: Pointer;
    /** What it says when it was done; anything else there is a refusal. */
    is: Scalars;
  };
}

export interface LimitRows {
  /** How many requests may be under way at once. No command sends more, whatever --parallelism says. @min 1 @max 1000 */
  connections?: Whole;
  /** How many requests may begin in a second, evenly spread. @min 0.01 @max 100000 */
  requests_per_second?: number;
  /** The kinds of which the service refuses a second one of the same name. Where nothing can be listed, only a create of these is sent again when its outcome is unknown. @unique */
  unique?: readonly Kind[];
  /** What becomes of a group that is deleted while rules of other groups name it: it stays (kept), or the delete is refused. Left out: the service may drop those rules with the group. */
  named_groups?: "kept" | "refused";
}

export interface AuthorizationRows {
  /** The header that carries the credential. @pattern ^[A-Za-z0-9_-]+$ @maxLength 100 */
  name?: string;
  /** The value of that header, with {token} for RECONCILE_TOKEN or what the command prints. @pattern ^[ -z|~{}]*\{token\}[ -z|~{}]*$ */
  header?: string;
  /** A program and its arguments (no shell) that prints the token where neither RECONCILE_AUTHORIZATION nor RECONCILE_TOKEN is set, and again after a 401. @minItems 1 */
  command?: readonly Argument[] | null;
  /** The environment variables that the command may see, beside PATH, HOME, LANG, LC_*, TZ, TMPDIR and TRACEPARENT. */
  env?: readonly VariableName[];
}

/** One condition; everything that is given must fit. @inline */
export interface ErrorRule {
  /** The condition this answer means. throttled: nothing was done, and the request is sent again later. */
  is:
    | "bad_request"
    | "invalid_id"
    | "unauthenticated"
    | "forbidden"
    | "not_found"
    | "conflict"
    | "rule_exists"
    | "name_taken"
    | "invalid_state"
    | "flush_not_confirmed"
    | "volume_attached"
    | "group_attached"
    | "root_disk"
    | "unsupported"
    | "refused"
    | "throttled";
  /** The HTTP status. One of 500 and above counts as a refusal only where it is named here; one of 200 to 299 is for refusals inside a success. @min 200 @max 599 */
  status?: Whole;
  /** The service's own code, where envelope.error.code finds it (error.code unless said otherwise); * stands for anything. @maxLength 200 */
  code?: string | number;
  /** Text found anywhere in the message, in either case; * stands for anything. @minLength 1 @maxLength 500 */
  message?: string;
  /** The media type of the answer, such as text/html; * stands for anything. @minLength 1 @maxLength 200 */
  type?: string;
  /** Text found anywhere in the place to which the answer redirects; * stands for anything. @minLength 1 @maxLength 500 */
  location?: string;
}

/** @pattern ^((/([^~/]|~[01])*)+|[A-Za-z0-9_-]+)$ @maxLength 200 */
type WaitPointer = string | null;

export interface FingerprintRows {
  /** Where the record shows its version, such as /fingerprint, or the header of the answer to its read, such as ETag. */
  from: Pointers | HeaderName;
  /** How it is sent: the name of a header, such as If-Match, or a pointer into the body, such as /fingerprint. @pattern ^((/([^~/]|~[01])*)+|[A-Za-z0-9_-]+)$ @maxLength 200 */
  send: string;
}

export interface WaitHeader {
  /** The name of the header. @pattern ^[A-Za-z0-9_-]+$ @maxLength 200 */
  header: string;
  /** How long to wait in seconds, or when, as a date or in seconds from 1970. Left out: a number above 1000000000 is an epoch, any other is of seconds. */
  as?: "seconds" | "date" | "epoch";
}

/** What one deployment of the service really has where its contract is silent. Everything left out is taken from the built-in dialect. */
export interface DialectFile {
  /** What a person still has to find out; every command that reads the file warns about it. */
  todo?: Line | Things;
  /** The operations beyond the documented ones. null: this service does not have it. @table */
  operations?: Readonly<Record<string, WrittenRoute | readonly WrittenRoute[] | null>>;
  /** Where the record is in the answers of the documented operations. @each The answer of {key}. */
  answers?: { readonly [O in AnswerWithRecord]?: AnswerPlace };
  /** Where the fields are in the service's records: JSON pointers into the payload (the body, or its `data` when the body is the envelope), tried in order. */
  records?: RecordRows;
  /** What the service's state names mean, in either case. Any other name is a state in transition. */
  states?: StateRows;
  /** How a list goes on. A list can have its own under operations. */
  pagination?: Pagination;
  /** How answers are wrapped, where it is not as the contract says. */
  envelope?: EnvelopeRows;
  /** How rules are written. */
  rules?: {
    /** How a range of ports is written in dst_port, e.g. "{min}-{max}". null: ranges are refused. @pattern ^[^{}]*\{min\}[^{}]*\{max\}[^{}]*$ */
    port_range?: string | null;
  };
  /** Narrower rules for names. A name that does not fit is refused before anything is sent. */
  names?: {
    /** Names of VMs. */
    vm?: NameRule;
    /** Names of volumes. */
    volume?: NameRule;
    /** Names of security groups. */
    group?: NameRule;
  };
  /** Values for {name} in paths, queries, bodies and headers, such as a project's id. @maxProperties 50 */
  values?: Record<Word, Value>;
  /** Headers to send with every request, by name. {name} stands for a value. Never the credential. */
  headers?: Headers;
  /** How requests are authorised. The credential itself is never written here. */
  authorization?: AuthorizationRows;
  /** Named conditions by status and message, tried in order, before the defaults. */
  errors?: readonly ErrorRule[];
  /** What this deployment bears, and what it refuses by itself. */
  limits?: LimitRows;
  /** A version that a write has to send: the record is read first, and once more where it is another one by then. */
  fingerprint?: FingerprintRows;
  /** Where a service says how long to wait, beside Retry-After: a header, a pointer into the body, or a header with what stands in it. */
  retry_after?: WaitPointer | WaitHeader;
}

/** A JSON pointer (RFC 6901); the empty one is the whole value. @pattern ^(/([^~/]|~[01])*)*$ @maxLength 500 */
export type Pointer = string;

/** Places, tried in order; one alone needs no list. */
export type Pointers = Place | PlaceList;

/** The HTTP method. */
export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** The path below the base URL, with its placeholders. @pattern ^/[!-~]*$ @maxLength 1000 */
export type Path = string;

interface HttpCall {
  method: Method;
  path: Path;
  query?: Query;
  headers?: Headers;
  body?: Body;
}

interface ListCall extends HttpCall {
  /** Where the array of items is in the payload. A selector can open a map, choose items and unwrap them. */
  items?: Pointers;
  /** How this list goes on, key by key over the pagination of all. */
  pagination?: Pagination;
}

/** How the operation is called; null: this service does not have it. */
export type Route =
  | (HttpCall & {
      /** Where the record is within the payload, such as /server; left out: the payload itself. */
      item?: Pointers;
      /** Of two routes for one operation, the rules for which this one is. */
      when?: {
        /** The direction of the rule. */
        direction: "ingress" | "egress";
      };
    })
  | null;

/** How the list is called; null: this service does not have it. */
export type ListRoute =
  | (ListCall & {
      /** The list is read once for each {region}: those that region.list shows, or a list of ids. */
      for_each?: "region" | RegionIds;
    })
  | null;

/** A route of any operation, as far as its schema permits it there. */
export type WrittenRoute = NonNullable<Route> & Pick<NonNullable<ListRoute>, "items" | "pagination" | "for_each">;

/** A text, a number, true or false, compared as text. @maxLength 200 */
export type Scalar = string | number | boolean;

/** One value, or several of which any fits. */
export type Scalars = Scalar | ScalarList;

/** A place that a bare pointer cannot name. It is read from left to right: in, keys, where, then value (or join), cut, case, is and unit. @minProperties 1 */
export interface Selector {
  /** Where to choose from: a pointer, in which * stands for every member. */
  in?: Pointer;
  /** The members of a map are the items, and each gets its key as a field of this name. @minLength 1 @maxLength 100 */
  keys?: string;
  /** Only items whose fields have these values; a name that begins with / is a pointer into the item. @minProperties 1 @maxProperties 10 */
  where?: Record<string, Scalars>;
  /** Where the value is in the item; left out: the item itself. */
  value?: Pointer;
  /** Several places of the item, whose texts are joined with /. @minItems 2 @maxItems 5 */
  join?: readonly Pointer[];
  /** The text around the value, such as /vms/{value}; a * at the beginning stands for anything. What is written differently is not the value. @pattern ^[^{}]*\{value\}[^{}]*$ @maxLength 300 */
  cut?: string;
  /** For an id that stands here in other letters than where its own record shows it: it is read in small letters, or in capitals. */
  case?: "lower" | "upper";
  /** For what is true or false: true when one of these stands there. */
  is?: Scalars;
  /** For a size: what its number counts. */
  unit?: "B" | "KB" | "MB" | "GB" | "TB" | "KiB" | "MiB" | "GiB" | "TiB";
  /** Where this finds nothing, the record says that there is none. Left out: it does not say. */
  absent?: "none";
  /** What stands there when there is nothing, such as 0 or -: the record says that there is none. */
  none?: Scalars;
  /** For records.group.rules: rules that stand here are of this direction unless they say it themselves. */
  direction?: "ingress" | "egress";
  /** For records.volume.attached_to: what stands there is the name of the VM, and not its id. */
  by?: "name";
}

/** A JSON pointer (RFC 6901; the empty one is the whole value), or a selector. */
export type Place = Pointer | Selector;

/** Words of the service, exactly as it writes them; one alone needs no list. */
export type Words = Scalar | WordList;

/** Headers to send as well, by name. {name} stands for a value. Never the credential. @maxProperties 20 */
export type Headers = Record<HeaderName, HeaderValue>;

/** Parameters of the query, by name. {id} and {name} stand for ids and values. @maxProperties 20 */
export type Query = Record<string, ParameterValue>;

/** The body to send, as JSON. {id} and {name} stand for ids and values. */
export type Body = unknown;

/** How a list goes on. A list can have its own under operations. */
export interface Pagination {
  /** Where the whole body leads to the next page. A URL or a path is followed; anything else is sent as `param`. */
  next?: Pointers;
  /** A header of the answer that leads to the next page, such as X-Next-Page; of Link, what has rel="next". null: none does. @pattern ^[A-Za-z0-9_-]+$ @maxLength 100 */
  next_header?: string | null;
  /** What leads on is always sent as `param` (token), or always followed (link). */
  as?: "token" | "link";
  /** A link to another host is followed at the base URL, by its path and query. Left out: it is refused. */
  links?: "rewritten";
  /** The query parameter that carries what leads on, or a pointer (/…) into the request's body. @pattern ^([A-Za-z0-9_.$\[\]-]+|(/([^~/]|~[01])*)+)$ */
  param?: string;
  /** Where the last item of a page shows what is sent as `param` for the next one. */
  marker?: Pointers;
  /** The number of the first page; numbers are sent as `param`. */
  number?: 0 | 1;
  /** How many items came before is sent as `param`. */
  offset?: true;
  /** What looks as if it spoke of pages and does not: pointers into the whole body, and names of headers. @maxItems 50 */
  ignore?: readonly Sign[];
  /** How many items a page is asked to show, sent as `size_param`: the most that this service allows. @min 1 @max 100000 */
  size?: Whole;
  /** The query parameter (or pointer into the body) that carries `size`, such as limit or per_page. @pattern ^([A-Za-z0-9_.$\[\]-]+|(/([^~/]|~[01])*)+)$ */
  size_param?: string;
}

/** Names of one kind that this service takes. @minProperties 1 */
export interface NameRule {
  /** At least so many characters. @min 1 @max 255 */
  shortest?: Whole;
  /** At most so many characters. @min 1 @max 255 */
  longest?: Whole;
  /** A regular expression that the whole name fits. @minLength 1 @maxLength 200 */
  pattern?: string;
  /** The pattern in words, for messages: such as "begins with a letter". @maxLength 200 */
  says?: string;
}

/** Where this service lists what hangs on what. {id} stands for the id of a VM, where each VM has a list of its own. */
export type AttachmentRoute =
  | (ListCall & {
      /** Where an item shows the id of the VM, such as /server_id. Needless where the path names the VM. */
      vm?: Pointers;
      /** Where an item shows the id of the volume, such as /volume_id. */
      volume: Pointers;
    })
  | null;

/** How a job is asked for; {id} stands for its id. */
export type WaitRoute =
  | ({
      /** Where the answer to a write names its job, in the whole body, such as /jobid. */
      id: Pointers;
    } & HttpCall & {
        /** Where the job shows its state, in the whole body. */
        status: Pointers;
        /** The words for a job that is done. */
        done: Words;
        /** The words for a job that has failed. */
        failed?: Words;
        /** Where a failed job says why. */
        message?: Pointers;
        /** Where a job shows something only when it has failed, such as /error: it has failed then, whatever its state says. */
        error?: Pointers;
      })
  | null;
