/** Whose a field of another resource is (one/field-of.ts): what a delete does after which calls of which resources. */
import { describe, expect, it } from "vitest";
import { createFieldHandler, type FieldResource, keptField } from "../../reconciler/one/field-of";
import type { HandlerContext, HandlerService, Props } from "../../reconciler/one/handler";
import { noteGone, noteSuccessor } from "../../reconciler/one/made-here";
import { claimMade } from "../../reconciler/one/ownership";

const origin = "http://one.example";
const of = (owner: string, more: object = {}): Props => ({ recorded: { owner, scope: { origin }, ...more } });

interface Row {
  /** The resources that do something before, and what. */
  readonly before: readonly (readonly [owner: string, does: "diff" | "update" | "delete"])[];
  /** The field stays in the service, as its kind says. */
  readonly stays?: true;
  readonly ends: string;
}

function stage(isGone: boolean) {
  const done: string[] = [];
  const service = { client: { origin } } as unknown as HandlerService;
  const context: HandlerContext = {
    service: async () => service,
    signal: new AbortController().signal,
    log: (severity, message) => void done.push(`${severity}: ${message.slice(0, 40)}`),
  };
  const field: FieldResource<readonly [string, string]> = {
    noun: "rule",
    written: "GROUP/RULE",
    type: "T",
    description: "",
    inputs: {},
    outputs: {},
    stables: [],
    ids: (group, rule) => [group, rule],
    said: () => ({}),
    names: { vmId: "vm", volumeId: "volume" },
    check: (inputs) => ({ inputs, failures: [], warnings: [] }),
    changes: () => [],
    diff: async () => ({ deleteBeforeReplace: false, warnings: [] }),
    preview: async () => [],
    create: async (_, at, inputs) => keptField(at, "g/r", inputs, "new"),
    read: async ({ id, ids }, _, known) => ({ id, inputs: { ids }, outputs: { known } }),
    update: async ({ service: at, id }, _, inputs, owner) => keptField(at, id, inputs, owner),
    async remove({ ids }) {
      done.push(`removes ${ids.join(" ")}`);
      return isGone;
    },
  };
  return { handler: createFieldHandler(field), context, service, done };
}

const rows: Readonly<Record<string, Row>> = {
  "its own": { before: [], ends: "removes g r" },
  "its own, which it has shown to manage": { before: [["a", "diff"]], ends: "removes g r" },
  "its own, which it has changed": { before: [["a", "update"]], ends: "removes g r" },
  "another resource has shown to manage it": {
    before: [["b", "diff"]],
    ends: "warning: rule g/r stays: another resource of this",
  },
  "both have": {
    before: [
      ["a", "diff"],
      ["b", "diff"],
    ],
    ends: "warning: rule g/r stays: another resource of this",
  },
  "another resource has changed it": {
    before: [["b", "update"]],
    ends: "warning: rule g/r stays: another resource of this",
  },
  "another resource has deleted it, and nobody claims it": {
    before: [
      ["b", "diff"],
      ["b", "delete"],
    ],
    ends: "removes g r",
  },
  "another resource has deleted it, and it stays in the service": {
    before: [
      ["b", "diff"],
      ["b", "delete"],
    ],
    stays: true,
    ends: "warning: rule g/r stays: another resource of this",
  },
};

describe("a field of another resource is deleted by whose it is", () => {
  it.each(Object.entries(rows))("%s", async (_, { before, stays, ends }) => {
    const { handler, context, done } = stage(stays !== true);
    for (const [owner, does] of before) {
      if (does === "diff") await handler.diff(context, "g/r", of(owner), {});
      if (does === "update") await handler.update(context, "g/r", of(owner), {});
      if (does === "delete") await handler.delete(context, "g/r", of(owner));
    }
    done.length = 0;
    await handler.delete(context, "g/r", of("a"));
    expect(done.join("; ")).toBe(ends);
  });

  it.each([["g"], ["g/r/s"], ["/r"], ["g/"]])("%s is no id of one", async (id) => {
    const { handler, context } = stage(true);
    await expect(handler.read(context, id)).rejects.toThrow(`${id} is no id of a rule`);
  });

  it("touches nothing of another service, whatever is asked of it", async () => {
    const { handler, context, done } = stage(true);
    const elsewhere = of("a", { scope: { origin: "http://other.example" } });
    await expect(handler.diff(context, "g/r", elsewhere, {})).rejects.toThrow("other.example");
    await expect(handler.delete(context, "g/r", elsewhere)).rejects.toThrow("other.example");
    expect(done).toEqual([]);
  });

  it("an import has an owner of its own, which an update keeps", async () => {
    const { handler, context, service } = stage(true);
    const found = await handler.read(context, "g/r");
    const { known } = found!.outputs as { known: { owner: string; imported?: true } };
    expect(known.imported).toBe(true);
    const kept = await handler.update(context, "g/r", { recorded: known }, {});
    expect(kept.outputs["recorded"]).toEqual({ owner: known.owner, scope: { origin } });
    claimMade(service, "rule:g/r", known.owner);
    await handler.delete(context, "g/r", kept.outputs);
  });
});

it("is made on the successor of what its property names, and not of another kind that has the same id", async () => {
  const { handler, context, service, done } = stage(true);
  noteGone(service, { kind: "vm", id: "7" }, "web");
  noteSuccessor(service, { kind: "vm", id: "9" }, "web");
  const { outputs } = await handler.create(context, { vmId: "7", volumeId: "7", dstPort: "7" });
  expect(outputs).toMatchObject({ vmId: "9", volumeId: "7", dstPort: "7" });
  expect(done).toEqual(["warning: VM 7 was replaced by 9 in this run, whos"]);
});
