/** Six deployments that differ wherever the contract is silent, each with the dialect that a person writes for it. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import {
  type Asked,
  answerBare,
  cut,
  type Deployment,
  disksOf,
  type ListName,
  listsCalled,
  type Meant,
  match,
  type Raw,
  recordShown,
  type Said,
  text,
} from "./front";

export interface Known {
  readonly deployment: Deployment;
  readonly dialect: string;
  /** What a person tells the doctor, and what it leaves to a person: lines of a dialect. */
  readonly before: string;
  readonly after: string;
  /** What a person tells before a trial: how its volumes can be deleted again. */
  readonly beforeTrial?: string;
  /** What is still left when the doctor has made a trial as well. */
  readonly afterTrial: string;
}

/** One that the package brings along. */
const ready = (name: string): string => readFileSync(join(__dirname, `../../../dialects/${name}.yaml`), "utf8");

const pageSize = 2;
const plural: Readonly<Record<ListName, string>> = {
  "vm.list": "servers",
  "volume.list": "volumes",
  "group.list": "security_groups",
  "flavor.list": "flavors",
  "image.list": "images",
  "region.list": "regions",
};
const words = (table: Readonly<Record<string, string>>, status: unknown): string =>
  table[text(status)] ?? text(status).toLowerCase();

/** Servers with addresses by type, disks under a long key, pages by a marker and links to an inner host, `item` per read. */
function openstack(): Known {
  const vm = (raw: Raw): Raw => ({
    id: raw["id"],
    name: raw["name"],
    status: raw["status"],
    flavor: {
      id: raw["flavor_id"],
      links: [{ rel: "bookmark", href: `http://10.0.0.1/flavors/${text(raw["flavor_id"])}` }],
    },
    image: { id: raw["image_id"] },
    metadata: { owner: raw["owner"] },
    addresses: {
      lan: [
        ...(raw["private_ip"] == null ? [] : [{ addr: raw["private_ip"], "OS-EXT-IPS:type": "fixed" }]),
        ...(raw["floating_ip"] == null ? [] : [{ addr: raw["floating_ip"], "OS-EXT-IPS:type": "floating" }]),
      ],
    },
    "os-extended-volumes:volumes_attached": disksOf(raw).map(({ id, root }) => ({
      id,
      device: root ? "/dev/vda" : "/dev/vdb",
    })),
  });
  const volume = (raw: Raw): Raw => ({
    id: raw["id"],
    name: raw["name"],
    size: raw["size"],
    status: raw["status"],
    attachments: raw["attached_to"] == null ? [] : [{ server_id: raw["attached_to"], device: "/dev/vdb" }],
  });
  const group = (raw: Raw): Raw => ({
    id: raw["id"],
    name: raw["name"],
    description: raw["description"],
    security_group_rules: raw["rules"],
  });
  const other = (raw: Raw): Raw => ({ id: raw["id"], name: raw["name"] });
  const shown: Record<string, (raw: Raw) => Raw> = { vm, volume, group };
  const paths: readonly (readonly [string, string, string])[] = [
    ["vm.list", "GET", "/api/v1/servers/detail"],
    ["vm.get", "GET", "/api/v1/servers/:id"],
    ["volume.list", "GET", "/api/v1/volumes/detail"],
    ["volume.delete", "DELETE", "/api/v1/volumes/:id"],
    ["group.list", "GET", "/api/v1/security-groups"],
    ["group.get", "GET", "/api/v1/security-groups/:id"],
    ["group.rule.delete", "DELETE", "/api/v1/security-group-rules/:id"],
    ["flavor.list", "GET", "/api/v1/flavors"],
    ["image.list", "GET", "/api/v1/images"],
    ["region.list", "GET", "/api/v1/regions"],
  ];
  const groupsOfRules = new Map<string, string>();
  return {
    deployment: {
      title: "an OpenStack-like gateway",
      credential: { name: "X-Auth-Token", value: "ops-token" },
      understand(asked): Meant | undefined {
        const action = match(asked.path, "/api/v1/servers/:id/action");
        if (action !== undefined && asked.method === "POST")
          return "confirmResize" in asked.body
            ? { operation: "vm.resize.confirm", ...action }
            : "revertResize" in asked.body
              ? { operation: "vm.resize.revert", ...action }
              : undefined;
        for (const [operation, method, shape] of paths) {
          const found = match(asked.path, shape);
          if (found === undefined || method !== asked.method) continue;
          if (operation !== "group.rule.delete") return { operation, ...found };
          return { operation, id: groupsOfRules.get(found["id"] ?? "") ?? "", ruleId: found["id"] ?? "" };
        }
        return undefined;
      },
      list(operation, items, asked): Said {
        const marker = asked.query.get("marker");
        const from = marker === null ? 0 : items.findIndex((item) => item["id"] === marker) + 1;
        const kind = operation.slice(0, -5);
        const shownItems = cut(items, from, pageSize).map(shown[kind] ?? other);
        const last = shownItems.at(-1)?.["id"];
        const links =
          from + pageSize < items.length
            ? [{ rel: "next", href: `http://10.0.0.1:8774${asked.path}?marker=${text(last)}` }]
            : [];
        return {
          body: {
            [plural[operation]]: shownItems,
            [`${plural[operation]}_links`]: [{ rel: "self", href: "http://10.0.0.1:8774/x" }, ...links],
          },
        };
      },
      answer(operation, payload): Said {
        if (operation === "vm.get") return { body: { server: vm(payload as Raw) } };
        if (operation.startsWith("group.rule")) {
          for (const rule of [payload].flat() as Raw[])
            groupsOfRules.set(text(rule?.["id"]), text(rule?.["security_group_id"]));
          return { body: { data: payload } };
        }
        if (operation === "volume.get" || operation === "volume.create")
          return { body: { volume: volume(payload as Raw) } };
        if (operation === "group.get" || operation === "group.create" || operation === "group.update")
          return { body: { security_group: group(payload as Raw) } };
        return { body: { data: payload } };
      },
      refuse: (_, status, message) =>
        status === 404
          ? { status, body: { itemNotFound: { code: 404, message } } }
          : { status, body: { error: { code: status, message } } },
    },
    dialect: ready("openstack-like"),
    before: ``,
    after: `
operations:
  vm.resize.confirm: { method: POST, path: "/api/v1/servers/{id}/action", body: { confirmResize: null } }
  vm.resize.revert: { method: POST, path: "/api/v1/servers/{id}/action", body: { revertResize: null } }
  volume.delete: { method: DELETE, path: "/api/v1/volumes/{id}" }
  group.rule.delete: { method: DELETE, path: "/api/v1/security-group-rules/{rule_id}" }
`,
    afterTrial: ``,
  };
}

/** camelCase, numbers for ids nowhere but in words; tokens that look like a path, in the query; a POST to delete. */
function camel(): Known {
  const states = { ACTIVE: "Running", SHUTOFF: "Stopped", VERIFY_RESIZE: "ResizeVerification", ERROR: "Faulted" };
  const vm = (raw: Raw): Raw => ({
    vmId: raw["id"],
    displayName: raw["name"],
    lifecycleState: words(states, raw["status"]),
    flavorId: raw["flavor_id"],
    imageId: raw["image_id"],
    ownerEmail: raw["owner"],
    networkInterfaces: [{ privateIp: raw["private_ip"], publicIp: raw["floating_ip"] }],
    attachedVolumeIds: disksOf(raw)
      .filter(({ root }) => !root)
      .map(({ id }) => id),
  });
  const volume = (raw: Raw): Raw => ({
    volumeId: raw["id"],
    displayName: raw["name"],
    sizeInGb: raw["size"],
    lifecycleState: raw["attached_to"] == null ? "Available" : "InUse",
    ...(raw["attached_to"] == null ? {} : { attachedVmId: raw["attached_to"] }),
  });
  const group = (raw: Raw): Raw => ({
    securityGroupId: raw["id"],
    displayName: raw["name"],
    description: raw["description"],
  });
  const other = (raw: Raw): Raw => ({ id: raw["id"], displayName: raw["name"] });
  const shown: Record<string, (raw: Raw) => Raw> = { vm, volume, group };
  const collections = listsCalled("vms", "volumes", "securityGroups", "flavors", "images", "regions");
  return {
    deployment: {
      title: "a camel-case one with tokens",
      credential: { name: "Authorization", value: "Bearer ops-token" },
      understand(asked): Meant | undefined {
        const [, collection] = /^\/api\/v1\/(\w+)$/.exec(asked.path) ?? [];
        const list = collections[collection ?? ""];
        if (list !== undefined && asked.method === "GET")
          return asked.query.has("id") && list === "vm.list"
            ? { operation: "vm.get", id: asked.query.get("id") ?? "" }
            : { operation: list };
        if (asked.method !== "POST") return undefined;
        const id = text(asked.body["vmId"] ?? asked.body["volumeId"] ?? asked.body["securityGroupId"]);
        switch (asked.path) {
          case "/api/v1/vms:confirmResize":
            return { operation: "vm.resize.confirm", id };
          case "/api/v1/vms:revertResize":
            return { operation: "vm.resize.revert", id };
          case "/api/v1/volumes:delete":
            return { operation: "volume.delete", id };
          case "/api/v1/securityGroups:removeRule":
            return { operation: "group.rule.delete", id, ruleId: text(asked.body["ruleId"]) };
          default:
            return undefined;
        }
      },
      list(operation, items, asked): Said {
        const from = Number(asked.query.get("pageToken")?.slice(3) ?? 0);
        const next = from + pageSize < items.length ? { nextPageToken: `/t/${from + pageSize}` } : {};
        return { body: { items: cut(items, from, pageSize).map(shown[operation.slice(0, -5)] ?? other), ...next } };
      },
      answer: answerBare(shown),
      refuse: (_, status, message) => ({
        status,
        body: { error: { status: status === 404 ? "NOT_FOUND" : "FAILED", message, details: [] } },
      }),
    },
    dialect: ready("camel-case"),
    before: ``,
    after: `
operations:
  vm.resize.confirm: { method: POST, path: "/api/v1/vms:confirmResize", body: { vmId: "{id}" } }
  vm.resize.revert: { method: POST, path: "/api/v1/vms:revertResize", body: { vmId: "{id}" } }
  volume.delete: { method: POST, path: "/api/v1/volumes:delete", body: { volumeId: "{id}" } }
  group.rule.delete: { method: POST, path: "/api/v1/securityGroups:removeRule", body: { securityGroupId: "{id}", ruleId: "{rule_id}" } }
states: { vm: { verify_resize: ResizeVerification, failed: Faulted } }
records: { vm: { volume_entry: { root: { value: "", is: "-" } } } }
`,
    afterTrial: `
records: { vm: { volume_entry: { root: { value: "", is: "-" } } } }
`,
  };
}

/** Every answer is a 200 with a code; lists are maps keyed by id, asked for with a POST by page numbers; sizes in MB. */
function coded(): Known {
  const states = { ACTIVE: "1", SHUTOFF: "2", VERIFY_RESIZE: "7", ERROR: "9" };
  const vm = (raw: Raw): Raw => ({
    hostname: raw["name"],
    state: { code: Number(words(states, raw["status"])) || 5 },
    spec: { flavor: raw["flavor_id"], template: raw["image_id"] },
    owner_mail: raw["owner"],
    net: { pub: raw["floating_ip"] ?? "", priv: raw["private_ip"] ?? "" },
    disks: Object.fromEntries(disksOf(raw).map(({ id, root }) => [id, { boot_index: root ? 0 : 1 }])),
  });
  const volume = (raw: Raw): Raw => ({
    label: raw["name"],
    size_mb: Number(raw["size"]) * 1024,
    state: raw["attached_to"] == null ? "free" : "used",
    host: raw["attached_to"] == null ? "-" : `vm/${text(raw["attached_to"])}`,
  });
  const group = (raw: Raw): Raw => ({ label: raw["name"], note: raw["description"] });
  const other = (raw: Raw): Raw => ({ label: raw["name"] });
  const shown: Record<string, (raw: Raw) => Raw> = { vm, volume, group };
  const whole = (kind: string, raw: Raw): Raw => ({ uid: raw["id"], ...(shown[kind] ?? other)(raw) });
  const done = (result: unknown): Said => ({ body: { code: 0, msg: "ok", result } });
  const searched = listsCalled("vm", "volume", "sg", "flavor", "image", "region");
  return {
    deployment: {
      title: "one that answers 200 to everything",
      credential: { name: "X-Api-Key", value: "key ops-token" },
      understand(asked): Meant | undefined {
        const [, what, verb] = /^\/api\/v1\/(\w+)\/(\w+)$/.exec(asked.path) ?? [];
        if (asked.method !== "POST" || what === undefined) return undefined;
        const id = text(asked.body["uid"]);
        if (verb === "search") return searched[what] === undefined ? undefined : { operation: searched[what] ?? "" };
        if (verb === "describe")
          return what === "vm"
            ? { operation: "vm.get", id }
            : what === "sg"
              ? { operation: "group.get", id }
              : undefined;
        if (verb === "remove")
          return what === "volume"
            ? { operation: "volume.delete", id }
            : { operation: "group.rule.delete", id, ruleId: text(asked.body["rule"]) };
        if (verb === "finish")
          return { operation: asked.body["keep"] === true ? "vm.resize.confirm" : "vm.resize.revert", id };
        return undefined;
      },
      list(operation, items, asked): Said {
        const number = Number((asked.body["paging"] as Raw | undefined)?.["page"] ?? 1);
        const kind = operation.slice(0, -5);
        const shownItems = cut(items, (number - 1) * pageSize, pageSize);
        return done({
          total: items.length,
          rows: Object.fromEntries(shownItems.map((raw) => [text(raw["id"]), (shown[kind] ?? other)(raw)])),
        });
      },
      answer(operation, payload): Said {
        const kind = operation.split(".")[0] ?? "";
        if (/get$|^volume.create$|^group.(create|update)$/.test(operation)) return done(whole(kind, payload as Raw));
        return done(payload ?? null);
      },
      refuse: (operation, status, message) =>
        operation === "any" && status === 401
          ? { status, body: { code: 40100, msg: message } }
          : { status: 200, body: { code: status * 100 + 1, msg: message, result: null } },
    },
    dialect: `
operations:
  vm.list: { method: POST, path: /api/v1/vm/search, body: {}, items: { in: /rows, keys: uid } }
  vm.get: { method: POST, path: /api/v1/vm/describe, body: { uid: "{id}" } }
  vm.resize.confirm: { method: POST, path: /api/v1/vm/finish, body: { uid: "{id}", keep: true } }
  vm.resize.revert: { method: POST, path: /api/v1/vm/finish, body: { uid: "{id}", keep: false } }
  volume.list: { method: POST, path: /api/v1/volume/search, body: {}, items: { in: /rows, keys: uid } }
  volume.delete: { method: POST, path: /api/v1/volume/remove, body: { uid: "{id}" } }
  group.list: { method: POST, path: /api/v1/sg/search, body: {}, items: { in: /rows, keys: uid } }
  group.get: { method: POST, path: /api/v1/sg/describe, body: { uid: "{id}" } }
  group.rule.delete: { method: POST, path: /api/v1/sg/remove, body: { uid: "{id}", rule: "{rule_id}" } }
  flavor.list: { method: POST, path: /api/v1/flavor/search, body: {}, items: { in: /rows, keys: uid } }
  image.list: { method: POST, path: /api/v1/image/search, body: {}, items: { in: /rows, keys: uid } }
  region.list: { method: POST, path: /api/v1/region/search, body: {}, items: { in: /rows, keys: uid } }
pagination: { number: 1, param: /paging/page }
records:
  vm:
    id: /uid
    name: /hostname
    status: /state/code
    flavor: /spec/flavor
    image: /spec/template
    owner: /owner_mail
    floating_ip: /net/pub
    private_ip: /net/priv
    volumes: { in: /disks, keys: id }
    volume_entry: { id: /id, root: { value: /boot_index, is: 0 } }
  volume:
    id: /uid
    name: /label
    size: { value: /size_mb, unit: MB }
    status: /state
    attached_to: { value: /host, cut: "vm/{value}", absent: none }
  group: { id: /uid, name: /label, description: /note }
  flavor: { id: /uid, name: /label }
  image: { id: /uid, name: /label }
  region: { id: /uid, name: /label }
states:
  vm: { running: 1, stopped: 2, verify_resize: 7, failed: 9 }
  volume: { ready: [free, used] }
envelope: { data: /result, error: { code: /code, message: /msg }, success: { value: /code, is: 0 } }
authorization: { name: X-Api-Key, header: "key {token}" }
errors:
  - { is: not_found, code: 40401 }
  - { is: rule_exists, code: 40901, message: rule already exists }
  - { is: conflict, code: 40901 }
  - { is: invalid_id, code: 40001, message: invalid*id }
  - { is: bad_request, code: "400*" }
  - { is: forbidden, code: "403*" }
  - { is: refused, code: "4*" }
`,
    before: `
operations:
  vm.list: { method: POST, path: /api/v1/vm/search, body: {} }
  volume.list: { method: POST, path: /api/v1/volume/search, body: {} }
  group.list: { method: POST, path: /api/v1/sg/search, body: {} }
  flavor.list: { method: POST, path: /api/v1/flavor/search, body: {} }
  image.list: { method: POST, path: /api/v1/image/search, body: {} }
  region.list: { method: POST, path: /api/v1/region/search, body: {} }
pagination: { number: 1, param: /paging/page }
authorization: { name: X-Api-Key, header: "key {token}" }
`,
    after: `
operations:
  vm.resize.confirm: { method: POST, path: /api/v1/vm/finish, body: { uid: "{id}", keep: true } }
  vm.resize.revert: { method: POST, path: /api/v1/vm/finish, body: { uid: "{id}", keep: false } }
  volume.delete: { method: POST, path: /api/v1/volume/remove, body: { uid: "{id}" } }
  group.rule.delete: { method: POST, path: /api/v1/sg/remove, body: { uid: "{id}", rule: "{rule_id}" } }
states: { vm: { running: 1, stopped: 2, verify_resize: 7, failed: 9 } }
errors:
  - { is: not_found, code: 40401 }
  - { is: rule_exists, code: 40901, message: rule already exists }
  - { is: conflict, code: 40901 }
  - { is: refused, code: "4*" }
`,
    afterTrial: `
operations:
  vm.resize.confirm: { method: POST, path: /api/v1/vm/finish, body: { uid: "{id}", keep: true } }
  vm.resize.revert: { method: POST, path: /api/v1/vm/finish, body: { uid: "{id}", keep: false } }
states: { vm: { failed: 9 } }
`,
  };
}

/** The name among tags, a state with a code beside its name, references that are links, tokens, sizes with a unit. */
function tagged(): Known {
  const states = { ACTIVE: "running", SHUTOFF: "stopped", VERIFY_RESIZE: "resize-pending", ERROR: "broken" };
  const vm = (raw: Raw): Raw => ({
    instanceId: raw["id"],
    tags: [
      { key: "env", value: "x" },
      { key: "Name", value: raw["name"] },
      { key: "Owner", value: raw["owner"] },
    ],
    state: { code: 16, name: words(states, raw["status"]) },
    instanceType: { self: `/types/${text(raw["flavor_id"])}` },
    imageRef: `urn:image:${text(raw["image_id"])}`,
    interfaces: [
      { scope: "private", address: raw["private_ip"] },
      ...(raw["floating_ip"] == null ? [] : [{ scope: "public", address: raw["floating_ip"] }]),
    ],
    blockDevices: disksOf(raw).map(({ id, root }) => ({
      device: root ? "xvda" : "xvdf",
      ebs: { volume: `/volumes/${id}` },
    })),
  });
  const volume = (raw: Raw): Raw => ({
    volumeId: raw["id"],
    tags: [{ key: "Name", value: raw["name"] }],
    capacity: `${text(raw["size"])}GiB`,
    state: { code: 0, name: raw["attached_to"] == null ? "idle" : "attached" },
    attachments: [
      { instance: "/instances/old", state: "detached" },
      ...(raw["attached_to"] == null
        ? []
        : [{ instance: `/instances/${text(raw["attached_to"])}`, state: "attached" }]),
    ],
  });
  const group = (raw: Raw): Raw => ({
    groupId: raw["id"],
    groupName: raw["name"],
    groupDescription: raw["description"],
  });
  const other = (raw: Raw): Raw => ({ ref: raw["id"], title: raw["name"] });
  const shown: Record<string, (raw: Raw) => Raw> = { vm, volume, group };
  const actions: Record<string, string> = {
    DescribeInstances: "vm.list",
    DescribeVolumes: "volume.list",
    DescribeGroups: "group.list",
    DescribeTypes: "flavor.list",
    DescribeImages: "image.list",
    DescribeZones: "region.list",
    DeleteVolume: "volume.delete",
    RevokeRule: "group.rule.delete",
    ConfirmResize: "vm.resize.confirm",
    RevertResize: "vm.resize.revert",
  };
  return {
    deployment: {
      title: "one that asks for actions, and names by tags",
      credential: { name: "Authorization", value: "Key ops-token" },
      understand(asked): Meant | undefined {
        if (asked.path !== "/api/v1/" || asked.headers["x-tenant"] !== "acme") return undefined;
        const operation = actions[asked.query.get("Action") ?? ""];
        return operation === undefined
          ? undefined
          : { operation, id: asked.query.get("Id") ?? "", ruleId: asked.query.get("Rule") ?? "" };
      },
      list(operation, items, asked): Said {
        const from = Number(asked.query.get("Marker")?.slice(1) ?? 0);
        const more = from + pageSize < items.length;
        return {
          body: {
            set: cut(items, from, pageSize).map((raw) => ({ item: (shown[operation.slice(0, -5)] ?? other)(raw) })),
            paging: { isTruncated: more, marker: more ? `m${from + pageSize}` : "" },
          },
        };
      },
      answer(operation, payload): Said {
        const record = recordShown(shown, operation, payload);
        if (record !== undefined) return { body: { response: { requestId: "r-1", result: record } } };
        return { body: { data: payload } };
      },
      refuse: (_, status, message) => ({
        status: status === 404 ? 400 : status,
        body: { Errors: { Error: { Code: status === 404 ? "Thing.NotFound" : "Other", Message: message } } },
      }),
    },
    dialect: `
values: { tenant: acme }
headers: { X-Tenant: "{tenant}" }
operations:
  vm.list: { method: GET, path: /api/v1/, query: { Action: DescribeInstances }, items: { in: /set, value: /item } }
  vm.get: null
  vm.resize.confirm: { method: POST, path: /api/v1/, query: { Action: ConfirmResize, Id: "{id}" } }
  vm.resize.revert: { method: POST, path: /api/v1/, query: { Action: RevertResize, Id: "{id}" } }
  volume.list: { method: GET, path: /api/v1/, query: { Action: DescribeVolumes }, items: { in: /set, value: /item } }
  volume.delete: { method: POST, path: /api/v1/, query: { Action: DeleteVolume, Id: "{id}" } }
  group.list: { method: GET, path: /api/v1/, query: { Action: DescribeGroups }, items: { in: /set, value: /item } }
  group.get: null
  group.rule.delete: { method: POST, path: /api/v1/, query: { Action: RevokeRule, Id: "{id}", Rule: "{rule_id}" } }
  flavor.list: { method: GET, path: /api/v1/, query: { Action: DescribeTypes }, items: { in: /set, value: /item } }
  image.list: { method: GET, path: /api/v1/, query: { Action: DescribeImages }, items: { in: /set, value: /item } }
  region.list: { method: GET, path: /api/v1/, query: { Action: DescribeZones }, items: { in: /set, value: /item } }
pagination: { next: /paging/marker, param: Marker }
answers:
  volume.get: { item: /response/result }
  volume.create: { item: /response/result }
  group.create: { item: /response/result }
records:
  vm:
    id: /instanceId
    name: { in: /tags, where: { key: Name }, value: /value }
    status: /state/name
    flavor: { value: /instanceType/self, cut: "*/{value}" }
    image: { value: /imageRef, cut: "urn:image:{value}" }
    owner: { in: /tags, where: { key: Owner }, value: /value }
    floating_ip: { in: /interfaces, where: { scope: public }, value: /address, absent: none }
    private_ip: { in: /interfaces, where: { scope: private }, value: /address }
    volumes: /blockDevices
    volume_entry: { id: { value: /ebs/volume, cut: "/volumes/{value}" }, root: { value: /device, is: xvda } }
  volume:
    id: /volumeId
    name: { in: /tags, where: { key: Name }, value: /value }
    size: /capacity
    status: /state/name
    attached_to: { in: /attachments, where: { state: attached }, value: /instance, cut: "/instances/{value}", absent: none }
  group: { id: /groupId, name: /groupName, description: /groupDescription }
  flavor: { id: /ref, name: /title }
  image: { id: /ref, name: /title }
  region: { id: /ref, name: /title }
states:
  vm: { running: running, stopped: stopped, verify_resize: resize-pending, failed: broken }
  volume: { ready: [idle, attached] }
envelope: { error: { code: /Errors/Error/Code, message: /Errors/Error/Message } }
errors: [{ is: not_found, status: 400, code: "*.NotFound" }]
authorization: { header: "Key {token}" }
`,
    before: `
values: { tenant: acme }
headers: { X-Tenant: "{tenant}" }
operations:
  vm.list: { method: GET, path: /api/v1/, query: { Action: DescribeInstances } }
  volume.list: { method: GET, path: /api/v1/, query: { Action: DescribeVolumes } }
  group.list: { method: GET, path: /api/v1/, query: { Action: DescribeGroups } }
  flavor.list: { method: GET, path: /api/v1/, query: { Action: DescribeTypes } }
  image.list: { method: GET, path: /api/v1/, query: { Action: DescribeImages } }
  region.list: { method: GET, path: /api/v1/, query: { Action: DescribeZones } }
authorization: { header: "Key {token}" }
`,
    after: `
operations:
  vm.resize.confirm: { method: POST, path: /api/v1/, query: { Action: ConfirmResize, Id: "{id}" } }
  vm.resize.revert: { method: POST, path: /api/v1/, query: { Action: RevertResize, Id: "{id}" } }
  volume.delete: { method: POST, path: /api/v1/, query: { Action: DeleteVolume, Id: "{id}" } }
  group.rule.delete: { method: POST, path: /api/v1/, query: { Action: RevokeRule, Id: "{id}", Rule: "{rule_id}" } }
answers: { group.create: { item: /response/result } }
states: { vm: { verify_resize: resize-pending, failed: broken } }
`,
    beforeTrial: `
operations:
  volume.delete: { method: POST, path: /api/v1/, query: { Action: DeleteVolume, Id: "{id}" } }
`,
    afterTrial: `
operations:
  vm.resize.confirm: { method: POST, path: /api/v1/, query: { Action: ConfirmResize, Id: "{id}" } }
  vm.resize.revert: { method: POST, path: /api/v1/, query: { Action: RevertResize, Id: "{id}" } }
  group.rule.delete: { method: POST, path: /api/v1/, query: { Action: RevokeRule, Id: "{id}", Rule: "{rule_id}" } }
answers: { group.create: { item: /response/result } }
`,
  };
}

/** Bare arrays and Link headers; ids under _id; a VM that runs or not, beside a word for the rest. */
function bare(): Known {
  const vm = (raw: Raw): Raw => ({
    _id: raw["id"],
    title: raw["name"],
    power: raw["status"] === "ACTIVE" ? "on" : "off",
    phase: raw["status"] === "ACTIVE" || raw["status"] === "SHUTOFF" ? "settled" : text(raw["status"]).toLowerCase(),
    plan: raw["flavor_id"],
    os: raw["image_id"],
    contact: raw["owner"],
    ips: [raw["private_ip"], raw["floating_ip"]],
    drives: disksOf(raw).map(({ id, root }) => ({ _id: id, system: root })),
  });
  const volume = (raw: Raw): Raw => ({
    _id: raw["id"],
    title: raw["name"],
    gigabytes: text(raw["size"]),
    used_by: raw["attached_to"] ?? null,
  });
  const group = (raw: Raw): Raw => ({ _id: raw["id"], title: raw["name"], about: raw["description"] });
  const other = (raw: Raw): Raw => ({ _id: raw["id"], title: raw["name"] });
  const shown: Record<string, (raw: Raw) => Raw> = { vm, volume, group };
  const lists = listsCalled("machines", "drives", "firewalls", "plans", "systems", "sites");
  return {
    deployment: {
      title: "bare arrays and Link headers",
      credential: { name: "Authorization", value: "Basic ops-token" },
      understand(asked): Meant | undefined {
        const [, , , collection = "", id, more, ruleId] = asked.path.split("/");
        const list = lists[collection];
        if (list === undefined) return undefined;
        if (id === undefined) return asked.method === "GET" ? { operation: list } : undefined;
        if (more === "rules" && asked.method === "DELETE")
          return { operation: "group.rule.delete", id, ruleId: ruleId ?? "" };
        if (asked.method === "PUT" && more === "resize")
          return { operation: asked.body["accept"] === "yes" ? "vm.resize.confirm" : "vm.resize.revert", id };
        if (asked.method === "DELETE" && list === "volume.list") return { operation: "volume.delete", id };
        if (asked.method === "GET" && more === undefined && (list === "vm.list" || list === "group.list"))
          return { operation: list === "vm.list" ? "vm.get" : "group.get", id };
        return undefined;
      },
      list(operation, items, asked): Said {
        const from = Number(asked.query.get("start") ?? 0);
        const next = `${asked.base}${asked.path}?start=${from + pageSize}`;
        return {
          body: cut(items, from, pageSize).map(shown[operation.slice(0, -5)] ?? other),
          headers: {
            link: `<${asked.base}${asked.path}>; rel="first"${from + pageSize < items.length ? `, <${next}>; rel="next"` : ""}`,
            "x-total-count": text(items.length),
          },
        };
      },
      answer(operation, payload): Said {
        const record = recordShown(shown, operation, payload);
        if (record !== undefined) return { body: record };
        return {
          body: operation.startsWith("group.rule") || operation === "vm.delete" ? { data: payload } : (payload ?? ""),
        };
      },
      refuse: (_, status, message) => ({ status, body: { error: { code: status, message } } }),
    },
    dialect: `
operations:
  vm.list: { method: GET, path: /api/v1/machines }
  vm.get: { method: GET, path: "/api/v1/machines/{id}" }
  vm.resize.confirm: { method: PUT, path: "/api/v1/machines/{id}/resize", body: { accept: "yes" } }
  vm.resize.revert: { method: PUT, path: "/api/v1/machines/{id}/resize", body: { accept: "no" } }
  volume.list: { method: GET, path: /api/v1/drives }
  volume.delete: { method: DELETE, path: "/api/v1/drives/{id}" }
  group.list: { method: GET, path: /api/v1/firewalls }
  group.get: { method: GET, path: "/api/v1/firewalls/{id}" }
  group.rule.delete: { method: DELETE, path: "/api/v1/firewalls/{id}/rules/{rule_id}" }
  flavor.list: { method: GET, path: /api/v1/plans }
  image.list: { method: GET, path: /api/v1/systems }
  region.list: { method: GET, path: /api/v1/sites }
pagination: { next_header: Link }
records:
  vm:
    id: /_id
    name: /title
    status: { join: [/phase, /power] }
    flavor: /plan
    image: /os
    owner: /contact
    floating_ip: /ips/1
    private_ip: /ips/0
    volumes: /drives
    volume_entry: { id: /_id, root: /system }
  volume: { id: /_id, name: /title, size: /gigabytes, attached_to: /used_by }
  group: { id: /_id, name: /title, description: /about }
  flavor: { id: /_id, name: /title }
  image: { id: /_id, name: /title }
  region: { id: /_id, name: /title }
states:
  vm: { running: settled/on, stopped: settled/off, verify_resize: verify_resize/off, failed: error/off }
authorization: { header: "Basic {token}" }
`,
    before: `
authorization: { header: "Basic {token}" }
`,
    after: `
operations:
  vm.resize.confirm: { method: PUT, path: "/api/v1/machines/{id}/resize", body: { accept: "yes" } }
  vm.resize.revert: { method: PUT, path: "/api/v1/machines/{id}/resize", body: { accept: "no" } }
  volume.delete: { method: DELETE, path: "/api/v1/drives/{id}" }
  group.rule.delete: { method: DELETE, path: "/api/v1/firewalls/{id}/rules/{rule_id}" }
records: { vm: { status: { join: [/phase, /power] } } }
states: { vm: { running: settled/on, stopped: settled/off, verify_resize: verify_resize/off, failed: error/off } }
`,
    afterTrial: `
operations:
  vm.resize.confirm: { method: PUT, path: "/api/v1/machines/{id}/resize", body: { accept: "yes" } }
  vm.resize.revert: { method: PUT, path: "/api/v1/machines/{id}/resize", body: { accept: "no" } }
states: { vm: { failed: error/off } }
`,
  };
}

/** JSON:API: attributes and relationships, pages by an offset, errors as a list. */
function jsonApi(): Known {
  const types: Record<string, string> = {
    vm: "servers",
    volume: "disks",
    group: "firewalls",
    flavor: "sizes",
    image: "images",
    region: "regions",
  };
  const one = (kind: string, raw: Raw): Raw => {
    const base = { type: types[kind], id: raw["id"] };
    if (kind === "vm")
      return {
        ...base,
        attributes: {
          name: raw["name"],
          state: raw["status"],
          addresses: { public: raw["floating_ip"], private: raw["private_ip"] },
        },
        relationships: {
          size: { data: { type: "sizes", id: raw["flavor_id"] } },
          image: { data: { type: "images", id: raw["image_id"] } },
          owner: { data: { type: "users", id: raw["owner"] } },
          disks: {
            data: disksOf(raw).map(({ id, root }) => ({ type: "disks", id, meta: { role: root ? "system" : "data" } })),
          },
        },
      };
    if (kind === "volume")
      return {
        ...base,
        attributes: { name: raw["name"], bytes: Number(raw["size"]) * 1024 ** 3, state: raw["status"] },
        relationships: {
          server: { data: raw["attached_to"] == null ? null : { type: "servers", id: raw["attached_to"] } },
        },
      };
    return { ...base, attributes: { name: raw["name"], ...(kind === "group" && { description: raw["description"] }) } };
  };
  return {
    deployment: {
      title: "JSON:API with offsets",
      credential: { name: "Authorization", value: "Bearer ops-token" },
      understand(asked): Meant | undefined {
        const [, , , type = "", id, verb, extra] = asked.path.split("/");
        const kind = Object.keys(types).find((name) => types[name] === type);
        if (kind === undefined) return undefined;
        if (id === undefined) return asked.method === "GET" ? { operation: `${kind}.list` } : undefined;
        if (asked.method === "GET" && verb === undefined)
          return kind === "vm" || kind === "group" ? { operation: `${kind}.get`, id } : undefined;
        if (asked.method === "DELETE")
          return verb === "rules"
            ? { operation: "group.rule.delete", id, ruleId: extra ?? "" }
            : kind === "volume"
              ? { operation: "volume.delete", id }
              : undefined;
        if (asked.method === "PATCH" && kind === "vm")
          return {
            operation:
              ((asked.body["data"] as Raw)["attributes"] as Raw)["resize"] === "confirmed"
                ? "vm.resize.confirm"
                : "vm.resize.revert",
            id,
          };
        return undefined;
      },
      list(operation, items, asked): Said {
        const from = Number(asked.query.get("page[offset]") ?? 0);
        const kind = operation.slice(0, -5);
        return {
          body: {
            data: cut(items, from, pageSize).map((raw) => one(kind, raw)),
            meta: { total: items.length },
            jsonapi: { version: "1.0" },
          },
        };
      },
      answer(operation, payload): Said {
        const kind = operation.split(".")[0] ?? "";
        if (/get$|^volume.create$|^group.(create|update)$/.test(operation))
          return { body: { data: one(kind, payload as Raw) } };
        return { body: { data: payload } };
      },
      refuse: (_, status, message) => ({
        status,
        body: { errors: [{ status: text(status), code: status === 404 ? "not_found" : "failed", detail: message }] },
      }),
    },
    dialect: `
operations:
  vm.list: { method: GET, path: /api/v1/servers }
  vm.get: { method: GET, path: "/api/v1/servers/{id}" }
  vm.resize.confirm: { method: PATCH, path: "/api/v1/servers/{id}", body: { data: { type: servers, id: "{id}", attributes: { resize: confirmed } } } }
  vm.resize.revert: { method: PATCH, path: "/api/v1/servers/{id}", body: { data: { type: servers, id: "{id}", attributes: { resize: reverted } } } }
  volume.list: { method: GET, path: /api/v1/disks }
  volume.delete: { method: DELETE, path: "/api/v1/disks/{id}" }
  group.list: { method: GET, path: /api/v1/firewalls }
  group.get: { method: GET, path: "/api/v1/firewalls/{id}" }
  group.rule.delete: { method: DELETE, path: "/api/v1/firewalls/{id}/rules/{rule_id}" }
  flavor.list: { method: GET, path: /api/v1/sizes }
  image.list: { method: GET, path: /api/v1/images }
  region.list: { method: GET, path: /api/v1/regions }
pagination: { offset: true, param: "page[offset]" }
envelope: { data: /data, error: { code: /errors/0/code, message: /errors/0/detail } }
records:
  vm:
    name: /attributes/name
    status: /attributes/state
    flavor: /relationships/size/data/id
    image: /relationships/image/data/id
    owner: /relationships/owner/data/id
    floating_ip: /attributes/addresses/public
    private_ip: /attributes/addresses/private
    volumes: /relationships/disks/data
    volume_entry: { id: /id, root: { value: /meta/role, is: system } }
  volume:
    name: /attributes/name
    size: { value: /attributes/bytes, unit: B }
    status: /attributes/state
    attached_to: [/relationships/server/data/id, { value: /relationships/server/data, absent: none }]
  group: { name: /attributes/name, description: /attributes/description }
  flavor: { name: /attributes/name }
  image: { name: /attributes/name }
  region: { name: /attributes/name }
`,
    before: ``,
    after: `
operations:
  vm.resize.confirm: { method: PATCH, path: "/api/v1/servers/{id}", body: { data: { type: servers, id: "{id}", attributes: { resize: confirmed } } } }
  vm.resize.revert: { method: PATCH, path: "/api/v1/servers/{id}", body: { data: { type: servers, id: "{id}", attributes: { resize: reverted } } } }
  volume.delete: { method: DELETE, path: "/api/v1/disks/{id}" }
  group.rule.delete: { method: DELETE, path: "/api/v1/firewalls/{id}/rules/{rule_id}" }
`,
    afterTrial: `
operations:
  vm.resize.confirm: { method: PATCH, path: "/api/v1/servers/{id}", body: { data: { type: servers, id: "{id}", attributes: { resize: confirmed } } } }
  vm.resize.revert: { method: PATCH, path: "/api/v1/servers/{id}", body: { data: { type: servers, id: "{id}", attributes: { resize: reverted } } } }
`,
  };
}

export const deployments: readonly Known[] = [openstack(), camel(), coded(), tagged(), bare(), jsonApi()];

export type { Asked };
