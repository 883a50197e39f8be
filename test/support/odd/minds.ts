/**
 * Services of other minds: JSON:API with relationships and versions in a header alone, one endpoint for queries and
 * mutations, links in the place of ids and refusals inside a 200, deletes that take long and lists that end in silence.
 */
import { cut, type Raw, type Said, text } from "../deployments/front";
import { count, curl, disks, odd, page, type Shown, word } from "./further";
import type { Odd } from "./shapes";

/** JSON:API: types, attributes in kebab-case and relationships; pages by Link; a change of a group needs its ETag. */
function jsonApi(): Odd {
  const to = (type: string, id: unknown, meta?: Raw): Raw => ({
    data: id == null ? null : { type, id: text(id), ...(meta && { meta }) },
  });
  const shown: Shown = {
    vm: (raw) => ({
      type: "machines",
      id: raw["id"],
      attributes: {
        "display-name": raw["name"],
        "power-state": word(
          { ACTIVE: "powered-on", SHUTOFF: "powered-off", VERIFY_RESIZE: "awaiting-approval" },
          raw,
          "in-transit",
        ),
        "created-at": "2026-03-01T10:00:00Z",
        "owner-email": raw["owner"],
        "private-address": raw["private_ip"],
        "public-address": raw["floating_ip"],
      },
      relationships: {
        plan: to("plans", raw["flavor_id"]),
        template: to("templates", raw["image_id"]),
        disks: { data: disks(raw).map(({ id, root }) => ({ type: "disks", id, meta: { boot: root } })) },
      },
    }),
    volume: (raw) => ({
      type: "disks",
      id: raw["id"],
      attributes: { "display-name": raw["name"], "size-in-gb": raw["size"], "created-at": "2026-03-01T10:00:00Z" },
      relationships: { machine: to("machines", raw["attached_to"]) },
    }),
    group: (raw) => ({
      type: "firewalls",
      id: raw["id"],
      attributes: { "display-name": raw["name"], description: raw["description"] },
    }),
    flavor: (raw) => ({ type: "plans", id: raw["id"], attributes: { "display-name": raw["name"] } }),
    image: (raw) => ({ type: "templates", id: raw["id"], attributes: { "display-name": raw["name"] } }),
    region: (raw) => ({ type: "locations", id: raw["id"], attributes: { "display-name": raw["name"] } }),
  };
  return odd({
    title: "JSON:API, pages by Link, versions in a header alone",
    shown,
    world: { range: "-" },
    lists: {
      vm: "/api/v1/machines",
      volume: "/api/v1/disks",
      group: "/api/v1/firewalls",
      flavor: "/api/v1/plans",
      image: "/api/v1/templates",
      region: "/api/v1/locations",
    },
    routes: [
      ["GET /api/v1/machines/:id", "vm.get"],
      ["GET /api/v1/firewalls/:id", "group.get"],
      ["POST /api/v1/machines/:id/approve-resize", "vm.resize.confirm"],
      ["POST /api/v1/machines/:id/reject-resize", "vm.resize.revert"],
      ["DELETE /api/v1/disks/:id", "volume.delete"],
      ["DELETE /api/v1/firewalls/:id/rules/:rule", "group.rule.delete"],
    ],
    page: (items, asked, operation) => {
      const nth = Number(asked.query.get("page[number]") ?? 1);
      const kind = operation.slice(0, -5) as keyof Shown;
      const at = (number: number, rel: string): string =>
        `<${asked.base}${asked.path}?page[number]=${number}>; rel="${rel}"`;
      const links = [at(1, "first"), ...(nth * 2 < items.length ? [at(nth + 1, "next")] : [])];
      return {
        body: { data: cut(items, (nth - 1) * 2, 2).map(shown[kind]), jsonapi: { version: "1.1" } },
        headers: { link: links.join(", ") },
      };
    },
    answer: (operation, record, payload, raw) => ({
      body: { data: record ?? payload },
      ...(operation === "group.get" && { headers: { etag: `W/"${text(raw["version"])}"` } }),
    }),
    refuses(operation, { id = "" }, { headers }, world) {
      const group = world.groups.get(id);
      if (group === undefined || !/^group\.(update|delete|rule\.create|rule\.delete)$/.test(operation))
        return undefined;
      if (headers["if-match"] === `W/"${group.version}"`) return undefined;
      const status = headers["if-match"] === undefined ? 428 : 412;
      return { status, body: { errors: [{ status: text(status), title: "Precondition", detail: "send If-Match" }] } };
    },
    refuse: (_, status, message) => ({
      status,
      body: { errors: [{ status: text(status), title: status === 404 ? "Not Found" : "Refused", detail: message }] },
    }),
    told: [
      ...curl("vm.resize.confirm", "-X POST URL/api/v1/machines/6f2d1f6a-8f6e-4b0e-9d0f-0d3c6a529e11/approve-resize"),
      ...curl("vm.resize.revert", "-X POST URL/api/v1/machines/6f2d1f6a-8f6e-4b0e-9d0f-0d3c6a529e11/reject-resize"),
    ],
  });
}

/** One endpoint for queries and mutations: numbers for ids, cursors among the variables, refusals inside a 200. */
function queries(): Odd {
  const shown: Shown = {
    vm: (raw) => ({
      vmId: Number(raw["id"]),
      label: raw["name"],
      lifecycle: word({ ACTIVE: "RUNNING", SHUTOFF: "HALTED", VERIFY_RESIZE: "CONFIRM_PENDING" }, raw, "WORKING"),
      plan: { planId: raw["flavor_id"] },
      template: { templateId: raw["image_id"] },
      owner: { email: raw["owner"] },
      addresses: { edges: [{ node: { ip: raw["private_ip"] } }, { node: { ip: raw["floating_ip"] } }] },
      volumes: disks(raw).map(({ id, root }) => ({ node: { diskId: Number(id), isSystem: root } })),
      createdAt: 1_790_000_000_000,
    }),
    volume: (raw) => ({
      diskId: Number(raw["id"]),
      label: raw["name"],
      sizeGb: raw["size"],
      vm: raw["attached_to"] === null ? null : { vmId: Number(raw["attached_to"]) },
    }),
    group: (raw) => ({ groupId: Number(raw["id"]), label: raw["name"], note: raw["description"] }),
    flavor: (raw) => ({ planId: raw["id"], label: raw["name"] }),
    image: (raw) => ({ templateId: raw["id"], label: raw["name"] }),
    region: (raw) => ({ zoneId: raw["id"], label: raw["name"] }),
  };
  const asks: Readonly<Record<string, readonly [operation: string, key: string]>> = {
    vms: ["vm.list", "vms"],
    disks: ["volume.list", "disks"],
    groups: ["group.list", "groups"],
    plans: ["flavor.list", "plans"],
    templates: ["image.list", "templates"],
    zones: ["region.list", "zones"],
    deleteDisk: ["volume.delete", ""],
    dropRule: ["group.rule.delete", ""],
    confirmResize: ["vm.resize.confirm", ""],
    revertResize: ["vm.resize.revert", ""],
  };
  const query = (name: string): string => `query($after: String) { ${name}(after: $after) { nodes pageInfo } }`;
  const mutation = (name: string): string => `mutation($id: Int!) { ${name}(id: $id) { ok } }`;
  const made = odd({
    title: "one endpoint for queries and mutations",
    shown,
    world: { id: (kind, nth) => String({ vm: 1000, volume: 1000, group: 3000, rule: 9000 }[kind] + nth), twice: true },
    lists: {},
    routes: [],
    page: (items, { body }, operation) => {
      const from = Number((body["variables"] as Raw | undefined)?.["after"] ?? 0);
      const key = Object.values(asks).find(([name]) => name === operation)?.[1] ?? "";
      const kind = operation.slice(0, -5) as keyof Shown;
      const more = from + 3 < items.length;
      return {
        body: {
          data: {
            [key]: {
              nodes: cut(items, from, 3).map(shown[kind]),
              pageInfo: { hasNextPage: more, endCursor: from < items.length ? String(from + 3) : null },
            },
          },
        },
      };
    },
    answer: (operation, record, payload) => ({
      body: { data: record === undefined ? payload : { [operation.replace(".", "_")]: record } },
    }),
    refuse: (_, status, message) => ({
      status: status === 401 ? 401 : 200,
      body: { errors: [{ message, extensions: { code: status === 404 ? "NOT_FOUND" : `E_${status}` } }] },
    }),
    // Of the lists one is told, and tells how the others are asked for.
    told: Object.entries(asks).flatMap(([name, [operation]]) => {
      if (operation.endsWith(".list") && operation !== "vm.list") return [];
      const variables = operation === "group.rule.delete" ? '{"id":3001,"rule":9007}' : '{"id":1001}';
      const body = operation.endsWith(".list")
        ? `{"query":"${query(name)}"}`
        : `{"query":"${mutation(name)}","variables":${variables}}`;
      return curl(operation, `-X POST -H 'Authorization: Bearer x' -d '${body}' URL/api/v1/graphql`);
    }),
  });
  return {
    ...made,
    shape: {
      ...made.shape,
      understand({ method, path, body }) {
        const [, name = ""] = /\) \{ (\w+)\(/.exec(text(body["query"])) ?? [];
        const [operation] = asks[name] ?? [];
        if (method !== "POST" || path !== "/api/v1/graphql" || operation === undefined) return undefined;
        const { id, rule } = (body["variables"] ?? {}) as Raw;
        // A number is wanted, and a text is another type.
        if (!operation.endsWith(".list") && typeof id !== "number") return undefined;
        return { operation, id: text(id), ruleId: text(rule) };
      },
    },
  };
}

/** Links in the place of ids, refusals inside a 200, jobs that nothing calls so, and forty requests in a second. */
function links(): Odd {
  const href = (kind: string, id: unknown): string => `https://cloud.invalid/compute/${kind}/${text(id)}`;
  const shown: Shown = {
    vm: (raw) => ({
      href: href("servers", raw["id"]),
      title: raw["name"],
      phase: word({ ACTIVE: "Live", SHUTOFF: "Parked", VERIFY_RESIZE: "Undecided" }, raw, "Moving"),
      flavorHref: href("flavors", raw["flavor_id"]),
      imageHref: href("images", raw["image_id"]),
      contact: raw["owner"],
      nets: [
        { scope: "inner", address: raw["private_ip"] },
        ...(raw["floating_ip"] == null ? [] : [{ scope: "outer", address: raw["floating_ip"] }]),
      ],
      drives: disks(raw).map(({ id, root }) => ({ href: href("drives", id), role: root ? "system" : "payload" })),
      since: 1_790_000_000,
    }),
    volume: (raw) => ({
      href: href("drives", raw["id"]),
      title: raw["name"],
      capacity: { amount: Number(raw["size"]) * 1024, unit: "MiB" },
      phase: word({ available: "Loose", "in-use": "Held" }, raw, "Moving"),
      holderHref: raw["attached_to"] === null ? "" : href("servers", raw["attached_to"]),
    }),
    group: (raw) => ({ href: href("walls", raw["id"]), title: raw["name"], remark: raw["description"] }),
    flavor: (raw) => ({ href: href("flavors", raw["id"]), title: raw["name"] }),
    image: (raw) => ({ href: href("images", raw["id"]), title: raw["name"] }),
    region: (raw) => ({ href: href("places", raw["id"]), title: raw["name"] }),
  };
  const sent: number[] = [];
  return odd({
    title: "links for ids, refusals inside a 200, forty requests in a second",
    shown,
    world: { slowVolumes: true, slowRules: true, namedGroups: "refused" },
    lists: {
      vm: "/api/v1/servers",
      volume: "/api/v1/drives",
      group: "/api/v1/walls",
      flavor: "/api/v1/flavors",
      image: "/api/v1/images",
      region: "/api/v1/places",
    },
    routes: [
      ["GET /api/v1/servers/:id", "vm.get"],
      ["POST /api/v1/servers/:id/settle", "vm.resize.confirm"],
      ["POST /api/v1/servers/:id/unsettle", "vm.resize.revert"],
      ["POST /api/v1/drives/:id/scrap", "volume.delete"],
      ["POST /api/v1/walls/:id/strike", "group.rule.delete"],
    ],
    page: (items, asked, operation) => ({
      body: {
        ok: true,
        members: page(items, asked, Number(asked.query.get("per_page") ?? 5)).map(
          shown[operation.slice(0, -5) as keyof Shown],
        ),
        total: items.length,
      },
    }),
    answer: (_, record, payload) => ({
      body: { ok: true, ...(record === undefined ? { data: payload } : { member: record }) },
    }),
    withJob: (body, job) => ({ ...(body as Raw), trackingId: job }),
    job: ({ method, path }) => (method === "GET" ? /^\/api\/v1\/tracking\/(\w+)$/.exec(path)?.[1] : undefined),
    showJob: (id, isDone): Said => ({ body: { ok: true, trackingId: id, phase: isDone ? "finished" : "moving" } }),
    refuses() {
      const now = Date.now();
      while ((sent[0] ?? now) < now - 1000) sent.shift();
      if (sent.length >= 40)
        return {
          status: 429,
          headers: { "retry-after": "1" },
          body: { ok: false, error: { code: 429, text: "slow down" } },
        };
      sent.push(now);
      return undefined;
    },
    refuse: (_, status, message) => ({
      status: status === 401 ? 401 : 200,
      body: { ok: false, error: { code: status === 404 ? 1404 : 1000 + status, text: message } },
    }),
    told: [
      ...curl("vm.resize.confirm", "-X POST URL/api/v1/servers/6f2d1f6a-8f6e-4b0e-9d0f-0d3c6a529e11/settle"),
      ...curl("vm.resize.revert", "-X POST URL/api/v1/servers/6f2d1f6a-8f6e-4b0e-9d0f-0d3c6a529e11/unsettle"),
      ...curl("volume.delete", "-X POST URL/api/v1/drives/6f2d1f6a-8f6e-4b0e-9d0f-0d3c6a529e11/scrap"),
      ...curl(
        "group.rule.delete",
        `-X POST -d '{"rule":"7a3e2a7b-8f6e-4b0e-9d0f-0d3c6a529e22"}' URL/api/v1/walls/6f2d1f6a-8f6e-4b0e-9d0f-0d3c6a529e11/strike`,
      ),
      ...curl("group.list", "URL/api/v1/walls"),
      ...curl("region.list", "URL/api/v1/places"),
      "--curl",
      "wait=curl -H 'Authorization: Bearer x' URL/api/v1/tracking/j12",
    ],
  });
}

/** Deletes that are answered with 202 and take long; items wrapped one by one; lists of 10 a page that end in silence. */
function slowly(): Odd {
  const shown: Shown = {
    vm: (raw) => ({
      server: {
        server_no: Number(raw["id"]),
        server_name: raw["name"],
        // One word for all that is under way, a delete as well, and none that says so.
        state: word({ ACTIVE: "active", SHUTOFF: "inactive", VERIFY_RESIZE: "resized" }, raw, "transit"),
        product_code: raw["flavor_id"],
        os_image_no: raw["image_id"],
        owner: raw["owner"],
        private_ip: raw["private_ip"],
        public_ip: raw["floating_ip"] ?? "",
        created_at: 1_790_000_000,
        updated_at: "2026-03-01T10:00:00Z",
        storage_nos: disks(raw).map(({ id }) => Number(id)),
      },
    }),
    volume: (raw) => ({
      storage: {
        storage_no: Number(raw["id"]),
        storage_name: raw["name"],
        kind: raw["root"] === true ? "os" : "extra",
        size_mb: Number(raw["size"]) * 1024,
        state: word({ available: "detached", "in-use": "attached", deleting: "deleting" }, raw, "pending"),
        server_no: raw["attached_to"] === null ? 0 : Number(raw["attached_to"]),
      },
    }),
    group: (raw) => ({
      acl: { acl_no: Number(raw["id"]), acl_name: raw["name"], acl_description: raw["description"] },
    }),
    flavor: (raw) => ({ product: { product_code: raw["id"], product_name: raw["name"] } }),
    image: (raw) => ({ os_image: { os_image_no: raw["id"], os_image_name: raw["name"] } }),
    region: (raw) => ({ zone: { zone_code: raw["id"], zone_name: raw["name"] } }),
  };
  const others = Array.from({ length: 45 }, (_, nth): Raw => ({ id: `i-${nth}`, name: `image-${nth}` }));
  return odd({
    title: "deletes that take long, and long lists that end in silence",
    shown,
    world: { id: count, slowDeletes: true, slowVolumes: true, range: ":" },
    lists: {
      vm: "/api/v1/servers",
      volume: "/api/v1/storages",
      group: "/api/v1/acls",
      flavor: "/api/v1/products",
      image: "/api/v1/os-images",
      region: "/api/v1/zones",
    },
    routes: [
      ["GET /api/v1/servers/:id", "vm.get"],
      ["GET /api/v1/acls/:id", "group.get"],
      ["PUT /api/v1/servers/:id/resize", "vm.resize.confirm", { keep: true }],
      ["PUT /api/v1/servers/:id/resize", "vm.resize.revert", { keep: false }],
      ["DELETE /api/v1/storages/:id", "volume.delete"],
    ],
    page: (items, asked, operation) => {
      const kind = operation.slice(0, -5) as keyof Shown;
      const all = kind === "image" ? [...others, ...items] : items;
      return { body: { [`${kind}_list`]: page(all, asked, 10).map(shown[kind]) } };
    },
    answer: (operation, record, payload) => ({
      ...(operation.endsWith(".delete") && { status: 202 }),
      body: record ?? { data: payload },
    }),
    refuse: (_, status, message) => ({ status, body: { return_code: status, return_message: message } }),
    told: [
      ...curl("vm.resize.confirm", `-X PUT -d '{"keep":true}' URL/api/v1/servers/41/resize`),
      ...curl("vm.resize.revert", `-X PUT -d '{"keep":false}' URL/api/v1/servers/41/resize`),
      "--none",
      "group.rule.delete",
    ],
  });
}

export const minds: readonly Odd[] = [jsonApi(), queries(), links(), slowly()];
