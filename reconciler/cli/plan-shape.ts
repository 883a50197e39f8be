/**
 * Whether a saved plan has the shape its readers rely on. Its id proves that it was not changed by accident; a plan
 * somebody made by hand, or another version wrote, is refused here and not by whatever stumbles over it.
 */
import { parseAddress } from "../core/model/address";

type Check = (value: unknown) => boolean;

const text: Check = (value) => typeof value === "string";
const number: Check = (value) => typeof value === "number" && Number.isFinite(value);
const flag: Check = (value) => typeof value === "boolean";
const anything: Check = () => true;
const address: Check = (value) => typeof value === "string" && parseAddress(value) !== undefined;
const oneOf =
  (...values: readonly string[]): Check =>
  (value) =>
    values.includes(value as string);
const optional =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value);
const list =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check);
const shape =
  (fields: Readonly<Record<string, Check>>): Check =>
  (value) =>
    typeof value === "object" &&
    value !== null &&
    !Array.isArray(value) &&
    Object.entries(fields).every(([field, check]) =>
      check(Object.hasOwn(value, field) ? (value as Record<string, unknown>)[field] : undefined),
    );

const listsByName: Check = (value) =>
  typeof value === "object" && value !== null && !Array.isArray(value) && Object.values(value).every(list(text));

const source = optional(shape({ file: text, line: number, column: optional(number) }));
const reference: Check = (value) => shape({ address })(value) || shape({ id: text })(value);
const argv: Check = (value) => list(text)(value) && (value as unknown[]).length > 0;
const check: Check = (value) =>
  shape({ kind: oneOf("tcp"), port: number })(value) ||
  shape({ kind: oneOf("http"), url: text })(value) ||
  shape({ kind: oneOf("command"), argv })(value);
const flush: Check = (value) =>
  shape({ via: oneOf("ask", "stop") })(value) || shape({ via: oneOf("command"), argv })(value);
const remote: Check = (value) =>
  shape({ kind: oneOf("any") })(value) ||
  shape({ kind: oneOf("cidr"), cidr: text })(value) ||
  shape({ kind: oneOf("group"), group: reference })(value);
const rule = shape({
  direction: oneOf("ingress", "egress"),
  ethertype: oneOf("IPv4", "IPv6"),
  protocol: text,
  ports: optional(shape({ min: number, max: number })),
  remote,
  description: optional(text),
});

const vm = shape({
  kind: oneOf("vm"),
  address,
  name: text,
  flavor: text,
  image: text,
  owner: text,
  userId: text,
  project: text,
  region: text,
  rootSizeGb: number,
  sizeGb: number,
  skipFloatingIp: flag,
  power: optional(oneOf("running", "stopped")),
  lifecycle: shape({
    preventDestroy: flag,
    ignoreChanges: list(text),
    onImageChange: oneOf("rebuild", "replace", "ignore"),
    snapshotBefore: list(oneOf("rebuild", "resize", "delete")),
    deleteFloatingIp: optional(flag),
    preservedVolumes: oneOf("retain", "delete"),
    verifyResize: shape({
      confirm: oneOf("auto", "manual"),
      check: optional(check),
      timeoutMs: number,
      onFailure: oneOf("revert", "leave"),
    }),
  }),
  source,
});
const volume = shape({
  kind: oneOf("volume"),
  address,
  name: text,
  sizeGb: number,
  attachTo: optional(reference),
  flush,
  lifecycle: shape({ preventDestroy: flag, ignoreChanges: list(text) }),
  source,
});
const group = shape({
  kind: oneOf("group"),
  address,
  name: text,
  description: optional(text),
  rulesMode: oneOf("authoritative", "additive"),
  rules: list(rule),
  lifecycle: shape({ preventDestroy: flag, ignoreChanges: list(text), onRuleRemoval: oneOf("replace", "keep") }),
  source,
});
const kindFits: Check = (value) =>
  (value as { address: string }).address.startsWith(`${(value as { kind: string }).kind}.`);
const resource: Check = (value) => (vm(value) || volume(value) || group(value)) && kindFits(value);

const desired = shape({
  project: optional(text),
  region: optional(text),
  service: shape({
    baseUrl: optional(text),
    dialect: optional((value) => shape({ path: text, source })(value) || shape({ inline: anything, source })(value)),
    timing: shape({
      pollIntervalMs: optional(number),
      vmCreateTimeoutMs: optional(number),
      requestTimeoutMs: optional(number),
      discoveryWindowMs: optional(number),
    }),
  }),
  resources: list(resource),
  imports: list(shape({ to: address, id: optional(text), name: optional(text), source })),
  moved: list(shape({ from: address, to: address, source })),
  removed: list(shape({ from: address, destroy: flag, source })),
  files: list(text),
});

const parts: Readonly<Record<string, Check>> = {
  lineage: text,
  serial: number,
  folder: text,
  options: shape({
    destroy: optional(flag),
    targets: optional(list(text)),
    replace: optional(list(text)),
    adopt: optional(flag),
    acceptService: optional(flag),
  }),
  desired,
  changes: list(shape({ address, action: text })),
  steps: list(shape({ id: text, address: text })),
  attached: optional(listsByName),
  consents: list(shape({ kind: text, loss: optional(shape({ disk: text })) })),
};

/** The part that cannot be read; `undefined` when all can. */
export function unreadablePart(plan: object): string | undefined {
  for (const [name, readable] of Object.entries(parts))
    if (!readable((plan as Record<string, unknown>)[name])) return name;
  return undefined;
}
