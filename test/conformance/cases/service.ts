/** What holds for the service as a whole: JSON, the envelope, the version in the path, lists and their pages. */
import assert from "node:assert/strict";
import type { ConformanceCase } from "../case";
import { messageOf } from "../client";
import { isObject } from "../dialect";

const catalogues = ["flavor", "image", "region"] as const;

export const serviceCases: readonly ConformanceCase[] = [
  {
    clauses: ["Scope 2", "Errors 1", "Envelope error"],
    title: "a body that is not JSON is refused with the envelope",
    async run(context) {
      for (const text of ["{", "not json", "", '{"name": }', "\u0000"]) {
        const answer = await context.refused("bad_request", "group.create", { text });
        assert.ok(isObject(answer.body) && isObject(answer.body["error"]));
        assert.ok(Number.isInteger(answer.body["error"]["code"]));
        assert.notEqual(messageOf(answer), "");
      }
    },
  },
  {
    clauses: ["Scope 2"],
    title: "fields that the contract does not have are passed over",
    needs: ["assumed"],
    async run(context) {
      await context.group({ unknown: { deep: [1, 2, 3] } });
    },
  },
  {
    clauses: ["Envelope error", "Errors 1", "Errors 4"],
    title: "an error has an integer code and a message, whatever the number",
    async run(context) {
      const answer = await context.refused("bad_request", "group.create", { body: {} });
      assert.ok(isObject(answer.body) && isObject(answer.body["error"]));
      assert.ok(Number.isInteger(answer.body["error"]["code"]));
      assert.equal(typeof answer.body["error"]["message"], "string");
    },
  },
  {
    clauses: ["Gap success codes"],
    title: "creates, reads and deletes are answered with some code of success",
    async run(context) {
      const codes = [];
      const made = await context.call("group.create", { body: { name: context.name("codes") } });
      const id = context.text("group", "id", isObject(made.body) ? (made.body["data"] ?? made.body) : undefined);
      codes.push(made.status, (await context.call("group.rule.list", { params: { id } })).status);
      codes.push((await context.call("group.delete", { params: { id } })).status);
      assert.ok(codes.every((code) => code >= 200 && code < 300));
    },
  },
  {
    clauses: ["Versioning 1"],
    title: "every documented path starts with /api/v1, and the same path under another version is not there",
    needs: ["control"],
    async run(context) {
      const answer = await fetch(`${context.target.baseUrl}/api/v2/security-group`, {
        method: "POST",
        headers: { authorization: context.target.credentials.caller ?? "", "content-type": "application/json" },
        body: JSON.stringify({ name: context.name("version") }),
      });
      assert.equal(answer.status, 404);
      assert.ok(isObject(((await answer.json()) as Record<string, unknown>)["error"]));
    },
  },
  {
    clauses: ["Versioning 1"],
    title: "the service answers below /api/v1",
    async run(context) {
      await context.group();
    },
  },
  ...catalogues.map(
    (kind): ConformanceCase => ({
      clauses: ["Gap undescribed operations", "Scope 6"],
      title: `the list of ${kind}s has entries with an id and a name`,
      needs: [`operation ${kind}.list`],
      async run(context) {
        const entries = await context.list(`${kind}.list`);
        assert.ok(entries.length > 0);
        for (const entry of entries)
          assert.ok(typeof entry === "string" || typeof context.field(kind, "name", entry) === "string");
      },
    }),
  ),
  {
    clauses: ["VM create flavor_id", "Scope 6"],
    title: "the list of flavors has one that cannot be provisioned among the others",
    needs: ["sold-out flavor", "operation flavor.list"],
    async run(context) {
      const { soldOutFlavor } = context.target;
      assert.ok(context.catalogue.flavors.some(({ id, name }) => id === soldOutFlavor || name === soldOutFlavor));
    },
  },
  {
    clauses: ["Envelope page", "Gap undescribed operations"],
    title: "pages of a list are linked by page.next, and together hold every VM once",
    needs: ["vm", "assumed"],
    async run(context) {
      const names: string[] = [];
      for (let count = 0; count < 5; count++) {
        const body = context.vmRequest();
        await context.accepted("vm.create", { body });
        names.push(String(body["name"]));
      }
      const first = await context.call("vm.list");
      assert.ok(isObject(first.body) && isObject(first.body["page"]));
      const { next, total_size } = first.body["page"];
      assert.equal(typeof next, "string");
      const listed = (await context.list("vm.list")).map((record) => context.field("vm", "name", record));
      assert.equal(total_size, listed.length);
      for (const name of names) assert.equal(listed.filter((each) => each === name).length, 1);
      assert.ok((first.body["data"] as unknown[]).length < listed.length, "there is more than one page");
    },
  },
  {
    clauses: ["Envelope page"],
    title: "a page that is none is a bad request",
    needs: ["operation vm.list", "assumed"],
    async run(context) {
      await context.refused("bad_request", "vm.list", { query: { page: "no-such-page" } });
    },
  },
];
