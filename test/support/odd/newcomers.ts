/**
 * Services of which a person knows four requests at most: one endpoint whose actions are named alike, names in the place
 * of ids with jobs for everything, and lists zone by zone with rules that are deleted by what they say.
 */
import { cut, type Meant, type Raw, type Said, text } from "../deployments/front";
import { curl, disks, odd, type Shown, word } from "./further";
import type { Odd } from "./shapes";
import { regions } from "./world";

/** One endpoint with actions in the query, numbers that begin at 1 for every kind, jobs that an action describes. */
function actions(): Odd {
  const shown: Shown = {
    vm: (raw) => ({
      ServerId: Number(raw["id"]),
      ServerName: raw["name"],
      ServerStatus: word({ ACTIVE: "Running", SHUTOFF: "STOPPED", VERIFY_RESIZE: "resize_Pending" }, raw, "Pending"),
      SizeSlug: { "f-100": "m1.small", "f-200": "m1.medium" }[text(raw["flavor_id"])],
      Cpu: 2,
      ImageId: raw["image_id"],
      OwnerEmail: raw["owner"],
      PrivateIpAddress: raw["private_ip"],
      PublicIpAddress: raw["floating_ip"] ?? "",
      CreatedAt: 1_790_000_000_000,
      Disks: disks(raw).map(({ id, root }) => ({ DiskId: Number(id), IsBoot: root })),
    }),
    volume: (raw) => ({
      DiskId: Number(raw["id"]),
      DiskName: raw["name"],
      SizeGb: raw["size"],
      DiskStatus: word({ available: "Available", "in-use": "IN_USE" }, raw, "Pending"),
      ServerId: Number(raw["attached_to"] ?? 0),
    }),
    group: (raw) => ({
      SecurityGroupId: Number(raw["id"]),
      SecurityGroupName: raw["name"],
      Description: raw["description"],
    }),
    flavor: (raw) => ({ Slug: raw["name"], MemoryMb: 1024 }),
    image: (raw) => ({ ImageId: raw["id"], ImageName: raw["name"] }),
    region: (raw) => ({ RegionId: raw["id"], RegionName: raw["name"] }),
  };
  const table: Readonly<Record<string, readonly [operation: string, key: string]>> = {
    DescribeServers: ["vm.list", "Servers"],
    DescribeDisks: ["volume.list", "Disks"],
    DescribeSecurityGroups: ["group.list", "SecurityGroups"],
    DescribeSizes: ["flavor.list", "Sizes"],
    DescribeImages: ["image.list", "Images"],
    DescribeRegions: ["region.list", "Regions"],
    DeleteDisk: ["volume.delete", ""],
    ConfirmResize: ["vm.resize.confirm", ""],
    RevertResize: ["vm.resize.revert", ""],
  };
  const made = odd({
    title: "actions that are named alike, numbers from 1",
    shown,
    lists: {},
    routes: [],
    world: { id: (kind, nth) => (kind === "rule" ? `r-${nth}` : String(nth)), slowVolumes: true, range: ":" },
    page: (items, asked, operation) => {
      const [, key] = table[asked.query.get("Action") ?? ""] ?? [];
      const from = Number(asked.query.get("NextToken") ?? 0);
      const own = cut(items, from, 3).map(shown[operation.slice(0, -5) as keyof Shown]);
      return {
        body: {
          RequestId: `q-${Math.random()}`,
          Result: {
            ...(own.length > 0 && { [key ?? ""]: own }),
            ...(from + 3 < items.length && { NextToken: String(from + 3) }),
          },
        },
      };
    },
    answer: (operation, record, payload) => ({
      body: {
        RequestId: `q-${Math.random()}`,
        Result:
          record === undefined
            ? payload
            : {
                [{ vm: "Server", volume: "Disk", group: "SecurityGroup" }[operation.split(".")[0] ?? ""] ?? ""]: record,
              },
      },
    }),
    withJob: (body, job) => ({ ...(body as Raw), JobId: Number(job.slice(1)) }),
    job: ({ query }) => (query.get("Action") === "DescribeJob" ? `j${query.get("JobId") ?? ""}` : undefined),
    showJob: (id, isDone): Said => ({
      body: { RequestId: "q-1", Result: { JobId: Number(id.slice(1)), JobStatus: isDone ? "Success" : "Running" } },
    }),
    refuse: (_, status, message) =>
      status === 401
        ? { status: 302, headers: { location: "https://console.invalid/login" } }
        : {
            status: 400,
            body: { RequestId: "q-2", Error: { Code: status === 404 ? "NotFound" : "Refused", Message: message } },
          },
    told: [
      ...curl("vm.list", "-H 'Authorization: Bearer x' 'URL/api/v1/rpc?Action=DescribeServers'"),
      ...curl("volume.delete", "-X POST 'URL/api/v1/rpc?Action=DeleteDisk&DiskId=7'"),
      ...curl("vm.resize.confirm", "-X POST 'URL/api/v1/rpc?Action=ConfirmResize&ServerId=7'"),
      ...curl("vm.resize.revert", "-X POST 'URL/api/v1/rpc?Action=RevertResize&ServerId=7'"),
    ],
  });
  return {
    ...made,
    shape: {
      ...made.shape,
      understand({ path, query }): Meant | undefined {
        const [operation] = table[query.get("Action") ?? ""] ?? [];
        if (path !== "/api/v1/rpc" || operation === undefined) return undefined;
        return { operation, id: query.get("DiskId") ?? query.get("ServerId") ?? "" };
      },
    },
  };
}

/** Volumes and VMs that name each other by their names; nothing is done when it is answered; states in any case. */
function namesAndJobs(): Odd {
  const shown: Shown = {
    vm: (raw) => ({
      self: `/api/v1/compute/instances/${text(raw["id"])}`,
      instance_id: raw["id"],
      hostname: raw["name"],
      state: word({ ACTIVE: "RuNNing", SHUTOFF: "Stopped", VERIFY_RESIZE: "awaiting_CONFIRMATION" }, raw, "Changing"),
      type: { slug: raw["flavor_id"] },
      image: { slug: raw["image_id"] },
      owner: { email: raw["owner"] },
      ip: { internal: raw["private_ip"], external: raw["floating_ip"] },
      volume_names: disks(raw).map(({ name }) => name),
      created_at: 1_790_000_000,
      rev: raw["version"],
    }),
    volume: (raw) => ({
      self: `/api/v1/compute/volumes/${text(raw["id"])}`,
      volume_id: raw["id"],
      label: raw["name"],
      size_gib: raw["size"],
      instance: raw["attached_to"] === null ? null : { hostname: raw["host"] },
    }),
    group: (raw) => ({
      self: `/api/v1/compute/firewalls/${text(raw["id"])}`,
      firewall_id: raw["id"],
      label: raw["name"],
      comment: raw["description"],
      inbound_rules: (raw["rules"] as readonly Raw[]).filter((rule) => rule["direction"] === "ingress"),
      outbound_rules: (raw["rules"] as readonly Raw[]).filter((rule) => rule["direction"] === "egress"),
    }),
    flavor: (raw) => ({ slug: raw["id"], label: raw["name"] }),
    image: (raw) => ({ slug: raw["id"], label: raw["name"] }),
    region: (raw) => ({ slug: raw["id"], label: raw["name"] }),
  };
  return odd({
    title: "names as references, and jobs for everything",
    shown,
    deferred: true,
    world: { twice: true, namedGroups: "refused", id: (kind, nth) => `${kind.slice(0, 2)}-${100 + nth}` },
    lists: {
      vm: "/api/v1/compute/instances",
      volume: "/api/v1/compute/volumes",
      group: "/api/v1/compute/firewalls",
      flavor: "/api/v1/compute/types",
      image: "/api/v1/compute/images",
      region: "/api/v1/compute/regions",
    },
    routes: [
      ["GET /api/v1/compute/instances/:id", "vm.get"],
      ["GET /api/v1/compute/firewalls/:id", "group.get"],
      ["POST /api/v1/compute/instances/:id/resize-confirmations", "vm.resize.confirm"],
      ["DELETE /api/v1/compute/instances/:id/resize-confirmations", "vm.resize.revert"],
      ["DELETE /api/v1/compute/volumes/:id", "volume.delete"],
      ["DELETE /api/v1/compute/firewalls/:id/inbound_rules/:rule", "group.rule.delete"],
    ],
    page: (items, asked, operation) => {
      const offset = Number(asked.query.get("offset") ?? 0);
      const limit = Number(asked.query.get("limit") ?? 3);
      return {
        body: {
          results: cut(items, offset, limit).map(shown[operation.slice(0, -5) as keyof Shown]),
          count: items.length,
          next:
            offset + limit < items.length ? `${asked.base}${asked.path}?offset=${offset + limit}&limit=${limit}` : null,
        },
      };
    },
    answer: (_, record, payload) => ({ body: record ?? { data: payload } }),
    withJob: (_, job) => ({ activity: { ref: `act-${job}`, progress: 0, outcome: null } }),
    job: ({ method, path }) => (method === "GET" ? /^\/api\/v1\/activities\/act-(\w+)$/.exec(path)?.[1] : undefined),
    showJob: (id, isDone, failure) => ({
      body: {
        activity: {
          ref: `act-${id}`,
          progress: isDone ? 100 : 10,
          outcome: isDone ? (failure === undefined ? "OK" : "KO") : null,
          reason: failure ?? null,
        },
      },
    }),
    refuse: (_, status, message) => ({ status, body: { code: status, detail: message } }),
    told: [
      ...curl("vm.list", "-H 'Authorization: Bearer x' URL/api/v1/compute/instances"),
      ...curl("vm.resize.confirm", "-X POST URL/api/v1/compute/instances/vm-101/resize-confirmations"),
      ...curl("vm.resize.revert", "-X DELETE URL/api/v1/compute/instances/vm-101/resize-confirmations"),
      ...curl("group.rule.delete", "-X DELETE URL/api/v1/compute/firewalls/gr-101/inbound_rules/ru-107"),
    ],
  });
}

/** Lists for a zone that has to be named, rules that are deleted by what they say, a page to sign in under a 200. */
function byWhatTheySay(): Odd {
  const shown: Shown = {
    vm: (raw) => ({
      key: raw["id"],
      title: raw["name"],
      power: word({ ACTIVE: "ON", SHUTOFF: "OFF", VERIFY_RESIZE: "HOLD" }, raw, "BUSY"),
      zone: raw["region"],
      plan: raw["flavor_id"],
      template: raw["image_id"],
      contact: raw["owner"],
      networks: [{ inner: raw["private_ip"], outer: raw["floating_ip"] }],
      disks: disks(raw).map(({ id, root }) => ({ key: id, boot: root ? 1 : 0 })),
      changed: 1_790_000_000,
    }),
    volume: (raw) => ({
      key: raw["id"],
      title: raw["name"],
      zone: raw["region"],
      bytes: Number(raw["size"]) * 1024 ** 3,
      power: word({ available: "FREE", "in-use": "USED" }, raw, "BUSY"),
      server: raw["attached_to"],
    }),
    group: (raw) => ({ key: raw["id"], title: raw["name"], comment: raw["description"] }),
    flavor: (raw) => ({ key: raw["id"], title: raw["name"] }),
    image: (raw) => ({ key: raw["id"], title: raw["name"] }),
    region: (raw) => ({ key: raw["id"], title: raw["name"] }),
  };
  const made = odd({
    title: "zones that have to be named, rules that are deleted by what they say",
    shown,
    world: { slowVolumes: true, slowRules: true, twice: true, range: "-" },
    lists: {
      vm: "/api/v1/servers",
      volume: "/api/v1/disks",
      group: "/api/v1/firewalls",
      flavor: "/api/v1/plans",
      image: "/api/v1/templates",
      region: "/api/v1/zones",
    },
    routes: [
      ["POST /api/v1/servers/:id/hold", "vm.resize.confirm", { release: true }],
      ["POST /api/v1/servers/:id/hold", "vm.resize.revert", { release: false }],
      ["DELETE /api/v1/disks/:id", "volume.delete"],
      ["POST /api/v1/firewalls/:id/revoke", "group.rule.delete"],
    ],
    page: (items, asked, operation) => {
      const isZoned = operation === "vm.list" || operation === "volume.list";
      const zone = asked.query.get("zone");
      if (isZoned && !regions.some(({ id }) => id === zone))
        return { status: 422, body: { fault: { text: "zone has to be given" } } };
      const own = isZoned ? items.filter((item) => item["region"] === zone) : items;
      const nth = Number(asked.query.get("page") ?? 1);
      return {
        body: {
          rows: cut(own, (nth - 1) * 4, 4).map(shown[operation.slice(0, -5) as keyof Shown]),
          page: nth,
          pages: Math.max(1, Math.ceil(own.length / 4)),
        },
      };
    },
    answer: (_, record, payload) => ({ body: record === undefined ? { data: payload } : { row: record } }),
    refuse: (_, status, message) =>
      status === 401
        ? { status: 200, body: "<html><form action=/login></form></html>", headers: { "content-type": "text/html" } }
        : { status, body: { fault: { text: message } } },
    told: [
      ...curl("vm.list", "-H 'Authorization: Bearer x' 'URL/api/v1/servers?zone=in-west-1'"),
      ...curl(
        "vm.resize.confirm",
        `-X POST -d '{"release":true}' URL/api/v1/servers/6f2d1f6a-8f6e-4b0e-9d0f-0d3c6a529e11/hold`,
      ),
      ...curl(
        "vm.resize.revert",
        `-X POST -d '{"release":false}' URL/api/v1/servers/6f2d1f6a-8f6e-4b0e-9d0f-0d3c6a529e11/hold`,
      ),
      ...curl(
        "group.rule.delete",
        `-X POST -d '{"direction":"ingress","protocol":"tcp","port_from":443,"port_to":443,"cidr":"0.0.0.0/0","group":null}' URL/api/v1/firewalls/6f2d1f6a-8f6e-4b0e-9d0f-0d3c6a529e11/revoke`,
      ),
    ],
  });
  return {
    ...made,
    shape: {
      ...made.shape,
      understand(asked, world): Meant | undefined {
        const meant = made.shape.understand(asked, world);
        if (meant?.operation !== "group.rule.delete") return meant;
        const { direction, protocol, port_from, port_to, cidr, group } = asked.body;
        const found = world.groups
          .get(meant.id ?? "")
          ?.rules.find(
            (rule) =>
              rule["direction"] === direction &&
              rule["protocol"] === protocol &&
              rule["port_range_min"] === port_from &&
              rule["port_range_max"] === port_to &&
              (rule["remote_ip_prefix"] ?? null) === (cidr ?? null) &&
              (rule["remote_group_id"] ?? null) === (group ?? null),
          );
        return { ...meant, ruleId: text(found?.["id"] ?? "none") };
      },
    },
  };
}

export const newcomers: readonly Odd[] = [actions(), namesAndJobs(), byWhatTheySay()];
