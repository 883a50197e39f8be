import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { operations as usual } from "../../reconciler/core/model/operation";
import { builtInDialect } from "../../reconciler/dialect/built-in";
import { dialectPatternWords, readDialectText, readInlineDialect } from "../../reconciler/dialect/read-dialect";
import { readDialectFile } from "../../reconciler/open-service";

const readText = (text: string) => readDialectText(text, "dialect.yaml");
const dialectOf = (text: string) => {
  const { dialect, diagnostics } = readText(text);
  expect(diagnostics).toEqual([]);
  return dialect;
};

describe("merging", () => {
  test("an empty dialect is the built-in one", () => {
    expect(dialectOf("")).toEqual(builtInDialect);
    expect(dialectOf("{}")).toEqual(builtInDialect);
  });

  test("null switches an operation off, and nothing else changes", () => {
    expect(dialectOf("operations: { vm.list: null }").operations).toEqual({
      ...builtInDialect.operations,
      "vm.list": null,
    });
  });

  test("a list without items looks where the built-in one does", () => {
    const { operations } = dialectOf("operations: { volume.list: { method: GET, path: /v } }");
    expect(operations["volume.list"]).toEqual({ method: "GET", path: "/v", items: usual["volume.list"].items });
  });

  test("a list of pointers replaces the built-in list of that field alone", () => {
    const { records } = dialectOf("records: { vm: { id: [/uid], volume_entry: { root: [/r] } } }");
    expect(records).toEqual({
      ...builtInDialect.records,
      vm: {
        ...builtInDialect.records.vm,
        id: ["/uid"],
        volume_entry: { ...builtInDialect.records.vm.volume_entry, root: ["/r"] },
      },
    });
  });

  test("a state word given one meaning loses the one it is built in with, in any case", () => {
    const { states } = dialectOf("states: { vm: { failed: [ACTIVE] } }");
    expect(states.vm.failed).toEqual(["ACTIVE"]);
    expect(states.vm.running).toEqual(
      builtInDialect.states.vm.running.filter((word) => word.toLowerCase() !== "active"),
    );
  });

  test("a volume's words too", () => {
    const { states } = dialectOf("states: { volume: { ready: [error], changing: [MOVING] }, vm: { gone: [ERROR] } }");
    expect(states.volume).toEqual({
      ...builtInDialect.states.volume,
      ready: ["error"],
      changing: ["MOVING"],
      failed: builtInDialect.states.volume.failed.filter((word) => word.toLowerCase() !== "error"),
    });
    expect([states.vm.gone, states.vm.failed.includes("ERROR")]).toEqual([["ERROR"], false]);
  });

  test("one value stands for a list of one", () => {
    const {
      records,
      states,
      operations: routes,
    } = dialectOf(
      "records: { vm: { id: /uuid } }\nstates: { vm: { running: UP, stopped: 3 } }\noperations: { vm.list: { method: GET, path: /v, items: /servers } }",
    );
    expect(records.vm.id).toEqual(["/uuid"]);
    expect(states.vm).toMatchObject({ running: ["UP"], stopped: ["3"] });
    expect(routes["vm.list"]?.items).toEqual(["/servers"]);
  });

  test("an id may stand in the query or the body, and a rule's path may do without its group", () => {
    const { operations: routes } = dialectOf(
      `operations:
  vm.get: { method: GET, path: /vm, query: { id: "{id}" } }
  volume.delete: { method: POST, path: /volume/remove, body: { volumes: ["{id}"] } }
  group.rule.delete: { method: DELETE, path: "/rule/{rule_id}" }
  vm.list: { method: GET, path: "/p/{project}/vms" }
values: { project: p-1 }`,
    );
    expect(routes["volume.delete"]?.body).toEqual({ volumes: ["{id}"] });
  });

  test.each([
    'query: { command: revoke, id: "{rule_id}" }',
    'body: { rule: "{rule_id}" }',
    'query: { group: "{id}" }, body: { rule: "{rule_id}" }',
  ])("the id of a rule may stand outside of the path alone: %s", (where) => {
    const { diagnostics } = readText(`operations: { group.rule.delete: { method: POST, path: /api, ${where} } }`);
    expect(diagnostics).toEqual([]);
  });

  test("what is left to do is a warning at its line, and the dialect is used", () => {
    const { dialect, diagnostics } = readText("todo:\n  - which states a VM has\nstates: { vm: { running: [UP] } }");
    expect(diagnostics).toMatchObject([
      {
        severity: "warning",
        code: "dialect/todo",
        source: { line: 2 },
        summary: expect.stringContaining("which states"),
      },
    ]);
    expect(dialect.states.vm.running).toEqual(["UP"]);
  });

  test("every section can be given", () => {
    const dialect = dialectOf(`
pagination: { next: [/next], param: cursor }
rules: { port_range: "{min}:{max}" }
authorization: { header: "Token {token}", command: [get-token, --quiet] }
errors: [ { is: volume_attached, message: "in use" }, { is: conflict, status: 500 } ]
`);
    expect(dialect).toMatchObject({
      pagination: { next: ["/next"], param: "cursor" },
      rules: { port_range: "{min}:{max}" },
      authorization: { header: "Token {token}", command: ["get-token", "--quiet"] },
      errors: [
        { is: "volume_attached", message: "in use" },
        { is: "conflict", status: 500 },
      ],
    });
  });
});

describe("problems", () => {
  const cases: Record<string, [string, object]> = {
    "an unknown key has its place and the nearest right one": [
      "operations:\n  vm.lst: null\n",
      {
        code: "dialect/unknown-key",
        fix: "write vm.list",
        source: { file: "dialect.yaml", line: 2, column: 3 },
        excerpt: "  vm.lst: null",
      },
    ],
    "an unknown section": ["record: {}\n", { code: "dialect/unknown-key", fix: "write records" }],
    "a documented operation cannot be switched off": [
      "operations:\n  vm.create: null\n",
      { code: "dialect/documented-operation", source: { file: "dialect.yaml", line: 2, column: 3 } },
    ],
    "a documented operation cannot be moved": [
      "operations: { volume.get: { method: GET, path: /x } }",
      { code: "dialect/documented-operation" },
    ],
    "a method that is none": [
      "operations: { vm.list: { method: get, path: /x } }",
      { code: "dialect/not-allowed", fix: "write GET", source: { file: "dialect.yaml", line: 1, column: 34 } },
    ],
    "a rate that lets a run wait for a day": [
      "limits: { requests_per_second: 0.00001 }",
      { code: "dialect/wrong-type", detail: "expected at least 0.01" },
    ],
    "a program without a name": [
      "authorization: { command: ['  ', a] }",
      { code: "dialect/wrong-type", source: { file: "dialect.yaml", line: 1, column: 28 } },
    ],
    "a route without its path": [
      "operations: { vm.list: { method: GET } }",
      { code: "dialect/missing", summary: "path is missing" },
    ],
    "a path that does not begin with a slash": [
      "operations: { vm.list: { method: GET, path: vms } }",
      { code: "dialect/wrong-type", detail: "expected a path that begins with /, without spaces" },
    ],
    "a pointer that is none": [
      "records: { vm: { id: [id] } }",
      { detail: "expected a JSON pointer: empty, or beginning with / or a map" },
    ],
    "a pattern for names that is none": ["names: { vm: { pattern: '[' } }", { code: "dialect/name-pattern" }],
    "two ways for a list to go on": ["pagination: { number: 1, offset: true }", { code: "dialect/paging" }],
    "a page's size without its parameter": [
      "pagination: { size: 500 }",
      { code: "dialect/paging", fix: expect.stringContaining("size_param: limit") },
    ],
    "a credential in the file": [
      "headers: { x-auth-token: abc }",
      { code: "dialect/credential-header", fix: expect.stringContaining("name: x-auth-token") },
    ],
    "a query that names what has no value": [
      "operations: { vm.list: { method: GET, path: /v, query: { p: '{project}' } } }",
      { code: "dialect/placeholder", fix: "give it a value: values: { project: … }" },
    ],
    "a header of every request that names what has no value": [
      "values: { project: a }\nheaders: { X-Project: '{projct}', X-Empty: '{}' }",
      { code: "dialect/placeholder", fix: "give it a value: values: { projct: … }", source: { line: 2 } },
    ],
    "a job that is asked for with what has no value": [
      "operations: { wait: { id: /job, method: GET, path: '/{project}/jobs/{id}', status: /s, done: done } }",
      { code: "dialect/placeholder", fix: "give it a value: values: { project: … }" },
    ],
    "a list that is asked for with what a record shows": [
      "operations:\n  vm.list: { method: POST, path: /v, body: { zone: '{field:/zone}' } }",
      { code: "dialect/placeholder", summary: expect.stringContaining("{field:/zone}"), source: { line: 2 } },
    ],
    "a record that is asked for with what it shows": [
      "operations: { vm.get: { method: GET, path: '/{field:/zone}/v/{id}' } }",
      { code: "dialect/placeholder" },
    ],
    "a job that is asked for with what a record shows": [
      "operations: { wait: { id: /job, method: GET, path: '/{field:/zone}/jobs/{id}', status: /s, done: done } }",
      { code: "dialect/placeholder" },
    ],
    "a list of attachments that is asked for with what a record shows": [
      "operations: { attachments: { method: GET, path: '/a', headers: { X: '{field:/z}' }, vm: /vm, volume: /v } }",
      { code: "dialect/placeholder" },
    ],
    "a header of every request that says what a record shows": [
      "headers: { X-Zone: '{field:/zone}' }",
      { code: "dialect/placeholder" },
    ],
    "a delete of rules of one direction": [
      "operations:\n  group.rule.delete: { method: POST, path: '/e/{rule_id}', when: { direction: egress } }",
      { code: "dialect/missing", summary: expect.stringContaining("for ingress rules"), source: { line: 2 } },
    ],
    "two deletes of the rules of one direction": [
      "operations: { group.rule.delete: [{ method: POST, path: '/e/{rule_id}', when: { direction: egress } }, { method: POST, path: '/f/{rule_id}', when: { direction: egress } }] }",
      { code: "dialect/missing", summary: expect.stringContaining("(egress)") },
    ],
    "two deletes of every rule": [
      "operations: { group.rule.delete: [{ method: POST, path: '/e/{rule_id}' }, { method: POST, path: '/f/{rule_id}' }] }",
      { code: "dialect/missing" },
    ],
    "a list of regions that is read for each region": [
      "operations:\n  region.list: { method: GET, path: '/r/{region}', for_each: region }",
      { code: "dialect/missing", fix: expect.stringContaining("for_each: ["), source: { line: 2 } },
    ],
    "a list that is read for each region, and none that shows them": [
      "operations: { region.list: null, vm.list: { method: GET, path: '/{region}/v', for_each: region } }",
      { code: "dialect/missing", summary: expect.stringContaining("no region.list") },
    ],
    "a list of regions that names one twice": [
      "operations: { vm.list: { method: GET, path: '/{region}/v', for_each: [a, a] } }",
      { code: "dialect/wrong-type", detail: expect.stringContaining("nothing twice") },
    ],
    "a list that a DELETE is sent for": [
      "operations: { vm.list: { method: DELETE, path: /v } }",
      { code: "dialect/not-allowed", source: { line: 1, column: 34 } },
    ],
    "a record that a DELETE is sent for": [
      "operations: { vm.get: { method: DELETE, path: '/v/{id}' } }",
      { code: "dialect/not-allowed" },
    ],
    "a job that a DELETE is sent for": [
      "operations: { wait: { id: /j, method: DELETE, path: '/j/{id}', status: /s, done: ok } }",
      { code: "dialect/not-allowed" },
    ],
    "attachments that a DELETE is sent for": [
      "operations: { attachments: { method: DELETE, path: '/a/{id}', volume: /v } }",
      { code: "dialect/not-allowed" },
    ],
    "a route for some rules of what deletes none": [
      "operations: { volume.delete: { method: DELETE, path: '/v/{id}', when: { direction: egress } } }",
      { code: "dialect/not-allowed", fix: expect.stringContaining("group.rule.delete") },
    ],
    "a word for an image that means two things": [
      "states: { image: { ready: [DONE], failed: [done] } }",
      { code: "dialect/state-twice", summary: expect.stringContaining("image state done") },
    ],
    "a number whose value says less than its spelling": [
      "values: { project: 007 }\noperations: { vm.list: { method: GET, path: '/{project}/v' } }",
      { code: "config/invalid-value", fix: 'write 7, or "007" in quotes', source: { line: 1, column: 20 } },
    ],
    "a selector with a misspelt key": [
      "records: { vm: { name: { inn: /tags } } }",
      { code: "dialect/unknown-key", fix: "write in" },
    ],
    "a path without its id": [
      "operations: { volume.delete: { method: DELETE, path: /v } }",
      { code: "dialect/placeholder" },
    ],
    "a path with a placeholder that does not exist": [
      "operations: { vm.list: { method: GET, path: '/p/{project}/vms' } }",
      { code: "dialect/placeholder", detail: "It holds {project}." },
    ],
    "a rule's path without the rule's id": [
      "operations: { group.rule.delete: { method: DELETE, path: '/g/{id}' } }",
      { code: "dialect/placeholder", summary: "The path of group.rule.delete must hold {id} and {rule_id} once" },
    ],
    "a state with two meanings, in two cases": [
      "states: { volume: { ready: Available, failed: AVAILABLE } }",
      { code: "dialect/state-twice" },
    ],
    "a state with two meanings": ["states: { vm: { running: [UP], failed: [UP] } }", { code: "dialect/state-twice" }],
    "a port range without its ends": [
      "rules: { port_range: '{min}' }",
      { detail: expect.stringContaining("{min}-{max}") },
    ],
    "a header that could add another": [
      'authorization: { header: "Bearer {token}\\nX: y" }',
      { code: "dialect/wrong-type" },
    ],
    "an empty command": ["authorization: { command: [] }", { code: "dialect/wrong-type" }],
    "a condition that is none": ["errors: [ { is: volume_atached, status: 400 } ]", { fix: "write volume_attached" }],
    "an error rule that would fit everything": [
      "errors:\n  - is: conflict\n",
      { code: "dialect/error-rule", source: { line: 2 } },
    ],
    "an error rule by which every refusal means gone": [
      'errors: [{ is: not_found, message: "*" }]',
      {
        code: "dialect/error-rule",
        summary: expect.stringContaining("every refusal"),
        fix: expect.stringContaining("status: 404"),
      },
    ],
    "an error rule by which every page means gone": [
      "errors: [{ is: not_found, type: text/html }]",
      {
        code: "dialect/error-rule",
        summary: expect.stringContaining("asks to sign in"),
        fix: expect.stringContaining("status: 404"),
      },
    ],
    "an error rule by which every page means to wait, whatever its code": [
      'errors: [{ is: throttled, type: text/html, code: "*" }]',
      { code: "dialect/error-rule", fix: expect.stringContaining("status: 429") },
    ],
    "a list instead of a mapping": ["[1]", { code: "dialect/wrong-type" }],
    "what is no YAML": ["operations: { vm.list", { code: "config/yaml-syntax", source: { file: "dialect.yaml" } }],
    "a __proto__ key": ["__proto__: { operations: {} }", { severity: "error" }],
  };
  for (const [title, [text, expected]] of Object.entries(cases))
    test(title, () => {
      const { dialect, diagnostics } = readText(text);
      expect(diagnostics[0]).toMatchObject(expected);
      expect(diagnostics).toHaveLength(1);
      expect(dialect).toBe(builtInDialect);
    });

  test.each([
    "authorization: { header: ApiKey canary }",
    "authorization: { headr: ApiKey canary }",
    "authorization: { command: echo canary }",
    "authorization: ApiKey canary",
    "headers: { authorization: canary }",
    "headers: { x-key: [canary] }",
  ])("no error shows a credential that stands in the file: %s", (text) => {
    const { diagnostics } = readText(text);
    expect(diagnostics).toMatchObject([{ severity: "error", source: { line: 1 } }]);
    expect(JSON.stringify(diagnostics)).not.toContain("canary");
  });

  test("an address in place of its file is told without its password", () => {
    for (const path of ["https://u:sesame@h/d.yaml", "https:/u:ses ame@h/d.yaml"])
      expect(() => readDialectFile(path)).toThrow(/^the dialect https:\/+h\/d\.yaml cannot be read/);
  });

  test("a number is told beside other problems, and an amount of requests may end in a zero", () => {
    const codes = (text: string) => readText(text).diagnostics.map(({ code }) => code);
    expect(codes("values: { project: 007 }\noperatoins: {}\n")).toEqual([
      "config/invalid-value",
      "dialect/unknown-key",
    ]);
    expect(codes("limits: { requests_per_second: 1.0 }\n")).toEqual([]);
    expect(codes("limits: { requests_per_second: 01 }\n")).toEqual(["config/invalid-value"]);
  });

  test("all of them are reported at once, in the order of the file", () => {
    const { diagnostics } = readText("operations:\n  vm.lst: null\nrecords:\n  vm: { nam: [/n] }\nextra: 1\n");
    expect(diagnostics.map(({ source }) => source?.line)).toEqual([2, 4, 5]);
  });

  test("an inline dialect without its file's text is shown where it begins", () => {
    const source = { file: "reconcile.yaml", line: 7, column: 3 };
    const { diagnostics } = readInlineDialect({ operations: { "vm.lst": null } }, source);
    expect(diagnostics).toMatchObject([{ code: "dialect/unknown-key", source }]);
    expect(readInlineDialect({ operations: { "vm.list": null } }, source).dialect.operations["vm.list"]).toBeNull();
  });

  test("reading never throws, and never changes a prototype", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.jsonValue().map((value) => JSON.stringify(value)),
        ),
        (text) => {
          readText(text);
          expect(Object.keys(Object.prototype)).toEqual([]);
        },
      ),
      { numRuns: 1000 },
    );
  });
});

test("every pattern of the schema has its words", () => {
  const text = readFileSync(join(__dirname, "../../schemas/dialect.schema.json"), "utf8");
  const patterns = new Set<string>();
  JSON.parse(text, (key, value) => {
    if (key === "pattern" && typeof value === "string") patterns.add(value);
    return value;
  });
  expect(Object.keys(dialectPatternWords).sort()).toEqual([...patterns].sort());
});

test("every field of the schema is described", () => {
  const schema = JSON.parse(readFileSync(join(__dirname, "../../schemas/dialect.schema.json"), "utf8"));
  const bare: string[] = [];
  const visit = (node: Record<string, unknown>, path: string) => {
    for (const [name, child] of Object.entries((node["properties"] ?? {}) as Record<string, Record<string, unknown>>)) {
      const target = String(child["$ref"] ?? "")
        .split("/")
        .at(-1)!;
      if (child["description"] === undefined && schema.$defs[target]?.description === undefined)
        bare.push(`${path}/${name}`);
      visit(child, `${path}/${name}`);
    }
  };
  visit(schema, "");
  for (const definition of Object.values(schema.$defs)) visit(definition as Record<string, unknown>, "$defs");
  expect(bare).toEqual([]);
});
