/** What a policy program may answer, and what is read from it. What nobody can read refuses the plan. */
import { expect, it } from "vitest";
import { findingsOfAnswer } from "../../reconciler/core/findings/policy-answer";

const source = { file: "reconcile.yaml", line: 3 };
const unread = ["error policy/failed the policy gave no answer that can be read (exit 0)"];
const denied = (summary: string, severity = "error"): string => `${severity} policy/denied ${summary}`;

it.each<[what: string, answer: unknown, told: readonly string[]]>([
  ["nothing", "", []],
  ["an empty list", [], []],
  ["an empty object", {}, []],
  ["a text", ["no"], [denied("no")]],
  ["a finding", [{ code: "cost", severity: "note", summary: "dear" }], ["note policy/cost dear"]],
  ["findings by name", { findings: [{ message: "no", severity: "warning" }] }, [denied("no", "warning")]],
  ["one a line, with empty ones between", '{"msg":"one"}\n\n \n{"msg":"two"}\n', [denied("one"), denied("two")]],
  ["one a line", '{"msg":"one"}\n{"msg":"two"}', [denied("one"), denied("two")]],
  ["a code with odd letters", [{ code: "policy/a b", msg: "no" }], ["error policy/a-b no"]],
  ["a code of nothing", [{ code: "policy/", msg: "no" }], [denied("no")]],
  [
    "conftest's form",
    [{ failures: [{ msg: "no" }], warnings: [{ msg: "well" }], successes: 3 }],
    [denied("no"), denied("well", "warning")],
  ],
  ["conftest's form, where all is well", [{ filename: "", successes: 3 }], []],
  ["conftest's form without failures", [{ failures: null, warnings: [{ msg: "well" }] }], [denied("well", "warning")]],
  [
    "what OPA prints",
    { result: [{ expressions: [{ value: { deny: ["no"], warn: ["well"] } }] }] },
    [denied("no"), denied("well", "warning")],
  ],
  [
    "what OPA prints of a package with rules of several names",
    {
      result: [
        {
          expressions: [
            {
              value: {
                deny: [],
                deny_public: ["no"],
                violation: [{ msg: "nor this" }],
                warn_later: ["well"],
                denial: 1,
              },
            },
          ],
        },
      ],
    },
    [denied("no"), denied("nor this"), denied("well", "warning")],
  ],
  ["denials of nothing", { deny: null, warn: [] }, []],
  ["a denial of another form beside an empty one", { deny: [], deny_public: { a: true } }, unread],
  ["what OPA prints of a set", { result: [{ expressions: [{ value: ["no"] }] }] }, [denied("no")]],
  ["what OPA prints of nothing", { result: [{ expressions: [{ value: [] }] }] }, []],
  ["a severity that there is not", [{ severity: "fatal", msg: "no" }], [denied("no")]],
  ["no text at all", [{ summary: "", msg: "" }], [denied("the policy refuses the plan")]],
  ["no JSON", "all is well", unread],
  ["a number", 1, unread],
  ["an object of another form", { allowed: false }, unread],
  ["one of another form among findings", ["no", { allowed: false }], unread],
  ["one of another form among lines", '{"msg":"one"}\n{"allowed":false}', unread],
  ["a line that is no JSON", '{"msg":"one"}\nwell', unread],
  ["failures of another form", [{ failures: [{ rule: "a" }] }], unread],
  ["expressions of another form", { result: [{ expressions: { value: ["no"] } }] }, unread],
  ["denials of another form", { deny: { a: true } }, unread],
  ["a denial that is a word for true", { deny: true }, unread],
  ["warnings of another form", { deny: [], warn: [1] }, unread],
])("%s", (_, answer, told) => {
  const stdout = typeof answer === "string" ? answer : JSON.stringify(answer);
  const found = findingsOfAnswer({ exitCode: 0, stdout, said: "" }, source);
  expect(found.map(({ severity, code, summary }) => `${severity} ${code} ${summary}`)).toEqual(told);
  for (const { severity, refused } of found) expect(refused !== undefined).toBe(severity === "error");
});

it.each<[number, string, readonly string[]]>([
  [1, "", ["policy/failed"]],
  [1, "[]", ["policy/failed"]],
  [1, '["no"]', ["policy/denied"]],
  [1, '[{"severity":"warning","msg":"odd"}]', ["policy/denied", "policy/failed"]],
  [124, '{"severity":"note","code":"a","msg":"odd"}', ["policy/a", "policy/failed"]],
  [127, "", ["policy/failed"]],
  [0, "[]", []],
])("exit %i with %s", (exitCode, stdout, codes) => {
  const found = findingsOfAnswer({ exitCode, stdout, said: "trace" }, source);
  expect(found.map(({ code }) => code)).toEqual(codes);
  for (const { code, detail, severity, refused } of found) {
    expect(detail).toBe(code === "policy/failed" ? "trace" : undefined);
    expect(refused !== undefined).toBe(severity === "error");
  }
});

it("where it was found is the place that the policy names, or the policy itself", () => {
  const stdout = JSON.stringify([
    { msg: "a", file: "vms.yaml", line: 7 },
    { msg: "b", file: "vms.yaml" },
    { msg: "c" },
    ...[0, -3, 1.5, "7"].map((line) => ({ msg: "d", file: "vms.yaml", line })),
  ]);
  const found = findingsOfAnswer({ exitCode: 0, stdout, said: "" }, source);
  expect(found.map((one) => one.source)).toEqual([
    { file: "vms.yaml", line: 7 },
    { file: "vms.yaml", line: 1 },
    source,
    ...[0, 1, 2, 3].map(() => ({ file: "vms.yaml", line: 1 })),
  ]);
});
