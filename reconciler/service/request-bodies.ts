/**
 * Request bodies in the service's own spelling: sizes and ports as text, ethertype in one word, the caller's user id
 * as `id`. What is left out stays out, since an empty value is a value to the service.
 */
import type { Rejection } from "../core/model/outcome";
import type { Dialect } from "../dialect/dialect";
import type { CreateVmInput, RuleInput } from "./client";

export const createVmBody = (input: CreateVmInput) => ({
  flavor_id: input.flavor,
  id: input.userId,
  image_id: input.image,
  name: input.name,
  owner: input.owner,
  project: input.project,
  region: input.region,
  root_size: input.rootSizeGb === undefined ? undefined : String(input.rootSizeGb),
  size: String(input.sizeGb),
  skip_floating_ip: input.skipFloatingIp,
});

export interface RuleBody {
  readonly description?: string;
  readonly direction: string;
  readonly dst_port?: string;
  readonly ethertype: string;
  readonly protocol?: string;
  readonly remote_ip?: string;
  readonly remote_group?: string;
}

/** The rule as the service takes it, or why this service cannot be told. */
export function ruleBody(rule: RuleInput, rules: Dialect["rules"]): RuleBody | Rejection {
  const { portMin, portMax } = rule;
  let port: string | undefined;
  if (portMin !== undefined || portMax !== undefined) {
    const min = portMin ?? portMax!;
    const max = portMax ?? portMin!;
    if (min === max) port = String(min);
    else if (rules.port_range === null) return rangeRefused(min, max);
    else port = rules.port_range.replace("{min}", String(min)).replace("{max}", String(max));
  }
  return {
    direction: rule.direction,
    ethertype: rule.ethertype,
    ...(rule.description !== undefined && { description: rule.description }),
    ...(port !== undefined && { dst_port: port }),
    ...(rule.protocol !== undefined && { protocol: rule.protocol }),
    ...(rule.remoteIp !== undefined && { remote_ip: rule.remoteIp }),
    ...(rule.remoteGroupId !== undefined && { remote_group: rule.remoteGroupId }),
  };
}

const rangeRefused = (min: number, max: number): Rejection => ({
  status: "rejected",
  condition: "unsupported",
  message: `the ports ${min} to ${max} are a range, and the dialect does not say how this service takes ranges`,
  hint: 'in the dialect: rules.port_range: "{min}-{max}", or one rule for each port',
});

export const isRejection = (value: object): value is Rejection => "status" in value && value.status === "rejected";
