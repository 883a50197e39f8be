/**
 * Request bodies in the service's own spelling: sizes and ports as text, ethertype in one word, the caller's user id
 * as `id`. What is left out stays out, since an empty value is a value to the service.
 */
import type { NewVm } from "../core/model/desired";
import { vmFields } from "../core/model/fields";
import { type Rejection, rejected } from "../core/model/outcome";
import type { Dialect } from "../dialect/dialect";
import type { RuleInput } from "./client";

/** The fields of the create, by their names in its body. */
const sentAs = Object.entries(vmFields).flatMap(([key, row]) =>
  "sentAs" in row ? [[row.sentAs, key as keyof NewVm, row.type === "size"] as const] : [],
);

export const createVmBody = (vm: NewVm): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    sentAs.flatMap(([name, key, asText]) =>
      vm[key] === undefined ? [] : [[name, asText ? String(vm[key]) : vm[key]] as const],
    ),
  );

export interface RuleBody {
  readonly description?: string;
  readonly direction: string;
  readonly dst_port?: string;
  readonly ethertype: string;
  readonly protocol?: string;
  readonly remote_ip?: string;
  readonly remote_group?: string;
}

/** The rule in the service's form, or why it cannot be expressed for this service. */
export function ruleBody(rule: RuleInput, rules: Dialect["rules"]): RuleBody | Rejection {
  const min = rule.portMin ?? rule.portMax;
  const max = rule.portMax ?? rule.portMin;
  let port: string | undefined;
  if (min !== undefined && max !== undefined) {
    if (min === max) port = String(min);
    else if (rules.port_range === null) return rangeRefused(min, max);
    else port = rules.port_range.replace("{min}", String(min)).replace("{max}", String(max));
  }
  return {
    direction: rule.direction,
    ethertype: rule.ethertype,
    description: rule.description,
    dst_port: port,
    protocol: rule.protocol,
    remote_ip: rule.remoteIp,
    remote_group: rule.remoteGroupId,
  };
}

const rangeRefused = (min: number, max: number): Rejection =>
  rejected(
    "unsupported",
    `the ports ${min} to ${max} are a range, and the dialect does not say how this service takes ranges`,
    'write rules: { port_range: "{min}-{max}" } in the dialect, or one rule for each port',
  );

export const isRejection = (value: object): value is Rejection => "status" in value && value.status === "rejected";
