/**
 * Two more services that are odd on purpose: one whose answers are records of operations, with words that no key names
 * and entries that are null; and one whose ids are paths, whose states stand among others, and whose jobs Location names.
 */
import { cut, type Raw, type Said, text } from "../deployments/front";
import { curl, disks, odd, type Shown, word } from "./further";
import type { Odd } from "./shapes";
import type { OddKind } from "./world";

/** Answers that are records of operations, a cursor in a header, entries that are null, a header of its own. */
function operationsAsAnswers(): Odd {
  const shown: Shown = {
    vm: (raw) => ({
      created: "20260301100000",
      ident: raw["id"],
      label: raw["name"],
      zustand: word({ ACTIVE: "bereit", SHUTOFF: "aus", VERIFY_RESIZE: "wartet" }, raw, "arbeitet"),
      tariff: { ident: raw["flavor_id"], label: "x" },
      template: { ident: raw["image_id"] },
      "owner-mail": raw["owner"],
      network: { inner: raw["private_ip"], outer: raw["floating_ip"] },
      discs: disks(raw).map(({ id, root }) => ({ ident: id, main: root ? "Y" : "N" })),
    }),
    volume: (raw) => ({
      created: "20260301100000",
      ident: raw["id"],
      label: raw["name"],
      size: `${Number(raw["size"]) * 1024} MB`,
      machine: raw["attached_to"] === null ? null : { ident: raw["attached_to"] },
    }),
    group: (raw) => ({ created: "20260301100000", ident: raw["id"], label: raw["name"], info: raw["description"] }),
    flavor: (raw) => ({ ident: raw["id"], label: raw["name"] }),
    image: (raw) => ({ ident: raw["id"], label: raw["name"] }),
    region: (raw) => ({ ident: raw["id"], label: raw["name"] }),
  };
  const many: Readonly<Record<string, string>> = {
    vm: "machines",
    volume: "discs",
    group: "policies",
    flavor: "tariffs",
    image: "templates",
    region: "sites",
  };
  const made = odd({
    title: "operations as answers, a cursor in a header, entries that are null",
    shown,
    credential: { name: "X-Acme-Session", value: "ops-token" },
    world: { slowVolumes: true, twice: true },
    lists: Object.fromEntries(Object.entries(many).map(([kind, name]) => [kind, `/api/v1/cloud/${name}`])),
    routes: [
      ["GET /api/v1/cloud/machines/:id", "vm.get"],
      ["POST /api/v1/cloud/keep-scale/:id", "vm.resize.confirm"],
      ["POST /api/v1/cloud/drop-scale/:id", "vm.resize.revert"],
      ["POST /api/v1/cloud/discs/purge", "volume.delete"],
      ["DELETE /api/v1/cloud/policies/:id/entries/:rule", "group.rule.delete"],
    ],
    page: (items, asked, operation) => {
      const from = Number(asked.query.get("cursor")?.slice(2) ?? 0);
      const kind = operation.slice(0, -5) as keyof Shown;
      const own = cut(items, from, 2).map(shown[kind]);
      return {
        body: { result: { data: { [many[kind] ?? ""]: own.length === 0 ? [] : [...own, null] } } },
        ...(from + 2 < items.length && { headers: { "x-next-cursor": `c:${from + 2}` } }),
      };
    },
    answer: (operation, record, payload, raw) => ({
      body: /\.create$|update$/.test(operation)
        ? { reference: { ident: raw["id"], link: `/x/${text(raw["id"])}` } }
        : record === undefined
          ? { result: payload }
          : { result: { [operation.split(".")[0] ?? ""]: record } },
    }),
    withJob: (body, job) => ({ id: `op-${job}`, state: "pending", ...(body as Raw) }),
    job: ({ method, path }) =>
      method === "GET" ? /^\/api\/v1\/cloud\/operation\/op-(\w+)$/.exec(path)?.[1] : undefined,
    showJob: (id, isDone): Said => ({ body: { id: `op-${id}`, state: isDone ? "success" : "pending" } }),
    refuse: (_, status, message) => ({ status, body: { problem: { text: message, ref: `P${status}` } } }),
    told: [
      ...Object.entries(many).flatMap(([kind, name]) =>
        curl(`${kind}.list`, `-H 'X-Acme-Session: ops-token' URL/api/v1/cloud/${name}`),
      ),
      ...curl(
        "volume.delete",
        `-X POST -H 'X-Acme-Session: ops-token' -d '{"idents":["6f2d1f6a-8f6e-4b0e-9d0f-0d3c6a529e11"]}' URL/api/v1/cloud/discs/purge`,
      ),
      ...curl("vm.resize.confirm", "-X POST URL/api/v1/cloud/keep-scale/6f2d1f6a-8f6e-4b0e-9d0f-0d3c6a529e11"),
      ...curl("vm.resize.revert", "-X POST URL/api/v1/cloud/drop-scale/6f2d1f6a-8f6e-4b0e-9d0f-0d3c6a529e11"),
      ...curl("wait", "URL/api/v1/cloud/operation/6f2d1f6a-8f6e-4b0e-9d0f-0d3c6a529e33"),
    ],
  });
  return {
    ...made,
    shape: {
      ...made.shape,
      understand(asked, world) {
        const meant = made.shape.understand(asked, world);
        const [id] = (asked.body["idents"] ?? []) as readonly unknown[];
        return meant?.operation === "volume.delete" ? { ...meant, id: text(id) } : meant;
      },
    },
  };
}

/** Ids that are paths, states among other states, jobs that stand in Location alone, versions, sizes in bytes as text. */
function idsAsPaths(): Odd {
  const id = (kind: OddKind, nth: number): string =>
    kind === "rule"
      ? `r-${nth}`
      : `/tenants/acme/${{ vm: "machines", volume: "disks", group: "nets" }[kind]}/${kind}${nth + 70}`;
  const shown: Shown = {
    vm: (raw) => ({
      id: raw["id"],
      name: text(raw["id"]).split("/").at(-1),
      type: "Acme.Compute/machines",
      tags: { displayName: raw["name"], owner: raw["owner"] },
      properties: {
        timeCreated: "2026-03-01T10:00:00Z",
        hardwareProfile: { vmSize: raw["flavor_id"] },
        imageReference: { id: raw["image_id"] },
        instanceView: {
          statuses: [
            { code: "ProvisioningState/succeeded", level: "Info" },
            {
              code: `PowerState/${word({ ACTIVE: "running", SHUTOFF: "deallocated", VERIFY_RESIZE: "undecided" }, raw, "updating")}`,
              level: "Info",
            },
          ],
        },
        storageProfile: {
          osDisk: { managedDisk: { id: disks(raw).find(({ root }) => root)?.id } },
          dataDisks: disks(raw)
            .filter(({ root }) => !root)
            .map(({ id }, lun) => ({ lun, managedDisk: { id } })),
        },
        ips: { privateIPAddress: raw["private_ip"], publicIPAddress: raw["floating_ip"] },
      },
    }),
    volume: (raw) => ({
      id: raw["id"],
      name: text(raw["id"]).split("/").at(-1),
      tags: { displayName: raw["name"] },
      managedBy: raw["attached_to"] ?? "",
      properties: {
        diskSizeBytes: String(Number(raw["size"]) * 1024 ** 3),
        diskState: word({ available: "Unattached", "in-use": "Attached" }, raw, "Updating"),
      },
    }),
    group: (raw) => ({
      id: raw["id"],
      name: text(raw["id"]).split("/").at(-1),
      etag: `W/"${text(raw["version"])}"`,
      tags: { displayName: raw["name"] },
      properties: { description: raw["description"] },
    }),
    flavor: (raw) => ({ name: raw["id"], displayName: raw["name"] }),
    image: (raw) => ({ id: raw["id"], displayName: raw["name"] }),
    region: (raw) => ({ name: raw["id"], displayName: raw["name"] }),
  };
  const jobs = "/api/v1/tenants/acme/asyncOperations/:id";
  return odd({
    title: "ids that are paths, a state among others, jobs in Location alone",
    shown,
    world: { id, slowVolumes: true, slowRules: true, range: "-" },
    lists: {
      vm: "/api/v1/tenants/acme/machines",
      volume: "/api/v1/tenants/acme/disks",
      group: "/api/v1/tenants/acme/networkGroups",
      flavor: "/api/v1/tenants/acme/machineSizes",
      image: "/api/v1/tenants/acme/images",
      region: "/api/v1/tenants/acme/locations",
    },
    routes: [
      ["GET /api/v1/tenants/acme/machines/:id", "vm.get"],
      ["GET /api/v1/tenants/acme/networkGroups/:id", "group.get"],
      ["POST /api/v1/tenants/acme/machines/:id/confirmResize", "vm.resize.confirm"],
      ["POST /api/v1/tenants/acme/machines/:id/revertResize", "vm.resize.revert"],
      ["DELETE /api/v1/tenants/acme/disks/:id", "volume.delete"],
    ],
    page: (items, asked, operation) => {
      const from = Number(asked.query.get("$skiptoken") ?? 0);
      const more = from + 2 < items.length;
      return {
        body: {
          value: cut(items, from, 2).map(shown[operation.slice(0, -5) as keyof Shown]),
          ...(more && { nextLink: `https://inner.acme.invalid${asked.path}?$skiptoken=${from + 2}` }),
        },
      };
    },
    answer: (_, record, payload) => ({ body: record ?? { data: payload } }),
    withJob: (body, _, operation) => (/create|vm.delete/.test(operation) ? body : undefined),
    jobHeaders: (job: string, base: string) => ({ location: base + jobs.replace(":id", job) }),
    job: ({ method, path }) =>
      method === "GET" ? /^\/api\/v1\/tenants\/acme\/asyncOperations\/(\w+)$/.exec(path)?.[1] : undefined,
    showJob: (name, isDone): Said => ({ body: { name, status: isDone ? "Succeeded" : "InProgress" } }),
    refuses(operation, { id: of = "" }, { headers }, world) {
      const group = world.groups.get(of);
      if (group === undefined || !/^group\.(update|delete|rule\.create|rule\.delete)$/.test(operation))
        return undefined;
      if (headers["if-match"] === `W/"${group.version}"`) return undefined;
      return {
        status: 412,
        body: { error: { code: "PreconditionFailed", message: "The condition 'If-Match' is not met." } },
      };
    },
    refuse: (_, status, message) => ({
      status,
      body: { error: { code: status === 404 ? "ResourceNotFound" : "Conflict", message } },
    }),
    told: [
      ...["vm.list=machines", "volume.list=disks", "group.list=networkGroups", "flavor.list=machineSizes"].flatMap(
        (line) => ["--curl", line.replace("=", "=curl -H 'Authorization: Bearer eyJabc' URL/api/v1/tenants/acme/")],
      ),
      "--none",
      "group.rule.delete",
    ],
  });
}

export const strangers: readonly Odd[] = [operationsAsAnswers(), idsAsPaths()];
