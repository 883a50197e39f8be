/**
 * Services that are odd on purpose, each with what a person knows of it from a console: requests as they are copied from
 * its manual, answers that were kept, and what it does not have.
 */
import {
  type Asked,
  answerBare,
  cut,
  listsCalled,
  type Meant,
  match,
  type Raw,
  recordShown,
  type Said,
  text,
} from "../deployments/front";
import type { OddShape } from "./server";
import type { OddKind } from "./world";

export interface Odd {
  readonly shape: OddShape;
  /** What a person tells the doctor, with `URL` for where it is; flags of `reconcile doctor`. */
  readonly told: readonly string[];
  /** How the credential is given. */
  readonly env?: Readonly<Record<string, string>>;
  readonly keepsVolumes?: true;
}

const bearer = { name: "Authorization", value: "Bearer ops-token" };
/** Numbers that begin anew for each kind, so that a VM and a volume have the same id. */
const counted = (kind: OddKind, nth: number): string => (kind === "rule" ? `r${nth}` : String(100 + nth));
const number = (id: unknown): number | null => (id === null || id === undefined ? null : Number(id));
const words = (table: Readonly<Record<string, string>>, status: unknown): string => table[text(status)] ?? "pending";
const disks = (raw: Raw): readonly { id: string; root: boolean; name: string }[] =>
  (raw["volumes"] as { id: string; root: boolean; name: string }[] | undefined) ?? [];
const slugs: Readonly<Record<string, string>> = { "f-100": "m1.small", "f-200": "m1.medium" };

/** Slugs for names, numbers for ids, actions that are waited for, links to the next page, limits that end at an epoch. */
function droplets(): Odd {
  const vm = (raw: Raw): Raw => ({
    id: number(raw["id"]),
    name: raw["name"],
    status: words({ ACTIVE: "active", SHUTOFF: "off", VERIFY_RESIZE: "resized", BUILD: "new" }, raw["status"]),
    locked: false,
    size_slug: slugs[text(raw["flavor_id"])],
    size: { slug: slugs[text(raw["flavor_id"])], memory: 1024 },
    image: { id: 7, slug: raw["image_id"], distribution: "Ubuntu" },
    region: { slug: raw["region"], name: "West 1" },
    networks: {
      v4: [
        { ip_address: raw["private_ip"], netmask: "255.255.0.0", type: "private" },
        ...(raw["floating_ip"] == null ? [] : [{ ip_address: raw["floating_ip"], type: "public" }]),
      ],
      v6: [],
    },
    volume_ids: disks(raw)
      .filter(({ root }) => !root)
      .map(({ id }) => id),
    tags: [`owner:${text(raw["owner"])}`],
  });
  const volume = (raw: Raw): Raw => ({
    id: text(raw["id"]),
    name: raw["name"],
    size_gigabytes: raw["size"],
    droplet_ids: raw["attached_to"] == null ? [] : [number(raw["attached_to"])],
    region: { slug: "in-west-1" },
  });
  const group = (raw: Raw): Raw => ({ id: text(raw["id"]), name: raw["name"], description: raw["description"] });
  const shown: Record<string, (raw: Raw) => Raw> = {
    vm,
    volume,
    group,
    flavor: (raw) => ({ slug: raw["name"], memory: 1024, price_monthly: 5, available: true }),
    image: (raw) => ({ slug: raw["id"], name: raw["name"], status: "available" }),
    region: (raw) => ({ slug: raw["id"], name: raw["name"], available: true }),
  };
  const lists = listsCalled("droplets", "volumes", "firewalls", "sizes", "images", "regions");
  return {
    shape: {
      title: "slugs, actions and numbers",
      credential: bearer,
      world: { id: counted, twice: true },
      understand({ method, path, body }): Meant | undefined {
        const [, plural = "", id, rest, ruleId] =
          /^\/api\/v1\/([a-z]+)(?:\/([^/]+))?(?:\/([a-z]+))?(?:\/([^/]+))?$/.exec(path) ?? [];
        const list = lists[plural];
        if (list === undefined) return undefined;
        if (method === "GET" && id === undefined) return { operation: list };
        if (method === "GET" && rest === undefined) return { operation: list.replace("list", "get"), id: id ?? "" };
        if (method === "DELETE" && plural === "volumes") return { operation: "volume.delete", id: id ?? "" };
        if (method === "DELETE" && rest === "rules")
          return { operation: "group.rule.delete", id: id ?? "", ruleId: ruleId ?? text(body["rule_id"]) };
        if (method === "POST" && rest === "actions" && plural === "droplets")
          return {
            operation: body["type"] === "confirm_resize" ? "vm.resize.confirm" : "vm.resize.revert",
            id: id ?? "",
          };
        return undefined;
      },
      list(operation, items, asked): Said {
        const page = Number(asked.query.get("page") ?? 1);
        const size = Number(asked.query.get("per_page") ?? 2);
        const plural = Object.keys(lists).find((name) => lists[name] === operation) ?? "";
        const more = page * size < items.length;
        return {
          body: {
            [plural]: cut(items, (page - 1) * size, size).map(shown[operation.slice(0, -5)] ?? vm),
            links: more
              ? {
                  pages: {
                    next: `${asked.base}${asked.path}?page=${page + 1}`,
                    last: `${asked.base}${asked.path}?page=9`,
                  },
                }
              : {},
            meta: { total: items.length },
          },
          headers: { "ratelimit-remaining": "4900", "ratelimit-reset": "1790000000" },
        };
      },
      answer(operation, payload): Said {
        const record = recordShown(shown, operation, payload);
        const key = { vm: "droplet", volume: "volume", group: "firewall" }[operation.split(".")[0] ?? ""] ?? "";
        return { body: record !== undefined ? { [key]: record } : { data: payload } };
      },
      withJob: (body, job) => ({
        ...(typeof body === "object" ? body : {}),
        action: { id: job, status: "in-progress", type: "some" },
      }),
      job: ({ method, path }) => (method === "GET" ? match(path, "/api/v1/actions/:id")?.["id"] : undefined),
      showJob: (id, isDone) => ({ body: { action: { id, status: isDone ? "completed" : "in-progress" } } }),
      refuse: (_, status, message) => ({
        status: status === 409 ? 422 : status,
        body: { id: status === 404 ? "not_found" : status === 401 ? "unauthorized" : "unprocessable_entity", message },
      }),
    },
    told: [
      "--curl",
      "vm.resize.confirm=curl -X POST -H 'Authorization: Bearer x' -d '{\"type\":\"confirm_resize\"}' URL/api/v1/droplets/101/actions",
      "--curl",
      'vm.resize.revert=curl -X POST -d \'{"type":"revert_resize"}\' URL/api/v1/droplets/101/actions',
    ],
  };
}

/** A list in each zone, names and links as references, jobs, a version that every change of a group has to send. */
function zones(): Odd {
  const link = (kind: string, name: unknown): string =>
    `https://compute.invalid/v1/projects/acme/zones/in-west-1/${kind}/${text(name)}`;
  const vm = (raw: Raw): Raw => ({
    kind: "compute#instance",
    id: text(raw["id"]),
    name: raw["name"],
    status: words(
      {
        ACTIVE: "RUNNING",
        SHUTOFF: "TERMINATED",
        VERIFY_RESIZE: "PENDING_CONFIRMATION",
        BUILD: "PROVISIONING",
        STOPPING: "STOPPING",
      },
      raw["status"],
    ),
    machineType: link("machineTypes", raw["flavor_id"]),
    sourceImage: `projects/acme/global/images/${text(raw["image_id"])}`,
    labels: { owner: raw["owner"] },
    zone: link("zones", raw["region"]),
    networkInterfaces: [
      {
        networkIP: raw["private_ip"],
        accessConfigs: raw["floating_ip"] == null ? [] : [{ type: "ONE_TO_ONE_NAT", natIP: raw["floating_ip"] }],
      },
    ],
    disks: disks(raw).map(({ id, root }) => ({ boot: root, source: link("disks", id), deviceName: id })),
  });
  const volume = (raw: Raw): Raw => ({
    kind: "compute#disk",
    id: text(raw["id"]),
    name: raw["name"],
    sizeGb: text(raw["size"]),
    status: "READY",
    ...(raw["attached_to"] == null ? {} : { users: [link("instances", raw["host"])] }),
  });
  const group = (raw: Raw): Raw => ({
    kind: "compute#firewall",
    id: text(raw["id"]),
    name: raw["name"],
    description: raw["description"],
    fingerprint: `v${text(raw["version"])}`,
  });
  const other = (raw: Raw): Raw => ({ id: text(raw["id"]), name: raw["name"], selfLink: link("x", raw["id"]) });
  const shown: Record<string, (raw: Raw) => Raw> = { vm, volume, group };
  const zoned = listsCalled("instances", "disks", "", "machineTypes", "", "");
  const plain = listsCalled("", "", "firewalls", "", "images", "regions");
  return {
    shape: {
      title: "a list in each zone, names as references, versions and jobs",
      credential: bearer,
      world: { ownEgress: true, range: "-" },
      understand({ method, path }): Meant | undefined {
        const [, zone, plural = "", id, verb] =
          /^\/api\/v1\/projects\/acme\/regions\/([^/]+)\/(\w+)(?:\/([^/]+))?(?:\/(\w+))?$/.exec(path) ?? [];
        if (zone !== undefined) {
          const list = zoned[plural];
          if (list === undefined) return undefined;
          if (method === "GET")
            return id === undefined ? { operation: list } : { operation: list.replace("list", "get"), id };
          if (method === "DELETE" && plural === "disks") return { operation: "volume.delete", id: id ?? "" };
          if (method === "POST" && (verb === "confirmResize" || verb === "revertResize"))
            return { operation: verb === "confirmResize" ? "vm.resize.confirm" : "vm.resize.revert", id: id ?? "" };
          return undefined;
        }
        const [, other = "", own, ruleId] =
          /^\/api\/v1\/projects\/acme\/(?:global\/)?(\w+)(?:\/([^/]+))?(?:\/rules\/([^/]+))?$/.exec(path) ?? [];
        const list = plain[other];
        if (list === undefined || other === "") return undefined;
        if (method === "GET")
          return own === undefined ? { operation: list } : { operation: list.replace("list", "get"), id: own };
        return method === "DELETE" && ruleId !== undefined
          ? { operation: "group.rule.delete", id: own ?? "", ruleId }
          : undefined;
      },
      list(operation, items, asked): Said {
        const [, zone] = /regions\/([^/]+)\//.exec(asked.path) ?? [];
        const here =
          zone === undefined || operation === "flavor.list" ? items : items.filter((item) => item["region"] === zone);
        const from = Number(asked.query.get("pageToken") ?? 0);
        const more = from + 2 < here.length;
        const own = cut(here, from, 2).map(shown[operation.slice(0, -5)] ?? other);
        return {
          body: {
            kind: "compute#list",
            ...(own.length > 0 && { items: own }),
            ...(more && { nextPageToken: String(from + 2) }),
          },
        };
      },
      answer(operation, payload): Said {
        return { body: recordShown(shown, operation, payload) ?? { data: payload } };
      },
      withJob: (body, job) => ({
        ...(typeof body === "object" ? body : { message: body }),
        operation: { name: job, status: "PENDING", operationType: "x" },
      }),
      job: ({ method, path }) =>
        method === "GET" ? match(path, "/api/v1/projects/acme/operations/:id")?.["id"] : undefined,
      showJob: (name, isDone) => ({
        body: { kind: "compute#operation", name, status: isDone ? "DONE" : "RUNNING", progress: 10 },
      }),
      refuse: (_, status, message) => ({
        status,
        body: {
          error: {
            code: status,
            message,
            errors: [{ domain: "global", reason: status === 404 ? "notFound" : "invalid", message }],
          },
        },
      }),
    },
    told: [
      ...[
        "vm.list=regions/in-west-1/instances",
        "volume.list=regions/in-west-1/disks",
        "group.list=global/firewalls",
        "flavor.list=regions/in-west-1/machineTypes",
        "image.list=global/images",
        "region.list=regions",
      ].flatMap((line) => [
        "--curl",
        line.replace("=", "=curl -H 'Authorization: Bearer x' URL/api/v1/projects/acme/"),
      ]),
      "--curl",
      "volume.delete=curl -X DELETE URL/api/v1/projects/acme/regions/in-west-1/disks/6f2d1f6a-8f6e-4b0e-9d0f-0d3c6a529e11",
      "--curl",
      "vm.resize.confirm=curl -X POST URL/api/v1/projects/acme/regions/in-west-1/instances/6f2d1f6a-8f6e-4b0e-9d0f-0d3c6a529e11/confirmResize",
      "--curl",
      "vm.resize.revert=curl -X POST URL/api/v1/projects/acme/regions/in-west-1/instances/6f2d1f6a-8f6e-4b0e-9d0f-0d3c6a529e11/revertResize",
    ],
  };
}

/** One endpoint with commands, wrappers named for them, lists without a key when there is nothing, jobs, sizes in bytes. */
function commands(): Odd {
  const vm = (raw: Raw): Raw => ({
    id: raw["id"],
    name: raw["name"],
    displayname: raw["name"],
    state: words(
      { ACTIVE: "Running", SHUTOFF: "Stopped", VERIFY_RESIZE: "ScalePending", BUILD: "Starting", STOPPING: "Stopping" },
      raw["status"],
    ),
    account: raw["owner"],
    zoneid: raw["region"],
    serviceofferingid: raw["flavor_id"],
    serviceofferingname: slugs[text(raw["flavor_id"])],
    templateid: raw["image_id"],
    nic: [{ id: "n1", ipaddress: raw["private_ip"] }],
    publicip: raw["floating_ip"],
  });
  const volume = (raw: Raw): Raw => ({
    id: raw["id"],
    name: raw["name"],
    type: raw["root"] === true ? "ROOT" : "DATADISK",
    size: Number(raw["size"]) * 1024 ** 3,
    state: raw["status"] === "creating" ? "Allocated" : "Ready",
    ...(raw["attached_to"] == null ? {} : { virtualmachineid: raw["attached_to"] }),
  });
  const group = (raw: Raw): Raw => ({ id: raw["id"], name: raw["name"], description: raw["description"] });
  const other = (raw: Raw): Raw => ({ id: raw["id"], name: raw["name"] });
  const shown: Record<string, (raw: Raw) => Raw> = { vm, volume, group };
  const table: Readonly<Record<string, readonly [operation: string, key: string]>> = {
    listVirtualMachines: ["vm.list", "virtualmachine"],
    listVolumes: ["volume.list", "volume"],
    listSecurityGroups: ["group.list", "securitygroup"],
    listServiceOfferings: ["flavor.list", "serviceoffering"],
    listTemplates: ["image.list", "template"],
    listZones: ["region.list", "zone"],
    deleteVolume: ["volume.delete", ""],
    revokeSecurityGroupRule: ["group.rule.delete", ""],
    confirmScale: ["vm.resize.confirm", ""],
    revertScale: ["vm.resize.revert", ""],
  };
  return {
    shape: {
      title: "one endpoint with commands",
      credential: bearer,
      world: { slowVolumes: true, slowRules: true, twice: true },
      understand({ path, query }): Meant | undefined {
        const [operation] = table[query.get("command") ?? ""] ?? [];
        if (path !== "/api/v1/client" || operation === undefined) return undefined;
        return { operation, id: query.get("groupid") ?? query.get("id") ?? "", ruleId: query.get("ruleid") ?? "" };
      },
      list(operation, items, asked): Said {
        const command = asked.query.get("command") ?? "";
        const [page, size] = [Number(asked.query.get("page") ?? 1), Number(asked.query.get("pagesize") ?? 2)];
        const own = cut(items, (page - 1) * size, size).map(shown[operation.slice(0, -5)] ?? other);
        const key = table[command]?.[1] ?? "";
        return {
          body: { [`${command.toLowerCase()}response`]: own.length === 0 ? {} : { count: items.length, [key]: own } },
        };
      },
      answer(operation, payload): Said {
        const record = recordShown(shown, operation, payload);
        if (record !== undefined)
          return { body: { [`${operation.replace(".", "")}response`]: { [operation.split(".")[0] ?? ""]: record } } };
        return { body: { data: payload } };
      },
      withJob: (body, job) => {
        const [key] = Object.keys(typeof body === "object" && body !== null ? body : {});
        if (key === undefined || !key.endsWith("response"))
          return { ...(typeof body === "object" ? body : { data: body }), jobid: job };
        return { [key]: { ...((body as Raw)[key] as Raw), jobid: job } };
      },
      job: ({ query }) => (query.get("command") === "queryAsyncJobResult" ? (query.get("jobid") ?? "") : undefined),
      showJob: (jobid, isDone) => ({ body: { queryasyncjobresultresponse: { jobid, jobstatus: isDone ? 1 : 0 } } }),
      refuse: (_, status, message) => ({
        status: status === 401 ? 401 : status === 404 ? 431 : 530,
        body: { errorresponse: { errorcode: status === 404 ? 431 : 530, cserrorcode: 9999, errortext: message } },
      }),
    },
    told: [
      "--curl",
      "vm.list=curl 'URL/api/v1/client?command=listVirtualMachines'",
      ...["volume.delete=deleteVolume", "vm.resize.confirm=confirmScale", "vm.resize.revert=revertScale"].flatMap(
        (line) => [
          "--curl",
          `${line.replace("=", "=curl -X POST 'URL/api/v1/client?command=")}&id=6f2d1f6a-8f6e-4b0e-9d0f-0d3c6a529e11'`,
        ],
      ),
    ],
  };
}

/** Maps of records, some with one field; lists that go on after their last id, and say nothing of it. */
function maps(): Odd {
  const vm = (raw: Raw): Raw => ({
    Name: raw["name"],
    State: words({ ACTIVE: "up", SHUTOFF: "halted", VERIFY_RESIZE: "awaiting-confirmation" }, raw["status"]),
    Type: raw["flavor_id"],
    Image: raw["image_id"],
    Owner: raw["owner"],
    PrivateAddress: raw["private_ip"],
    ...(raw["floating_ip"] == null ? {} : { PublicAddress: raw["floating_ip"] }),
    Volumes: Object.fromEntries(disks(raw).map(({ id, root }) => [id, { Role: root ? "root" : "data" }])),
  });
  const volume = (raw: Raw): Raw => ({
    Name: raw["name"],
    SizeMiB: Number(raw["size"]) * 1024,
    ...(raw["attached_to"] == null ? {} : { Instance: raw["attached_to"] }),
  });
  const group = (raw: Raw): Raw => ({ Name: raw["name"], Description: raw["description"] });
  const named = (raw: Raw): Raw => ({ Name: raw["name"] });
  const shown: Record<string, (raw: Raw) => Raw> = { vm, volume, group };
  const lists = listsCalled("instances", "volumes", "security-groups", "instance-types", "images", "zones");
  const key: Readonly<Record<string, string>> = {
    "vm.list": "Instances",
    "volume.list": "Volumes",
    "group.list": "SecurityGroups",
    "flavor.list": "InstanceTypes",
    "image.list": "Images",
    "region.list": "Zones",
  };
  return {
    shape: {
      title: "maps of records, pages after the last id",
      credential: { name: "Authorization", value: "ApiKey ops-token" },
      world: { namedGroups: "refused", range: ":" },
      understand({ method, path }): Meant | undefined {
        const [, , , collection = "", id, more, ruleId] = path.split("/");
        const list = lists[collection];
        if (list === undefined) return undefined;
        if (id === undefined) return method === "GET" ? { operation: list } : undefined;
        if (method === "GET" && more === undefined) return { operation: list.replace("list", "get"), id };
        if (method === "POST" && more === "resize-decision") return undefined;
        if (method === "POST" && (more === "confirm" || more === "revert"))
          return { operation: `vm.resize.${more}`, id };
        if (method === "DELETE" && collection === "volumes") return { operation: "volume.delete", id };
        if (method === "DELETE" && more === "rules")
          return { operation: "group.rule.delete", id, ruleId: ruleId ?? "" };
        return undefined;
      },
      list(operation, items, asked): Said {
        const after = asked.query.get("marker");
        const from = after === null ? 0 : items.findIndex((item) => item["id"] === after) + 1 || items.length;
        return {
          body: {
            [key[operation] ?? ""]: Object.fromEntries(
              cut(items, from, 2).map((raw) => [text(raw["id"]), (shown[operation.slice(0, -5)] ?? named)(raw)]),
            ),
          },
        };
      },
      answer(operation, payload): Said {
        const record = recordShown(shown, operation, payload);
        const raw = payload as Raw;
        return { body: record !== undefined ? { Id: raw["id"], ...record } : { data: payload } };
      },
      refuse: (_, status, message) =>
        status === 404
          ? { status, body: "<html><body>404 Not Found</body></html>", headers: { "content-type": "text/html" } }
          : { status, body: { Error: { Code: `E.${status}`, Message: message } } },
    },
    told: [],
    env: { RECONCILE_TOKEN: "ops-token" },
  };
}

/** Everything takes its time, and no more than four connections are borne. */
function slow(): Odd {
  const vm = (raw: Raw): Raw => ({
    uuid: raw["id"],
    hostname: raw["name"],
    vm_state: words(
      {
        ACTIVE: "started",
        SHUTOFF: "stopped",
        VERIFY_RESIZE: "resize_verify",
        BUILD: "creating",
        STOPPING: "stopping",
        STARTING: "starting",
        DELETING: "deleting",
      },
      raw["status"],
    ),
    plan: { uuid: raw["flavor_id"] },
    template: { uuid: raw["image_id"] },
    owner_email: raw["owner"],
    ip_addresses: [
      { address: raw["private_ip"], access: "private" },
      ...(raw["floating_ip"] == null ? [] : [{ address: raw["floating_ip"], access: "public" }]),
    ],
    storage_devices: disks(raw).map(({ id, root }) => ({ storage: id, boot_disk: root ? "1" : "0" })),
  });
  const volume = (raw: Raw): Raw => ({
    uuid: raw["id"],
    title: raw["name"],
    size: raw["size"],
    state: words(
      {
        available: "online",
        "in-use": "used",
        creating: "maintenance",
        attaching: "maintenance",
        detaching: "maintenance",
        extending: "maintenance",
        deleting: "maintenance",
      },
      raw["status"],
    ),
    server: raw["attached_to"] ?? "",
  });
  const group = (raw: Raw): Raw => ({ uuid: raw["id"], title: raw["name"], comment: raw["description"] });
  const other = (raw: Raw): Raw => ({ uuid: raw["id"], title: raw["name"] });
  const shown: Record<string, (raw: Raw) => Raw> = { vm, volume, group };
  const lists = listsCalled("servers", "storages", "security-groups", "plans", "templates", "zones");
  return {
    shape: {
      title: "asynchronous everything, four connections",
      credential: bearer,
      connections: 4,
      world: { slowVolumes: true, slowRules: true, delayMs: 150, namedGroups: "kept", twice: true },
      understand({ method, path }): Meant | undefined {
        const [, , , collection = "", id, more, ruleId] = path.split("/");
        const list = lists[collection];
        if (list === undefined) return undefined;
        if (id === undefined) return method === "GET" ? { operation: list } : undefined;
        if (method === "GET" && more === undefined) return { operation: list.replace("list", "get"), id };
        if (method === "POST" && (more === "confirm_resize" || more === "revert_resize"))
          return { operation: `vm.resize.${more.split("_")[0]}`, id };
        if (method === "DELETE" && collection === "storages") return { operation: "volume.delete", id };
        if (method === "DELETE" && more === "rules")
          return { operation: "group.rule.delete", id, ruleId: ruleId ?? "" };
        return undefined;
      },
      list(operation, items, asked): Said {
        const [limit, offset] = [Number(asked.query.get("limit") ?? 2), Number(asked.query.get("offset") ?? 0)];
        const plural = Object.keys(lists).find((name) => lists[name] === operation) ?? "";
        const singular = plural.replace(/s$/, "").replaceAll("-", "_");
        return {
          body: {
            [plural.replaceAll("-", "_")]: {
              [singular]: cut(items, offset, limit).map(shown[operation.slice(0, -5)] ?? other),
              total_count: items.length,
              limit,
              offset,
            },
          },
        };
      },
      answer(operation, payload): Said {
        const record = recordShown(shown, operation, payload);
        const key = { vm: "server", volume: "storage", group: "security_group" }[operation.split(".")[0] ?? ""] ?? "";
        return { body: record !== undefined ? { [key]: record } : { data: payload } };
      },
      refuse: (_, status, message) => ({
        status,
        body: { error: { error_code: `ERR_${status}`, error_message: message } },
      }),
    },
    told: [],
  };
}

/** No list of volumes, none of groups; ids under words of their own, in nested wrappers; nothing deletes a volume. */
function foreign(): Odd {
  const vm = (raw: Raw): Raw => ({
    vm_uuid: raw["id"],
    label: raw["name"],
    power_status: words({ ACTIVE: "on", SHUTOFF: "off", VERIFY_RESIZE: "verify" }, raw["status"]),
    flavor_ref: raw["flavor_id"],
    image_ref: raw["image_id"],
    owned_by: raw["owner"],
    addresses: { internal: raw["private_ip"], external: raw["floating_ip"] },
    block_devices: disks(raw).map(({ id, root }) => ({ volume_uuid: id, kind: root ? "root" : "data" })),
  });
  const volume = (raw: Raw): Raw => ({
    uuid: raw["id"],
    label: raw["name"],
    gb: raw["size"],
    host_vm: raw["attached_to"],
  });
  const group = (raw: Raw): Raw => ({ sg_id: raw["id"], title: raw["name"], about: raw["description"] });
  const other = (raw: Raw): Raw => ({ ref: raw["id"], label: raw["name"] });
  const shown: Record<string, (raw: Raw) => Raw> = { vm, volume, group };
  const lists = listsCalled("machines", "", "", "plans", "templates", "sites");
  return {
    shape: {
      title: "no lists of volumes and groups, nested wrappers",
      credential: { name: "Authorization", value: "Token ops-token" },
      world: {},
      understand({ method, path }): Meant | undefined {
        const [, , , collection = "", id, more] = path.split("/");
        const list = collection === "" ? undefined : lists[collection];
        if (method === "POST" && collection === "machines" && more === "resize-ok")
          return { operation: "vm.resize.confirm", id: id ?? "" };
        if (method === "POST" && collection === "machines" && more === "resize-undo")
          return { operation: "vm.resize.revert", id: id ?? "" };
        return list !== undefined && method === "GET" && id === undefined ? { operation: list } : undefined;
      },
      list(operation, items, asked): Said {
        const from = Number(asked.query.get("cursor")?.slice(2) ?? 0);
        const more = from + 2 < items.length;
        return {
          body: {
            data: {
              result: {
                entries: cut(items, from, 2).map((raw) => ({
                  resource: (shown[operation.slice(0, -5)] ?? other)(raw),
                })),
                cursor: { next: more ? `c/${from + 2}` : null },
              },
            },
          },
        };
      },
      answer(operation, payload): Said {
        const record = recordShown(shown, operation, payload);
        const key = operation.split(".")[0] === "group" ? "security_group" : "volume";
        if (record !== undefined) return { body: key === "volume" ? { data: { volume: record } } : { [key]: record } };
        return { body: { data: payload } };
      },
      refuse: (_, status, message) => ({ status, body: { error: { code: status, message } } }),
    },
    told: [
      "--curl",
      "vm.resize.confirm=curl -X POST URL/api/v1/machines/6f2d1f6a-8f6e-4b0e-9d0f-0d3c6a529e11/resize-ok",
      "--curl",
      "vm.resize.revert=curl -X POST URL/api/v1/machines/6f2d1f6a-8f6e-4b0e-9d0f-0d3c6a529e11/resize-undo",
      "--none",
      "volume.delete",
    ],
    keepsVolumes: true,
  };
}

/** Numbers that all kinds share, pages after a number, everything wrapped twice, a sign-in in the place of a 401. */
function wrapped(): Odd {
  const vm = (raw: Raw): Raw => ({
    attributes: {
      serverId: number(raw["id"]),
      serverName: raw["name"],
      statusCode: words(
        { ACTIVE: "RUN", SHUTOFF: "NSTOP", VERIFY_RESIZE: "RSZ", BUILD: "INIT", STOPPING: "SHTDN" },
        raw["status"],
      ),
    },
    specification: { productCode: raw["flavor_id"], imageNo: raw["image_id"], ownerMail: raw["owner"] },
    network: { privateIp: raw["private_ip"], publicIp: raw["floating_ip"] ?? "" },
    storageList: disks(raw).map(({ id, root }) => ({
      storageId: number(id),
      storageType: root ? "BASIC" : "ADDED",
      deviceName: root ? "/dev/xvda" : "/dev/xvdb",
    })),
  });
  const volume = (raw: Raw): Raw => ({
    storageId: number(raw["id"]),
    storageName: raw["name"],
    storageSize: Number(raw["size"]) * 1024 ** 3,
    storageStatus: raw["attached_to"] == null ? "CREAT" : "ATTAC",
    serverId: number(raw["attached_to"]),
  });
  const group = (raw: Raw): Raw => ({
    groupId: number(raw["id"]),
    groupName: raw["name"],
    groupDescription: raw["description"],
  });
  const other =
    (kind: string) =>
    (raw: Raw): Raw => ({ [`${kind}Code`]: raw["id"], [`${kind}Name`]: raw["name"] });
  const shown: Record<string, (raw: Raw) => Raw> = {
    vm,
    volume,
    group,
    flavor: other("product"),
    image: other("image"),
    region: other("region"),
  };
  const lists = listsCalled("server", "storage", "security-group", "product", "image", "region");
  return {
    shape: {
      title: "numbers that kinds share, wrapped twice, a sign-in page",
      credential: { name: "X-Api-Key", value: "ops-token" },
      world: { id: counted, selfConfirms: true },
      understand({ method, path }): Meant | undefined {
        const [, what = "", verb = "", id] = /^\/api\/v1\/([a-z-]+)\/(\w+)(?:\/([^/]+))?$/.exec(path) ?? [];
        const list = lists[what];
        if (list === undefined) return undefined;
        if (method === "GET" && verb === "list") return { operation: list };
        if (method === "GET" && verb === "detail" && id !== undefined)
          return { operation: list.replace("list", "get"), id };
        if (method === "POST" && what === "storage" && verb === "delete")
          return { operation: "volume.delete", id: id ?? "" };
        return undefined;
      },
      list(operation, items, asked): Said {
        const after = asked.query.get("after");
        const from = after === null ? 0 : items.findIndex((item) => text(item["id"]) === after) + 1 || items.length;
        const own = cut(items, from, 2).map(shown[operation.slice(0, -5)] ?? vm);
        return {
          body: { response: { header: { code: 0, message: "SUCCESS" }, body: { total: items.length, list: own } } },
        };
      },
      answer(operation, payload): Said {
        return {
          body: {
            response: {
              header: { code: 0, message: "SUCCESS" },
              body: recordShown(shown, operation, payload) ?? payload,
            },
          },
        };
      },
      refuse: (_, status, message) =>
        status === 401
          ? { status: 302, headers: { location: "https://portal.invalid/login?next=/" } }
          : { status, body: { response: { header: { code: status * 10, message }, body: null } } },
    },
    told: ["--curl", "vm.list=curl -H 'X-Api-Key: x' URL/api/v1/server/list"],
  };
}

/** Records by type, pages by number in a nested map, actions beside everything, references as whole records. */
function nested(): Odd {
  const vm = (raw: Raw): Raw => ({
    id: number(raw["id"]),
    name: raw["name"],
    status: words(
      {
        ACTIVE: "running",
        SHUTOFF: "off",
        VERIFY_RESIZE: "resize-pending",
        BUILD: "initializing",
        STOPPING: "stopping",
        STARTING: "starting",
      },
      raw["status"],
    ),
    server_type: { id: raw["flavor_id"], name: slugs[text(raw["flavor_id"])], cores: 2 },
    image: { id: raw["image_id"], type: "system", name: "u" },
    datacenter: { name: "dc1", location: { name: raw["region"] } },
    labels: { owner: raw["owner"] },
    public_net: {
      ipv4: raw["floating_ip"] == null ? null : { ip: raw["floating_ip"], blocked: false },
      floating_ips: [],
    },
    private_net: [{ ip: raw["private_ip"] }],
    volumes: disks(raw)
      .filter(({ root }) => !root)
      .map(({ id }) => number(id)),
    created: "2026-01-01T00:00:00Z",
  });
  const volume = (raw: Raw): Raw => ({
    id: number(raw["id"]),
    name: raw["name"],
    size: raw["size"],
    status: "available",
    server: number(raw["attached_to"]),
    linux_device: "/dev/disk/x",
  });
  const group = (raw: Raw): Raw => ({
    id: number(raw["id"]),
    name: raw["name"],
    description: raw["description"],
    applied_to: [],
  });
  const shown: Record<string, (raw: Raw) => Raw> = {
    vm,
    volume,
    group,
    flavor: (raw) => ({ id: raw["id"], name: raw["name"], cores: 2 }),
    image: (raw) => ({ id: raw["id"], name: raw["name"], status: "available" }),
    region: (raw) => ({ id: text(raw["id"]).length, name: raw["id"], description: raw["name"], network_zone: "eu" }),
  };
  const lists = listsCalled("servers", "volumes", "firewalls", "server_types", "images", "locations");
  return {
    shape: {
      title: "pages by number, actions beside everything",
      credential: bearer,
      world: { id: counted },
      understand({ method, path }): Meant | undefined {
        const [, , , collection = "", id, more, last] = path.split("/");
        const list = lists[collection];
        if (list === undefined) return undefined;
        if (id === undefined) return method === "GET" ? { operation: list } : undefined;
        if (method === "GET" && more === undefined) return { operation: list.replace("list", "get"), id };
        if (method === "POST" && more === "actions" && collection === "servers")
          return last === "confirm_resize"
            ? { operation: "vm.resize.confirm", id }
            : last === "revert_resize"
              ? { operation: "vm.resize.revert", id }
              : undefined;
        if (method === "DELETE" && collection === "volumes") return { operation: "volume.delete", id };
        if (method === "DELETE" && more === "rules") return { operation: "group.rule.delete", id, ruleId: last ?? "" };
        return undefined;
      },
      list(operation, items, asked): Said {
        const [page, size] = [Number(asked.query.get("page") ?? 1), Number(asked.query.get("per_page") ?? 2)];
        const plural = Object.keys(lists).find((name) => lists[name] === operation) ?? "";
        const last = Math.max(1, Math.ceil(items.length / size));
        return {
          body: {
            [plural]: cut(items, (page - 1) * size, size).map(shown[operation.slice(0, -5)] ?? vm),
            meta: {
              pagination: {
                page,
                per_page: size,
                previous_page: page > 1 ? page - 1 : null,
                next_page: page < last ? page + 1 : null,
                last_page: last,
                total_entries: items.length,
              },
            },
          },
        };
      },
      answer(operation, payload): Said {
        const record = recordShown(shown, operation, payload);
        const key = { vm: "server", volume: "volume", group: "firewall" }[operation.split(".")[0] ?? ""] ?? "";
        if (record === undefined) return { body: { data: payload } };
        return { body: { [key]: record, ...(operation.endsWith("create") && { next_actions: [] }) } };
      },
      withJob: (body, job) => ({
        ...(typeof body === "object" ? body : { data: body }),
        action: { id: job, command: "x", status: "running", progress: 0, error: null },
      }),
      job: ({ method, path }) => (method === "GET" ? match(path, "/api/v1/actions/:id")?.["id"] : undefined),
      showJob: (id, isDone) => ({
        body: { action: { id, status: isDone ? "success" : "running", progress: 100, error: null } },
      }),
      refuse: (_, status, message) => ({
        status: status === 409 ? 423 : status,
        body: {
          error: {
            code: status === 404 ? "not_found" : status === 409 ? "locked" : "invalid_input",
            message,
            details: null,
          },
        },
      }),
    },
    told: [],
  };
}

export const odds: readonly Odd[] = [droplets(), zones(), commands(), maps(), slow(), foreign(), wrapped(), nested()];

export { type Asked, answerBare };
