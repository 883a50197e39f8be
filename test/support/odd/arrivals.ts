/**
 * Services whose records are read at other places than they are listed: volumes by slot and products that are keys;
 * operations with a reference; attachments with ids of their own; rows whose records show more; operations that are done
 * with an error; records in lists of one; and tasks that are stopped.
 */
import { cut, type Meant, type Raw, type Said, text } from "../deployments/front";
import { curl, disks, odd, type Shown, word } from "./further";
import type { Odd } from "./shapes";
import { flavors, images } from "./world";

const someId = "6f2d1f6a-8f6e-4b0e-9d0f-0d3c6a529e11";
const kindIn = (operation: string) => operation.split(".")[0] as keyof Shown;
const data = (raw: Raw) => disks(raw).filter(({ root }) => !root);
const rootOf = (raw: Raw) => disks(raw).find(({ root }) => root);
const nameOf = (all: readonly { id: string; name: string }[], id: unknown): string | undefined =>
  all.find((one) => one.id === id)?.name;

/** Volumes by their slot, a total in a header, tasks for what takes long, products that are keys of a map. */
function slots(): Odd {
  const shown: Shown = {
    vm: (raw) => ({
      id: raw["id"],
      name: raw["name"],
      organization: "o-1",
      project: "acme",
      state: word(
        { ACTIVE: "running", SHUTOFF: "stopped in place", VERIFY_RESIZE: "awaiting approval", BUILD: "starting" },
        raw,
        "stopping",
      ),
      state_detail: "",
      commercial_type: nameOf(flavors, raw["flavor_id"]),
      image: { id: raw["image_id"], name: nameOf(images, raw["image_id"]), root_volume: { size: 10 } },
      tags: [`owner=${text(raw["owner"])}`],
      private_ip: raw["private_ip"],
      public_ip: raw["floating_ip"] === null ? null : { id: "ip-1", address: raw["floating_ip"], dynamic: false },
      volumes: Object.fromEntries(
        disks(raw).map(({ id, name, root }, nth) => [String(nth), { id, name, boot: root, volume_type: "b_ssd" }]),
      ),
      zone: raw["region"],
    }),
    volume: (raw) => ({
      id: raw["id"],
      name: raw["name"],
      size: Number(raw["size"]) * 1_000_000_000,
      volume_type: "b_ssd",
      state: word({ available: "available", "in-use": "available" }, raw, "resizing"),
      server: raw["attached_to"] === null ? null : { id: raw["attached_to"], name: raw["host"] },
      zone: raw["region"],
    }),
    group: (raw) => ({
      id: raw["id"],
      name: raw["name"],
      description: raw["description"],
      stateful: true,
      inbound_default_policy: "drop",
      servers: [],
    }),
    flavor: () => ({ ncpus: 2, monthly_price: 10 }),
    image: (raw) => ({ id: raw["id"], name: raw["name"], state: "available", arch: "x86_64" }),
    region: (raw) => ({ id: raw["id"], name: raw["name"] }),
  };
  const at = "/api/v1/zones/in-west-1";
  const keys: Readonly<Record<string, string>> = {
    vm: "servers",
    volume: "volumes",
    group: "security_groups",
    flavor: "servers",
    image: "images",
    region: "zones",
  };
  return odd({
    title: "volumes by slot, totals in a header, products that are keys",
    credential: { name: "X-Auth-Token", value: "ops-token" },
    shown,
    world: { slowVolumes: true, twice: true, range: "-" },
    lists: {
      vm: `${at}/servers`,
      volume: `${at}/volumes`,
      group: `${at}/security_groups`,
      flavor: `${at}/products/servers`,
      image: `${at}/images`,
      region: "/api/v1/zones",
    },
    routes: [
      [`GET ${at}/servers/:id`, "vm.get"],
      [`GET ${at}/security_groups/:id`, "group.get"],
      [`POST ${at}/servers/:id/action`, "vm.resize.confirm", { action: "approve_resize" }],
      [`POST ${at}/servers/:id/action`, "vm.resize.revert", { action: "undo_resize" }],
      [`DELETE ${at}/volumes/:id`, "volume.delete"],
      [`DELETE ${at}/security_groups/:id/rules/:rule`, "group.rule.delete"],
    ],
    page: (items, { query }, operation) => {
      const key = keys[kindIn(operation)] ?? "";
      if (kindIn(operation) === "flavor")
        return {
          body: { servers: Object.fromEntries(items.map((raw) => [text(raw["name"]), shown.flavor(raw)])) },
          headers: { "x-total-count": String(items.length) },
        };
      const [nth, size] = [Number(query.get("page") ?? 1), Number(query.get("per_page") ?? 4)];
      return {
        body: { [key]: cut(items, (nth - 1) * size, size).map(shown[kindIn(operation)]) },
        headers: { "x-total-count": String(items.length) },
      };
    },
    answer: (operation, record, payload) => {
      const key = { vm: "server", volume: "volume", group: "security_group" }[text(kindIn(operation))] ?? "";
      if (record !== undefined) return { body: { [key]: record } };
      if (operation === "group.rule.list")
        return { body: { rules: payload, total_count: (payload as readonly Raw[]).length } };
      if (operation === "group.rule.create") return { body: { rule: payload } };
      return /delete|detach/.test(operation) && operation !== "vm.delete"
        ? { status: 204 }
        : { body: { data: payload } };
    },
    withJob: (body, job, operation) =>
      /^vm\.(create|resize|stop|start)/.test(operation)
        ? {
            task: {
              id: job,
              description: operation,
              status: "pending",
              href_from: `${at}/servers/x/action`,
              href_result: "servers/x",
            },
          }
        : body,
    job: ({ method, path }) =>
      method === "GET" ? /^\/api\/v1\/zones\/in-west-1\/tasks\/(\w+)$/.exec(path)?.[1] : undefined,
    showJob: (id, isDone): Said => ({ body: { task: { id, status: isDone ? "success" : "pending", progress: 0 } } }),
    refuse: (_, status, message) => ({
      status,
      body:
        status === 404
          ? { type: "not_found", resource: "x", resource_id: "y", message }
          : { type: status === 401 ? "denied_authentication" : "precondition_failed", message, precondition: "x" },
    }),
    told: [
      ...curl("vm.list", `-H 'X-Auth-Token: x' URL${at}/servers`),
      ...curl(
        "vm.resize.confirm",
        `-X POST -H 'X-Auth-Token: x' -d '{"action":"approve_resize"}' URL${at}/servers/${someId}/action`,
      ),
      ...curl(
        "vm.resize.revert",
        `-X POST -H 'X-Auth-Token: x' -d '{"action":"undo_resize"}' URL${at}/servers/${someId}/action`,
      ),
    ],
  });
}

/** Each write is answered with an operation and what it refers to; verbs stand behind the id; VMs show no volumes. */
function references(): Odd {
  const shown: Shown = {
    vm: (raw) => ({
      id: raw["id"],
      name: raw["name"],
      "created-at": "2026-01-01T00:00:00Z",
      state: word(
        { ACTIVE: "running", SHUTOFF: "stopped", VERIFY_RESIZE: "scaled", BUILD: "starting", REBUILD: "resetting" },
        raw,
        "migrating",
      ),
      "instance-type": { id: raw["flavor_id"] },
      template: { id: raw["image_id"] },
      labels: { owner: raw["owner"] },
      "public-ip": raw["floating_ip"] ?? "",
      "private-networks": [{ id: someId, "ip-address": raw["private_ip"] }],
      "disk-size": 50,
      manager: null,
    }),
    volume: (raw) => ({
      id: raw["id"],
      name: raw["name"],
      size: raw["size"],
      state: word({ available: "detached", "in-use": "attached" }, raw, text(raw["status"])),
      ...(raw["attached_to"] !== null && { instance: { id: raw["attached_to"] } }),
      labels: {},
    }),
    group: (raw) => ({ id: raw["id"], name: raw["name"], description: raw["description"], rules: raw["rules"] }),
    flavor: (raw) => ({ id: raw["id"], size: text(raw["name"]).split(".")[1], family: "m1", name: raw["name"] }),
    image: (raw) => ({ id: raw["id"], name: raw["name"], visibility: "public" }),
    region: (raw) => ({ name: raw["id"], "api-endpoint": "https://x.invalid" }),
  };
  const keys: Readonly<Record<string, string>> = {
    vm: "instances",
    volume: "block-storage-volumes",
    group: "security-groups",
    flavor: "instance-types",
    image: "templates",
    region: "zones",
  };
  const made = odd({
    title: "operations with a reference, VMs that show no volumes",
    shown,
    world: { slowVolumes: true, slowRules: true, namedGroups: "refused", range: "-" },
    lists: {
      vm: "/v2/instance",
      volume: "/v2/block-storage",
      group: "/v2/security-group",
      flavor: "/v2/instance-type",
      image: "/v2/template",
      region: "/v2/zone",
    },
    routes: [
      ["GET /v2/instance/:id", "vm.get"],
      ["GET /v2/security-group/:id", "group.get"],
      ["PUT /v2/instance/:id:accept-scale", "vm.resize.confirm"],
      ["DELETE /v2/block-storage/:id", "volume.delete"],
      ["DELETE /v2/security-group/:id/rules/:rule", "group.rule.delete"],
    ],
    page: (items, _, operation) => ({
      // Root disks are no block storage.
      body: {
        [keys[kindIn(operation)] ?? ""]: items.filter((raw) => raw["root"] !== true).map(shown[kindIn(operation)]),
      },
    }),
    answer: (operation, record, payload, raw) =>
      /^(volume|group)\.(create|update)|^group\.rule\.create/.test(operation)
        ? { body: { id: raw["id"] } }
        : { body: record ?? (/list$/.test(operation) ? { data: payload } : payload) },
    withJob: (body, job, operation) => ({
      id: `${someId.slice(0, -8)}${job.slice(1).padStart(8, "0")}`,
      state: "pending",
      command: operation,
      ...(typeof body === "object" &&
        body !== null &&
        "id" in body && { reference: { id: body.id, link: `/v2/x/${text(body.id)}`, command: "get-x" } }),
    }),
    job: ({ method, path }) => {
      const id = method === "GET" ? /^\/v2\/operation\/([\w-]+)$/.exec(path)?.[1] : undefined;
      return id === undefined ? undefined : `j${Number(id.slice(-8))}`;
    },
    showJob: (id, isDone): Said => ({
      body: {
        id: `${someId.slice(0, -8)}${id.slice(1).padStart(8, "0")}`,
        state: isDone ? "success" : "pending",
        reference: { id: someId },
      },
    }),
    refuse: (_, status, message) => ({
      status,
      body: { message: status === 404 ? "Not Found" : message },
    }),
    told: [
      ...curl("vm.list", `-H 'Authorization: Bearer x' URL/v2/instance`),
      ...curl("vm.resize.confirm", `-X PUT URL/v2/instance/${someId}:accept-scale`),
      ...curl("vm.resize.revert", `-X PUT URL/v2/instance/${someId}:revert-scale`),
    ],
  });
  return {
    ...made,
    shape: {
      ...made.shape,
      understand(asked, world): Meant | undefined {
        const [, id, verb] = /^\/v2\/instance\/([^/:]+):(\w+-scale)$/.exec(asked.path) ?? [];
        if (id !== undefined && asked.method === "PUT")
          return { operation: `vm.resize.${verb === "accept-scale" ? "confirm" : "revert"}`, id };
        return made.shape.understand(asked, world);
      },
    },
  };
}

/** Every request names a version; attachments have ids of their own, and only another field tells the root disk. */
function crns(): Odd {
  const href = (path: string, id: unknown) => `https://in-west.iaas.invalid/v1/${path}/${text(id)}`;
  const ref = (path: string, id: unknown, more: Raw = {}): Raw => ({
    id,
    crn: `crn:v1:acme:public:is:in-west-1:a/1::${path}:${text(id)}`,
    href: href(path, id),
    ...more,
  });
  const hash = (id: unknown) => Buffer.from(text(id)).toString("hex").slice(-12);
  const attachment = (raw: Raw) => (disk: { id: string; name: string; root: boolean }) => ({
    id: `0716-${hash(disk.id)}`,
    href: href(`instances/${text(raw["id"])}/volume_attachments`, hash(disk.id)),
    name: `att-${hash(disk.id)}`,
    device: { id: `dev-${hash(disk.id)}` },
    volume: ref("volumes", disk.id, { name: disk.name }),
  });
  const shown: Shown = {
    vm: (raw) => ({
      ...ref("instances", raw["id"], { name: raw["name"] }),
      status: word(
        { ACTIVE: "running", SHUTOFF: "stopped", VERIFY_RESIZE: "paused", BUILD: "pending" },
        raw,
        "restarting",
      ),
      status_reasons: [],
      lifecycle_state: "stable",
      health_state: "ok",
      profile: { name: nameOf(flavors, raw["flavor_id"]), href: href("instance/profiles", "x") },
      image: ref("images", raw["image_id"], { name: nameOf(images, raw["image_id"]) }),
      zone: { name: raw["region"], href: href("zones", raw["region"]) },
      resource_group: { id: "rg-1", name: "Default" },
      contact: { email: raw["owner"] },
      boot_volume_attachment: rootOf(raw) && attachment(raw)(rootOf(raw)!),
      volume_attachments: disks(raw).map(attachment(raw)),
      primary_network_interface: {
        id: "0716-nic",
        primary_ip: { address: raw["private_ip"], id: "0716-ip" },
        floating_ips: raw["floating_ip"] === null ? [] : [{ id: "r006-fip", address: raw["floating_ip"] }],
      },
    }),
    volume: (raw) => ({
      ...ref("volumes", raw["id"], { name: raw["name"] }),
      capacity: raw["size"],
      iops: 3000,
      status: word({ available: "available", "in-use": "available" }, raw, "updating"),
      attachment_state: raw["attached_to"] === null ? "unattached" : "attached",
      zone: { name: raw["region"] },
      volume_attachments:
        raw["attached_to"] === null
          ? []
          : [
              {
                id: `0716-${hash(raw["id"])}`,
                type: raw["root"] === true ? "boot" : "data",
                instance: ref("instances", raw["attached_to"], { name: raw["host"] }),
              },
            ],
    }),
    group: (raw) => ({
      ...ref("security_groups", raw["id"], { name: raw["name"] }),
      description: raw["description"],
      rules: raw["rules"],
      targets: [],
    }),
    flavor: (raw) => ({ name: raw["name"], href: href("instance/profiles", raw["name"]), family: "balanced" }),
    image: (raw) => ref("images", raw["id"], { name: raw["name"], status: "available" }),
    region: (raw) => ({ name: raw["id"], endpoint: "https://x.invalid", status: "available" }),
  };
  const keys: Readonly<Record<string, string>> = {
    vm: "instances",
    volume: "volumes",
    group: "security_groups",
    flavor: "profiles",
    image: "images",
    region: "regions",
  };
  const made = odd({
    title: "attachments with ids of their own, next with href, a version in each query",
    shown,
    world: { slowVolumes: true, id: (kind, nth) => `0716_${kind}-${String(nth).padStart(6, "0")}` },
    lists: {
      vm: "/v1/instances",
      volume: "/v1/volumes",
      group: "/v1/security_groups",
      flavor: "/v1/instance/profiles",
      image: "/v1/images",
      region: "/v1/regions",
    },
    routes: [
      ["GET /v1/instances/:id", "vm.get"],
      ["GET /v1/security_groups/:id", "group.get"],
      ["POST /v1/instances/:id/actions", "vm.resize.confirm", { type: "accept" }],
      ["POST /v1/instances/:id/actions", "vm.resize.revert", { type: "decline" }],
      ["DELETE /v1/volumes/:id", "volume.delete"],
      ["DELETE /v1/security_groups/:id/rules/:rule", "group.rule.delete"],
    ],
    page: (items, { query, path }, operation) => {
      const limit = Number(query.get("limit") ?? 3);
      const start = query.get("start");
      const from = start === null ? 0 : items.findIndex((item) => text(item["id"]) === start);
      const next = items[from + limit];
      const link = (more: string) => ({ href: `https://in-west.iaas.invalid${path}?limit=${limit}${more}` });
      return {
        body: {
          first: link(""),
          [keys[kindIn(operation)] ?? ""]: cut(items, from, limit).map(shown[kindIn(operation)]),
          limit,
          ...(next !== undefined && { next: link(`&start=${text(next["id"])}`) }),
          total_count: items.length,
        },
      };
    },
    answer: (operation, record, payload) => {
      if (record !== undefined) return { body: record };
      if (operation === "group.rule.list") return { body: { rules: payload } };
      return /delete|detach|resize/.test(operation) && operation !== "vm.delete"
        ? { status: 202 }
        : { body: typeof payload === "string" ? { data: payload } : payload };
    },
    refuse: (_, status, message) => ({
      status,
      body: {
        errors: [
          {
            code: status === 404 ? "not_found" : status === 401 ? "not_authorized" : "bad_request",
            message,
            more_info: "https://x",
          },
        ],
        trace: "t-1",
      },
    }),
    told: [
      ...curl("vm.list", `-H 'Authorization: Bearer x' 'URL/v1/instances?version=2026-01-01&generation=2'`),
      ...curl(
        "vm.resize.confirm",
        `-X POST -d '{"type":"accept"}' 'URL/v1/instances/0716_vm-000001/actions?version=2026-01-01&generation=2'`,
      ),
      ...curl(
        "vm.resize.revert",
        `-X POST -d '{"type":"decline"}' 'URL/v1/instances/0716_vm-000001/actions?version=2026-01-01&generation=2'`,
      ),
      ...curl("volume.delete", `-X DELETE 'URL/v1/volumes/0716_volume-000001?version=2026-01-01&generation=2'`),
    ],
  });
  return {
    ...made,
    shape: {
      ...made.shape,
      refuses: (_operation, _ids, { path, query }) =>
        path.startsWith("/v1/") && (query.get("version") === null || query.get("generation") !== "2")
          ? {
              status: 400,
              body: { errors: [{ code: "missing_version", message: "The version query parameter is required" }] },
            }
          : undefined,
    },
  };
}

/** Ids under the word for what they are of, rows that show less than their records, which show no id. */
function rows(): Odd {
  const shown: Shown = {
    vm: (raw) => ({
      name: raw["name"],
      power_state: word({ ACTIVE: "POWERED_ON", SHUTOFF: "POWERED_OFF", VERIFY_RESIZE: "SUSPENDED" }, raw, "TRANSIENT"),
      instance_type: raw["flavor_id"],
      library_item: raw["image_id"],
      annotation: { owner: raw["owner"] },
      disks: disks(raw).map(({ id, root }, nth) => ({
        key: String(2000 + nth),
        value: { label: `Hard disk ${nth + 1}`, backing: { type: "VMDK_FILE", disk: id }, boot: root },
      })),
      nics: [
        {
          key: "4000",
          value: { mac: "00:50", ip_address: raw["private_ip"], external_address: raw["floating_ip"] ?? "" },
        },
      ],
    }),
    volume: (raw) => ({
      disk: raw["id"],
      name: raw["name"],
      capacity_mb: Number(raw["size"]) * 1024,
      consumer: raw["attached_to"] === null ? "" : raw["attached_to"],
    }),
    group: (raw) => ({ group: raw["id"], name: raw["name"], description: raw["description"] }),
    flavor: (raw) => ({ type: raw["id"], name: raw["name"] }),
    image: (raw) => ({ item: raw["id"], name: raw["name"] }),
    region: (raw) => ({ datacenter: raw["id"], name: raw["name"] }),
  };
  const row = (raw: Raw): Raw => ({
    vm: raw["id"],
    name: raw["name"],
    power_state: shown.vm(raw)["power_state"],
    cpu_count: 2,
    memory_size_MiB: 1024,
  });
  return odd({
    title: "rows whose records show more, and records without their id",
    credential: { name: "vmware-api-session-id", value: "ops-token" },
    env: { RECONCILE_TOKEN: "ops-token" },
    shown,
    world: {
      id: (kind, nth) =>
        kind === "rule" ? `rule-${nth}` : `${{ vm: "vm", volume: "fcd", group: "nsgroup" }[kind]}-${1000 + nth}`,
      slowVolumes: true,
    },
    lists: {
      vm: "/rest/vcenter/vm",
      volume: "/rest/vcenter/disk",
      group: "/rest/vcenter/group",
      flavor: "/rest/vcenter/type",
      image: "/rest/vcenter/item",
      region: "/rest/vcenter/datacenter",
    },
    routes: [
      ["GET /rest/vcenter/vm/:id", "vm.get"],
      ["GET /rest/vcenter/group/:id", "group.get"],
      ["POST /rest/vcenter/vm/:id/hardware/accept", "vm.resize.confirm"],
      ["POST /rest/vcenter/vm/:id/hardware/undo", "vm.resize.revert"],
      ["DELETE /rest/vcenter/disk/:id", "volume.delete"],
      ["DELETE /rest/vcenter/group/:id/rule/:rule", "group.rule.delete"],
    ],
    page: (items, _, operation) => ({
      body: { value: items.map(operation === "vm.list" ? row : shown[kindIn(operation)]) },
    }),
    answer: (operation, record, payload, raw) => {
      if (/^(volume|group)\.create/.test(operation)) return { body: { value: raw["id"] } };
      return /delete|detach|resize|stop|start/.test(operation) && operation !== "vm.delete"
        ? { status: 200 }
        : { body: { value: record ?? payload } };
    },
    refuse: (_, status, message) => ({
      status,
      body: {
        type: `com.vmware.vapi.std.errors.${status === 404 ? "not_found" : "not_allowed_in_current_state"}`,
        value: { messages: [{ args: [], default_message: message, id: "vmsg" }] },
      },
    }),
    told: [
      ...curl("vm.list", `-H 'vmware-api-session-id: x' URL/rest/vcenter/vm`),
      ...curl("vm.get", `-H 'vmware-api-session-id: x' URL/rest/vcenter/vm/vm-1001`),
      ...curl("vm.resize.confirm", `-X POST URL/rest/vcenter/vm/vm-1001/hardware/accept`),
      ...curl("vm.resize.revert", `-X POST URL/rest/vcenter/vm/vm-1001/hardware/undo`),
    ],
  });
}

/** Every write is answered with an operation alone, which is done when it failed as well; what is empty is left out. */
function doneWithError(): Odd {
  const gib = (size: unknown) => String(Number(size) * 1024 ** 3);
  const shown: Shown = {
    vm: (raw) => ({
      id: raw["id"],
      folderId: "b1g",
      createdAt: "2026-01-01T00:00:00Z",
      name: raw["name"],
      labels: { owner: raw["owner"] },
      zoneId: raw["region"],
      platformId: raw["flavor_id"],
      resources: { memory: gib(2), cores: "2" },
      imageId: raw["image_id"],
      status: word(
        { ACTIVE: "RUNNING", SHUTOFF: "STOPPED", VERIFY_RESIZE: "AWAITING", BUILD: "PROVISIONING" },
        raw,
        "UPDATING",
      ),
      bootDisk: { mode: "READ_WRITE", deviceName: "x", autoDelete: true, diskId: rootOf(raw)?.id },
      ...(data(raw).length > 0 && {
        secondaryDisks: data(raw).map(({ id }) => ({ mode: "READ_WRITE", deviceName: "y", diskId: id })),
      }),
      networkInterfaces: [
        {
          index: "0",
          primaryV4Address: {
            address: raw["private_ip"],
            ...(raw["floating_ip"] !== null && { oneToOneNat: { address: raw["floating_ip"], ipVersion: "IPV4" } }),
          },
        },
      ],
    }),
    volume: (raw) => ({
      id: raw["id"],
      folderId: "b1g",
      name: raw["name"],
      typeId: "network-ssd",
      zoneId: raw["region"],
      size: gib(raw["size"]),
      blockSize: "4096",
      status: word({ available: "READY", "in-use": "READY" }, raw, "UPDATING"),
      ...(raw["attached_to"] !== null && { instanceIds: [raw["attached_to"]] }),
    }),
    group: (raw) => ({
      id: raw["id"],
      folderId: "b1g",
      name: raw["name"],
      ...(raw["description"] !== "" && { description: raw["description"] }),
      status: "ACTIVE",
    }),
    flavor: (raw) => ({ id: raw["id"], name: raw["name"] }),
    image: (raw) => ({ id: raw["id"], name: raw["name"], status: "READY", family: "x" }),
    region: (raw) => ({ id: raw["id"], regionId: "in", status: "UP" }),
  };
  const keys: Readonly<Record<string, string>> = {
    vm: "instances",
    volume: "disks",
    group: "securityGroups",
    flavor: "platforms",
    image: "images",
    region: "zones",
  };
  const made = odd({
    title: "operations that are done with an error, numbers as texts, what is empty left out",
    shown,
    deferred: true,
    world: {
      twice: true,
      slowVolumes: true,
      range: "-",
      id: (kind, nth) =>
        `${{ vm: "fhm", volume: "epd", group: "enp", rule: "enr" }[kind]}${"abcdefghij"[nth % 10]}${nth}q0w9`,
    },
    lists: {
      vm: "/compute/v1/instances",
      volume: "/compute/v1/disks",
      group: "/vpc/v1/securityGroups",
      flavor: "/compute/v1/platforms",
      image: "/compute/v1/images",
      region: "/compute/v1/zones",
    },
    routes: [
      ["GET /compute/v1/instances/:id", "vm.get"],
      ["GET /vpc/v1/securityGroups/:id", "group.get"],
      ["DELETE /compute/v1/disks/:id", "volume.delete"],
      ["DELETE /vpc/v1/securityGroups/:id/rules/:rule", "group.rule.delete"],
    ],
    page: (items, { query }, operation) => {
      const from = Number(query.get("pageToken")?.slice(3) ?? 0);
      const size = Number(query.get("pageSize") ?? 3);
      const own = cut(items, from, size).map(shown[kindIn(operation)]);
      return {
        body: {
          ...(own.length > 0 && { [keys[kindIn(operation)] ?? ""]: own }),
          ...(from + size < items.length && { nextPageToken: `tok${from + size}` }),
        },
      };
    },
    answer: (_, record, payload) => ({ body: record ?? { data: payload } }),
    withJob: (_, job, operation) => ({
      id: `epdop1q2w3e4r5${job}`,
      description: operation,
      createdAt: "2026-01-01T00:00:00Z",
      createdBy: "aje1",
      done: false,
      metadata: { "@type": "type.invalid/x" },
    }),
    job: ({ method, path }) => (method === "GET" ? /^\/operations\/epdop1q2w3e4r5(\w+)$/.exec(path)?.[1] : undefined),
    showJob: (id, isDone, failure): Said => ({
      body: {
        id: `epdop1q2w3e4r5${id}`,
        done: isDone,
        ...(isDone &&
          (failure === undefined ? { response: {} } : { error: { code: 9, message: failure, details: [] } })),
      },
    }),
    refuse: (_, status, message) => ({
      status,
      body: { code: status === 404 ? 5 : status === 401 ? 16 : 9, message, details: [] },
    }),
    told: [
      ...curl("vm.list", `-H 'Authorization: Bearer x' 'URL/compute/v1/instances?folderId=b1g'`),
      ...curl("group.list", `-H 'Authorization: Bearer x' 'URL/vpc/v1/securityGroups?folderId=b1g'`),
      ...curl("wait", "-H 'Authorization: Bearer x' URL/operations/epdop1q2w3e4r5j1"),
      ...curl("vm.resize.confirm", `-X POST URL/compute/v1/instances/fhmb1q0w9:acceptResources`),
      ...curl("vm.resize.revert", `-X POST URL/compute/v1/instances/fhmb1q0w9:undoResources`),
    ],
  });
  return {
    ...made,
    shape: {
      ...made.shape,
      refuses: (operation, _ids, { query }) =>
        /^(vm|volume|group)\.list$/.test(operation) && query.get("folderId") !== "b1g"
          ? { status: 400, body: { code: 3, message: "folderId: field is required", details: [] } }
          : undefined,
      understand(asked, world): Meant | undefined {
        const [, id, verb] = /^\/compute\/v1\/instances\/([^/:]+):(accept|undo)Resources$/.exec(asked.path) ?? [];
        if (id !== undefined && asked.method === "POST")
          return { operation: `vm.resize.${verb === "accept" ? "confirm" : "revert"}`, id };
        return made.shape.understand(asked, world);
      },
    },
  };
}

/** One record alone is answered as a list of one, and every request has to have an id of its own in a header. */
function ofOne(): Odd {
  const number = (id: unknown) => (id == null ? null : Number(id));
  const shown: Shown = {
    vm: (raw) => ({
      tenantId: "INT",
      customerId: "54321",
      instanceId: number(raw["id"]),
      displayName: raw["name"],
      name: `vmi${text(raw["id"])}`,
      status: word({ ACTIVE: "running", SHUTOFF: "stopped", VERIFY_RESIZE: "pending_payment" }, raw, "provisioning"),
      errorMessage: null,
      productId: raw["flavor_id"],
      productType: "ssd",
      imageId: raw["image_id"],
      contact: { mail: raw["owner"] },
      ipConfig: {
        v4: { ip: raw["floating_ip"] ?? "", netmaskCidr: 24, gateway: "" },
        private: { ip: raw["private_ip"] },
      },
      addOns: [],
      region: raw["region"],
      dataCenter: "W1",
      volumes: disks(raw).map(({ id, root }) => ({ volumeId: number(id), mount: root ? "/" : "/data" })),
    }),
    volume: (raw) => ({
      volumeId: number(raw["id"]),
      displayName: raw["name"],
      sizeMb: Number(raw["size"]) * 1024,
      status: word({ available: "ok", "in-use": "ok" }, raw, "product_change"),
      instanceId: number(raw["attached_to"]),
    }),
    group: (raw) => ({
      firewallId: raw["id"],
      name: raw["name"],
      description: raw["description"],
      isDefault: false,
      status: "active",
    }),
    flavor: (raw) => ({ productId: raw["id"], productName: raw["name"] }),
    image: (raw) => ({ imageId: raw["id"], name: raw["name"], osType: "Linux", status: "downloaded" }),
    region: (raw) => ({ regionSlug: raw["id"], regionName: raw["name"] }),
  };
  const at = "/v1/compute";
  return odd({
    title: "one record is a list of one, a request id in every request, names beside display names",
    shown,
    world: {
      slowVolumes: true,
      id: (kind, nth) =>
        kind === "group" || kind === "rule"
          ? `${someId.slice(0, -4)}${kind === "rule" ? "b" : "a"}${String(nth).padStart(3, "0")}`
          : String(100_200 + nth),
    },
    lists: {
      vm: `${at}/instances`,
      volume: `${at}/volumes`,
      group: "/v1/firewalls",
      flavor: `${at}/products`,
      image: `${at}/images`,
      region: "/v1/regions",
    },
    routes: [
      [`GET ${at}/instances/:id`, "vm.get"],
      ["GET /v1/firewalls/:id", "group.get"],
      [`POST ${at}/instances/:id/actions/accept`, "vm.resize.confirm"],
      [`POST ${at}/instances/:id/actions/decline`, "vm.resize.revert"],
      [`DELETE ${at}/volumes/:id`, "volume.delete"],
      ["DELETE /v1/firewalls/:id/rules/:rule", "group.rule.delete"],
    ],
    page: (items, { query, path }, operation) => {
      const [nth, size] = [Number(query.get("page") ?? 1), Number(query.get("size") ?? 3)];
      const last = Math.max(1, Math.ceil(items.length / size));
      const link = (page: number) => `${path}?page=${page}&size=${size}`;
      return {
        body: {
          data: cut(items, (nth - 1) * size, size).map(shown[kindIn(operation)]),
          _pagination: { size, totalElements: items.length, totalPages: last, page: nth },
          _links: { self: link(nth), first: link(1), last: link(last), ...(nth < last && { next: link(nth + 1) }) },
        },
      };
    },
    answer: (operation, record, payload) =>
      record !== undefined
        ? { body: { data: [record], _links: { self: "/x" } } }
        : operation === "group.rule.list"
          ? { body: { data: payload } }
          : /delete|detach|resize/.test(operation) && operation !== "vm.delete"
            ? { status: 204 }
            : { body: { data: [typeof payload === "string" ? { message: payload } : payload] } },
    refuse: (_, status, message) => ({ status, body: { statusCode: status, message: [message], error: "x" } }),
    refuses: (_operation, _ids, { headers }) =>
      headers["x-request-id"] === undefined
        ? {
            status: 400,
            body: { statusCode: 400, message: ["x-request-id should not be empty"], error: "Bad Request" },
          }
        : undefined,
    told: [
      ...curl("vm.list", `-H 'Authorization: Bearer x' -H 'x-request-id: ${someId}' URL${at}/instances`),
      ...curl("vm.resize.confirm", `-X POST -H 'x-request-id: ${someId}' URL${at}/instances/100201/actions/accept`),
      ...curl("vm.resize.revert", `-X POST -H 'x-request-id: ${someId}' URL${at}/instances/100201/actions/decline`),
    ],
  });
}

/** Tasks that end as stopped and say how; ids of volumes under a word of their own, and lists that are called as one thing is. */
export function nodes(groups: string): Odd {
  const upid = (job: string) => `UPID:pve1:0000A1${job.slice(1).padStart(2, "0")}:5E0F:qmtask:100:root@pam:`;
  const shown: Shown = {
    vm: (raw) => ({
      vmid: Number(raw["id"]),
      name: raw["name"],
      node: "pve1",
      status: word({ ACTIVE: "running", SHUTOFF: "stopped", VERIFY_RESIZE: "running" }, raw, "running"),
      ...(!["ACTIVE", "SHUTOFF", "VERIFY_RESIZE"].includes(text(raw["status"])) && { lock: "clone" }),
      ...(raw["status"] === "VERIFY_RESIZE" && { lock: "suspended" }),
      template_flavor: raw["flavor_id"],
      ostemplate: raw["image_id"],
      tags: `owner;${text(raw["owner"])}`,
      description: raw["owner"],
      ip: raw["private_ip"],
      ext_ip: raw["floating_ip"] ?? "",
      scsi: disks(raw).map(({ id, root }) => `${id},size=32G${root ? ",boot" : ""}`),
      uptime: 12,
      maxmem: 1073741824,
      cpu: 0.01,
    }),
    volume: (raw) => ({
      volid: raw["id"],
      content: "images",
      format: "raw",
      size: Number(raw["size"]) * 1024 ** 3,
      notes: raw["name"],
      vmid: raw["attached_to"] === null ? null : Number(raw["attached_to"]),
    }),
    group: (raw) => ({ group: raw["id"], label: raw["name"], comment: raw["description"], digest: "a1b2" }),
    flavor: (raw) => ({ flavor: raw["id"], name: raw["name"] }),
    image: (raw) => ({ volid: raw["id"], name: raw["name"], content: "iso" }),
    region: (raw) => ({ node: raw["id"], status: "online", name: raw["name"] }),
  };
  const at = "/api2/json/nodes/pve1";
  return odd({
    title: "tasks that are stopped and say how, numbers and volume ids with colons, disks as texts",
    credential: { name: "Authorization", value: "PVEAPIToken=ops-token" },
    shown,
    deferred: true,
    world: {
      twice: true,
      slowVolumes: true,
      id: (kind, nth) =>
        kind === "vm"
          ? String(100 + nth)
          : kind === "volume"
            ? `local-lvm:vm-10${nth}-disk-${nth}`
            : kind === "rule"
              ? String(nth)
              : `sg-${nth}`,
    },
    lists: {
      vm: `${at}/qemu`,
      volume: `${at}/storage`,
      group: `${at}/${groups}`,
      flavor: "/api2/json/flavors",
      image: `${at}/templates`,
      region: "/api2/json/nodes",
    },
    routes: [
      [`GET ${at}/qemu/:id`, "vm.get"],
      [`POST ${at}/qemu/:id/accept`, "vm.resize.confirm"],
      [`POST ${at}/qemu/:id/undo`, "vm.resize.revert"],
      [`DELETE ${at}/storage/:id`, "volume.delete"],
      [`DELETE ${at}/${groups}/:id/rules/:rule`, "group.rule.delete"],
    ],
    page: (items, _, operation) => ({ body: { data: items.map(shown[kindIn(operation)]) } }),
    answer: (_, record, payload) => ({ body: { data: record ?? payload } }),
    withJob: (_, job) => ({ data: upid(job) }),
    job: ({ method, path: raw }) => {
      const path = decodeURIComponent(raw);
      const found =
        method === "GET"
          ? /^\/api2\/json\/nodes\/pve1\/tasks\/UPID:pve1:0000A1(\d+):.*\/status$/.exec(path)?.[1]
          : undefined;
      return found === undefined ? undefined : `j${Number(found)}`;
    },
    showJob: (id, isDone, failure) => ({
      body: {
        data: {
          upid: upid(id),
          type: "qmtask",
          status: isDone ? "stopped" : "running",
          ...(isDone && { exitstatus: failure === undefined ? "OK" : failure }),
        },
      },
    }),
    refuse: (_, status, message) => ({ status: status === 404 ? 500 : status, body: { data: null, message } }),
    told: [
      ...curl("vm.list", `-H 'Authorization: PVEAPIToken=x' URL${at}/qemu`),
      ...curl(
        "wait",
        `-H 'Authorization: PVEAPIToken=x' 'URL${at}/tasks/UPID:pve1:0000A107:5E0F:qmtask:100:root@pam:/status'`,
      ),
      ...curl("vm.resize.confirm", `-X POST URL${at}/qemu/101/accept`),
      ...curl("vm.resize.revert", `-X POST URL${at}/qemu/101/undo`),
    ],
  });
}

export const arrivals: readonly Odd[] = [
  slots(),
  references(),
  crns(),
  rows(),
  doneWithError(),
  ofOne(),
  nodes("firewall"),
];
