/**
 * A kind that hangs on a VM, is free to leave it and survives it, through every door of the product as it is: one
 * relation more than a simple kind.
 */
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { entitiesWith, rowsWith, tableWith, validatorWith } from "../support/with-kind";

// What is put in the place of modules comes before what loads them.

import { floatingAddress } from "./index";

// The emulator with the kind.

import { floatingAddressOperations } from "./emulator";

// The product, whose tables have the kind by then.

import { openStage } from "../support/stage";

vi.mock("../../../reconciler/kinds/table", async (original) => tableWith(await original(), "address", floatingAddress));
vi.mock("../../../reconciler/config/generated/desired-state", () => validatorWith());
vi.mock("../../../emulator/entities", async (original) => entitiesWith(await original(), "address"));
vi.mock("../../../emulator/operation-rows", async (original) => rowsWith(await original(), floatingAddressOperations));

let stage: Awaited<ReturnType<typeof openStage>>;
beforeEach(async () => {
  stage = await openStage();
});
afterEach(() => stage.close());

const there = () => stage.ask("GET", "/api/v1/address/list") as Promise<Record<string, string>[]>;
const vms = { web: {}, base: {} };
const idOf = (name: string) => stage.vms().find((vm) => vm.name === name)?.id;
const applied = () => stage.done("apply", "--auto-approve", "--allow-data-loss");

it("is put on a VM, moved, follows the VM that is replaced, and survives the one that goes", async () => {
  stage.declare({ vms, addresses: { web: { assign_to: "web" } } });
  await applied();
  const [{ id, ...made } = {}] = await there();
  expect(made).toEqual({ name: "web", pool: "public", vm_id: idOf("web") });
  expect(await stage.done("plan")).toContain("Nothing to do");
  stage.declare({ vms, addresses: { web: { assign_to: "base", name: "front" } } });
  await applied();
  expect(await there()).toEqual([{ id, name: "front", pool: "public", vm_id: idOf("base") }]);
  const before = idOf("base");
  await stage.done("apply", "--auto-approve", "--allow-data-loss", "--replace", "vm.base");
  expect(idOf("base")).not.toBe(before);
  expect(await there()).toMatchObject([{ id, vm_id: idOf("base") }]);
  stage.declare({ vms: { web: {} }, addresses: { web: { name: "front" } } });
  await applied();
  expect(await there()).toMatchObject([{ id, vm_id: null }]);
  expect(await stage.done("drift")).toContain("No drift");
  stage.declare({ vms: { web: {} }, addresses: { web: { name: "front", pool: "partner", assign_to: "web" } } });
  await applied();
  expect(await there()).toMatchObject([{ pool: "partner", vm_id: idOf("web") }]);
  expect(await stage.done("graph")).toContain("attached to");
  await stage.done("destroy", "--auto-approve", "--allow-data-loss");
  expect([await there(), stage.vms()]).toEqual([[], []]);
});

it("shows its drift, is pulled, generated and taken over", async () => {
  stage.declare({ vms: { web: {} } });
  await applied();
  const left = (await stage.ask("POST", "/api/v1/address", { name: "left", pool: "public" })) as { id: string };
  await stage.ask("POST", `/api/v1/address/${left.id}/assign`, { vm_id: idOf("web") });
  expect(await stage.done("pull")).toContain("left:\n    pool: public\n    assign_to: web");
  expect(await stage.done("import", "address.left", left.id, "--generate")).toContain("assign_to: web");
  stage.declare({ vms: { web: {} }, addresses: { left: { assign_to: "web" } } });
  await stage.done("import", "address.left", left.id);
  expect(await stage.done("plan")).toContain("Nothing to do");
  await stage.ask("POST", `/api/v1/address/${left.id}/release`, {});
  expect(await stage.reconcile("drift")).toMatchObject({ exitCode: 2, text: expect.stringContaining("assign_to") });
  expect(await stage.done("apply", "--auto-approve")).toContain("attach floating address left to vm.web");
  expect(await stage.done("exposure")).toContain("nothing admits anything");
});

it("is refused where the VM is not declared", async () => {
  stage.declare({ vms: { web: {} }, addresses: { left: { assign_to: "wbe" } } });
  expect(await stage.reconcile("plan")).toMatchObject({ exitCode: 1, text: expect.stringContaining("write web") });
});

it("is a resource of a program", async () => {
  stage.declare({ vms: { web: {} } });
  await applied();
  const { context } = stage;
  const handler = stage.handler("FloatingAddress");
  const inputs = { name: "front", pool: "public", assignTo: idOf("web") };
  const made = await handler.create(context, handler.check(inputs).inputs);
  expect(await there()).toMatchObject([{ id: made.id, vm_id: idOf("web") }]);
  const { assignTo: _, ...free } = inputs;
  expect(await handler.read(context, made.id)).toMatchObject({ inputs });
  const now = await handler.update(context, made.id, made.outputs, free);
  await handler.delete(context, made.id, now.outputs);
  expect(await there()).toEqual([]);
});
