/**
 * Reads a user's dialect (a file's text, or the value written inside the desired state) over the built-in one. All
 * problems are collected, each at its place; with an error among them the built-in dialect comes back.
 */

import type { ErrorObject } from "ajv";
import { problemsOf } from "../config/generated/dialect";
import { readIfOurs, topKeys } from "../config/own-files";
import {
  addNumberProblems,
  collectProblems,
  type Problem,
  placesOfNumbers,
  problemAsDiagnostic,
} from "../config/problems";
import { schemaProblems } from "../config/schema-problems";
import { type Path, placeOf, type YamlFile } from "../config/yaml/file";
import { readYaml } from "../config/yaml/reader";
import { type Diagnostic, hasErrors, type SourcePosition, sortDiagnostics } from "../core/model/diagnostic";
import { toSay } from "../core/model/fix";
import { kindRows, kinds } from "../core/model/kinds";
import {
  type AssumedOperation,
  assumedOperations,
  documentedOperations,
  idsInPath,
  rowOf,
} from "../core/model/operation";
import { ifPossible } from "../core/text/errors";
import { isOneOf } from "../core/text/objects";
import { builtInDialect } from "./built-in";
import type { Dialect, Route } from "./dialect";
import { mergeDialect } from "./merge-dialect";
import { cleanMessage, own } from "./messages";
import { fieldsNamed, namesVm } from "./requests";
import type { DialectFile } from "./rows";

export interface ReadDialect {
  readonly dialect: Dialect;
  /** Sorted. */
  readonly diagnostics: readonly Diagnostic[];
}

/** `file` is what diagnostics call the text; nothing is opened here. */
export function readDialectText(text: string, file: string): ReadDialect {
  const problems = collectProblems();
  const expected = {
    what: "dialect",
    code: "dialect/wrong-type",
    keys: topKeys(problemsOf),
    fix: [toSay(["name a dialect; ", ["doctor", "--out", "FILE"], " writes one"], "name a dialect")],
  } as const;
  const read = readIfOurs({ file, text }, problems, expected, (problem) =>
    problems.diagnostics.push(problemAsDiagnostic(problem)),
  );
  if (hasErrors(problems.diagnostics))
    return { dialect: builtInDialect, diagnostics: sortDiagnostics(problems.diagnostics) };
  addNumberProblems(read, problems, placesOfNumbers(read, [["limits"]]));
  return readValue(read, problems.diagnostics);
}

/**
 * A dialect written inside another file: the value as the YAML reader gave it, and where it stands. With that file's
 * text every problem is shown at its own line, without it at `source`.
 */
export function readInlineDialect(value: unknown, source: SourcePosition, text?: string): ReadDialect {
  const read = readValue({ file: source.file, text: text ?? "", root: value }, []);
  if (text !== undefined) return read;
  return { ...read, diagnostics: read.diagnostics.map((diagnostic) => ({ ...diagnostic, source })) };
}

function readValue(file: YamlFile, before: readonly Diagnostic[]): ReadDialect {
  // The schema is asked below, and with an error the built-in dialect comes back.
  const given = (file.root ?? {}) as DialectFile;
  const problems: Problem[] = documentedProblems(file);
  const errors = problemsOf(given).filter((error) => !isDocumented(error));
  problems.push(...schemaProblems(file, errors, { area: "dialect", patterns: dialectPatternWords }, given));
  if (problems.length === 0)
    problems.push(
      ...routeProblems(file, given),
      ...placeholderProblems(file, given),
      ...waitProblems(file, given),
      ...attachmentProblems(file, given),
      ...fieldProblems(file, given),
      ...ruleRouteProblems(file, given),
      ...regionProblems(file, given),
      ...headerProblems(file, given),
      ...programProblems(file, given),
      ...valueProblems(file, given),
      ...pagingProblems(file, given),
      ...nameProblems(file, given),
      ...stateProblems(file, given),
      ...errorProblems(file, given),
    );
  const notes = problems.length === 0 ? todoNotes(file, given) : [];
  return {
    // The copy leaves the places behind, which the reader keeps beside the values.
    dialect: problems.length === 0 && !hasErrors(before) ? mergeDialect(structuredClone(given)) : builtInDialect,
    diagnostics: sortDiagnostics([...before, ...problems.map(problemAsDiagnostic), ...notes]),
  };
}

/** Where a line of a dialect stands; the nearest that is there, where the dialect leaves it to what is built in. */
export function placeInDialect(text: string, file: string, path: readonly string[]): SourcePosition | undefined {
  const read = readYaml({ file, text }, collectProblems());
  for (let length = path.length; length > 0; length--) {
    const part = path.slice(0, length);
    if (part.reduce<unknown>((value, key) => own(value, key), read.root) === undefined) continue;
    return problemAsDiagnostic({ code: "dialect/does-not-fit", summary: "", at: placeOf(read, part, "key") }).source;
  }
  return undefined;
}

/** What text that fits a pattern of the schema is called; a test compares the two. */
export const dialectPatternWords: Readonly<Record<string, string>> = {
  "^(/([^~/]|~[01])*)*$": "a JSON pointer: empty, or beginning with /",
  "^/[!-~]*$": "a path that begins with /, without spaces",
  "^([A-Za-z0-9_.$\\[\\]-]+|(/([^~/]|~[01])*)+)$":
    "the name of a query parameter, or a JSON pointer that begins with / into the body",
  "^[A-Za-z][A-Za-z0-9_]*$": "a name of letters, digits and underscores",
  "^[ -~]*$": "one line of plain text",
  "^[^{}]*\\{value\\}[^{}]*$": "text with {value} in it, such as /vms/{value}",
  "^[A-Za-z0-9_-]+$": "the name of a header",
  "^(?!RECONCILE_)[A-Za-z_][A-Za-z0-9_]*$": "the name of an environment variable that is none of RECONCILE_…",
  "^((/([^~/]|~[01])*)+|[A-Za-z0-9_-]+)$": "a JSON pointer that begins with /, or the name of a header",
  "^[^{}]*\\{min\\}[^{}]*\\{max\\}[^{}]*$": "text with {min} and then {max}, such as {min}-{max}",
  "^[ -z|~{}]*\\{token\\}[ -z|~{}]*$": "one line with {token}, such as Bearer {token}",
};

/** Documented operations have a problem of their own, which says more than that the key is not known. */
const isDocumented = (error: ErrorObject): boolean =>
  error.instancePath === "/operations" &&
  error.keyword === "additionalProperties" &&
  isOneOf(error.params["additionalProperty"], documentedOperations);

const documentedProblems = (file: YamlFile): Problem[] =>
  documentedOperations
    .filter((operation) => own(own(file.root, "operations"), operation) !== undefined)
    .map((operation) => ({
      code: "dialect/documented-operation",
      summary: `${operation} is part of the service's contract and cannot be changed or switched off`,
      fix: "Take the line out. The dialect is for what the contract leaves open.",
      at: placeOf(file, ["operations", operation], "key"),
    }));

/** Each route, with the operation that it is for. */
const routesIn = ({ operations = {} }: DialectFile) =>
  Object.entries(operations).flatMap(([operation, given]) =>
    [given ?? []].flat().map((route) => [operation, route] as const),
  );

/** What stands there for all requests, and for the routes that have it of their own; each with its place. */
function everyOne<K extends "headers" | "pagination">(given: DialectFile, key: K) {
  const ofRoutes = routesIn(given).map(([operation, route]) => [["operations", operation, key], route[key]] as const);
  return [[[key], given[key]] as const, ...ofRoutes].flatMap(([path, said]) =>
    said === undefined ? [] : [[path, said] as const],
  );
}

/** A job and the list of attachments are read as well. */
const isOfRead = (operation: string): boolean =>
  !isOneOf(operation, assumedOperations) || rowOf(operation).kind === "read";

/** What a plan sends changes nothing, and only rules are deleted by one of several routes. */
const routeProblems = (file: YamlFile, given: DialectFile): Problem[] =>
  routesIn(given).flatMap(([operation, route]): Problem[] => {
    const at = (key: string) => placeOf(file, ["operations", operation, key], "value");
    const reads = {
      code: "dialect/not-allowed",
      summary: `${operation} only reads, and a DELETE is sent to delete`,
      fix: "write GET, or POST where this service reads so",
      at: at("method"),
    } as const;
    const one = {
      code: "dialect/not-allowed",
      summary: `${operation} is called in one way, whatever "when" says`,
      fix: "take when out; it is for group.rule.delete",
      at: at("when"),
    } as const;
    return [
      ...(isOfRead(operation) && route.method === "DELETE" ? [reads] : []),
      ...(operation !== "group.rule.delete" && route.when !== undefined ? [one] : []),
    ];
  });

/** The placeholders that a request must have, and those that it may have. */
function placeholderProblems(file: YamlFile, { operations = {}, values = {} }: DialectFile): Problem[] {
  return assumedOperations.flatMap((operation) => {
    const given = operations[operation] ?? null;
    return given === null ? [] : [given].flat().flatMap((route) => problemsIn(operation, route));
  });

  function problemsIn(
    operation: AssumedOperation,
    route: Pick<Route, "path" | "query" | "headers" | "body"> & { readonly for_each?: unknown },
  ): Problem[] {
    // A list that is read for each region names it once at least.
    const ids = route.for_each === undefined ? idsInPath(operation) : [...idsInPath(operation), "region"];
    const inPath = namesIn(route.path);
    const elsewhere = namesIn([route.query, route.headers, route.body]);
    // A rule has an id of its own; that of its group is not always asked for.
    const isNamed = [...inPath, ...elsewhere].includes("rule_id");
    // A rule may be named by what it says as well.
    const isSaid = ids.includes("rule_id") && fieldsNamed(route).length > 0;
    const needed = isSaid ? [] : ids.includes("rule_id") && isNamed ? ["rule_id"] : ids;
    const strange = inPath.filter((name) => !ids.includes(name) && !Object.hasOwn(values, name));
    const lacking = needed.filter((name) => !inPath.includes(name) && !elsewhere.includes(name));
    const inHeaders = namesIn([route.query, route.headers]).filter(
      (name) => !ids.includes(name) && !Object.hasOwn(values, name),
    );
    const twice = new Set(inPath).size !== inPath.length;
    if (strange.length + lacking.length + inHeaders.length === 0 && !twice) return [];
    const braced = (names: readonly string[]): string => names.map((name) => `{${name}}`).join(" and ");
    const isElsewhere = strange.length === 0 && lacking.length === 0 && !twice;
    return [
      {
        code: "dialect/placeholder",
        summary: isElsewhere
          ? `${operation} names ${braced(inHeaders)}, which is neither an id nor among the dialect's values`
          : `The path of ${operation} must hold ${ids.length === 0 ? "no placeholder" : `${braced(ids)} once`}`,
        detail: `It holds ${inPath.length === 0 ? "none" : inPath.map((name) => `{${name}}`).join(", ")}.`,
        fix:
          strange.length + inHeaders.length > 0
            ? `give it a value: values: { ${strange[0] ?? inHeaders[0]}: … }`
            : "put what is missing in the path, the query, a header or the body",
        at: placeOf(file, ["operations", operation, isElsewhere ? "method" : "path"], "value"),
      },
    ];
  }
}

/** A job is asked for by its id, and a word for its state has one meaning. */
function waitProblems(file: YamlFile, given: DialectFile): Problem[] {
  const { wait } = mergeDialect({ operations: given.operations ?? {} });
  if (wait === undefined) return [];
  const problems: Problem[] = [];
  if (!namesIn([wait.path, wait.query, wait.headers, wait.body]).includes("id"))
    problems.push({
      code: "dialect/placeholder",
      summary: "operations.wait does not say which job it asks for",
      fix: "put {id} into its path, its query or its body",
      at: placeOf(file, ["operations", "wait", "path"], "value"),
    });
  const both = wait.done.find((word) => wait.failed.some((other) => other.toLowerCase() === word.toLowerCase()));
  if (both !== undefined)
    problems.push({
      code: "dialect/state-twice",
      summary: `The state ${both} of a job is given two meanings, done and failed`,
      at: placeOf(file, ["operations", "wait", "failed"], "value"),
    });
  return problems;
}

/** An item of the list of attachments is about a volume and a VM. */
function attachmentProblems(file: YamlFile, { operations = {} }: DialectFile): Problem[] {
  const { attachments } = mergeDialect({ operations });
  if (attachments === undefined || namesVm(attachments) || attachments.vm.length > 0) return [];
  return [
    {
      code: "dialect/placeholder",
      at: placeOf(file, ["operations", "attachments", "path"], "value"),
      summary: "operations.attachments does not say which VM an item is about",
      fix: "say where an item shows it, such as vm: /server_id; or put {id} into the path, where each VM has a list",
    },
  ];
}

/** What a record shows can be sent by a write alone, before which the record is read. */
function fieldProblems(file: YamlFile, given: DialectFile): Problem[] {
  const places: readonly (readonly [what: string, fields: readonly string[], path: Path])[] = [
    ...routesIn(given).flatMap(([operation, route]) =>
      isOfRead(operation)
        ? [[`operations.${operation}`, fieldsNamed(route), ["operations", operation, "path"]] as const]
        : [],
    ),
    ...Object.entries(given.headers ?? {}).map(
      ([name, value]) => [`headers.${name}`, fieldsNamed({ path: value }), ["headers", name]] as const,
    ),
  ];
  return places.flatMap(([what, [field], path]) =>
    field === undefined
      ? []
      : [
          {
            code: "dialect/placeholder",
            summary: `${what} names {field:${field}}, and no record is read before it`,
            fix: "write there what stands in the record, or put it into the request of a write, such as volume.delete",
            at: placeOf(file, path, "value"),
          },
        ],
  );
}

/** Every rule has one route by which it is deleted. */
function ruleRouteProblems(file: YamlFile, { operations = {} }: DialectFile): Problem[] {
  const routes = [operations["group.rule.delete"] ?? []].flat();
  const at = placeOf(file, ["operations", "group.rule.delete"], "key");
  const missing = (summary: string, fix: string): Problem[] => [{ code: "dialect/missing", summary, fix, at }];
  const said = routes.map(({ when }) => when?.direction);
  const lacking = (["ingress", "egress"] as const).find((one) => !said.includes(one));
  if (said.length > 1 && said[0] === said[1])
    return missing(
      `Two routes of group.rule.delete are for the same rules${said[0] === undefined ? "" : ` (${said[0]})`}`,
      "say of each for which rules it is: when: { direction: ingress }, when: { direction: egress }",
    );
  if (said.length === 0 || said.includes(undefined) || lacking === undefined) return [];
  return missing(
    `No route of group.rule.delete is for ${lacking} rules`,
    `add one for them, or take "when" out if this one deletes every rule`,
  );
}

/** A list that is read for each region has to be told the regions. */
function regionProblems(file: YamlFile, { operations = {} }: DialectFile): Problem[] {
  const { "region.list": regions } = mergeDialect({ operations }).operations;
  return routesIn({ operations })
    .filter(([operation, { for_each }]) => for_each === "region" && (operation === "region.list" || regions === null))
    .map(([operation]) => ({
      code: "dialect/missing",
      summary: `${operation} is read for each region, and ${regions === null ? "no region.list shows them" : "it is what shows the regions"}`,
      fix: "name the regions: for_each: [west-1, east-1], with the ids of yours",
      at: placeOf(file, ["operations", operation, "for_each"], "value"),
    }));
}

/** A {name} without a value would be sent as it is: of a job, of attachments, and in the headers of every request. */
function valueProblems(file: YamlFile, { operations = {}, values = {}, headers = {} }: DialectFile): Problem[] {
  const { wait, attachments } = mergeDialect({ operations });
  const ofJob = namesIn([wait?.path, wait?.query, wait?.headers]);
  const ofList = namesIn([attachments?.path, attachments?.query, attachments?.headers, attachments?.body]);
  const ofAll = ["id", "rule_id", "region"];
  const places: readonly (readonly [path: Path, names: readonly string[], ids: readonly string[], id?: string])[] = [
    [["operations", "wait", "path"], ofJob, ["id"]],
    [["operations", "attachments", "path"], ofList, ["id"], "the id of a VM"],
    ...Object.entries(headers).map(([name, value]) => [["headers", name], namesIn(value), ofAll] as const),
  ];
  return places.flatMap(([path, names, ids, id = "an id"]) => {
    const strange = names.find((name) => name !== "" && !ids.includes(name) && !Object.hasOwn(values, name));
    if (strange === undefined) return [];
    return [
      {
        code: "dialect/placeholder",
        summary: `${path.slice(0, 2).join(".")} names {${strange}}, which is neither ${id} nor among the dialect's values`,
        fix: `give it a value: values: { ${strange}: … }`,
        at: placeOf(file, path, "value"),
      },
    ];
  });
}

function namesIn(value: unknown): readonly string[] {
  if (typeof value === "string") return [...value.matchAll(/\{(\w*)(?::number)?\}/g)].map(([, name]) => name ?? "");
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [...namesIn(key), ...namesIn(inner)]);
}

/** A credential goes by its own way, which keeps it out of logs and off other hosts. */
function headerProblems(file: YamlFile, given: DialectFile): Problem[] {
  const carrier = (given.authorization?.name ?? "Authorization").toLowerCase();
  return everyOne(given, "headers").flatMap(([path, headers]) =>
    Object.keys(headers)
      .filter((name) => name.toLowerCase() === carrier || /^(authorization|cookie|x-auth-token)$/i.test(name))
      .map((name) => ({
        code: "dialect/credential-header",
        summary: `The header ${name} would carry a credential that is written in the dialect`,
        fix: `take it out, set RECONCILE_TOKEN, and say how it is sent: authorization: { name: ${name}, header: "{token}" }`,
        at: placeOf(file, [...path, name], "key"),
        withoutExcerpt: true as const,
      })),
  );
}

const programProblems = (file: YamlFile, { authorization }: DialectFile): Problem[] =>
  authorization?.command?.[0]?.trim() === ""
    ? [
        {
          code: "dialect/wrong-type",
          summary: "authorization.command begins with a blank text",
          fix: "write the name of a program, then its arguments: [PROGRAM, …]",
          at: placeOf(file, ["authorization", "command", 0], "value"),
        },
      ]
    : [];

/** A marker, a page's number and an offset are three ways to ask for the next page; a list knows one of them. */
function pagingProblems(file: YamlFile, given: DialectFile): Problem[] {
  const ways = ["marker", "number", "offset"] as const;
  const holders = everyOne(given, "pagination");
  const sizes = holders
    .filter(([, { size, size_param = given.pagination?.size_param }]) => size !== undefined && size_param === undefined)
    .map(
      ([path]): Problem => ({
        code: "dialect/paging",
        summary: "A list is asked for pages of a size, and nothing says by which parameter",
        fix: "add size_param: limit, or as this service calls it",
        at: placeOf(file, [...path, "size"], "key"),
      }),
    );
  const waysOn = holders.flatMap(([path, paging]): Problem[] => {
    const said = ways.filter((way) => paging[way] !== undefined);
    if (said.length < 2) return [];
    return [
      {
        code: "dialect/paging",
        summary: `A list goes on by ${said.join(", by ")}, and it can go on in one way only`,
        fix: "keep the one that this service has",
        at: placeOf(file, [...path, said[1] ?? ""], "key"),
      },
    ];
  });
  return [...sizes, ...waysOn];
}

const nameProblems = (file: YamlFile, { names = {} }: DialectFile): Problem[] =>
  kinds
    .filter((kind) => !isRegularExpression(names[kind]?.pattern ?? ""))
    .map((kind) => ({
      code: "dialect/name-pattern",
      summary: `The pattern of names.${kind} is not a regular expression`,
      fix: 'write one such as "^[a-z][a-z0-9-]*$"',
      at: placeOf(file, ["names", kind, "pattern"], "value"),
    }));

const isRegularExpression = (pattern: string): boolean =>
  ifPossible(() => new RegExp(pattern, "u").source !== "") ?? false;

/** A `todo` of the dialect is reported until it is removed. */
const todoNotes = (file: YamlFile, { todo = [] }: DialectFile): Diagnostic[] =>
  (typeof todo === "string" ? [todo] : todo).map((text, index) =>
    problemAsDiagnostic({
      severity: "warning",
      code: "dialect/todo",
      summary: `The dialect still has something for a person to do: ${cleanMessage(text)}`,
      fix: "do it, then take the line out of todo",
      at: placeOf(file, typeof todo === "string" ? ["todo"] : ["todo", index], "value"),
    }),
  );

const stateProblems = (file: YamlFile, { states }: DialectFile): Problem[] =>
  (["vm", "volume", "image"] as const).flatMap((kind) => {
    const meanings = new Map<string, string>();
    const problems: Problem[] = [];
    for (const [phase, words] of Object.entries(states?.[kind] ?? {}))
      (Array.isArray(words) ? words : [words]).map(String).forEach((word, index) => {
        const other = meanings.get(word.toLowerCase());
        if (other !== undefined && other !== phase)
          problems.push({
            code: "dialect/state-twice",
            summary: `The ${kind === "image" ? kind : kindRows[kind].noun} state ${word} is given two meanings, ${other} and ${phase}`,
            fix: "leave it in one of the two",
            at: placeOf(file, ["states", kind, phase, ...(Array.isArray(words) ? [index] : [])], "value"),
          });
        meanings.set(word.toLowerCase(), phase);
      });
    return problems;
  });

/** Conditions on which something is believed to be gone, to be there, or is sent again, and their usual status. */
const actedOn = new Map<string, number>([
  ["not_found", 404],
  ["rule_exists", 409],
  ["throttled", 429],
]);

/** A rule that fits everything would give every refusal its own meaning: a credential that is over means "gone". */
const errorProblems = (file: YamlFile, { errors = [] }: DialectFile): Problem[] =>
  errors.flatMap(({ is, status, ...texts }, index) => {
    const { message, code, location, type } = texts;
    const isSaid = (part: unknown): boolean => part !== undefined && !/^\*+$/.test(String(part));
    const others = [message, code, location].some(isSaid);
    const isOfAll = actedOn.has(is) ? !others : Object.values(texts).every((part) => part === undefined);
    if (status !== undefined || !isOfAll) return [];
    return [
      {
        code: "dialect/error-rule",
        summary: isSaid(type)
          ? `The error rule for ${is} fits every answer of the type ${type}, such as the page of a proxy that asks to sign in`
          : `The error rule for ${is} fits every refusal: it has no status, and no code, message, type or location but *`,
        fix: `add the status of the answers that are meant, such as status: ${actedOn.get(is) ?? 409}, or message: words that the service uses`,
        at: placeOf(file, ["errors", index], "value"),
      },
    ];
  });
