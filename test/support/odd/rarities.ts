/**
 * Services of two further styles: hypermedia below a tenant, whose references and next pages are links and whose changes
 * are states that are wished for; and one POST endpoint whose action and version stand in a header, with tokens in the body.
 */
import { cut, type Raw, text } from "../deployments/front";
import { curl, disks, odd, type Shown, word } from "./further";
import type { Odd } from "./shapes";

const kindIn = (operation: string) => operation.split(".")[0] as keyof Shown;
const someId = "6f2d1f6a-8f6e-4b0e-9d0f-0d3c6a529e11";

/** Hypermedia below a tenant: `_embedded`, `_links`, problems, and states that are put. */
function tenants(): Odd {
  const at = "/tenants/acme";
  const self = (path: string, id: unknown): Raw => ({ self: { href: `${at}/${path}/${text(id)}` } });
  const link = (path: string, id: unknown): Raw => ({ href: `${at}/${path}/${text(id)}` });
  const shown: Shown = {
    vm: (raw) => ({
      ref: raw["id"],
      title: raw["name"],
      actual: word({ ACTIVE: "UP", SHUTOFF: "DOWN", VERIFY_RESIZE: "TRIAL" }, raw, "MOVING"),
      contact: raw["owner"],
      addresses: [
        { scope: "inner", value: raw["private_ip"] },
        ...(raw["floating_ip"] === null ? [] : [{ scope: "outer", value: raw["floating_ip"] }]),
      ],
      _links: {
        ...self("machines", raw["id"]),
        shape: link("shapes", raw["flavor_id"]),
        image: link("images", raw["image_id"]),
      },
      _embedded: {
        drives: disks(raw).map(({ id, root }, nth) => ({
          slot: nth,
          system: root,
          _links: { drive: link("drives", id) },
        })),
      },
    }),
    volume: (raw) => ({
      ref: raw["id"],
      title: raw["name"],
      capacity: { value: raw["size"], unit: "GiB" },
      actual: word({ available: "LOOSE", "in-use": "FIXED" }, raw, "MOVING"),
      _links: {
        ...self("drives", raw["id"]),
        ...(raw["attached_to"] !== null && { machine: link("machines", raw["attached_to"]) }),
      },
    }),
    group: (raw) => ({
      ref: raw["id"],
      title: raw["name"],
      summary: raw["description"],
      _links: self("firewalls", raw["id"]),
    }),
    flavor: (raw) => ({ ref: raw["id"], title: raw["name"], _links: self("plans", raw["id"]) }),
    image: (raw) => ({ ref: raw["id"], title: raw["name"], _links: self("images", raw["id"]) }),
    region: (raw) => ({ ref: raw["id"], title: raw["name"], _links: self("sites", raw["id"]) }),
  };
  const called: Readonly<Record<string, string>> = {
    vm: "machines",
    volume: "drives",
    group: "firewalls",
    flavor: "plans",
    image: "images",
    region: "sites",
  };
  return odd({
    title: "hypermedia below a tenant, states that are put",
    credential: { name: "X-Tenant-Key", value: "ops-token" },
    shown,
    world: { slowVolumes: true, slowRules: true, namedGroups: "refused" },
    lists: Object.fromEntries(Object.entries(called).map(([kind, name]) => [kind, `${at}/${name}`])),
    routes: [
      [`GET ${at}/machines/:id`, "vm.get"],
      [`GET ${at}/firewalls/:id`, "group.get"],
      [`PUT ${at}/machines/:id/resize`, "vm.resize.confirm", { decision: "keep" }],
      [`PUT ${at}/machines/:id/resize`, "vm.resize.revert", { decision: "undo" }],
      [`PUT ${at}/drives/:id/wish`, "volume.delete", { actual: "ABSENT" }],
      [`DELETE ${at}/firewalls/:id/rules/:rule`, "group.rule.delete"],
    ],
    page: (items, { path, query }, operation) => {
      const from = Number(query.get("from") ?? 0);
      return {
        body: {
          _links: {
            self: { href: path },
            ...(from + 2 < items.length && { next: { href: `${path}?from=${from + 2}` } }),
          },
          ...(items.length > 0 && {
            _embedded: { [called[kindIn(operation)] ?? ""]: cut(items, from, 2).map(shown[kindIn(operation)]) },
          }),
        },
      };
    },
    answer: (operation, record, payload) => {
      if (record !== undefined) return { body: record };
      if (operation === "group.rule.list") return { body: { _embedded: { rules: payload }, _links: {} } };
      return operation === "vm.delete" || operation === "group.rule.create" ? { body: payload } : { status: 204 };
    },
    refuse: (_, status, message) => ({
      status,
      body: { type: `https://acme.invalid/problems/${status}`, title: "It was refused", status, detail: message },
    }),
    told: [
      ...curl("vm.list", `-H 'X-Tenant-Key: x' URL${at}/machines`),
      ...curl("vm.resize.confirm", `-X PUT -d '{"decision":"keep"}' URL${at}/machines/${someId}/resize`),
      ...curl("vm.resize.revert", `-X PUT -d '{"decision":"undo"}' URL${at}/machines/${someId}/resize`),
      ...curl("volume.delete", `-X PUT -d '{"actual":"ABSENT"}' URL${at}/drives/${someId}/wish`),
    ],
  });
}

/** One POST endpoint: the action in a header behind a version, ids and tokens in the body, refusals by their type. */
function targets(): Odd {
  const shown: Shown = {
    vm: (raw) => ({
      ServerArn: `acme:compute:in-west-1:1:server/${text(raw["id"])}`,
      ServerId: raw["id"],
      ServerName: raw["name"],
      ServerState: {
        Code: 16,
        Name: word({ ACTIVE: "on", SHUTOFF: "off", VERIFY_RESIZE: "verifying" }, raw, "pending"),
      },
      PlanId: raw["flavor_id"],
      ImageId: raw["image_id"],
      Contact: raw["owner"],
      PrivateAddress: raw["private_ip"],
      PublicAddress: raw["floating_ip"],
      LaunchedAt: 1_790_000_000,
    }),
    volume: (raw) => ({
      DiskId: raw["id"],
      DiskName: raw["name"],
      SizeInMb: Number(raw["size"]) * 1024,
      IsSystemDisk: raw["root"],
      DiskState: word({ available: "detached", "in-use": "attached" }, raw, "changing"),
      Attachments: raw["attached_to"] === null ? [] : [{ ServerId: raw["attached_to"], Device: "/dev/sdf" }],
    }),
    group: (raw) => ({ FirewallId: raw["id"], FirewallName: raw["name"], FirewallDescription: raw["description"] }),
    flavor: (raw) => ({ PlanId: raw["id"], PlanName: raw["name"] }),
    image: (raw) => ({ ImageId: raw["id"], ImageName: raw["name"] }),
    region: (raw) => ({ RegionId: raw["id"], RegionName: raw["name"] }),
  };
  const lists: Readonly<Record<string, readonly [kind: keyof Shown, key: string]>> = {
    ListServers: ["vm", "Servers"],
    ListDisks: ["volume", "Disks"],
    ListFirewalls: ["group", "Firewalls"],
    ListPlans: ["flavor", "Plans"],
    ListImages: ["image", "Images"],
    ListRegions: ["region", "Regions"],
  };
  const acts: Readonly<Record<string, string>> = {
    KeepServerSize: "vm.resize.confirm",
    UndoServerSize: "vm.resize.revert",
    DeleteDisk: "volume.delete",
  };
  const target = (action: string, body: string) =>
    `-X POST -H 'X-Acme-Target: AcmeCompute_20250101.${action}' -d '${body}' URL/api/v1/rpc`;
  const made = odd({
    title: "actions in a header behind a version, tokens in the body",
    shown,
    world: { slowVolumes: true, twice: true, range: "-", ownEgress: true },
    lists: {},
    routes: [],
    page: (items, { body }, operation) => {
      const [, key = ""] = Object.values(lists).find(([kind]) => kind === kindIn(operation)) ?? [];
      const from = Number(text(body["NextToken"]).slice(2) || 0);
      return {
        body: {
          [key]: cut(items, from, 2).map(shown[kindIn(operation)]),
          ...(from + 2 < items.length && { NextToken: `t:${from + 2}` }),
        },
      };
    },
    answer: (operation, record, payload, raw) => {
      if (operation === "volume.create") return { body: { DiskId: raw["id"] } };
      if (operation === "group.create") return { body: { FirewallId: raw["id"] } };
      if (operation === "volume.get") return { body: { Disk: record } };
      return operation === "group.rule.list" ? { body: { Rules: payload } } : { body: { data: payload } };
    },
    refuse: (_, status, message) => ({
      status: status === 401 ? 401 : 400,
      body: {
        __type: `com.acme.compute#${status === 404 ? "ResourceNotFoundException" : "InvalidStateException"}`,
        message,
      },
    }),
    told: [
      ...curl("vm.list", target("ListServers", "{}")),
      ...curl("vm.resize.confirm", target("KeepServerSize", `{"ServerId":"${someId}"}`)),
      ...curl("vm.resize.revert", target("UndoServerSize", `{"ServerId":"${someId}"}`)),
      ...curl("volume.delete", target("DeleteDisk", `{"DiskId":"${someId}"}`)),
    ],
  });
  return {
    ...made,
    shape: {
      ...made.shape,
      understand({ method, path, headers, body }) {
        if (method !== "POST" || path !== "/api/v1/rpc") return undefined;
        const [, action = ""] = /^AcmeCompute_20250101\.(\w+)$/.exec(text(headers["x-acme-target"])) ?? [];
        const [kind] = lists[action] ?? [];
        if (kind !== undefined) return { operation: `${kind}.list` };
        const operation = acts[action];
        return operation === undefined ? undefined : { operation, id: text(body["ServerId"] ?? body["DiskId"]) };
      },
    },
  };
}

export const rarities: readonly Odd[] = [tenants(), targets()];
