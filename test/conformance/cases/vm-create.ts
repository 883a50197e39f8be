/** Creating a VM: every field of the request, the acknowledgement without an id, and the minute that it takes. */
import assert from "node:assert/strict";
import type { ConformanceCase } from "../case";
import type { ClauseId } from "../clauses";
import { Unobservable } from "../context";
import { isObject } from "../dialect";

const required = {
  flavor_id: "VM create flavor_id",
  id: "VM create id",
  image_id: "VM create image_id",
  name: "VM create name",
  owner: "VM create owner",
  project: "VM create project",
  region: "VM create region",
  size: "VM create size",
} as const satisfies Record<string, ClauseId>;

const missing = Object.entries(required).map(
  ([field, clause]): ConformanceCase => ({
    clauses: [clause, "VM errors create"],
    title: `a create without ${field} is a bad request`,
    needs: ["catalogue"],
    async run(context) {
      const { [field]: _, ...body } = context.vmRequest();
      await context.refused("bad_request", "vm.create", { body });
    },
  }),
);

const wrongTypes = Object.entries({ ...required, root_size: "VM create root_size" as const }).map(
  ([field, clause]): ConformanceCase => ({
    clauses: [clause],
    title: `a ${field} that is no text is a bad request`,
    needs: ["catalogue"],
    async run(context) {
      for (const value of [7, true, ["a"], { a: 1 }])
        await context.refused("bad_request", "vm.create", { body: context.vmRequest({ [field]: value }) });
    },
  }),
);

const badSizes = (["", "0"] as const).map(
  (size): ConformanceCase => ({
    clauses: ["VM create size", "Errors 3", "Limit data volume"],
    title: `a data volume size of ${JSON.stringify(size)} is refused with 400`,
    needs: ["catalogue"],
    async run(context) {
      const answer = await context.refused("bad_request", "vm.create", { body: context.vmRequest({ size }) });
      assert.equal(answer.status, 400);
    },
  }),
);

const badNames = {
  "two characters": "ab",
  "51 characters": "a".repeat(51),
  "two words": "two words",
  "an underscore": "under_score",
  "a dot": "a.name",
  "a letter beyond a-z": "münchen",
  nothing: "",
};

export const vmCreateCases: readonly ConformanceCase[] = [
  ...missing,
  ...wrongTypes,
  ...badSizes,
  ...Object.entries(badNames).map(
    ([what, name]): ConformanceCase => ({
      clauses: ["VM create name", "Limit names"],
      title: `a VM name of ${what} is a bad request`,
      needs: ["catalogue"],
      async run(context) {
        await context.refused("bad_request", "vm.create", { body: context.vmRequest({ name }) });
      },
    }),
  ),
  {
    clauses: ["VM row create", "VM create no id", "Envelope data", "Scope 3"],
    title: "a create is answered with 202 and a text, and with no id",
    needs: ["catalogue"],
    async run(context) {
      const answer = await context.call("vm.create", { body: context.vmRequest() });
      assert.equal(answer.status, 202);
      assert.ok(isObject(answer.body));
      assert.equal(typeof answer.body["data"], "string");
      assert.deepEqual(
        Object.keys(answer.body).filter((key) => key === "id" || key === "vm_id"),
        [],
      );
    },
  },
  {
    clauses: ["VM create no id", "Gap undescribed operations"],
    title: "the list of VMs and the name tell the id, which is not what the acknowledgement says",
    needs: ["vm"],
    async run(context) {
      const body = context.vmRequest();
      const text = await context.accepted("vm.create", { body });
      const vm = await context.until("the VM is listed", () => context.findVm(String(body["name"])));
      assert.ok(!String(text).includes(vm.id));
      assert.notEqual(vm.id, body["id"], "the request's id is the user's");
    },
  },
  {
    clauses: ["Transition create", "Limit provisioning", "Scope 3"],
    title: "an accepted VM is not ready at once; building it takes about a minute",
    needs: ["vm"],
    async run(context) {
      const start = performance.now();
      await context.freshVm();
      // A lower bound alone: how long it takes beyond that is the machine's affair.
      assert.ok(performance.now() - start >= 30_000 / context.target.timeScale);
    },
  },
  {
    clauses: ["VM create name", "Limit names"],
    title: "upper case in a VM's name becomes lower case",
    needs: ["vm"],
    async run(context) {
      const name = context.name("Upper").toUpperCase();
      await context.accepted("vm.create", { body: context.vmRequest({ name }) });
      const vm = await context.until("the VM is listed", () => context.findVm(name.toLowerCase()));
      assert.equal(context.field("vm", "name", vm.record), name.toLowerCase());
    },
  },
  {
    clauses: ["VM create name", "Limit names"],
    title: "names of 3 and of 50 characters are taken",
    needs: ["catalogue"],
    async run(context) {
      const short = Math.random().toString(36).slice(2, 5).padEnd(3, "x");
      for (const name of [short, context.name("long").padEnd(50, "x")])
        await context.accepted("vm.create", { body: context.vmRequest({ name }) });
    },
  },
  {
    clauses: ["VM create flavor_id"],
    title: "a flavor may be given by name and by id",
    needs: ["vm", "operation flavor.list"],
    async run(context) {
      const flavor = context.catalogue.flavors[0]!;
      const flavors = [];
      for (const flavor_id of [flavor.id, flavor.name])
        flavors.push(context.field("vm", "flavor", (await context.freshVm({ flavor_id })).record));
      assert.ok(flavors[0] === flavors[1] || [flavor.id, flavor.name].includes(String(flavors[1])));
    },
  },
  {
    clauses: ["VM create flavor_id"],
    title: "a flavor that is not in the list is a bad request",
    needs: ["catalogue"],
    async run(context) {
      await context.refused("bad_request", "vm.create", { body: context.vmRequest({ flavor_id: "no-such-flavor" }) });
    },
  },
  {
    clauses: ["VM create flavor_id"],
    title: "a listed flavor may be impossible to provision",
    needs: ["vm", "sold-out flavor"],
    async run(context) {
      const body = context.vmRequest({ flavor_id: context.target.soldOutFlavor });
      const answer = await context.call("vm.create", { body });
      if (answer.status >= 400) return;
      const vm = await context.until("the VM is listed", () => context.findVm(String(body["name"])));
      await context.untilPhase(vm, "failed");
    },
  },
  {
    clauses: ["VM create image_id"],
    title: "an image that is no UUID is a bad request",
    needs: ["catalogue"],
    async run(context) {
      await context.refused("bad_request", "vm.create", { body: context.vmRequest({ image_id: "ubuntu" }) });
    },
  },
  {
    clauses: ["VM create owner"],
    title: "an owner given as a username is stored as the e-mail address",
    needs: ["vm", "username"],
    async run(context) {
      const vm = await context.freshVm({ owner: context.target.ownerUsername });
      assert.equal(context.field("vm", "owner", vm.record), context.target.ownerEmail);
    },
  },
  {
    clauses: ["VM create owner"],
    title: "an owner given as an e-mail address is stored as it is",
    needs: ["vm"],
    async run(context) {
      const shown = context.field("vm", "owner", (await context.vm()).record);
      if (shown === undefined) throw new Unobservable("the VM's record does not show its owner");
      assert.equal(shown, context.target.ownerEmail);
    },
  },
  {
    clauses: ["VM create region"],
    title: "a region that is not in the list is a bad request",
    needs: ["catalogue"],
    async run(context) {
      await context.refused("bad_request", "vm.create", { body: context.vmRequest({ region: "no-such-region" }) });
    },
  },
  {
    clauses: ["VM create project", "Authentication 2"],
    title: "a project that the caller does not belong to is refused",
    needs: ["catalogue", "assumed"],
    async run(context) {
      await context.refused("bad_request", "vm.create", { body: context.vmRequest({ project: "no-such-project" }) });
    },
  },
  {
    clauses: ["VM create root_size", "Limit root volume"],
    title: "a root size that is left out or empty is 50 GB, and one that is given is kept",
    needs: ["vm"],
    async run(context) {
      for (const [fields, expected] of [
        [{}, 50],
        [{ root_size: "" }, 50],
        [{ root_size: "60" }, 60],
      ] as const) {
        const { record } = await context.freshVm(fields);
        const root = context.volumesOf(record).find((volume) => volume.root === true);
        if (root === undefined) throw new Unobservable("the VM's record does not show which volume is its root disk");
        assert.equal(Number(context.field("volume", "size", await context.readVolume(root.id))), expected);
      }
    },
  },
  {
    clauses: ["VM create root_size"],
    title: "a root size that is no number of GB is a bad request",
    needs: ["catalogue"],
    async run(context) {
      for (const root_size of ["0", "-5", "big", "1.5"])
        await context.refused("bad_request", "vm.create", { body: context.vmRequest({ root_size }) });
    },
  },
  {
    clauses: ["VM create size"],
    title: "a data volume size that is no number of GB is a bad request",
    needs: ["catalogue"],
    async run(context) {
      for (const size of ["-1", "ten", "1.5", " "])
        await context.refused("bad_request", "vm.create", { body: context.vmRequest({ size }) });
    },
  },
  {
    clauses: ["VM create size", "Limit data volume"],
    title: "data volumes of 1 and of 1600 GB are taken, and made with the VM",
    needs: ["vm"],
    async run(context) {
      for (const size of ["1", "1600"]) {
        const { record } = await context.freshVm({ size });
        const sizes = [];
        for (const { id } of context.volumesOf(record))
          sizes.push(Number(context.field("volume", "size", await context.readVolume(id))));
        if (sizes.length === 0) throw new Unobservable("the VM's record does not show its volumes");
        assert.ok(sizes.includes(Number(size)), `sizes ${sizes.join(", ")}`);
      }
    },
  },
  {
    clauses: ["VM create skip_floating_ip", "Scope 6"],
    title: "skip_floating_ip true leaves a VM with a private address only",
    needs: ["vm"],
    async run(context) {
      const { record } = await context.freshVm({ skip_floating_ip: true });
      assert.ok([undefined, ""].includes(context.field("vm", "floating_ip", record) as string | undefined));
    },
  },
  {
    clauses: ["VM create skip_floating_ip", "Scope 6"],
    title: "skip_floating_ip false or left out gives a public address as well",
    needs: ["vm", "assumed"],
    async run(context) {
      for (const fields of [{}, { skip_floating_ip: false }]) {
        const { record } = await context.freshVm(fields);
        assert.equal(typeof context.field("vm", "floating_ip", record), "string");
        assert.equal(typeof context.field("vm", "private_ip", record), "string");
      }
    },
  },
  {
    clauses: ["VM create skip_floating_ip"],
    title: "a skip_floating_ip that is no boolean is a bad request",
    needs: ["catalogue"],
    async run(context) {
      await context.refused("bad_request", "vm.create", { body: context.vmRequest({ skip_floating_ip: "yes" }) });
    },
  },
  {
    clauses: ["VM errors create"],
    title: "a second VM of the same name is a conflict",
    needs: ["vm", "assumed"],
    async run(context) {
      const { name } = await context.vm();
      for (const taken of [name, name.toUpperCase()])
        await context.refused("conflict", "vm.create", { body: context.vmRequest({ name: taken }) });
    },
  },
];
