/** Two deployments more, as different as can be from those that the doctor was made with. */
import {
  type Asked,
  answerBare,
  cut,
  type Deployment,
  disksOf,
  listsCalled,
  type Meant,
  match,
  type Raw,
  recordShown,
  resizeDecision,
  type Said,
  text,
} from "./front";

export interface Other {
  readonly deployment: Deployment;
  /** What a person fills in, once the doctor has looked and has made a trial. */
  readonly before: string;
  readonly afterTrial: string;
}

const pageSize = 2;

/** kebab-case, ids that are numbers, power as a boolean, sizes in MB as text, pages by a header, another credential. */
function kebab(): Other {
  const vm = (raw: Raw): Raw => ({
    "server-id": raw["id"],
    "server-name": raw["name"],
    powered: raw["status"] === "ACTIVE",
    "task-state": ["ACTIVE", "SHUTOFF"].includes(text(raw["status"]))
      ? "idle"
      : text(raw["status"]).toLowerCase().replace("_", "-"),
    plan: { "plan-id": raw["flavor_id"] },
    template: { "template-id": raw["image_id"] },
    "owner-email": raw["owner"],
    "public-ip": raw["floating_ip"] ?? "",
    "private-ip": raw["private_ip"] ?? "",
    "created-at": 1_790_000_000,
    disks: disksOf(raw).map(({ id, root }) => ({ "disk-id": id, bootable: root ? "yes" : "no" })),
  });
  const volume = (raw: Raw): Raw => ({
    "disk-id": raw["id"],
    "disk-name": raw["name"],
    size: `${Number(raw["size"]) * 1024} MB`,
    "server-id": raw["attached_to"] ?? 0,
  });
  const group = (raw: Raw): Raw => ({
    "firewall-id": raw["id"],
    "firewall-name": raw["name"],
    comment: raw["description"],
  });
  const other =
    (kind: string) =>
    (raw: Raw): Raw => ({ [`${kind}-id`]: raw["id"], [`${kind}-name`]: raw["name"] });
  const shown: Record<string, (raw: Raw) => Raw> = {
    vm,
    volume,
    group,
    flavor: other("plan"),
    image: other("template"),
    region: other("zone"),
  };
  const lists = listsCalled("servers", "disks", "firewalls", "plans", "templates", "zones");
  return {
    deployment: {
      title: "kebab-case, numbers for ids, pages by a header",
      credential: { name: "X-Auth-Token", value: "ops-token" },
      numbered: true,
      understand(asked): Meant | undefined {
        for (const [plural, operation] of Object.entries(lists)) {
          if (match(asked.path, `/api/v1/${plural}/all`) !== undefined && asked.method === "GET") return { operation };
          const one = match(asked.path, `/api/v1/${plural}/:id`);
          if (one === undefined) continue;
          if (asked.method === "GET" && plural !== "disks")
            return { operation: operation.replace("list", "get"), ...one };
          if (asked.method === "DELETE" && plural === "disks") return { operation: "volume.delete", ...one };
        }
        const rule = match(asked.path, "/api/v1/firewalls/:id/rules/:ruleId");
        if (rule !== undefined && asked.method === "DELETE") return { operation: "group.rule.delete", ...rule };
        return resizeDecision(asked, (verb) => `/api/v1/servers/:id/${verb}-resize`);
      },
      list(operation, items, asked): Said {
        const page = Number(asked.query.get("page") ?? 1);
        const more = page * pageSize < items.length;
        return {
          body: cut(items, (page - 1) * pageSize, pageSize).map(shown[operation.slice(0, -5)] ?? vm),
          headers: more ? { "x-next-page": text(page + 1) } : {},
        };
      },
      answer: answerBare(shown),
      refuse: (_, status, message) => ({ status, body: { "error-code": `E${status}`, "error-message": message } }),
    },
    before: "",
    afterTrial: `
states: { vm: { failed: error/false } }
`,
  };
}

/** HAL: lists under _embedded, the next page under _links, records whose references are links. */
function hal(): Other {
  const states = { ACTIVE: "Up", SHUTOFF: "Halted", VERIFY_RESIZE: "AwaitingApproval", ERROR: "Crashed" };
  const link = (kind: string, id: unknown): Raw => ({ href: `/api/v1/${kind}/${text(id)}` });
  const vm = (raw: Raw): Raw => ({
    uuid: raw["id"],
    label: raw["name"],
    status: { value: (states as Record<string, string>)[text(raw["status"])] ?? "Busy", since: "2026-01-01T00:00:00Z" },
    owner: { email: raw["owner"] },
    network: { addresses: [raw["private_ip"], raw["floating_ip"]].filter(Boolean).map((ip) => ({ ip })) },
    storage: { drives: disksOf(raw).map(({ id, root }) => ({ uuid: id, purpose: root ? "system" : "data" })) },
    _links: {
      self: link("instances", raw["id"]),
      size: link("sizes", raw["flavor_id"]),
      template: link("templates", raw["image_id"]),
    },
  });
  const volume = (raw: Raw): Raw => ({
    uuid: raw["id"],
    label: raw["name"],
    capacity_bytes: Number(raw["size"]) * 1024 ** 3,
    status: { value: raw["attached_to"] == null ? "Free" : "Busy" },
    _links: {
      self: link("drives", raw["id"]),
      ...(raw["attached_to"] == null ? {} : { instance: link("instances", raw["attached_to"]) }),
    },
  });
  const group = (raw: Raw): Raw => ({ uuid: raw["id"], label: raw["name"], note: raw["description"] });
  const other = (raw: Raw): Raw => ({ uuid: raw["id"], label: raw["name"] });
  const shown: Record<string, (raw: Raw) => Raw> = { vm, volume, group };
  const lists = listsCalled("instances", "drives", "firewalls", "sizes", "templates", "locations");
  return {
    deployment: {
      title: "HAL, with links for everything",
      credential: { name: "Authorization", value: "Token ops-token" },
      understand(asked): Meant | undefined {
        for (const [plural, operation] of Object.entries(lists)) {
          if (asked.path === `/api/v1/${plural}` && asked.method === "GET") return { operation };
          const one = match(asked.path, `/api/v1/${plural}/:id`);
          if (one === undefined) continue;
          if (asked.method === "GET" && plural !== "drives")
            return { operation: operation.replace("list", "get"), ...one };
          if (asked.method === "DELETE" && plural === "drives") return { operation: "volume.delete", ...one };
        }
        const rule = match(asked.path, "/api/v1/rules/:ruleId");
        if (rule !== undefined && asked.method === "DELETE")
          return { operation: "group.rule.delete", id: groupOfRule.get(rule["ruleId"] ?? "") ?? "", ...rule };
        return resizeDecision(asked, (verb) => `/api/v1/instances/:id/resize/${verb}`);
      },
      list(operation, items, asked): Said {
        const page = Number(asked.query.get("p") ?? 0);
        const more = (page + 1) * pageSize < items.length;
        const plural = Object.keys(lists).find((name) => lists[name] === operation) ?? "";
        return {
          body: {
            _embedded: { [plural]: cut(items, page * pageSize, pageSize).map(shown[operation.slice(0, -5)] ?? other) },
            _links: { self: { href: asked.path }, ...(more ? { next: { href: `${asked.path}?p=${page + 1}` } } : {}) },
            count: items.length,
          },
        };
      },
      answer(operation, payload): Said {
        if (operation.startsWith("group.rule"))
          for (const one of [payload].flat() as Raw[])
            groupOfRule.set(text(one?.["id"]), text(one?.["security_group_id"]));
        const record = recordShown(shown, operation, payload);
        if (record !== undefined) return { body: record };
        return { body: { data: payload } };
      },
      refuse: (_, status, message) => ({
        status,
        body: { title: status === 404 ? "Not Found" : "Refused", status, detail: message, type: "about:blank" },
      }),
    },
    before: "",
    afterTrial: `
states: { vm: { failed: Crashed } }
`,
  };
}

const groupOfRule = new Map<string, string>();

export const others: readonly Other[] = [kebab(), hal()];

export type { Asked };
