import { describe, expect, it } from "vitest";
import { mayRead, partOfPlace, type StackState, sharedStates } from "../../reconciler/fleet/may-read";

const stacks: readonly StackState[] = [
  { name: "shop", tenant: "payments", state: "postgres://db.example/fleet?state=shop" },
  { name: "network", tenant: "payments", state: "postgres://db.example/fleet?state=network" },
  { name: "lab-net", tenant: "labs", state: "postgres://db.example/fleet?state=lab-net" },
  { name: "bucket", tenant: "labs", state: "s3://states/bucket.json" },
  { name: "local", tenant: "labs", state: "/var/states/local.json" },
];
const at = (state: string): string => `postgres://db.example/fleet?state=${state}`;

/** The place that is read; `no`: it is refused. */
const cases: Readonly<Record<string, readonly [read: string, permitted: readonly string[], is: string]>> = {
  "its own tenant's": [at("network"), [], at("network")],
  "the same place, spelt otherwise": ["postgresql://me@DB.example:5432/fleet?state=network", [], at("network")],
  "the same place, with how it is reached": [`${at("network")}&sslmode=require&schema=reconcile`, [], at("network")],
  "the same place, with an escape and a point": ["postgres://db.example./%66leet?state=network", [], at("network")],
  "another schema": [`${at("network")}&schema=other`, [], "no"],
  "another tenant's": [at("lab-net"), [], "no"],
  "another tenant's, by its name": [at("lab-net"), ["lab-net"], at("lab-net")],
  "another tenant's, by a pattern": [at("lab-net"), ["lab-*"], at("lab-net")],
  "another tenant's, where another name is permitted": [at("lab-net"), ["lab"], "no"],
  "another tenant's, where its address is permitted and not its name": [at("lab-net"), [at("lab-net")], "no"],
  "another state in the same place": [`${at("network")}&state=lab-net`, [], "no"],
  "another host behind the same address": [`${at("network")}&host=/tmp`, [], "no"],
  "no stack's": [at("somebody"), [], "no"],
  "no stack's, by a pattern": [at("somebody"), ["*"], "no"],
  "no stack's, by its address": [at("somebody"), [at("somebody")], at("somebody")],
  "a bucket's": ["s3://states/bucket.json", ["bucket"], "s3://states/bucket.json"],
  "a file": ["/var/states/../states/local.json", ["local"], "/var/states/local.json"],
  "a file of nobody": ["/etc/passwd", ["*"], "no"],
  "a file as a URL": ["file:///etc/passwd", ["*"], "no"],
  "what is no address": ["postgres://[", [], "no"],
};

describe("whose state a stack of the tenant payments may read", () => {
  it.each(Object.entries(cases))("%s", (_, [read, permitted, is]) => {
    const answer = mayRead(read, { tenant: "payments" }, { mayRead: permitted }, stacks);
    expect("state" in answer ? answer.state : "no").toBe(is);
  });

  it.each([
    ["postgres://fleet@db.example/?state=a", "postgres://db.example/fleet?state=a"],
    ["postgres://db.example/fleet", "postgresql://db.example:5432/fleet?state=default&application_name=x"],
    [
      "postgres://db.example/fleet?state=a&sslrootcert=/ca.pem",
      "postgres://db.example/fleet?connect_timeout=5&state=a",
    ],
    ["s3://states/a.json", "s3://states/a.json"],
  ])("%s and %s are one state, and no two stacks have it", (one, other) => {
    const stacks = [one, other, "postgres://db.example/fleet?state=b", "s3://states/b.json?a=b", "s3://states/b.json"];
    expect(sharedStates(stacks.map((state, at) => ({ name: String(at), state })))).toEqual([["0", "1"]]);
  });

  it("a text of the place finds its stack in the database", () => {
    for (const { state } of stacks) expect(state).toContain(partOfPlace(state));
    expect(partOfPlace(at("network"))).toBe("network");
    expect(partOfPlace(at("default"))).toBe(partOfPlace("postgres://db.example/fleet"));
    expect(partOfPlace("/var/states/local.json")).toBe("local");
  });
});
