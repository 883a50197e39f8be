/** Whether a piece of state has the shape its readers rely on; says what is wrong in words, for the quarantine. */
import { type Kind, parseAddress } from "../model/address";
import type { Intent, Scope } from "../model/recorded";

type Check = (value: unknown) => boolean;

const text: Check = (value) => typeof value === "string";
const number: Check = (value) => typeof value === "number" && Number.isFinite(value);
const flag: Check = (value) => typeof value === "boolean";
const object: Check = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const optional =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value);

/** A remote of a kind has what that kind is compared by. */
const isRemote = ({ kind, cidr, group }: Record<string, unknown>): boolean => {
  if (kind === "any") return true;
  if (kind === "cidr") return text(cidr);
  if (kind !== "group" || !object(group)) return false;
  const { id, address } = group as Record<string, unknown>;
  return text(id) || text(address);
};

const port: Check = (value) => Number.isInteger(value) && (value as number) >= 0 && (value as number) <= 65_535;
const isPortRange: Check = (value) => {
  if (!object(value)) return false;
  const { min, max } = value as Record<string, unknown>;
  return port(min) && port(max);
};

const rule: Check = (value) => {
  if (!object(value)) return false;
  const { direction, ethertype, protocol, ports, remote } = value as Record<string, unknown>;
  return (
    (direction === "ingress" || direction === "egress") &&
    (ethertype === "IPv4" || ethertype === "IPv6") &&
    text(protocol) &&
    (ports === undefined || isPortRange(ports)) &&
    object(remote) &&
    isRemote(remote as Record<string, unknown>)
  );
};

const shapes: Record<Kind, Record<string, Check>> = {
  vm: {
    id: optional(text),
    name: text,
    flavor: optional(text),
    image: optional(text),
    imageId: optional(text),
    owner: optional(text),
    userId: optional(text),
    project: optional(text),
    region: optional(text),
    rootSizeGb: optional(number),
    sizeGb: optional(number),
    skipFloatingIp: optional(flag),
    power: optional((value) => value === "running" || value === "stopped"),
    preventDestroy: flag,
    onDelete: object,
    dataVolumeId: optional(text),
    createdAt: optional(text),
    building: optional(flag),
    resizing: optional((value) => object(value) && text((value as Record<string, unknown>).to)),
    dataVolumeDetached: optional(flag),
    deleting: optional(flag),
    stoppedForFlush: optional(flag),
  },
  volume: {
    id: text,
    name: optional(text),
    sizeGb: optional(number),
    attachedTo: optional(text),
    deleting: optional(flag),
    attaching: optional(text),
    flush: (value) =>
      object(value) && ["ask", "command", "stop"].includes((value as Record<string, unknown>).via as string),
    preventDestroy: flag,
  },
  group: {
    id: text,
    name: optional(text),
    description: optional(text),
    rules: (value) => Array.isArray(value) && value.every(rule),
    platformRules: (value) => Array.isArray(value) && value.every(text),
    preventDestroy: flag,
    deleting: optional(flag),
    updating: optional((value) => object(value) && Object.values(value as object).every(text)),
    retired: optional(
      (value) =>
        Array.isArray(value) && value.every((group) => object(group) && text((group as Record<string, unknown>).id)),
    ),
  },
};

const checks: Record<Kind, readonly (readonly [string, Check])[]> = {
  vm: Object.entries(shapes.vm),
  volume: Object.entries(shapes.volume),
  group: Object.entries(shapes.group),
};

export function recordProblem(address: string, record: unknown): string | undefined {
  const kind = parseAddress(address)?.kind;
  if (kind === undefined) return `${JSON.stringify(address)} is no address`;
  if (!object(record)) return "it is not a record";
  const fields = record as Record<string, unknown>;
  if (fields.kind !== kind) return `its kind is ${JSON.stringify(fields.kind ?? null)}, not ${kind}`;
  if (fields.address !== address) return `it says it is ${JSON.stringify(fields.address ?? null)}`;
  for (const [field, check] of checks[kind]) if (!check(fields[field])) return `its ${field} is not readable`;
  return undefined;
}

const operations: Record<Intent["operation"], Kind> = {
  "vm.create": "vm",
  "volume.create": "volume",
  "group.create": "group",
  "vm.snapshot": "vm",
};

const texts: Check = (value) => Array.isArray(value) && value.every(text);
const time: Check = (value) => typeof value === "string" && !Number.isNaN(Date.parse(value));

const intentShape: readonly (readonly [string, Check])[] = [
  ["step", optional(text)],
  ["name", text],
  ["sentAt", time],
  ["idsBefore", texts],
  ["unknown", optional(flag)],
  ["accepted", optional(flag)],
  ["image", optional(text)],
];

/** An intent that cannot be read may be a create under way, so its address is left alone like a damaged record's. */
export function intentProblem(address: string, intent: unknown): string | undefined {
  const kind = parseAddress(address)?.kind;
  if (kind === undefined) return `${JSON.stringify(address)} is no address`;
  if (!object(intent)) return "it is not an intent";
  const fields = intent as Record<string, unknown>;
  const { operation, record } = fields;
  if (fields.address !== address) return `its intent says it is for ${JSON.stringify(fields.address ?? null)}`;
  if (typeof operation !== "string" || !Object.hasOwn(operations, operation))
    return `its intent is to ${JSON.stringify(operation ?? null)}, which this version does not know`;
  if (operations[operation as Intent["operation"]] !== kind)
    return `its intent is to ${operation}, which is no ${kind}'s`;
  for (const [field, check] of intentShape)
    if (!check(fields[field])) return `the ${field} of its intent is not readable`;
  if (record === undefined) return undefined;
  if (!object(record)) return "the record of its intent is not readable";
  // The id is what the create was to give it.
  const problem = recordProblem(address, { ...(record as object), id: "" });
  return problem === undefined ? undefined : `the record of its intent is not readable: ${problem}`;
}

const orphanShape: readonly (readonly [string, Check])[] = [
  ["kind", (value) => value === "vm" || value === "volume" || value === "group" || value === "image"],
  ["id", (value) => typeof value === "string" && value !== ""],
  ["name", text],
  ["reason", text],
  ["sizeGb", optional(number)],
  ["missingSince", optional(time)],
];

export function orphanProblem(orphan: unknown): string | undefined {
  if (!object(orphan)) return "it is not an orphan";
  const fields = orphan as Record<string, unknown>;
  for (const [field, check] of orphanShape)
    if (!check(fields[field])) return `its ${field} as an orphan is not readable`;
  const { record } = fields;
  if (record === undefined) return undefined;
  const { address } = object(record) ? (record as Record<string, unknown>) : {};
  return recordProblem(typeof address === "string" ? address : "", record);
}

export const isScope = (scope: unknown): scope is Scope => {
  if (!object(scope)) return false;
  const { origin, project, sees } = scope as Record<string, unknown>;
  return (
    text(origin) &&
    optional(text)(project) &&
    optional((value) => Array.isArray(value) && value.every((one) => text(one)))(sees)
  );
};
