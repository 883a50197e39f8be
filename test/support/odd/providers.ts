/**
 * Services as providers have them: ids in capitals where others refer to them, with keys of another language; properties
 * and entities with a state at rest beside a busy one, whose requests stand in Location; and lists below several folders.
 */
import { cut, type Raw, type Said, text } from "../deployments/front";
import { curl, disks, odd, type Shown, word } from "./further";
import type { Odd } from "./shapes";

const resting: ReadonlySet<unknown> = new Set(["ACTIVE", "SHUTOFF", "VERIFY_RESIZE", "available", "in-use"]);
const someId = "6f2d1f6a-8f6e-4b0e-9d0f-0d3c6a529e11";

/** Keys in German, sizes in KiB, states that no key speaks of. */
function capitals(): Odd {
  const other = (raw: Raw): Raw => ({ Ref: raw["id"], DisplayName: raw["name"] });
  const upper = (id: unknown): string | null => (id == null ? null : text(id).toUpperCase());
  const shown: Shown = {
    vm: (raw) => ({
      Guid: raw["id"],
      DisplayName: raw["name"],
      PowerState: word({ ACTIVE: "Ein", SHUTOFF: "Aus", VERIFY_RESIZE: "Prüfen" }, raw, "Wechselt"),
      Size: { Ref: raw["flavor_id"] },
      Vorlage: raw["image_id"],
      Besitzer: raw["owner"],
      Nics: [
        { Typ: "intern", Adresse: raw["private_ip"] },
        { Typ: "extern", Adresse: raw["floating_ip"] ?? "" },
      ],
      Platten: disks(raw).map(({ id, root }) => ({ Guid: upper(id), System: root ? 1 : 0 })),
    }),
    volume: (raw) => ({
      Guid: raw["id"],
      DisplayName: raw["name"],
      Kopien: 1,
      Groesse: Number(raw["size"]) * 1024 * 1024,
      Zustand: word({ available: "frei", "in-use": "belegt" }, raw, "in Arbeit"),
      Rechner: upper(raw["attached_to"]),
    }),
    group: (raw) => ({ Guid: raw["id"], DisplayName: raw["name"], Bemerkung: raw["description"] }),
    flavor: other,
    image: other,
    region: other,
  };
  return odd({
    title: "ids in capitals where others refer to them, keys in German",
    shown,
    world: { slowVolumes: true, twice: true },
    lists: {
      vm: "/api/v1/Machines",
      volume: "/api/v1/Disks",
      group: "/api/v1/FirewallGroups",
      flavor: "/api/v1/Sizes",
      image: "/api/v1/Images",
      region: "/api/v1/Regions",
    },
    routes: [
      ["GET /api/v1/Machines/:id", "vm.get"],
      ["PUT /api/v1/Machines/:id/Resize", "vm.resize.confirm"],
      ["DELETE /api/v1/Machines/:id/Resize", "vm.resize.revert"],
      ["DELETE /api/v1/Disks/:id", "volume.delete"],
      ["DELETE /api/v1/FirewallGroups/:id/Rules/:rule", "group.rule.delete"],
    ],
    page: (items, asked, operation) => {
      const [skip, top] = [Number(asked.query.get("$skip") ?? 0), Number(asked.query.get("$top") ?? 3)];
      return {
        body: {
          "@odata.count": items.length,
          value: cut(items, skip, top).map(shown[operation.slice(0, -5) as keyof Shown]),
          ...(skip + top < items.length && { "@odata.nextLink": `${asked.path}?$skip=${skip + top}` }),
        },
      };
    },
    answer: (_, record, payload) => ({ body: record ?? { value: payload } }),
    refuse: (_, status, message) => ({
      status,
      body: { "odata.error": { code: "", message: { lang: "de", value: message } } },
    }),
    told: [
      ...curl("vm.list", "-H 'Authorization: Bearer x' URL/api/v1/Machines"),
      ...curl("vm.resize.confirm", `-X PUT URL/api/v1/Machines/${someId}/Resize`),
      ...curl("vm.resize.revert", `-X DELETE URL/api/v1/Machines/${someId}/Resize`),
      ...curl("group.rule.delete", `-X DELETE URL/api/v1/FirewallGroups/${someId}/Rules/${someId}`),
    ],
  });
}

/** A page that is full by chance shows links without a next one; a request's id stands before a word in Location. */
function entities(): Odd {
  const wrap = (type: string, raw: Raw, properties: Raw, more: Raw = {}): Raw => ({
    id: raw["id"],
    type,
    href: `https://api.invalid/v6/${type}/${text(raw["id"])}`,
    metadata: { state: raw["status"] === undefined || resting.has(raw["status"]) ? "AVAILABLE" : "BUSY" },
    properties,
    ...more,
  });
  const other =
    (type: string) =>
    (raw: Raw): Raw =>
      wrap(type, raw, { name: raw["name"] });
  const shown: Shown = {
    vm: (raw) =>
      wrap(
        "server",
        raw,
        {
          name: raw["name"],
          vmState: word({ SHUTOFF: "SHUTOFF", VERIFY_RESIZE: "PAUSED" }, raw, "RUNNING"),
          bootTemplate: raw["flavor_id"],
          bootImage: raw["image_id"],
          contact: raw["owner"],
        },
        {
          entities: {
            volumes: {
              items: disks(raw).map(({ id, root }) => ({ id, properties: { bootOrder: root ? "PRIMARY" : "NONE" } })),
            },
            nics: {
              items: [{ properties: { ips: [raw["private_ip"], raw["floating_ip"]].filter((ip) => ip !== null) } }],
            },
          },
        },
      ),
    volume: (raw) =>
      wrap("volume", raw, {
        name: raw["name"],
        size: raw["size"],
        ...(raw["attached_to"] !== null && { bootServer: raw["attached_to"] }),
      }),
    group: (raw) => wrap("securitygroup", raw, { name: raw["name"], description: raw["description"] }),
    flavor: other("template"),
    image: other("image"),
    region: other("location"),
  };
  const at = "/api/v1/datacenters/dc1";
  return odd({
    title: "properties and entities, busy beside a state at rest, requests in Location",
    shown,
    world: { slowVolumes: true, slowRules: true, namedGroups: "refused" },
    lists: {
      vm: `${at}/servers`,
      volume: `${at}/volumes`,
      group: `${at}/securitygroups`,
      flavor: "/api/v1/templates",
      image: "/api/v1/images",
      region: "/api/v1/locations",
    },
    routes: [
      [`GET ${at}/servers/:id`, "vm.get"],
      [`GET ${at}/securitygroups/:id`, "group.get"],
      [`POST ${at}/servers/:id/resume`, "vm.resize.confirm"],
      [`POST ${at}/servers/:id/rollback`, "vm.resize.revert"],
      [`DELETE ${at}/volumes/:id`, "volume.delete"],
      [`DELETE ${at}/securitygroups/:id/rules/:rule`, "group.rule.delete"],
    ],
    page: (items, { query, path }, operation) => {
      const [offset, limit] = [Number(query.get("offset") ?? 0), Number(query.get("limit") ?? 3)];
      return {
        body: {
          type: "collection",
          items: cut(items, offset, limit).map(shown[operation.slice(0, -5) as keyof Shown]),
          offset,
          limit,
          _links: {
            self: `${path}?offset=${offset}`,
            ...(offset + limit < items.length && { next: `${path}?offset=${offset + limit}&limit=${limit}` }),
          },
        },
      };
    },
    answer: (_, record, payload) => ({ status: 202, body: record ?? { data: payload } }),
    withJob: (body, _, operation) => (/create|vm.delete/.test(operation) ? body : undefined),
    jobHeaders: (job: string, base: string) => ({ location: `${base}/api/v1/requests/${job}/status` }),
    job: ({ method, path }) => (method === "GET" ? /^\/api\/v1\/requests\/(\w+)\/status$/.exec(path)?.[1] : undefined),
    showJob: (id, isDone): Said => ({ body: { id: `${id}/status`, metadata: { status: isDone ? "DONE" : "QUEUED" } } }),
    refuse: (_, status, message) => ({
      status,
      body: { httpStatus: status, messages: [{ errorCode: status === 404 ? "309" : "100", message }] },
    }),
    told: [
      ...curl("vm.list", `-H 'Authorization: Bearer x' 'URL${at}/servers?depth=3'`),
      ...curl("vm.resize.confirm", `-X POST URL${at}/servers/${someId}/resume`),
      ...curl("vm.resize.revert", `-X POST URL${at}/servers/${someId}/rollback`),
    ],
  });
}

/** Every kind is in another folder, what is not there sounds as nobody's id does, and a lock alone tells what is busy. */
function folders(): Odd {
  const labelled = (raw: Raw): Raw => ({ id: raw["id"], label: raw["name"] });
  const number = (id: unknown): number | null => (id == null ? null : Number(id));
  const shown: Shown = {
    vm: (raw) => ({
      id: number(raw["id"]),
      label: raw["name"],
      status: word({ SHUTOFF: "offline", VERIFY_RESIZE: "migrated" }, raw, "running"),
      ...(!resting.has(raw["status"]) && { lock: "migrating" }),
      type: raw["flavor_id"],
      image: raw["image_id"],
      tags: ["a", raw["owner"]],
      ipv4: [raw["floating_ip"], raw["private_ip"]].filter((one) => one !== null),
      created: "2026-01-01T00:00:00",
    }),
    volume: (raw) => ({
      id: number(raw["id"]),
      label: raw["name"],
      size: raw["size"],
      status: word({ available: "active", "in-use": "active" }, raw, text(raw["status"])),
      linode_id: number(raw["attached_to"]),
      linode_label: raw["host"],
    }),
    group: (raw) => ({ id: number(raw["id"]), label: raw["name"], note: raw["description"] }),
    flavor: labelled,
    image: labelled,
    region: labelled,
  };
  return odd({
    title: "lists below several folders, one sentence for all that is not there, a lock beside the state",
    shown,
    world: {
      slowVolumes: true,
      calls: 4,
      namedGroups: "kept",
      id: (kind, nth) => String(kind === "rule" ? nth + 5000 : nth + 1000),
    },
    lists: {
      vm: "/v4/linode/instances",
      volume: "/v4/volumes",
      group: "/v4/networking/firewalls",
      flavor: "/v4/linode/types",
      image: "/v4/images",
      region: "/v4/regions",
    },
    routes: [
      ["GET /v4/linode/instances/:id", "vm.get"],
      ["GET /v4/networking/firewalls/:id", "group.get"],
      ["POST /v4/linode/instances/:id/finish", "vm.resize.confirm"],
      ["POST /v4/linode/instances/:id/undo", "vm.resize.revert"],
      ["DELETE /v4/volumes/:id", "volume.delete"],
    ],
    page: (items, { query }, operation) => {
      const [page, size] = [Number(query.get("page") ?? 1), Number(query.get("page_size") ?? 3)];
      return {
        body: {
          data: cut(items, (page - 1) * size, size).map(shown[operation.slice(0, -5) as keyof Shown]),
          page,
          pages: Math.max(1, Math.ceil(items.length / size)),
          results: items.length,
        },
      };
    },
    answer: (operation, record, payload) => ({
      body: /delete|resize|attach|detach|stop|start/.test(operation) ? {} : (record ?? payload),
    }),
    refuse: (_, status, message) => ({
      status: status === 409 ? 400 : status,
      body: { errors: [{ reason: status === 404 ? "Not found" : message }] },
    }),
    told: [
      ...curl("vm.list", `-H "Authorization: Bearer $TOKEN" URL/v4/linode/instances`),
      ...curl("group.list", `-H "Authorization: Bearer $TOKEN" URL/v4/networking/firewalls`),
      ...curl("vm.resize.confirm", "-X POST URL/v4/linode/instances/123/finish"),
      "--none",
      "group.rule.delete",
    ],
  });
}

/** Lists that show no records: ids alone, or rows whose values have no names. No dialect can read them. */
function withoutRecords(what: "ids" | "rows"): Odd {
  const plain = (raw: Raw): Raw => raw;
  return odd({
    title: what === "ids" ? "lists of ids alone" : "lists of rows without names",
    shown: { vm: plain, volume: plain, group: plain, flavor: plain, image: plain, region: plain },
    world: { twice: true },
    lists: {
      vm: "/api/v1/vms",
      volume: "/api/v1/volumes",
      group: "/api/v1/groups",
      flavor: "/api/v1/flavors",
      image: "/api/v1/images",
      region: "/api/v1/regions",
    },
    routes: [
      ["GET /api/v1/vms/:id", "vm.get"],
      ["DELETE /api/v1/volumes/:id", "volume.delete"],
    ],
    page: (items) => ({
      body:
        what === "ids"
          ? items.map(({ id }) => id)
          : { columns: ["id", "name"], rows: items.map(({ id, name }) => [id, name]), total: items.length },
    }),
    answer: (_, record, payload) => ({ body: record ?? { data: payload } }),
    refuse: (_, status, message) => ({ status, body: { message } }),
    told: curl("vm.list", "-H 'Authorization: Bearer x' URL/api/v1/vms"),
  });
}

export const unreadable: readonly Odd[] = [withoutRecords("ids"), withoutRecords("rows")];

export const providers: readonly Odd[] = [capitals(), entities(), folders()];
