/**
 * Panels: one whose XML was turned into JSON, with jobs that are bare texts and a 500 for what is not found; one whose
 * states stand in three fields, whose keys mean something else than they say, and whose rules are deleted by lists of
 * what they say; and one whose actions are named by a header.
 */
import { cut, type Meant, type Raw, text } from "../deployments/front";
import { byWhatItSays, curl, disks, odd, type Shown, word } from "./further";
import type { Odd } from "./shapes";
import type { OddKind } from "./world";

/** A list of one is that one, a list of none is an empty text, and everything is a text. */
function fromXml(): Odd {
  const many = (key: string, items: readonly unknown[]): unknown =>
    items.length === 0 ? "" : { [key]: items.length === 1 ? items[0] : items };
  const task = (job: string): string => `UPID:node1:0003A1B2:${job}:101:root@pam:`;
  const named = (raw: Raw): Raw => ({ id: raw["id"], name: raw["name"] });
  const shown: Shown = {
    vm: (raw) => ({
      ...named(raw),
      state: word({ ACTIVE: "UP", SHUTOFF: "DOWN", VERIFY_RESIZE: "CONFIRM" }, raw, "BUSY"),
      template: { id: raw["image_id"] },
      instanceType: { id: raw["flavor_id"] },
      owner: raw["owner"],
      privateIp: raw["private_ip"],
      publicIp: text(raw["floating_ip"]),
      disks: many(
        "disk",
        disks(raw).map(({ id, root }) => ({ id, bootable: String(root) })),
      ),
    }),
    volume: (raw) => ({
      ...named(raw),
      sizeGb: text(raw["size"]),
      state: word({ available: "FREE", "in-use": "USED" }, raw, "LOCKED"),
      vmId: text(raw["attached_to"]),
    }),
    group: (raw) => ({ ...named(raw), description: raw["description"] }),
    flavor: named,
    image: named,
    region: named,
  };
  const one: Readonly<Record<string, string>> = { group: "securityGroup" };
  const oneOf = (kind: string): string => one[kind] ?? kind;
  return odd({
    title: "XML turned into JSON, jobs as bare texts, a 500 for what is not found",
    shown,
    world: { slowVolumes: true, id: (kind: OddKind, nth) => `local:${kind}-${nth}` },
    lists: Object.fromEntries(Object.keys(shown).map((kind) => [kind, `/api/v1/${oneOf(kind)}s`])),
    routes: [
      ["GET /api/v1/vms/:id", "vm.get"],
      ["POST /api/v1/vms/:id/confirmResize", "vm.resize.confirm"],
      ["POST /api/v1/vms/:id/revertResize", "vm.resize.revert"],
      ["DELETE /api/v1/volumes/:id", "volume.delete"],
      ["DELETE /api/v1/securityGroups/:id/rules/:rule", "group.rule.delete"],
    ],
    page: (items, _, operation) => {
      const kind = operation.slice(0, -5) as keyof Shown;
      return { body: { [`${oneOf(kind)}s`]: many(oneOf(kind), items.map(shown[kind])) } };
    },
    answer: (operation, record, payload) => {
      if (operation === "group.rule.list") return { body: { rules: many("rule", payload as readonly unknown[]) } };
      return { body: record === undefined ? { data: payload } : { [oneOf(operation.split(".")[0] ?? "")]: record } };
    },
    withJob: (body, job, operation) => (/^(volume|group)\.create|group\./.test(operation) ? body : { data: task(job) }),
    job: ({ method, path }) =>
      method === "GET"
        ? /\/tasks\/UPID:node1:0003A1B2:(\w+):.*\/status$/.exec(decodeURIComponent(path))?.[1]
        : undefined,
    showJob: (id, isDone) => ({ body: { task: { upid: task(id), status: isDone ? "stopped" : "running" } } }),
    refuse: (_, status, message) => ({
      status: status === 404 ? 500 : status,
      body: { fault: { detail: status === 404 ? `there is no such thing: ${message}` : message } },
    }),
    told: [
      ...curl("vm.list", "-sSH 'Authorization: Bearer x' URL/api/v1/vms"),
      ...curl("vm.resize.confirm", "-XPOST URL/api/v1/vms/local:vm-7/confirmResize"),
      ...curl("vm.resize.revert", "-XPOST URL/api/v1/vms/local:vm-7/revertResize"),
      ...curl("wait", "URL/api/v1/tasks/UPID:node1:0003A1B2:j7:101:root@pam:/status"),
    ],
  });
}

/** Three fields for a state, `description` for a name, rules by lists of what they say. */
function threeFields(): Odd {
  const states = (raw: Raw): readonly unknown[] =>
    word(
      {
        ACTIVE: ["active", "running", "ok"],
        SHUTOFF: ["active", "stopped", "ok"],
        VERIFY_RESIZE: ["active", "running", "undecided"],
        BUILD: ["pending", "running", "none"],
      },
      raw,
      ["active", "running", "locked"],
    ) as readonly unknown[];
  const shown: Shown = {
    vm: (raw) => ({
      id: raw["id"],
      label: raw["name"],
      os: raw["image_id"],
      plan: raw["flavor_id"],
      main_ip: raw["floating_ip"] ?? "0.0.0.0",
      internal_ip: raw["private_ip"],
      ...Object.fromEntries(["status", "power_status", "server_status"].map((key, at) => [key, states(raw)[at]])),
      contact: raw["owner"],
      block_storage: disks(raw).flatMap(({ id, root }) => (root ? [] : [{ block_id: id }])),
    }),
    volume: (raw) => ({
      id: raw["id"],
      label: raw["name"],
      size_gb: raw["size"],
      attached_to_instance: raw["attached_to"] ?? "",
    }),
    group: (raw) => ({ id: raw["id"], description: raw["name"], note: raw["description"] }),
    flavor: (raw) => ({ key: raw["id"], shown: raw["name"], monthly_cost: 5 }),
    image: (raw) => ({ key: raw["id"], shown: raw["name"] }),
    region: (raw) => ({ id: raw["id"], city: raw["name"] }),
  };
  const names: Readonly<Record<string, string>> = {
    ...{ vm: "instances", volume: "blocks", group: "firewalls", flavor: "plans", image: "os", region: "regions" },
  };
  const made = odd({
    title: "a state in three fields, a name called description, rules by lists of what they say",
    shown,
    world: { slowRules: true, twice: true, namedGroups: "refused", id: (kind, nth) => `${kind.slice(0, 1)}${nth}` },
    lists: Object.fromEntries(Object.entries(names).map(([kind, name]) => [kind, `/api/v1/${name}`])),
    routes: [
      ["GET /api/v1/instances/:id", "vm.get"],
      ["GET /api/v1/firewalls/:id", "group.get"],
      ["PATCH /api/v1/instances/:id", "vm.resize.confirm", { resize: "confirm" }],
      ["PATCH /api/v1/instances/:id", "vm.resize.revert", { resize: "revert" }],
      ["DELETE /api/v1/blocks/:id", "volume.delete"],
      ["DELETE /api/v1/firewalls/:id/rules", "group.rule.delete"],
    ],
    page: (items, { query }, operation) => {
      const [from, size] = [Number(query.get("cursor")?.slice(1) ?? 0), Number(query.get("per_page") ?? 4)];
      const kind = operation.slice(0, -5) as keyof Shown;
      const next = from + size < items.length ? `c${from + size}` : "";
      return {
        body: {
          [names[kind] ?? ""]: cut(items, from, size).map(shown[kind]),
          meta: { total: items.length, links: { next } },
        },
      };
    },
    answer: (operation, record, payload) => ({
      body: record === undefined ? { data: payload } : { [names[operation.split(".")[0] ?? ""] ?? ""]: record },
    }),
    refuse: (_, status, message) => ({ status, body: { error: message, status } }),
    told: [
      ...curl("vm.list", `"URL/api/v1/instances" -X GET -H "Authorization: Bearer \${API_KEY}"`),
      ...curl("vm.resize.confirm", `"URL/api/v1/instances/{instance-id}" -X PATCH --data='{"resize":"confirm"}'`),
      ...curl("vm.resize.revert", `"URL/api/v1/instances/{instance-id}" -X PATCH --data='{"resize":"revert"}'`),
      ...curl(
        "group.rule.delete",
        `-sX DELETE -d '{"inbound_rules":[{"protocol":"tcp","ports":"443-443","sources":{"addresses":["0.0.0.0/0"],"groups":[]}}]}' URL/api/v1/firewalls/6f2d1f6a-8f6e-4b0e-9d0f-0d3c6a529e11/rules`,
      ),
    ],
  });
  const of = (rule: Raw, key: string): readonly unknown[] => (rule[key] === null ? [] : [rule[key]]);
  return byWhatItSays(made, (rule, body) => {
    const way = body["inbound_rules"] === undefined ? "egress" : "ingress";
    const [said = {}] = (body["inbound_rules"] ?? body["outbound_rules"] ?? []) as readonly Raw[];
    const { addresses = [], groups = [] } = (said[way === "ingress" ? "sources" : "destinations"] ?? {}) as Readonly<
      Record<string, readonly unknown[]>
    >;
    return (
      rule["direction"] === way &&
      rule["protocol"] === said["protocol"] &&
      `${rule["port_range_min"]}-${rule["port_range_max"]}` === said["ports"] &&
      of(rule, "remote_ip_prefix").join() === addresses.join() &&
      of(rule, "remote_group_id").join() === groups.join()
    );
  });
}

/** The action in a header, 200 for everything, disks as numbers under a key of their own. */
function byHeader(): Odd {
  const named = (kind: string, raw: Raw): Raw => ({ [`${kind}Id`]: Number(raw["id"]), [`${kind}Name`]: raw["name"] });
  const listed =
    (kind: string) =>
    (raw: Raw): Raw => ({ [`${kind}Id`]: raw["id"], [`${kind}Name`]: raw["name"] });
  const shown: Shown = {
    vm: (raw) => ({
      ...named("Instance", raw),
      InstanceState: word({ ACTIVE: "RUNNING", SHUTOFF: "STOPPED", VERIFY_RESIZE: "RESIZE_VERIFY" }, raw, "OPERATING"),
      InstanceType: raw["flavor_id"],
      ImageId: raw["image_id"],
      Mailbox: raw["owner"],
      PrivateIpAddresses: [raw["private_ip"]],
      PublicIpAddresses: raw["floating_ip"] === null ? null : [raw["floating_ip"]],
      Attached: disks(raw).map(({ id, root }) => ({ DiskId: Number(id), Purpose: root ? "SYSTEM" : "DATA" })),
    }),
    volume: (raw) => ({
      ...named("Disk", raw),
      DiskSize: raw["size"],
      DiskState: word({ available: "FREE", "in-use": "USED" }, raw, "OPERATING"),
    }),
    group: (raw) => ({ ...named("SecurityGroup", raw), SecurityGroupDesc: raw["description"] }),
    flavor: (raw) => ({ InstanceType: raw["id"], TypeName: raw["name"] }),
    image: listed("Image"),
    region: listed("Region"),
  };
  const actions: Readonly<Record<string, string>> = {
    DescribeInstances: "vm.list",
    DescribeDisks: "volume.list",
    DescribeSecurityGroups: "group.list",
    DescribeInstanceTypes: "flavor.list",
    DescribeImages: "image.list",
    DescribeRegions: "region.list",
    TerminateDisk: "volume.delete",
    ConfirmResize: "vm.resize.confirm",
    RevertResize: "vm.resize.revert",
  };
  const told = (operation: string, action: string, body: string): readonly string[] =>
    curl(operation, `-X POST -H 'X-Action: ${action}' -H 'X-Version: 2017' -d '${body}' URL/api/v1/cvm`);
  const made = odd({
    title: "the action in a header, 200 for everything, null for no list",
    shown,
    lists: {},
    routes: [],
    world: {
      id: (kind, nth) => (kind === "rule" ? `p-${nth}` : String(1_732_718_400_000 + nth)),
      slowVolumes: true,
      twice: true,
    },
    page: (items, { body }, operation) => {
      const [offset, limit] = [Number(body["Offset"] ?? 0), Number(body["Limit"] ?? 3)];
      const own = cut(items, offset, limit).map(shown[operation.slice(0, -5) as keyof Shown]);
      const [action = ""] = Object.entries(actions).find(([, one]) => one === operation) ?? [];
      const key = `${action.slice("Describe".length, -1)}Set`;
      return {
        body: {
          Response: { TotalCount: items.length, [key]: own.length === 0 ? null : own, RequestId: `r-${Math.random()}` },
        },
      };
    },
    answer: (operation, record, payload) => {
      const key = { vm: "Instance", volume: "Disk", group: "SecurityGroup" }[operation.split(".")[0] ?? ""] ?? "";
      return {
        body: {
          Response: { [record === undefined ? "Result" : key]: record ?? payload, RequestId: `r-${Math.random()}` },
        },
      };
    },
    refuse: (_, status, Message) => ({
      body: {
        Response: {
          Error: { Code: { 401: "AuthFailure", 404: "ResourceNotFound" }[status] ?? "FailedOperation", Message },
          RequestId: `r-${Math.random()}`,
        },
      },
    }),
    told: [
      ...told("vm.list", "DescribeInstances", "{}"),
      ...told("volume.delete", "TerminateDisk", '{"DiskId":1732718400001}'),
      ...told("vm.resize.confirm", "ConfirmResize", '{"InstanceId":1732718400001}'),
      ...told("vm.resize.revert", "RevertResize", '{"InstanceId":1732718400001}'),
    ],
  });
  return {
    ...made,
    shape: {
      ...made.shape,
      understand({ method, path, headers, body }): Meant | undefined {
        const operation = actions[text(headers["x-action"])];
        if (method !== "POST" || path !== "/api/v1/cvm" || operation === undefined) return undefined;
        return { operation, id: text(body["DiskId"] ?? body["InstanceId"]) };
      },
    },
  };
}

export const panels: readonly Odd[] = [fromXml(), threeFields(), byHeader()];
