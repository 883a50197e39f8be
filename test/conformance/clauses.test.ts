/** Keeps the list of clauses and the cases together: no clause without a case, no case without a clause. */
import { describe, expect, it } from "vitest";
import { type ConformanceCase, titleOf } from "./case";
import { cases } from "./cases";
import { type Clause, type ClauseId, clauses } from "./clauses";

const entries = Object.entries(clauses) as [ClauseId, Clause][];
const cited = new Set(cases.flatMap((each: ConformanceCase) => each.clauses));

describe("clauses of the contract", () => {
  it("are each held by a case, or say why no request can tell", () => {
    const bare = entries.filter(([id, clause]) => !cited.has(id) && clause.untestable === undefined);
    expect(bare.map(([id]) => id)).toEqual([]);
    const untestable = entries.filter(([, clause]) => clause.untestable !== undefined);
    const gaps = entries.filter(([, clause]) => clause.gap === true);
    console.info(
      `conformance: ${entries.length} clauses (${gaps.length} of them gaps, ${untestable.length} untestable), ${cases.length} cases`,
    );
  });

  it("are not cited where they say that no request can tell", () => {
    expect(entries.filter(([id, clause]) => clause.untestable !== undefined && cited.has(id))).toEqual([]);
  });

  it("are cited by every case, and all that is cited exists", () => {
    for (const each of cases) {
      expect(each.clauses.length, each.title).toBeGreaterThan(0);
      expect(each.clauses.filter((id) => !Object.hasOwn(clauses, id))).toEqual([]);
    }
  });

  it("make every title unlike the others", () => {
    const titles = cases.map(titleOf);
    expect(titles.filter((title, place) => titles.indexOf(title) !== place)).toEqual([]);
  });
});
