/**
 * Services of which a person knows four requests at most: one endpoint whose actions are named alike, names in the place
 * of ids with jobs for everything, lists zone by zone with rules that are deleted by what they say, objects with two ids,
 * and lists in which others have things.
 */
import { cut, type Meant, type Raw, type Said, text } from "../deployments/front";
import { byWhatItSays, curl, disks, odd, type Shown, word } from "./further";
import type { Odd } from "./shapes";
import { flavors, images, regions } from "./world";

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
  return byWhatItSays(
    made,
    (rule, { direction, protocol, port_from, port_to, cidr, group }) =>
      rule["direction"] === direction &&
      rule["protocol"] === protocol &&
      rule["port_range_min"] === port_from &&
      rule["port_range_max"] === port_to &&
      (rule["remote_ip_prefix"] ?? null) === (cidr ?? null) &&
      (rule["remote_group_id"] ?? null) === (group ?? null),
  );
}

/** Objects with metadata, spec and status: an id and a name that are both one's own, of which requests take the name. */
function objects(): Odd {
  const at = "/api/v1/namespaces/acme";
  const meta = (raw: Raw, more: Raw = {}): Raw => ({
    name: raw["id"],
    uid: `6f2d1f6a-8f6e-4b0e-9d0f-${Buffer.from(text(raw["id"])).toString("hex").slice(-12).padStart(12, "0")}`,
    resourceVersion: text(raw["version"]),
    labels: { "acme.example/display-name": raw["name"] },
    ...more,
  });
  const catalogue = (raw: Raw): Raw => ({ kind: "Offer", metadata: meta({ ...raw, id: raw["name"], version: 1 }) });
  const nameIn = (all: readonly { id: string; name: string }[], id: unknown): Raw => ({
    name: all.find((one) => one.id === id)?.name,
  });
  const shown: Shown = {
    vm: (raw) => ({
      kind: "Server",
      metadata: meta(raw, { annotations: { "acme.example/owner": raw["owner"] } }),
      spec: {
        plan: nameIn(flavors, raw["flavor_id"]),
        image: nameIn(images, raw["image_id"]),
        volumes: disks(raw).map(({ id, root }) => ({ claim: { name: id }, boot: root })),
      },
      status: {
        conditions: [{ type: "Ready", status: raw["status"] === "ACTIVE" ? "True" : "False" }],
        phase: word(
          { ACTIVE: "Running", SHUTOFF: "Halted", VERIFY_RESIZE: "AwaitingApproval", deleting: "Terminating" },
          raw,
          "Progressing",
        ),
        addresses: [
          { type: "InternalIP", address: raw["private_ip"] },
          ...(raw["floating_ip"] === null ? [] : [{ type: "ExternalIP", address: raw["floating_ip"] }]),
        ],
      },
    }),
    volume: (raw) => ({
      kind: "Volume",
      metadata: meta(raw),
      spec: { capacity: { storage: `${raw["size"]}Gi` } },
      status: {
        phase: word({ available: "Available", "in-use": "Bound", deleting: "Terminating" }, raw, "Pending"),
        ...(raw["attached_to"] !== null && { attachedTo: { kind: "Server", name: raw["attached_to"] } }),
      },
    }),
    group: (raw) => ({ kind: "Firewall", metadata: meta(raw), spec: { description: raw["description"] } }),
    flavor: catalogue,
    image: catalogue,
    region: (raw) => ({ kind: "Region", metadata: meta({ ...raw, version: 1 }) }),
  };
  return odd({
    title: "objects with metadata, spec and status, and two ids each",
    shown,
    world: {
      id: (kind, nth) => `${kind.slice(0, 2)}-${(nth * 7919 + 12345).toString(36)}`,
      slowVolumes: true,
      slowDeletes: true,
      twice: true,
    },
    lists: {
      vm: `${at}/servers`,
      volume: `${at}/volumes`,
      group: `${at}/firewalls`,
      flavor: `${at}/plans`,
      image: `${at}/images`,
      region: `${at}/regions`,
    },
    routes: [
      [`GET ${at}/servers/:id`, "vm.get"],
      [`GET ${at}/firewalls/:id`, "group.get"],
      [`PUT ${at}/servers/:id/approval`, "vm.resize.confirm"],
      [`DELETE ${at}/servers/:id/approval`, "vm.resize.revert"],
      [`DELETE ${at}/volumes/:id`, "volume.delete"],
      [`DELETE ${at}/firewalls/:id/rules/:rule`, "group.rule.delete"],
    ],
    page: (items, { query }, operation) => {
      const from = Number(query.get("continue")?.slice(1) ?? 0);
      const left = items.length - from - 3;
      return {
        body: {
          metadata: {
            resourceVersion: "8812",
            ...(left > 0 && { continue: `c${from + 3}`, remainingItemCount: left }),
          },
          items: cut(items, from, 3).map(shown[operation.slice(0, -5) as keyof Shown]),
        },
      };
    },
    answer: (_, record, payload) => ({ body: record ?? { kind: "Status", status: "Success", details: payload } }),
    refuse: (_, status, message) => ({
      status,
      body: { kind: "Status", status: "Failure", message, reason: status === 404 ? "NotFound" : "Invalid" },
    }),
    told: [
      ...curl("vm.list", `-H 'Authorization: Bearer x' URL${at}/servers`),
      ...curl("vm.resize.confirm", `-X PUT URL${at}/servers/vm-fmw1/approval`),
      ...curl("vm.resize.revert", `-X DELETE URL${at}/servers/vm-fmw1/approval`),
    ],
  });
}

/** Lists that show what is of others and refused; pages by a Link that is a query; what is being deleted is not found. */
function tenants(): Odd {
  const theirs = { tenant: "t-other", region: "in-west-1", private_ip: null, floating_ip: null, version: 1, rules: [] };
  const id = (nth: number): string => `9f9f9f9f-0000-4000-8000-00000000000${nth}`;
  const vm = { ...theirs, owner: "else@other.example", flavor_id: "f-200", image_id: "an image that was deleted" };
  const others: Readonly<Record<string, readonly Raw[]>> = {
    vm: [
      { ...vm, id: id(1), name: "other-1", status: "ACTIVE" },
      { ...vm, id: id(2), name: "other-2", status: "ERROR" },
    ],
    volume: [{ ...theirs, id: id(3), name: "other-3", size: 100, status: "in-use", attached_to: id(1), root: true }],
    group: [{ ...theirs, id: id(4), name: "default", description: "of others" }],
  };
  const tenant = (raw: Raw): Raw => ({ id: raw["id"], name: raw["name"], tenant_id: raw["tenant"] ?? "t-acme" });
  const plain = (raw: Raw): Raw => ({ id: raw["id"], name: raw["name"] });
  const shown: Shown = {
    vm: (raw) => ({
      ...tenant(raw),
      "EXT-STS:vm_state": word({ ACTIVE: "active", SHUTOFF: "stopped", VERIFY_RESIZE: "resized", ERROR: "error" }, raw),
      "EXT-STS:task_state": null,
      flavor: { original_name: flavors.find((one) => one.id === raw["flavor_id"])?.name, vcpus: 1 },
      template: { id: raw["image_id"] },
      metadata: { owner: raw["owner"] },
      addresses: {
        "acme-net": [
          { addr: raw["private_ip"], "EXT-IPS:type": "fixed" },
          { addr: raw["floating_ip"], "EXT-IPS:type": "floating" },
        ].filter(({ addr }) => addr !== null),
      },
      "ext:volumes_attached": disks(raw).map(({ id: of, root }) => ({
        id: of,
        device: root ? "/dev/vda" : "/dev/vdb",
      })),
    }),
    volume: (raw) => ({
      ...tenant(raw),
      size: raw["size"],
      lage: word({ available: "frei", "in-use": "belegt", deleting: "wird gelöscht" }, raw, "in Arbeit"),
      attachments: raw["attached_to"] === null ? [] : [{ server_id: raw["attached_to"] }],
    }),
    group: (raw) => ({ ...tenant(raw), description: raw["description"] }),
    flavor: plain,
    image: plain,
    region: plain,
  };
  return odd({
    title: "things of other tenants, and what is being deleted is listed and not found",
    shown,
    world: { slowVolumes: true, slowDeletes: true, twice: true },
    lists: {
      vm: "/api/v1/servers/detail",
      volume: "/api/v1/volumes/detail",
      group: "/api/v1/security-groups",
      flavor: "/api/v1/flavors",
      image: "/api/v1/images",
      region: "/api/v1/regions",
    },
    routes: [
      ["GET /api/v1/servers/:id", "vm.get"],
      ["GET /api/v1/security-groups/:id", "group.get"],
      ["POST /api/v1/servers/:id/action", "vm.resize.confirm", { confirmResize: null }],
      ["POST /api/v1/servers/:id/action", "vm.resize.revert", { revertResize: null }],
      ["DELETE /api/v1/volumes/:id", "volume.delete"],
      ["DELETE /api/v1/security-group-rules/:rule", "group.rule.delete"],
    ],
    refuses(operation, { id: of = "" }, _, { vms, volumes }) {
      if (operation.endsWith(".list")) return undefined;
      if (of.startsWith("9f9f9f9f")) return { status: 403, body: { forbidden: { message: "it is not yours" } } };
      const isGoing = (vms.get(of) ?? volumes.get(of))?.status === "deleting";
      return isGoing ? { status: 404, body: { itemNotFound: { message: "there is no such thing" } } } : undefined;
    },
    page: (items, { query }, operation) => {
      const kind = operation.slice(0, -5);
      const all = [...(others[kind] ?? []), ...items];
      const from = Number(query.get("from") ?? 0);
      return {
        body: { [`${kind}s`]: cut(all, from, 3).map(shown[kind as keyof Shown]) },
        headers: { link: `<?from=0>; rel=first${from + 3 < all.length ? `, <?from=${from + 3}>; rel=next` : ""}` },
      };
    },
    answer: (_, record, payload) => ({ body: record === undefined ? { data: payload } : { item: record } }),
    refuse: (_, status, message) => ({
      status,
      body: { [status === 404 ? "itemNotFound" : status === 401 ? "unauthorized" : "conflictingRequest"]: { message } },
    }),
    told: [
      ...curl("vm.list", "-H 'Authorization: Bearer x' URL/api/v1/servers/detail"),
      ...curl("vm.resize.confirm", `-X POST -d '{"confirmResize":null}' URL/api/v1/servers/${id(5)}/action`),
      ...curl("vm.resize.revert", `-X POST -d '{"revertResize":null}' URL/api/v1/servers/${id(5)}/action`),
      ...curl("group.rule.delete", `-X DELETE URL/api/v1/security-group-rules/${id(6)}`),
    ],
  });
}

export const newcomers: readonly Odd[] = [actions(), namesAndJobs(), byWhatTheySay(), objects(), tenants()];
