/**
 * A simple kind, of rows alone, through every door of the product as it is: a folder of one definition, and its part of
 * the emulated service.
 */
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { entitiesWith, rowsWith, tableWith, validatorWith } from "../support/with-kind";

// What is put in the place of modules comes before what loads them.

import { keyPair } from "./index";

// The emulator with the kind.

import { keyPairOperations } from "./emulator";

// The product, whose tables have the kind by then.

import { openStage } from "../support/stage";

vi.mock("../../../reconciler/kinds/table", async (original) => tableWith(await original(), "key_pair", keyPair));
vi.mock("../../../reconciler/config/generated/desired-state", () => validatorWith());
vi.mock("../../../emulator/entities", async (original) => entitiesWith(await original(), "key_pair"));
vi.mock("../../../emulator/operation-rows", async (original) => rowsWith(await original(), keyPairOperations));

let stage: Awaited<ReturnType<typeof openStage>>;
beforeEach(async () => {
  stage = await openStage();
});
afterEach(() => stage.close());

const ops = { public_key: "ssh-ed25519 AAAA ops", comment: "the team" };
const there = () => stage.ask("GET", "/api/v1/key-pair/list") as Promise<Record<string, string>[]>;

it("is made, changed in place, replaced and deleted from a file", async () => {
  stage.declare({ key_pairs: { ops } });
  expect(await stage.done("apply", "--auto-approve")).toContain("create key pair ops");
  const [made] = await there();
  expect(made).toMatchObject({ name: "ops", ...ops });
  expect(await stage.done("plan")).toContain("Nothing to do");
  stage.declare({ key_pairs: { ops: { ...ops, comment: "all of us" } } });
  expect(await stage.done("apply", "--auto-approve")).toContain("update key pair ops: comment");
  expect(await there()).toEqual([{ ...made, comment: "all of us" }]);
  stage.declare({ key_pairs: { ops: { public_key: "ssh-ed25519 BBBB ops", comment: "all of us" } } });
  expect(await stage.done("apply", "--auto-approve")).toContain("delete key pair ops");
  const [replaced, ...others] = await there();
  expect([replaced?.["public_key"], others]).toEqual(["ssh-ed25519 BBBB ops", []]);
  expect(replaced?.["id"]).not.toBe(made?.["id"]);
  stage.declare({});
  await stage.done("apply", "--auto-approve", "--allow-empty");
  expect(await there()).toEqual([]);
});

it("gets what is declared later, and was not there before", async () => {
  stage.declare({ key_pairs: { ops: { public_key: ops.public_key } } });
  await stage.done("apply", "--auto-approve");
  const [made] = await there();
  stage.declare({ key_pairs: { ops } });
  expect(await stage.done("apply", "--auto-approve")).toContain("update key pair ops: comment");
  expect(await there()).toEqual([{ ...made, comment: ops.comment }]);
  expect(await stage.done("plan")).toContain("Nothing to do");
});

it("is not said to have what was accepted and does not show", async () => {
  stage.declare({ key_pairs: { ops: { public_key: ops.public_key } } });
  await stage.done("apply", "--auto-approve");
  stage.declare({ key_pairs: { ops } });
  stage.emulator.setFaults([{ operation: "key_pair.update", kind: "status", code: 200 }]);
  const { text } = await stage.reconcile("apply", "--auto-approve");
  expect(text).toContain("looking could not tell whether it was done");
});

it("is not said to be shown still where no look after its delete was answered", async () => {
  stage.declare({ key_pairs: { ops } });
  await stage.done("apply", "--auto-approve");
  stage.declare({});
  stage.emulator.setFaults([{ operation: "key_pair.get", kind: "status", code: 403 }]);
  const { exitCode, text } = await stage.reconcile("apply", "--auto-approve", "--allow-empty");
  expect(exitCode).toBe(1);
  expect(text).toMatch(/accepted the delete of key pair .*, and whether it is gone cannot be seen/);
});

it("is told what is wrong with a block at once", async () => {
  stage.declare({ key_pairs: { ops: { comment: 5, colour: "red" } } });
  const { exitCode, text } = await stage.reconcile("plan");
  expect(exitCode).toBe(1);
  expect(text).toContain("colour");
  expect(text).toContain("public_key");
});

it("shows its drift, is pulled, generated and taken over", async () => {
  const made = (await stage.ask("POST", "/api/v1/key-pair", { name: "ops", ...ops })) as { id: string };
  stage.declare({});
  expect(await stage.done("pull")).toContain("ops:\n    public_key: ssh-ed25519 AAAA ops\n    comment: the team");
  expect(await stage.done("import", "key_pair.ops", made.id, "--generate")).toContain(
    `to: key_pair.ops, id: ${made.id}`,
  );
  stage.declare({ key_pairs: { ops } });
  expect(await stage.done("import", "key_pair.ops", made.id)).toContain("now");
  expect(await stage.done("plan")).toContain("Nothing to do");
  expect(await stage.done("state", "show", "key_pair.ops")).toContain("public_key");
  expect(await stage.done("drift")).toContain("No drift");
  await stage.ask("PATCH", `/api/v1/key-pair/${made.id}`, { comment: "meddled" });
  const drift = await stage.reconcile("drift");
  expect(drift).toMatchObject({ exitCode: 2, text: expect.stringContaining("the team → meddled") });
  expect(await stage.done("apply", "--auto-approve")).toContain("no longer has what was applied: comment");
  expect(await stage.done("exposure")).toContain("nothing admits anything");
});

it("is made once when the answer to its create is lost", async () => {
  stage.declare({ key_pairs: { ops } });
  stage.emulator.setFaults([{ operation: "key_pair.create", kind: "drop-after", count: 1 }]);
  await stage.done("apply", "--auto-approve");
  expect(stage.emulator.requests().counts["key_pair.create"]).toBe(1);
  expect(await stage.done("apply", "--auto-approve")).toMatch(/Nothing to do|matches the file/);
  expect(await there()).toHaveLength(1);
});

it("is a resource of a program", async () => {
  const { context } = stage;
  const handler = stage.handler("KeyPair");
  const inputs = { name: "ops", publicKey: "ssh-ed25519 AAAA ops" };
  expect(handler.check({ name: "ops" }).failures).toEqual([{ property: "publicKey", reason: "is required" }]);
  const made = await handler.create(context, handler.check(inputs).inputs);
  const changed = { ...inputs, comment: "all of us" };
  expect(await handler.diff(context, made.id, made.outputs, changed)).toMatchObject({ replaces: [] });
  const now = await handler.update(context, made.id, made.outputs, changed);
  expect(await there()).toMatchObject([{ id: made.id, comment: "all of us" }]);
  expect(await handler.read(context, made.id)).toMatchObject({ inputs: changed });
  const other = { ...changed, publicKey: "ssh-ed25519 BBBB ops" };
  expect(await handler.diff(context, made.id, now.outputs, other)).toMatchObject({ replaces: ["publicKey"] });
  await handler.delete(context, made.id, now.outputs);
  expect(await there()).toEqual([]);
});
