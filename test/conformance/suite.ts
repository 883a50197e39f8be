/**
 * Runs cases against one service: says which cannot be run and why, keeps idle VMs between cases, and takes away what a
 * case made. What the contract gives no way to take away is named at the end.
 */
import type { ConformanceCase, Need } from "./case";
import { createClient, type Role } from "./client";
import { type Catalogue, Context, type Entry, type Target, type Vm } from "./context";
import { loadContract } from "./contract";
import { isObject } from "./dialect";

export interface Suite {
  /** Why this case cannot be run here; undefined when it can. */
  unmet(testCase: ConformanceCase): string | undefined;
  /** Ends when the case holds and cleaned up; throws when it does not hold. */
  run(testCase: ConformanceCase): Promise<void>;
  /** Takes the idle VMs away, and returns what was left behind. */
  close(): Promise<readonly string[]>;
}

export async function openSuite(target: Target): Promise<Suite> {
  const contract = loadContract(target.strict);
  const client = createClient(target, contract);
  const idleVms: Vm[] = [];
  const leftBehind: string[] = [];
  const context = (catalogue: Catalogue) => new Context(target, client, contract, catalogue, idleVms);
  const catalogue = await readCatalogue(context({ flavors: [], images: [], regions: [] }));
  const missing = [
    ...((target.flavor ?? catalogue.flavors[0]) === undefined ? ["--flavor"] : []),
    ...((target.image ?? catalogue.images[0]) === undefined ? ["--image"] : []),
    ...((target.region ?? catalogue.regions[0]) === undefined ? ["--region"] : []),
    ...(target.project === undefined ? ["--project"] : []),
    ...(target.userId === undefined ? ["--user-id"] : []),
    ...(target.ownerEmail === undefined ? ["--owner"] : []),
  ];

  function lacks(need: Need): string | undefined {
    if (need === "catalogue" || need === "vm") {
      if (missing.length > 0) return `creating a VM needs ${missing.join(", ")}`;
      return need === "vm" && !client.has("vm.list")
        ? "the dialect has no vm.list, so a VM's id cannot be learnt"
        : undefined;
    }
    if (need === "other flavor")
      return (target.otherFlavor ?? catalogue.flavors[1]) === undefined
        ? "no second flavor is known: name it with --other-flavor"
        : undefined;
    if (need === "sold-out flavor")
      return target.soldOutFlavor === undefined
        ? "no flavor that cannot be provisioned is known: name it with --sold-out-flavor"
        : undefined;
    if (need === "username")
      return target.ownerUsername === undefined ? "no username is known: name it with --owner-username" : undefined;
    if (need === "assumed")
      return target.strict ? undefined : "this is assumed, not in the contract: hold the service to it with --strict";
    if (need === "control") return target.hasControl ? undefined : "only the emulator has a control endpoint";
    const [kind, name = ""] = need.split(" ");
    if (kind === "role")
      return target.credentials[name as Role] === undefined ? `no credential for the role ${name}` : undefined;
    return client.has(name) ? undefined : `the dialect has no ${name}`;
  }

  return {
    unmet: ({ needs = [] }) => needs.map(lacks).find((reason) => reason !== undefined),

    async run(testCase) {
      const current = context(catalogue);
      let held = false;
      try {
        await testCase.run(current);
        held = true;
      } finally {
        const { borrowed } = current.made;
        if (borrowed !== undefined && held && (await isAsBorrowed(current, borrowed))) {
          current.made.vmNames.delete(borrowed.name);
          idleVms.push(borrowed);
        } else if (borrowed !== undefined) current.made.vmNames.add(borrowed.name);
        leftBehind.push(...(await takeAway(current)));
      }
    },

    async close() {
      const current = context(catalogue);
      for (const { name } of idleVms) current.made.vmNames.add(name);
      leftBehind.push(...(await takeAway(current)));
      return leftBehind;
    },
  };
}

async function readCatalogue(context: Context): Promise<Catalogue> {
  const read = async (kind: "flavor" | "image" | "region"): Promise<Entry[]> => {
    if (!context.has(`${kind}.list`)) return [];
    return (await context.list(`${kind}.list`)).map((entry) => {
      const name = typeof entry === "string" ? entry : String(context.field(kind, "name", entry));
      return { id: String(context.field(kind, "id", entry) ?? name), name };
    });
  };
  return { flavors: await read("flavor"), images: await read("image"), regions: await read("region") };
}

async function isAsBorrowed(context: Context, vm: Vm): Promise<boolean> {
  const record = await context.vmById(vm.id);
  return context.phase(record) === "running" && context.field("vm", "name", record) === vm.name;
}

/** VMs first, since they hold volumes and groups. */
async function takeAway(context: Context): Promise<string[]> {
  const left = [...context.made.images].map((made) => `image ${made} (no operation deletes images)`);
  const attempt = async (what: string, act: () => Promise<{ readonly status: number }>) => {
    try {
      const { status } = await act();
      if (status >= 300 && status !== 404) left.push(`${what} (${status})`);
    } catch (error) {
      left.push(`${what} (${error instanceof Error ? error.message : String(error)})`);
    }
  };
  const { vmNames, volumes, groups } = context.made;
  if (vmNames.size > 0) {
    if (!context.has("vm.list")) left.push(...[...vmNames].map((name) => `vm ${name} (its id cannot be learnt)`));
    else
      for (const record of await context.list("vm.list")) {
        const name = String(context.field("vm", "name", record));
        if (!vmNames.has(name)) continue;
        const id = context.text("vm", "id", record);
        await settle(context, id);
        await attempt(`vm ${name}`, () =>
          context.call("vm.delete", { params: { id }, query: { delete_floating_ip: "true" } }),
        );
      }
  }
  for (const id of volumes) {
    if (!context.has("volume.delete")) {
      left.push(`volume ${id} (the dialect has no volume.delete)`);
      continue;
    }
    const record = await context.call("volume.get", { params: { id } });
    const holder = context.field(
      "volume",
      "attached_to",
      isObject(record.body) ? (record.body["data"] ?? record.body) : undefined,
    );
    if (typeof holder === "string")
      await context.call("volume.detach", { body: { vm_id: holder, volume_id: id, flush_confirmed: true } });
    await attempt(`volume ${id}`, () => context.call("volume.delete", { params: { id } }));
  }

  for (const id of groups) await attempt(`group ${id}`, () => context.call("group.delete", { params: { id } }));
  return left;
}

/** A VM on its way somewhere cannot be deleted everywhere; one that waits for a verdict on its resize may not be either. */
async function settle(context: Context, id: string): Promise<void> {
  try {
    const vm = { id, name: id };
    await context.until(
      "it is at rest",
      async () => (context.phase(await context.vmById(id)) === "changing" ? undefined : true),
      300,
    );
    if (context.phase(await context.vmById(id)) !== "verify_resize" || !context.has("vm.resize.revert")) return;
    await context.call("vm.resize.revert", { params: { id } });
    await context.untilPhase(vm, "running");
  } catch {
    // The delete will say what is the matter.
  }
}
