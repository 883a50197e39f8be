/** Cases of a dialect about what is sent and about jobs: what no recorded answer of a record shows. */
import { expect, test } from "vitest";
import { parse } from "yaml";
import { readCases, tryCase } from "../../reconciler/dialect/case";
import { readDialectText } from "../../reconciler/dialect/read-dialect";

const { dialect } = readDialectText(
  `operations:
  wait: { id: /jobid, method: GET, path: "/api/v1/job/{id}", status: /jobstatus, done: 1, failed: 2, message: /text }
  vm.list: { method: GET, path: "/api/v1/zones/{region}/vms", for_each: region }
  volume.delete: { method: POST, path: "/api/v1/volume/{id:number}/remove", query: { of: "{id:number}" } }
  vm.resize.confirm: { method: POST, path: "/api/v1/zones/{field:/zone}/vms/{id}/confirm" }
  group.rule.delete:
    - { method: POST, path: "/api/v1/revoke-egress/{rule_id}", when: { direction: egress } }
    - { method: POST, path: "/api/v1/revoke", body: { port: "{field:/port_range_min}", group: "{id}" } }
fingerprint: { from: /etag, send: If-Match }
`,
  "dialect.yaml",
);

const cases: readonly (readonly [what: string, yaml: string, problems: readonly unknown[]])[] = [
  [
    "a list of another length",
    "{ operation: vm.list, answer: [ { id: a, name: b } ], reads: [] }",
    ["it has 1 item, not 0"],
  ],
  [
    "a list that is expected of one record",
    "{ operation: volume.get, answer: { id: a, size: 1 }, reads: [] }",
    ["it is no list"],
  ],
  [
    "a record that is expected to be a number",
    "{ operation: volume.get, answer: { id: a, size: 1 }, reads: 5 }",
    [expect.stringMatching(/^it reads \{"kind":"volume",.*, not 5$/)],
  ],
  [
    "an answer where a refusal is expected",
    "{ operation: vm.list, answer: [], is: conflict }",
    ["it is an answer, and conflict was expected"],
  ],
  [
    "a record that no dialect reads",
    "{ operation: vm.create, answer: { id: a }, reads: { id: a } }",
    ["what vm.create answers is not read by a dialect"],
  ],
  [
    "a wait that is not asked for, and another one",
    "{ operation: vm.list, answer: { error: busy }, status: 503, is: unavailable, waits: 5 }",
    ["it asks for no wait"],
  ],
  ["a job that is done", "{ operation: wait, answer: { jobstatus: 1 }, job: done }", []],
  ["one that has failed", "{ operation: wait, answer: { jobstatus: 2 }, job: failed }", []],
  ["one under way", "{ operation: wait, answer: { jobstatus: 0 }, job: waiting }", []],
  [
    "one that means something else",
    "{ operation: wait, answer: { jobstatus: 2 }, job: done }",
    [expect.stringContaining('job reads "failed", not "done"')],
  ],
  [
    "an answer about a job that is a page",
    "{ operation: wait, text: '<html>', job: done }",
    ['job reads nothing, not "done"'],
  ],
  [
    "a number of an id where only text can stand",
    "{ operation: volume.delete, ids: { id: 7 }, sends: { method: POST, path: /api/v1/volume/7/remove?of=7 } }",
    [],
  ],
  [
    "a value of the record, and its version",
    "{ operation: vm.resize.confirm, ids: { id: a }, record: { zone: z1, etag: v7 }, sends: { method: POST, path: /api/v1/zones/z1/vms/a/confirm, headers: { If-Match: v7 } } }",
    [],
  ],
  [
    "a list of one region",
    "{ operation: vm.list, ids: { region: west-1 }, sends: { method: GET, path: /api/v1/zones/west-1/vms } }",
    [],
  ],
  [
    "a route by direction",
    "{ operation: group.rule.delete, ids: { id: g, rule_id: r }, record: { direction: egress }, sends: { path: /api/v1/revoke-egress/r } }",
    [],
  ],
  [
    "a rule by what it says",
    '{ operation: group.rule.delete, ids: { id: g }, record: { direction: ingress, port_range_min: 22 }, sends: { path: /api/v1/revoke, body: { port: "22", group: g } } }',
    [],
  ],
  [
    "a request that is another one",
    "{ operation: vm.list, ids: { region: west-1 }, sends: { path: /api/v1/vms } }",
    [expect.stringContaining("path reads")],
  ],
];

test.each(cases)("%s", (_, yaml, problems) => {
  const read = readCases({ cases: [parse(yaml)] });
  expect(read.problems).toEqual([]);
  expect(read.cases.flatMap((one) => tryCase(dialect, one))).toEqual(problems);
});

const inAHeader = readDialectText(
  `operations:
  volume.delete: { method: POST, path: /api/v1/graphql, body: { variables: { id: "{id:number}", as: "{id}" } } }
fingerprint: { from: ETag, send: If-Match }
`,
  "dialect.yaml",
).dialect;

test.each([
  ["an id as a number and as a text", '{ ids: { id: "42" }, sends: { body: { variables: { id: 42, as: "42" } } } }'],
  ["one that is none stays a text", "{ ids: { id: a-1 }, sends: { body: { variables: { id: a-1 } } } }"],
  [
    "a number that a double cannot hold",
    '{ ids: { id: "9007199254740993" }, sends: { body: { variables: { id: "9007199254740993" } } } }',
  ],
  [
    "a version that a header showed",
    '{ ids: { id: "1" }, headers: { ETag: v7 }, sends: { headers: { If-Match: v7 } } }',
  ],
])("%s", (_, yaml) => {
  const { cases: read, problems } = readCases({ cases: [{ operation: "volume.delete", ...parse(yaml) }] });
  expect([problems, read.flatMap((one) => tryCase(inAHeader, one))]).toEqual([[], []]);
});

test("a version that is a number stays one in a body, and a text in a header", () => {
  const sent = (send: string, sends: object) =>
    tryCase(
      readDialectText(`fingerprint: { from: /rev, send: "${send}" }`, "dialect.yaml").dialect,
      readCases({ cases: [{ operation: "group.update", ids: { id: "g" }, record: { rev: 7 }, sends }] }).cases[0]!,
    );
  expect(sent("/rev", { body: { rev: 7 } })).toEqual([]);
  expect(sent("/rev", { body: { rev: "7" } })).not.toEqual([]);
  expect(sent("If-Match", { headers: { "If-Match": "7" } })).toEqual([]);
});
