/**
 * What a schema validator found, as diagnostics a person can act on: one for each place, with the alternatives of an
 * anyOf merged into one expectation, the nearest right word for a misspelt key or value, and the place in the file.
 */

import type { ErrorObject } from "ajv";
import { listed } from "../core/text/list-text";
import { nearestName, nearestText } from "../core/text/nearest";
import { fieldsIn, groupedBy, onlyDefined, ownValue } from "../core/text/objects";
import { fixOfLone, type Problem, shown } from "./problems";
import { isMap, offsetOfPath, type Path, type Place, valueAt, type YamlFile } from "./yaml/file";

type SchemaArea = "config" | "dialect";

export interface SchemaWords<A extends SchemaArea = SchemaArea> {
  /** First part of each code: `config` gives `config/unknown-key`. */
  readonly area: A;
  /** The word for a text that fits a pattern, by pattern; a pattern with an empty word is not mentioned. */
  readonly patterns?: Readonly<Record<string, string>>;
  /** Values that the schema cannot judge, because they come from references. */
  readonly ignores?: (path: Path, value: unknown) => boolean;
}

type SchemaCode<A extends SchemaArea> =
  `${A}/${"invalid-name" | "missing" | "unknown-key" | "not-allowed" | "wrong-type"}`;

export interface SchemaProblem<A extends SchemaArea> extends Problem {
  readonly code: SchemaCode<A>;
  readonly at: Place;
}

interface SchemaFinding<A extends SchemaArea> extends Omit<Problem, "at"> {
  readonly code: SchemaCode<A>;
  readonly path: Path;
  readonly on: "key" | "value";
  /** A number, true or false where text is wanted: the value only needs quotes. */
  readonly needsQuotes?: boolean;
}

/** `root` is the value that was validated, when it is not the whole file (then `within` is its path). */
export function schemaProblems<A extends SchemaArea>(
  file: YamlFile,
  errors: readonly ErrorObject[],
  words: SchemaWords<A>,
  root: unknown = file.root,
  place: (path: Path, on: "key" | "value") => Place = (path, on) => ({
    source: file,
    offset: offsetOfPath(root, path, on).offset,
  }),
): SchemaProblem<A>[] {
  const byPath = groupedBy(errors, (error) => error.instancePath);
  // An error inside the value says more than the list of alternatives for the whole value.
  const inner = pathsWithSomethingInside(byPath);
  const findings: SchemaFinding<A>[] = [];
  for (const [pointer, group] of byPath) {
    const path = pathOfPointer(pointer, root);
    const value = valueAt(root, path);
    if (words.ignores?.(path, value) !== true)
      findings.push(...findingsAt(group, path, value, inner.has(pointer), words));
  }
  return findings.map(({ path, on, needsQuotes, ...problem }) => {
    const at = place(path, on);
    // An anchor, an alias or a tag is not the value itself.
    const written = needsQuotes ? /(?![&*!])[^\s,\]}#]+/y : undefined;
    if (written !== undefined) written.lastIndex = at.offset;
    const token = written?.exec(at.source.text)?.[0];
    return {
      ...problem,
      ...onlyDefined({
        fix: token === undefined ? undefined : `write ${JSON.stringify(token)}, in quotes`,
        withoutExcerpt: mayBeSecret(path) ? true : undefined,
      }),
      at,
    };
  });
}

/** Where a credential, or an address that is one, may have been written in place of what names it. */
const mayBeSecret = (path: Path): boolean =>
  path.some((key) =>
    /^(?:authorization|headers|credential|(?:client_)?secret|token|slack|teams|smtp|webhook)$/.test(String(key)),
  );

function pathsWithSomethingInside(byPath: ReadonlyMap<string, readonly ErrorObject[]>): Set<string> {
  const inner = new Set<string>();
  for (const pointer of byPath.keys()) {
    for (let end = pointer.lastIndexOf("/"); end !== -1; end = pointer.lastIndexOf("/", end - 1)) {
      const outer = pointer.slice(0, end);
      if (inner.has(outer)) break;
      inner.add(outer);
      if (end === 0) break;
    }
  }
  return inner;
}

/** What the errors of one place say, by what it is about. */
function sorted<A extends SchemaArea>(errors: readonly ErrorObject[], words: SchemaWords<A>) {
  const unknownKeys = new Set<string>();
  const badNames = new Set<string>();
  const missing = new Set<string>();
  const expected: string[] = [];
  const enums: string[] = [];
  for (const { keyword, params, schemaPath } of errors)
    switch (keyword) {
      case "additionalProperties":
      case "unevaluatedProperties":
        unknownKeys.add(String(params.additionalProperty ?? params.unevaluatedProperty));
        break;
      case "propertyNames":
        badNames.add(String(params.propertyName));
        break;
      case "required":
        // Where one of several keys is required, the reader of the block says which.
        if (!/\/(?:oneOf|not|if)\b/.test(schemaPath)) missing.add(String(params.missingProperty));
        break;
      case "dependentRequired":
        missing.add(String(params.missingProperty));
        break;
      case "enum":
        enums.push(...wordsIn(params.allowedValues));
        break;
      case "const":
        expected.push(String(params.allowedValue));
        break;
      default: {
        const expectation = expectationOf(keyword, params, words);
        if (expectation !== undefined) expected.push(expectation);
      }
    }
  return { unknownKeys, badNames, missing, expected, enums };
}

function findingsAt<A extends SchemaArea>(
  errors: readonly ErrorObject[],
  path: Path,
  value: unknown,
  hasInner: boolean,
  words: SchemaWords<A>,
): SchemaFinding<A>[] {
  const findings: SchemaFinding<A>[] = [];
  const { unknownKeys, badNames, missing, expected, enums } = sorted(errors, words);
  for (const key of unknownKeys) findings.push(unknownKey(key, path, errors, words, value));
  for (const key of badNames)
    findings.push({
      code: `${words.area}/invalid-name`,
      summary: `the key ${key} is not allowed here`,
      detail: `expected letters, digits${words.area === "dialect" ? "" : ", hyphens"} and underscores`,
      fix: fixOfName(key, words.area),
      path: [...path, key],
      on: "key",
    });
  const onlyMap = isMap(value);
  if (onlyMap)
    for (const key of missing)
      findings.push({
        code: `${words.area}/missing`,
        summary: `${key} is missing`,
        fix: `add ${key}`,
        path,
        on: "key",
      });
  const said = findings.length > 0 || (hasInner && typeof value === "object" && value !== null);
  const wrong = enums.length > 0 || expected.length > 0;
  if (!said && wrong) findings.push(wrongValue(enums, expected, path, value, words));
  return findings;
}

function fixOfName(key: string, area: SchemaArea): string {
  const fitting = key.replaceAll(area === "dialect" ? /[^A-Za-z0-9_]+/g : /[^A-Za-z0-9_-]+/g, "_");
  return /[A-Za-z0-9]/.test(fitting) ? `write ${fitting}` : "give it a name of those";
}

/** The generated validators name the keys that would be allowed (scripts/generate-validators.mjs). */
const knownKeys = (errors: readonly ErrorObject[]): readonly string[] => [
  ...new Set(errors.flatMap(({ params }) => wordsIn(params.knownKeys))),
];

/** The words in a parameter of an error, which may be one word or a list. */
const wordsIn = (said: unknown): readonly string[] =>
  said === undefined ? [] : Array.isArray(said) ? said.map(String) : [String(said)];

function unknownKey<A extends SchemaArea>(
  key: string,
  path: Path,
  errors: readonly ErrorObject[],
  words: SchemaWords<A>,
  map: unknown,
): SchemaFinding<A> {
  const known = knownKeys(errors);
  // One that stands here already would be given twice.
  const open = known.filter((other) => !(isMap(map) && Object.hasOwn(map, other)));
  const renamed = [oursFor.get(key), `${key}s`].find((ours) => ours !== undefined && open.includes(ours));
  const other = key.startsWith("-")
    ? "put a space behind the dash"
    : renamed === undefined
      ? (fixOfElsewhere(key, known) ?? fixOfDeeper(key, errors))
      : undefined;
  const nearest = renamed ?? (other === undefined ? nearestName(key, open) : undefined);
  return {
    code: `${words.area}/unknown-key`,
    summary: `the key ${key} is not known here`,
    detail: known.length > 0 ? `expected one of ${listed([...known].sort(), 24)}` : undefined,
    fix: other ?? (nearest === undefined ? (fixOfComma(key, map) ?? "remove it") : `write ${nearest}`),
    path: [...path, key],
    on: "key",
  };
}

/** One of ours that stands in a block of this map: `lifecycle`, or `lifecycle.verify_resize`. */
function fixOfDeeper(key: string, errors: readonly ErrorObject[]): string | undefined {
  const places = [...new Set(errors.flatMap(({ params }) => wordsIn(ownValue(fieldsIn(params.deeperKeys), key))))];
  return places.length === 0 ? undefined : `write it under ${places.map((place) => `${place}:`).join(" or ")}`;
}

/** `{ dst_port: 443,444 }`: between braces a comma ends a value, and what stands behind it is a key of nothing. */
function fixOfComma(key: string, map: unknown): string | undefined {
  if (!isMap(map) || map[key] !== null || !/^\d[\d.:/-]*$/.test(key)) return undefined;
  const alike = (value: unknown): boolean =>
    /^\d[\d.:/-]*$/.test(String(value)) && /[.:]/.test(key) === /[.:]/.test(String(value));
  const [field, first] = Object.entries(map).find(([, value]) => value !== null && alike(value)) ?? [];
  return field === undefined ? undefined : `write several as a list: ${field}: [${String(first)}, ${key}]`;
}

/** What the service, and other tools, call a section or a field of ours, where it stands. */
const foreignKeys: Readonly<Record<string, readonly string[]>> = {
  groups: ["security_groups", "security-groups", "firewalls", "firewall_rules"],
  vms: ["instances", "servers", "machines", "virtual_machines"],
  volumes: ["disks"],
  vars: ["variables", "parameters"],
  components: ["modules"],
  outputs: ["output", "exports"],
  flavor_id: ["flavor", "instance_type", "machine_type", "server_type"],
  image_id: ["image", "ami", "image_name"],
  region: ["zone", "location", "availability_zone"],
  for_each: ["count", "replicas"],
  attach_to: ["vm", "instance", "server", "vm_id", "instance_id", "server_id"],
  size: ["size_gb", "capacity", "disk_size"],
  rules: ["ingress", "egress", "inbound", "outbound"],
  dst_port: ["port", "ports", "from_port", "to_port", "port_range", "port_range_min", "port_range_max"],
  remote_ip: ["cidr", "cidrs", "cidr_block", "cidr_blocks", "source", "remote_ip_prefix", "source_ips"],
  remote_group: ["remote_group_id", "source_group", "source_security_group_id"],
  protocol: ["ip_protocol", "proto"],
};
const oursFor = new Map(Object.entries(foreignKeys).flatMap(([ours, theirs]) => theirs.map((word) => [word, ours])));

/** What stands elsewhere here, or what the service has not at all: beside which key of ours, as a key without its marks. */
const elsewhere: readonly (readonly [string, RegExp, string])[] = [
  [
    "image_id",
    /^(vm|security)?groups?(ids?)?$/,
    "a VM is put into its group in the service's console: there is no call for it",
  ],
  ["image_id", /^(data)?(volumes?|disks?)$/, "declare it under volumes:, with attach_to: and the VM's key"],
  [
    "image_id",
    /^(userdata|cloudinit|provisioners?)$/,
    "the service takes no user data: after_ready runs a command on a new VM",
  ],
  [
    "image_id",
    /^(sshkeys?|key(name|pair)s?)$/,
    "the service takes no SSH key: put it into the image, or let after_ready do it",
  ],
  [
    "lifecycle",
    /^(tags?|labels?|metadata)$/,
    "the service has no tags or labels: put what you want to find into the name",
  ],
  ["lifecycle", /^dependson$/, "remove it: the references decide the order"],
  ["lifecycle", /^(deletionprotection|protect(ed)?|preventdestroy)$/, "write lifecycle: { prevent_destroy: true }"],
  ["vms", /^backend$/, "write state: and its URL"],
  ["vms", /^resources?$/, "VMs, volumes and groups stand in sections of their own: vms:, volumes: and groups:"],
  ["vms", /^locals$/, "write vars: { NAME: { default: … } }"],
  ["vms", /^providers?$/, "write service: { base_url: … }"],
];

function fixOfElsewhere(key: string, known: readonly string[]): string | undefined {
  const word = key.toLowerCase().replaceAll(/[-_]/g, "");
  return elsewhere.find(([beside, is]) => known.includes(beside) && is.test(word))?.[2];
}

function wrongValue<A extends SchemaArea>(
  enums: readonly string[],
  said: readonly string[],
  path: Path,
  value: unknown,
  words: SchemaWords<A>,
): SchemaFinding<A> {
  // A number or list outside its limits has a type that may stand there, and a number stays outside them in quotes.
  const isLimited = typeof value === "number" || Array.isArray(value);
  const limits = isLimited ? said.filter((one) => /^(?:at (?:least|most)|more than|nothing twice)\b/.test(one)) : [];
  const expected = limits.length > 0 ? limits : said;
  const all = [...new Set([...(enums.length > 0 ? [`one of ${[...new Set(enums)].join(", ")}`] : []), ...expected])];
  const nearest = typeof value === "string" ? nearestText(value, enums, (near) => `write ${near}`) : undefined;
  const field = path.findLast((step) => typeof step === "string") ?? "the file";
  return {
    code: `${words.area}/${enums.length > 0 && typeof value === "string" ? "not-allowed" : "wrong-type"}`,
    summary: `${field} cannot be ${typeof value === "string" && mayBeSecret(path) ? "the text that stands there" : shown(value)}`,
    detail: `expected ${all.join(" or ")}`,
    fix: nearest ?? fixOfShape(String(field), expected, value),
    path,
    on: "value",
    needsQuotes: expected.includes("text") && (typeof value === "number" || typeof value === "boolean"),
  };
}

/** Maps whose keys are names that their writer gives. */
const keyedMaps =
  /^(?:environments|vars|parameters|components|vms|volumes|groups|reads|lookups|outputs|rollout|services|tenants|stacks)$/;

/** What is written one level too high, or as a list where each has a key. */
function fixOfShape(field: string, expected: readonly string[], value: unknown): string | undefined {
  if (expected.includes("true or false") && (value === "true" || value === "false"))
    return `write ${value}, without quotes`;
  if (expected.includes("a list") && !expected.includes("a map")) return fixOfLone(field, value);
  if (!expected.includes("a map")) return undefined;
  if (Array.isArray(value))
    return keyedMaps.test(field) ? `give each a key in place of its dash: ${field}: { KEY: { … } }` : undefined;
  if (typeof value !== "string") return undefined;
  return entryOf(field, value) ?? (/^[\w-]+:(?!\/\/)\S/.test(value) ? "put a space behind the colon" : undefined);
}

function entryOf(list: string, address: string): string | undefined {
  if (list === "removed") return `write { from: ${address}, destroy: false }`;
  if (list === "moved") return `write { from: …, to: ${address} }`;
  return list === "imports" ? `write { to: ${address}, id: … }` : undefined;
}

const typeWords: Record<string, string> = {
  string: "text",
  integer: "a whole number",
  number: "a number",
  boolean: "true or false",
  object: "a map",
  array: "a list",
  null: "nothing",
};

/** What a limit says by its keyword, and of what. */
const limitWords: Readonly<Record<string, readonly [says: string, of?: string]>> = {
  minimum: ["at least"],
  maximum: ["at most"],
  exclusiveMinimum: ["more than"],
  minItems: ["at least", "item"],
  maxItems: ["at most", "item"],
  minLength: ["at least", "character"],
  maxLength: ["at most", "character"],
  minProperties: ["at least", "key"],
  maxProperties: ["at most", "key"],
};

function expectationOf(keyword: string, params: Record<string, unknown>, words: SchemaWords): string | undefined {
  const { limit, knownKeys: known } = params;
  if (keyword === "type")
    return wordsIn(params.type)
      .filter((type) => type !== "null")
      .map((type) => typeWords[type] ?? type)
      .join(" or ");
  if (keyword === "pattern")
    return (words.patterns?.[String(params.pattern)] ?? `text that fits ${params.pattern}`) || undefined;
  if (keyword === "uniqueItems") return "nothing twice";
  if (keyword === "minProperties" && known !== undefined) return `one of ${listed([...wordsIn(known)].sort(), 24)}`;
  const [says, of] = limitWords[keyword] ?? [];
  return says === undefined
    ? undefined
    : `${says} ${limit}${of === undefined ? "" : ` ${of}${limit === 1 ? "" : "s"}`}`;
}

/** A JSON pointer as path, with numbers where the value has lists. */
function pathOfPointer(pointer: string, root: unknown): Path {
  if (pointer === "") return [];
  const path: (string | number)[] = [];
  let value = root;
  for (const raw of pointer.slice(1).split("/")) {
    const name = raw.replace(/~1/g, "/").replace(/~0/g, "~");
    const step = Array.isArray(value) ? Number(name) : name;
    path.push(step);
    value = valueAt(value, [step]);
  }
  return path;
}
