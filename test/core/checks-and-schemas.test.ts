/**
 * What is checked when a state is read, held against its schema: a value with every field that the schema names has to
 * pass, and has to be asked for exactly these fields. A field that is added to one alone fails here. The same of saved
 * plans stands in test/unit/plan-and-state-schema.test.ts.
 */
import { describe, expect, it } from "vitest";
import {
  areOutputs,
  intentProblem,
  isLastSeen,
  isRun,
  isRunEnd,
  isScope,
  orphanProblem,
  recordProblem,
  runsOf,
} from "../../reconciler/core/state/shape";
import { Asked, type Schema, schemaOf } from "../support/schemas";

const turns = [0, 1, 2, 3, 4, 5, 6, 7];

describe("a state", () => {
  const schema = schemaOf("state");
  const part = (name: string): Schema => schema.properties![name]!;
  const inner = (name: string): Schema => part(name).additionalProperties as Schema;
  const cases: Readonly<Record<string, readonly [schema: Schema, problemOf: (value: never) => unknown]>> = {
    record: [schema.$defs!["record"]!, (value: { address: string }) => recordProblem(value.address, value)],
    intent: [schema.$defs!["intent"]!, (value: { address: string }) => intentProblem(value.address, value)],
    orphan: [schema.$defs!["orphan"]!, (value) => orphanProblem(value)],
    run: [
      schema.$defs!["run"]!,
      (value) =>
        isRun(value) && isRunEnd(value) && runsOf({ one: value }).runs?.[0]?.before !== undefined
          ? undefined
          : "not a run",
    ],
    scope: [part("scope"), (value) => (isScope(value) ? undefined : "not a scope")],
    seen: [part("seen"), (value) => (isLastSeen(value) ? undefined : "not what was seen")],
    outputs: [part("outputs"), (value) => (areOutputs(value) ? undefined : "not outputs")],
  };
  it.each(Object.entries(cases))("%s", (name, [of, problemOf]) => {
    const asked = new Asked(schema);
    for (const turn of turns) expect(problemOf(asked.valueOf(of, name, turn) as never)).toBeUndefined();
    expect(asked.differences()).toEqual([]);
  });

  it("every map of it is among these", () => {
    expect(Object.keys(cases).length).toBeGreaterThan(0);
    for (const name of ["resources", "intents", "orphans", "runs"]) expect(inner(name).$ref, name).toBeDefined();
  });
});
