/** The one table of resource kinds. Schemas, adapters and tests are made from it. */
import { attachmentHandler } from "./attachment";
import { groupHandler } from "./group";
import type { Handler } from "./handler";
import { ruleHandler } from "./rule";
import { vmHandler } from "./vm";
import { volumeHandler } from "./volume";

export const handlers = {
  Vm: vmHandler,
  Volume: volumeHandler,
  VolumeAttachment: attachmentHandler,
  SecurityGroup: groupHandler,
  SecurityGroupRule: ruleHandler,
} as const satisfies Readonly<Record<string, Handler>>;

export type HandlerType = keyof typeof handlers;
