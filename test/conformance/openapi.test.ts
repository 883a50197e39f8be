/** The OpenAPI document as a document: complete, without loose ends, and clear about what is assumed. */
import { describe, expect, it } from "vitest";
import { assumedOperations, documentedOperations } from "../../reconciler/core/model/operation";
import { loadContract, readDocument } from "./contract";

const document = readDocument();
const contract = loadContract(true);

function visit(value: unknown, path: string, see: (value: Record<string, unknown>, path: string) => void): void {
  if (typeof value !== "object" || value === null) return;
  if (!Array.isArray(value)) see(value as Record<string, unknown>, path);
  for (const [key, inner] of Object.entries(value)) visit(inner, `${path}/${key}`, see);
}

describe("service.openapi.yaml", () => {
  it("has each operation that the product names, documented and assumed ones told apart", () => {
    const idsOf = (assumed: boolean) =>
      [...contract.operations.values()]
        .filter(({ availability }) => (availability !== "documented") === assumed)
        .map(({ id }) => id)
        .sort();
    expect(idsOf(false)).toEqual([...documentedOperations].sort());
    expect(idsOf(true)).toEqual([...assumedOperations].sort());
  });

  it("leads every reference somewhere, and uses every component", () => {
    const used = new Set<string>();
    visit(document, "#", ({ $ref }) => {
      if (typeof $ref === "string") used.add($ref);
    });
    const components = document["components"] as Record<string, Record<string, unknown>>;
    const defined = ["parameters", "responses", "schemas"].flatMap((group) =>
      Object.keys(components[group] ?? {}).map((name) => `#/components/${group}/${name}`),
    );
    expect([...used].sort()).toEqual(defined.sort());
  });

  it("describes every answer, and says for each refusal which condition it stands for", () => {
    const bare: string[] = [];
    for (const { id, definition } of contract.operations.values())
      for (const status of Object.keys(definition["responses"] as object)) {
        if (status === "default") continue;
        const isRefusal = Number(status) >= 400;
        if (isRefusal && (contract.conditionsOf(id, Number(status)) ?? []).length === 0) bare.push(`${id} ${status}`);
      }
    expect(bare).toEqual([]);
  });

  it("refuses an answer that is not the contract's, and lets pass what is only assumed unless held to it", () => {
    const lenient = loadContract(false);
    const json = "application/json";
    expect(contract.checkAnswer("vm.create", 202, json, { data: "accepted" })).toEqual([]);
    for (const judge of [contract, lenient]) {
      expect(judge.checkAnswer("vm.create", 202, json, "accepted")).not.toEqual([]);
      expect(judge.checkAnswer("volume.attach", 200, json, { data: "attached" })).not.toEqual([]);
      expect(judge.checkAnswer("vm.stop", 409, json, { message: "no" })).not.toEqual([]);
      expect(judge.checkAnswer("vm.stop", 200, "text/html", { data: "stopped" })).not.toEqual([]);
      expect(judge.checkAnswer("group.rule.create", 409, json, { error: { code: 409, message: "other" } })).not.toEqual(
        [],
      );
    }
    const foreign = { volume_id: "v-1", gigabytes: 5 };
    expect(contract.checkAnswer("volume.create", 201, json, foreign)).not.toEqual([]);
    expect(lenient.checkAnswer("volume.create", 200, json, foreign)).toEqual([]);
  });
});
