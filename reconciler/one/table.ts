/** The one table of resource kinds. Schemas, adapters and tests are made from it. */
import { definitionOf, kinds } from "../core/model/kinds";
import { isOneOf, keysOf } from "../core/text/objects";
import { groupHandler } from "../kinds/group/one";
import { ruleHandler } from "../kinds/group/one-rule";
import { vmHandler } from "../kinds/vm/one";
import { volumeHandler } from "../kinds/volume/one";
import { attachmentHandler } from "../kinds/volume/one-attachment";
import type { Handler } from "./handler";
import { tellingAfterRead } from "./refreshed";
import { usualHandler } from "./usual";

const own = {
  Vm: vmHandler,
  Volume: volumeHandler,
  VolumeAttachment: attachmentHandler,
  SecurityGroup: groupHandler,
  SecurityGroupRule: ruleHandler,
} as const satisfies Readonly<Record<string, Handler>>;

const others = kinds.flatMap((kind) => {
  const { one } = definitionOf(kind);
  return one === undefined ? [] : [[one.type, usualHandler(kind)] as const];
});

/** Those of kinds that are rows alone beside those that have code of their own. */
export const handlers: typeof own = { ...own, ...Object.fromEntries(others) };

export type HandlerType = keyof typeof own;

/** By a name that comes from elsewhere, such as a state of Pulumi. */
export const findHandler = (type: string): Handler | undefined =>
  isOneOf(type, keysOf(handlers)) ? handlers[type] : undefined;

const forEngine = new Map(
  Object.entries(handlers).map(([type, handler]) => [type, tellingAfterRead(handler)] as const),
);

/** As an engine of programs asks, whose refresh is a read and then a difference. */
export const findForEngine = (type: string): Handler | undefined => forEngine.get(type);
