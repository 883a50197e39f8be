/**
 * More services that are odd on purpose, each in other ways than those of shapes.ts: commands in a body, answers without
 * a body, maps, jobs that fail, units and names, versions, zones, records that stay after they were deleted.
 */
import {
  type Asked,
  cut,
  type ListName,
  type Meant,
  match,
  type Raw,
  recordShown,
  type Said,
  text,
} from "../deployments/front";
import type { OddShape } from "./server";
import type { Odd } from "./shapes";
import type { OddKind } from "./world";

export type Shown = Readonly<Record<"vm" | "volume" | "group" | "flavor" | "image" | "region", (raw: Raw) => Raw>>;
type Page = (items: readonly Raw[], asked: Asked, operation: ListName) => Said;

interface Parts
  extends Pick<
      OddShape,
      "title" | "world" | "withJob" | "jobHeaders" | "job" | "showJob" | "refuses" | "refuse" | "deferred"
    >,
    Pick<Odd, "told" | "env" | "keepsVolumes"> {
  readonly credential?: OddShape["credential"];
  readonly shown: Shown;
  /** Where each list is; `undefined`: it has none. */
  readonly lists: Readonly<Partial<Record<"vm" | "volume" | "group" | "flavor" | "image" | "region", string>>>;
  /** The requests beyond the contract, and what each does. A `?` behind the path: what has to stand in the body. */
  readonly routes: readonly (readonly [request: string, operation: string, body?: Raw])[];
  readonly page: Page;
  readonly answer: (operation: string, record: Raw | undefined, payload: unknown, raw: Raw) => Said;
}

const bearer = { name: "Authorization", value: "Bearer ops-token" };
const kindOf = (operation: string) => (operation.split(".")[0] ?? "") as keyof Shown;
export const disks = (raw: Raw) =>
  (raw["volumes"] as readonly { id: string; root: boolean; name: string }[] | undefined) ?? [];
const data = (raw: Raw) => disks(raw).filter(({ root }) => !root);
export const word = (table: Readonly<Record<string, unknown>>, raw: Raw, other: unknown = "busy") =>
  table[text(raw["status"])] ?? other;
export const page = <T>(items: readonly T[], asked: Asked, size = 2): readonly T[] =>
  cut(items, (Number(asked.query.get("page") ?? 1) - 1) * size, size);
const after = (items: readonly Raw[], id: unknown, size = 2): readonly Raw[] =>
  cut(items, id == null ? 0 : items.findIndex((item) => text(item["id"]) === text(id)) + 1 || items.length, size);

export function odd(parts: Parts): Odd {
  const { told, env, keepsVolumes, shown, lists, routes, page: paged, answer, credential = bearer, ...shape } = parts;
  return {
    told,
    ...(env && { env }),
    ...(keepsVolumes && { keepsVolumes }),
    shape: {
      ...shape,
      credential,
      understand({ method, path, body }): Meant | undefined {
        for (const [kind, at] of Object.entries(lists)) {
          const zone = match(path, at);
          if (method === "GET" && zone !== undefined) return { operation: `${kind}.list`, id: zone["zone"] };
        }
        for (const [request, operation, wanted = {}] of routes) {
          const [verb, at = ""] = request.split(" ");
          const found = verb === method ? match(path, at) : undefined;
          const isMeant = Object.entries(wanted).every(([key, value]) => body[key] === value);
          if (found !== undefined && isMeant)
            return {
              operation,
              id: decodeURIComponent(found["id"] ?? ""),
              ruleId: decodeURIComponent(found["rule"] ?? text(body["rule"])),
            };
        }
        return undefined;
      },
      list: (operation, items, asked) => paged(items, asked, operation),
      answer(operation, payload) {
        return answer(operation, recordShown(shown, operation, payload), payload, payload as Raw);
      },
    },
  };
}

/** The same service, which finds the rule that is to be deleted by what the request says of it. */
export const byWhatItSays = (made: Odd, fits: (rule: Raw, said: Raw) => boolean): Odd => ({
  ...made,
  shape: {
    ...made.shape,
    understand(asked, world): Meant | undefined {
      const meant = made.shape.understand(asked, world);
      if (meant?.operation !== "group.rule.delete") return meant;
      const found = world.groups.get(meant.id ?? "")?.rules.find((rule) => fits(rule, asked.body));
      return { ...meant, ruleId: text(found?.["id"] ?? "none") };
    },
  },
});

const someId = "6f2d1f6a-8f6e-4b0e-9d0f-0d3c6a529e11";
const ruleId = "7a3e2a7b-8f6e-4b0e-9d0f-0d3c6a529e22";
export const curl = (operation: string, request: string): readonly string[] => [
  "--curl",
  `${operation}=curl ${request}`,
];
export const count = (kind: OddKind, nth: number): string => (kind === "rule" ? `r${nth}` : String(40 + nth));

/** One endpoint that takes commands in its body, refuses inside a 200, and shows what it deleted for a while. */
function commandsInBody(): Odd {
  const shown: Shown = {
    vm: (raw) => ({
      serverId: Number(raw["id"]),
      serverName: raw["name"],
      power: word({ ACTIVE: "up", SHUTOFF: "down", VERIFY_RESIZE: "check" }, raw),
      flavorId: raw["flavor_id"],
      imageId: raw["image_id"],
      contact: raw["owner"],
      innerIp: raw["private_ip"],
      outerIp: raw["floating_ip"],
      diskIds: disks(raw).map(({ id, root }) => ({ diskId: Number(id), system: root ? "yes" : "no" })),
    }),
    volume: (raw) => ({
      diskId: Number(raw["id"]),
      diskName: raw["name"],
      sizeGb: raw["size"],
      phase: word({ available: "idle", "in-use": "idle", deleted: "removed" }, raw),
      serverId: raw["attached_to"] === null ? 0 : Number(raw["attached_to"]),
    }),
    group: (raw) => ({ groupId: Number(raw["id"]), groupName: raw["name"], remark: raw["description"] }),
    flavor: (raw) => ({ flavorId: raw["id"], flavorName: raw["name"] }),
    image: (raw) => ({ imageId: raw["id"], imageName: raw["name"] }),
    region: (raw) => ({ regionId: raw["id"], regionName: raw["name"] }),
  };
  const commands: Readonly<Record<string, string>> = {
    listServers: "vm.list",
    listDisks: "volume.list",
    listGroups: "group.list",
    listFlavors: "flavor.list",
    listImages: "image.list",
    listRegions: "region.list",
    dropDisk: "volume.delete",
    dropRule: "group.rule.delete",
    acceptSize: "vm.resize.confirm",
    undoSize: "vm.resize.revert",
  };
  const made = odd({
    title: "commands in a body, refusals inside a 200",
    world: { id: count, twice: true, slowVolumes: true, lingers: true },
    shown,
    lists: {},
    routes: [],
    page: (items, asked, operation) => {
      const own = after(items, asked.body["after"]);
      const last = own.at(-1)?.["id"];
      return {
        body: {
          ok: true,
          result: {
            rows: own.map(shown[kindOf(operation)]),
            more: last !== undefined && last !== items.at(-1)?.["id"],
          },
        },
      };
    },
    answer: (_, record, payload) => ({ body: { ok: true, result: record ?? payload } }),
    refuse: (_, status, message) => ({
      status: status === 401 ? 401 : 200,
      body: { ok: false, err: { code: 1000 + status, text: message } },
    }),
    // Of the lists one is told, and tells how the others are asked for.
    told: Object.entries(commands).flatMap(([cmd, operation]) => {
      if (operation.endsWith("list") && operation !== "vm.list") return [];
      const ids = operation.endsWith("list")
        ? ""
        : operation === "group.rule.delete"
          ? `,"groupId":41,"rule":"${ruleId}"`
          : ',"id":41';
      return curl(operation, `-X POST -H 'Authorization: Bearer x' -d '{"cmd":"${cmd}"${ids}}' URL/api`);
    }),
  });
  return {
    ...made,
    shape: {
      ...made.shape,
      understand: ({ method, path, body }) => {
        const operation = method === "POST" && path === "/api" ? commands[text(body["cmd"])] : undefined;
        return operation === undefined
          ? undefined
          : { operation, id: text(body["groupId"] ?? body["id"]), ruleId: text(body["rule"]) };
      },
    },
  };
}

/** Creates without a body, whose ids stand in Location alone; sizes with their unit; pages by Link; pages in HTML. */
const emptyAnswers = (): Odd => {
  const shown: Shown = {
    vm: (raw) => ({
      uid: raw["id"],
      hostname: raw["name"],
      lifecycle: word(
        { ACTIVE: "powered-on", SHUTOFF: "powered-off", VERIFY_RESIZE: "resize-verify", BUILD: "provisioning" },
        raw,
      ),
      plan: raw["flavor_id"],
      template: raw["image_id"],
      contact: raw["owner"],
      ipv4: { private: raw["private_ip"], public: raw["floating_ip"] },
      storage: disks(raw).map(({ id, root }) => ({ disk: `/api/v1/volume/${id}`, role: root ? "os" : "extra" })),
    }),
    volume: (raw) => ({
      uid: raw["id"],
      label: raw["name"],
      capacity: `${raw["size"]} GiB`,
      usedBy: raw["attached_to"] === null ? null : `/api/v1/machines/${raw["attached_to"]}`,
    }),
    group: (raw) => ({ uid: raw["id"], label: raw["name"], notes: raw["description"] }),
    flavor: (raw) => ({ uid: raw["id"], label: raw["name"] }),
    image: (raw) => ({ uid: raw["id"], label: raw["name"] }),
    region: (raw) => ({ uid: raw["id"], label: raw["name"] }),
  };
  const paths: Readonly<Record<string, string>> = {
    "volume.create": "/api/v1/volume/",
    "group.create": "/api/v1/security-group/",
  };
  return odd({
    title: "answers without a body, ids in Location, sizes in GiB",
    shown,
    lists: {
      vm: "/api/v1/machines",
      group: "/api/v1/firewalls",
      flavor: "/api/v1/plans",
      image: "/api/v1/templates",
      region: "/api/v1/sites",
    },
    routes: [
      ["GET /api/v1/machines/:id", "vm.get"],
      ["POST /api/v1/machines/:id/resize/confirm", "vm.resize.confirm"],
      ["POST /api/v1/machines/:id/resize/revert", "vm.resize.revert"],
      ["DELETE /api/v1/disks/:id", "volume.delete"],
      ["DELETE /api/v1/firewalls/:id/rules/:rule", "group.rule.delete"],
    ],
    page: (items, asked, operation) => {
      const nth = Number(asked.query.get("page") ?? 1);
      const isMore = nth * 2 < items.length;
      return {
        body: page(items, asked).map(shown[kindOf(operation)]),
        ...(isMore && { headers: { link: `<${asked.base}${asked.path}?page=${nth + 1}>; rel="next"` } }),
      };
    },
    answer: (operation, record, payload, raw) => {
      const at = paths[operation];
      if (at !== undefined) return { status: 201, headers: { location: at + text(raw["id"]) } };
      if (record !== undefined) return { body: record };
      return /list|rule.create|vm.delete|snapshot/.test(operation) ? { body: { data: payload } } : { status: 204 };
    },
    refuse: (_, status, message) =>
      status === 404
        ? { status, body: "<html><h1>Not Found</h1></html>", headers: { "content-type": "text/html" } }
        : { status, body: { title: message, status } },
    told: curl("volume.delete", `-X DELETE URL/api/v1/disks/${someId}`),
  });
};

/** Lists as maps by id within maps by kind; pages by number, of which nothing speaks. */
const mapsByKind = (): Odd => {
  const shown: Shown = {
    vm: (raw) => ({
      displayName: raw["name"],
      lifecycleState: word(
        { ACTIVE: "Running", SHUTOFF: "Halted", VERIFY_RESIZE: "PendingConfirmation", BUILD: "Building" },
        raw,
        "Working",
      ),
      instanceType: raw["flavor_id"],
      sourceImage: raw["image_id"],
      ownerEmail: raw["owner"],
      privateAddress: raw["private_ip"],
      publicAddress: raw["floating_ip"] ?? "",
      blockDevices: disks(raw).map(({ id, root }, nth) => ({ volumeId: id, bootIndex: root ? 0 : nth + 1 })),
    }),
    volume: (raw) => ({
      displayName: raw["name"],
      sizeInMegabytes: Number(raw["size"]) * 1024,
      lifecycleState: word({ available: "Detached", "in-use": "Attached" }, raw, "Working"),
      instanceId: raw["attached_to"] ?? "-",
    }),
    group: (raw) => ({ displayName: raw["name"], description: raw["description"] }),
    flavor: (raw) => ({ displayName: raw["name"], cpus: 2 }),
    image: (raw) => ({ displayName: raw["name"], os: "linux" }),
    region: (raw) => ({ displayName: raw["name"], country: "de" }),
  };
  const names: Readonly<Record<string, string>> = {
    vm: "instances",
    volume: "blockVolumes",
    group: "securityGroups",
    flavor: "instanceTypes",
    image: "images",
    region: "regions",
  };
  return odd({
    title: "maps by id within maps, pages by number without a sign",
    shown,
    world: { range: "-", namedGroups: "refused", slowVolumes: true },
    lists: Object.fromEntries(Object.entries(names).map(([kind, name]) => [kind, `/api/v1/${name}`])),
    routes: [
      ["GET /api/v1/instances/:id", "vm.get"],
      ["GET /api/v1/securityGroups/:id", "group.get"],
      ["POST /api/v1/instances/:id/confirmResize", "vm.resize.confirm"],
      ["POST /api/v1/instances/:id/revertResize", "vm.resize.revert"],
      ["DELETE /api/v1/blockVolumes/:id", "volume.delete"],
      ["DELETE /api/v1/securityGroups/:id/rules/:rule", "group.rule.delete"],
    ],
    page: (items, asked, operation) => ({
      body: {
        content: {
          [names[kindOf(operation)] ?? ""]: Object.fromEntries(
            page(items, asked).map((raw) => [text(raw["id"]), shown[kindOf(operation)](raw)]),
          ),
        },
      },
    }),
    answer: (operation, record, payload, raw) => ({
      body:
        record === undefined ? { data: payload } : { content: { [kindOf(operation)]: { id: raw["id"], ...record } } },
    }),
    refuse: (_, status, message) => ({ status, body: { errorCode: `X${status}`, errorMessage: message } }),
    told: [],
  });
};

/** Nothing is done when it is answered: each write answers with a task, and only the task says that it failed. */
const tasks = (): Odd => {
  const shown: Shown = {
    vm: (raw) => ({
      id: raw["id"],
      name: raw["name"],
      state: word({ ACTIVE: "on", SHUTOFF: "off", VERIFY_RESIZE: "resized" }, raw),
      size: raw["flavor_id"],
      template: { id: raw["image_id"] },
      metadata: { owner: raw["owner"] },
      nics: [
        { scope: "private", ip: raw["private_ip"] },
        ...(raw["floating_ip"] === null ? [] : [{ scope: "public", ip: raw["floating_ip"] }]),
      ],
      volume_ids: data(raw).map(({ id }) => id),
    }),
    volume: (raw) => ({ id: raw["id"], name: raw["name"], gb: raw["size"], server_id: raw["attached_to"] }),
    group: (raw) => ({ id: raw["id"], name: raw["name"], description: raw["description"] }),
    flavor: (raw) => ({ id: raw["id"], name: raw["name"] }),
    image: (raw) => ({ id: raw["id"], name: raw["name"] }),
    region: (raw) => ({ id: raw["id"], name: raw["name"] }),
  };
  return odd({
    title: "tasks for every write, and failures that only they tell",
    shown,
    deferred: true,
    world: { twice: true, id: (kind, nth) => (kind === "volume" ? String(7000 + nth) : `${kind}-${nth}`) },
    lists: {
      vm: "/api/v1/servers",
      volume: "/api/v1/volumes",
      group: "/api/v1/security_groups",
      flavor: "/api/v1/sizes",
      image: "/api/v1/templates",
      region: "/api/v1/regions",
    },
    routes: [
      ["GET /api/v1/servers/:id", "vm.get"],
      ["GET /api/v1/security_groups/:id", "group.get"],
      ["POST /api/v1/servers/:id/actions", "vm.resize.confirm", { action: "confirm_resize" }],
      ["POST /api/v1/servers/:id/actions", "vm.resize.revert", { action: "revert_resize" }],
      ["DELETE /api/v1/volumes/:id", "volume.delete"],
      ["DELETE /api/v1/security_groups/:id/rules/:rule", "group.rule.delete"],
    ],
    page: (items, asked, operation) => {
      const from = Number(asked.query.get("offset") ?? 0);
      return { body: { items: cut(items, from, 2).map(shown[kindOf(operation)]), total: items.length, offset: from } };
    },
    answer: (_, record, payload) => ({ body: record ?? { data: payload } }),
    withJob: (_, task) => ({ task_id: task, status: "queued" }),
    job: ({ method, path }) => (method === "GET" ? match(path, "/api/v1/tasks/:id")?.["id"] : undefined),
    showJob: (id, isDone, failure) => ({
      body: {
        id,
        status: !isDone ? "in_progress" : failure === undefined ? "succeeded" : "errored",
        ...(isDone && failure !== undefined && { error: { message: failure } }),
      },
    }),
    refuse: (_, status, message) => ({ status, body: { error: { code: status, message } } }),
    told: [],
  });
};

/** Sizes as 20G, states as numbers, VMs and volumes that name each other by their names, ids of each kind's own. */
function namesAndUnits(): Odd {
  const shown: Shown = {
    vm: (raw) => ({
      uuid: raw["id"],
      label: raw["name"],
      stateCode: word({ ACTIVE: 16, SHUTOFF: 80, VERIFY_RESIZE: 48, BUILD: 1 }, raw, 32),
      machineType: raw["flavor_id"],
      os: raw["image_id"],
      ownerMail: raw["owner"],
      addresses: [raw["private_ip"], raw["floating_ip"]].filter((one) => one !== null),
      disks: data(raw).map(({ name }) => name),
    }),
    volume: (raw) => ({
      number: Number(raw["id"]),
      label: raw["name"],
      size: `${raw["size"]}G`,
      host: raw["host"] ?? "",
    }),
    group: (raw) => ({ ref: raw["id"], label: raw["name"], text: raw["description"] }),
    flavor: (raw) => ({ code: raw["id"], label: raw["name"] }),
    image: (raw) => ({ code: raw["id"], label: raw["name"] }),
    region: (raw) => ({ code: raw["id"], label: raw["name"] }),
  };
  return odd({
    title: "names as references, sizes as 20G, states as numbers",
    shown,
    world: {
      range: ":",
      ownEgress: true,
      id: (kind, nth) =>
        kind === "vm"
          ? `00000000-0000-4000-8000-${String(nth).padStart(12, "0")}`
          : kind === "group"
            ? `sg-${nth}`
            : String(nth),
    },
    credential: { name: "X-Auth-Token", value: "ops-token" },
    lists: {
      vm: "/api/v1/server/all",
      volume: "/api/v1/disk/all",
      group: "/api/v1/secgroup/all",
      flavor: "/api/v1/type/all",
      image: "/api/v1/image/all",
      region: "/api/v1/region/all",
    },
    routes: [
      ["POST /api/v1/server/:id/accept", "vm.resize.confirm"],
      ["POST /api/v1/server/:id/undo", "vm.resize.revert"],
      ["POST /api/v1/disk/delete/:id", "volume.delete"],
      ["DELETE /api/v1/secgroup/:id/rule/:rule", "group.rule.delete"],
    ],
    page: (items, asked, operation) => ({
      body: {
        [{ vm: "servers", volume: "disks", group: "secgroups" }[text(kindOf(operation))] ?? "list"]: after(
          items,
          asked.query.get("after"),
          3,
        ).map(shown[kindOf(operation)]),
      },
    }),
    answer: (operation, record, payload) => ({
      body: record === undefined ? { data: payload } : { [kindOf(operation)]: record },
    }),
    refuse: (_, status, message) => ({ status, body: { fault: { reason: message } } }),
    told: [
      ...curl("vm.resize.confirm", `-X POST URL/api/v1/server/${someId}/accept`),
      ...curl("vm.resize.revert", `-X POST URL/api/v1/server/${someId}/undo`),
    ],
  });
}

/** Every change of a group has to send its version; rules stand under two keys; a limit that ends at an epoch. */
function versions(): Odd {
  let asked = 0;
  const side = (raw: Raw, direction: string) =>
    (raw["rules"] as readonly Raw[])
      .filter((rule) => rule["direction"] === direction)
      .map(({ direction: _, ...rule }) => rule);
  const shown: Shown = {
    vm: (raw) => ({
      id: raw["id"],
      name: raw["name"],
      status: word(
        { ACTIVE: "RUNNING", SHUTOFF: "TERMINATED", VERIFY_RESIZE: "CONFIRM", BUILD: "STAGING" },
        raw,
        "PENDING",
      ),
      plan_id: raw["flavor_id"],
      image_id: raw["image_id"],
      owner: raw["owner"],
      network: { internal: raw["private_ip"], external: raw["floating_ip"] },
      attached_disks: disks(raw).map(({ id, root }) => ({ disk_id: id, boot: root })),
    }),
    volume: (raw) => ({
      id: raw["id"],
      name: raw["name"],
      size_bytes: Number(raw["size"]) * 1024 ** 3,
      vm_ids: raw["attached_to"] === null ? [] : [raw["attached_to"]],
    }),
    group: (raw) => ({
      id: raw["id"],
      name: raw["name"],
      description: raw["description"],
      etag: `v${raw["version"]}`,
      ingress: side(raw, "ingress"),
      egress: side(raw, "egress"),
    }),
    flavor: (raw) => ({ id: raw["id"], name: raw["name"] }),
    image: (raw) => ({ id: raw["id"], name: raw["name"] }),
    region: (raw) => ({ id: raw["id"], name: raw["name"] }),
  };
  return odd({
    title: "versions that are sent, rules under two keys, a limit with an epoch",
    shown,
    world: { twice: true, namedGroups: "kept" },
    lists: {
      vm: "/api/v1/vms",
      volume: "/api/v1/disks",
      group: "/api/v1/security-groups",
      flavor: "/api/v1/plans",
      image: "/api/v1/images",
      region: "/api/v1/regions",
    },
    routes: [
      ["GET /api/v1/vms/:id", "vm.get"],
      ["GET /api/v1/security-groups/:id", "group.get"],
      ["PUT /api/v1/vms/:id", "vm.resize.confirm", { state: "confirmed" }],
      ["PUT /api/v1/vms/:id", "vm.resize.revert", { state: "reverted" }],
      ["DELETE /api/v1/disks/:id", "volume.delete"],
      ["DELETE /api/v1/security-groups/:id/rules/:rule", "group.rule.delete"],
    ],
    page: (items, request, operation) => {
      const from = Number(request.query.get("pageToken")?.slice(1) ?? 0);
      return {
        body: {
          items: cut(items, from, 2).map(shown[kindOf(operation)]),
          ...(from + 2 < items.length && { nextPageToken: `/${from + 2}` }),
        },
      };
    },
    refuses: (operation, { id = "" }, { headers }, world) => {
      if (++asked % 40 === 0)
        return {
          status: 429,
          body: { error: { code: 429, message: "too many requests" } },
          headers: { "x-ratelimit-reset": String(Math.floor(Date.now() / 1000) + 1) },
        };
      const group =
        /^group\.(update|delete|rule\.)/.test(operation) && operation !== "group.rule.list"
          ? world.groups.get(id)
          : undefined;
      if (group === undefined || headers["if-match"] === `v${group.version}`) return undefined;
      return {
        status: 412,
        body: {
          error: {
            code: 412,
            message: headers["if-match"] === undefined ? "If-Match is required" : "the etag does not match",
          },
        },
      };
    },
    answer: (_, record, payload) => ({ body: record ?? { data: payload } }),
    refuse: (_, status, message) => ({ status, body: { error: { code: status, message } } }),
    told: [
      ...curl("vm.resize.confirm", `-X PUT -d '{"state":"confirmed"}' URL/api/v1/vms/${someId}`),
      ...curl("vm.resize.revert", `-X PUT -d '{"state":"reverted"}' URL/api/v1/vms/${someId}`),
    ],
  });
}

/** A list in each zone, with the zone in every path; who is not known is sent to a sign-in. */
const inZones = (): Odd => {
  const shown: Shown = {
    vm: (raw) => ({
      vm: {
        id: raw["id"],
        name: raw["name"],
        state: word(
          { ACTIVE: "running", SHUTOFF: "stopped", VERIFY_RESIZE: "verify-resize", BUILD: "starting" },
          raw,
          "migrating",
        ),
        zone: raw["region"],
        flavor: { id: raw["flavor_id"] },
        image: { id: raw["image_id"] },
        tags: [{ key: "owner", value: raw["owner"] }],
        ips: { private: [raw["private_ip"]], public: raw["floating_ip"] === null ? [] : [raw["floating_ip"]] },
        volumes: Object.fromEntries(
          disks(raw).map(({ id, root }) => [root ? "0" : "1", { id, size: 10, volume_type: root ? "root" : "data" }]),
        ),
      },
    }),
    volume: (raw) => ({
      volume: {
        id: raw["id"],
        name: raw["name"],
        size: Number(raw["size"]) * 10 ** 9,
        state: word({ available: "available", "in-use": "in_use" }, raw, "updating"),
        zone: raw["region"],
        server: raw["attached_to"] === null ? null : { id: raw["attached_to"], name: "x" },
      },
    }),
    group: (raw) => ({ group: { id: raw["id"], name: raw["name"], description: raw["description"] } }),
    flavor: (raw) => ({ id: raw["id"], name: raw["name"] }),
    image: (raw) => ({ id: raw["id"], name: raw["name"] }),
    region: (raw) => ({ id: raw["id"], name: raw["name"] }),
  };
  return odd({
    title: "a list in each zone, and a sign-in in the place of a refusal",
    shown,
    world: { slowVolumes: true },
    lists: {
      vm: "/api/v1/zones/:zone/servers",
      volume: "/api/v1/zones/:zone/volumes",
      group: "/api/v1/zones/:zone/groups",
      flavor: "/api/v1/flavors",
      image: "/api/v1/images",
      region: "/api/v1/zones",
    },
    routes: [
      ["POST /api/v1/zones/in-west-1/servers/:id/confirm", "vm.resize.confirm"],
      ["POST /api/v1/zones/in-west-1/servers/:id/revert", "vm.resize.revert"],
      ["DELETE /api/v1/zones/in-west-1/volumes/:id", "volume.delete"],
      ["DELETE /api/v1/zones/in-west-1/groups/:id/rules/:rule", "group.rule.delete"],
    ],
    page: (items, asked, operation) => {
      const [, zone] = /zones\/([^/]+)\//.exec(asked.path) ?? [];
      const own = items.filter((item) => zone === undefined || (item["region"] ?? "in-west-1") === zone);
      const nth = Number(asked.query.get("page") ?? 1);
      const many = operation.split(".")[0] ?? "";
      return {
        body: { [`${many}s`]: page(own, asked).map(shown[kindOf(operation)]) },
        headers: { "x-total-count": String(own.length), "x-page": String(nth) },
      };
    },
    answer: (_, record, payload) => ({ body: record ?? { data: payload } }),
    refuse: (_, status, message) =>
      status === 401
        ? { status: 302, headers: { location: "https://id.invalid/sso/login" } }
        : { status, body: { type: `err_${status}`, message, fields: {} } },
    told: [
      ...curl("vm.list", "-H 'Authorization: Bearer x' URL/api/v1/zones/in-west-1/servers"),
      ...curl("volume.list", "URL/api/v1/zones/in-west-1/volumes"),
      ...curl("group.list", "URL/api/v1/zones/in-west-1/groups"),
    ],
  });
};

/** URNs for ids; what was deleted stays in its list for good, and answers to its id. */
const urns = (): Odd => {
  const shown: Shown = {
    vm: (raw) => ({
      urn: raw["id"],
      title: raw["name"],
      status: {
        code: word({ ACTIVE: 2, SHUTOFF: 3, VERIFY_RESIZE: 7, deleted: 9 }, raw, 1),
        name: word(
          { ACTIVE: "Online", SHUTOFF: "Offline", VERIFY_RESIZE: "AwaitingDecision", deleted: "Deleted" },
          raw,
          "Working",
        ),
      },
      offer: { urn: raw["flavor_id"] },
      base: { urn: raw["image_id"] },
      created_by: raw["owner"],
      interfaces: { eth0: { address: raw["private_ip"] }, eth1: { address: raw["floating_ip"] } },
      disks: disks(raw).map(({ id, root }) => ({ device: root ? "/dev/vda" : "/dev/vdb", disk: { urn: id } })),
    }),
    volume: (raw) => ({
      urn: raw["id"],
      title: raw["name"],
      size: { value: raw["size"], unit: "GB" },
      status: word({ available: "Free", "in-use": "Used", deleted: "Deleted" }, raw, "Working"),
      attachments: raw["attached_to"] === null ? [] : [{ machine: { urn: raw["attached_to"] } }],
    }),
    group: (raw) => ({ urn: raw["id"], title: raw["name"], comment: raw["description"] }),
    flavor: (raw) => ({ urn: raw["id"], title: raw["name"] }),
    image: (raw) => ({ urn: raw["id"], title: raw["name"] }),
    region: (raw) => ({ urn: raw["id"], title: raw["name"] }),
  };
  return odd({
    title: "URNs, and deleted records that stay",
    shown,
    world: {
      id: (kind, nth) => `urn:acme:${kind}:${1000 + nth}`,
      stays: true,
      twice: true,
      slowVolumes: true,
      slowRules: true,
    },
    lists: {
      vm: "/api/v1/machines/search",
      volume: "/api/v1/disks/search",
      group: "/api/v1/firewalls/search",
      flavor: "/api/v1/offers/search",
      image: "/api/v1/bases/search",
      region: "/api/v1/places/search",
    },
    routes: [
      ["GET /api/v1/machines/:id", "vm.get"],
      ["GET /api/v1/firewalls/:id", "group.get"],
      ["PATCH /api/v1/machines/:id", "vm.resize.confirm", { resize: "commit" }],
      ["PATCH /api/v1/machines/:id", "vm.resize.revert", { resize: "rollback" }],
      ["DELETE /api/v1/disks/:id", "volume.delete"],
      ["POST /api/v1/firewalls/:id/rules/delete", "group.rule.delete"],
    ],
    page: (items, asked, operation) => {
      const nth = Number(asked.query.get("page") ?? 0);
      return {
        body: {
          hits: cut(items, nth * 3, 3).map(shown[kindOf(operation)]),
          page: { number: nth, size: 3, totalPages: Math.ceil(items.length / 3), totalElements: items.length },
        },
      };
    },
    answer: (operation, record, payload) => ({
      status: operation.endsWith("delete") ? 202 : 200,
      body: record === undefined ? { data: payload } : { hit: record },
    }),
    refuse: (_, status, message) => ({ status, body: { errors: [{ code: `E${status}`, detail: message }] } }),
    told: [
      ...curl("flavor.list", "URL/api/v1/offers/search"),
      ...curl("image.list", "URL/api/v1/bases/search"),
      ...curl("region.list", "URL/api/v1/places/search"),
      ...curl("vm.resize.confirm", `-X PATCH -d '{"resize":"commit"}' URL/api/v1/machines/urn:acme:vm:1001`),
      ...curl("vm.resize.revert", `-X PATCH -d '{"resize":"rollback"}' URL/api/v1/machines/urn:acme:vm:1001`),
      ...curl("group.rule.delete", `-X POST -d '{"rule":"${ruleId}"}' URL/api/v1/firewalls/${someId}/rules/delete`),
    ],
  });
};

export const further: readonly Odd[] = [
  commandsInBody(),
  emptyAnswers(),
  mapsByKind(),
  tasks(),
  namesAndUnits(),
  versions(),
  inZones(),
  urns(),
];
