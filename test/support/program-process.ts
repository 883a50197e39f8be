/** One process that serves a program: what Pulumi's engine asks of it, for resources as the program's state keeps them. */
import type { Difference, Former, Found, HandlerContext, Props } from "../../reconciler/one/handler";
import { findForEngine, type HandlerType, handlers } from "../../reconciler/one/table";

export interface KeptOne {
  readonly type: HandlerType;
  readonly name: string;
  readonly id: string;
  readonly outputs: Props;
}

export interface ProgramProcess {
  preview(type: HandlerType, name: string, inputs: Props, former?: Former): Promise<readonly string[]>;
  create(type: HandlerType, name: string, inputs: Props): Promise<KeptOne>;
  diff(kept: KeptOne, inputs: Props): Promise<Difference>;
  update(kept: KeptOne, inputs: Props): Promise<KeptOne>;
  read(kept: KeptOne): Promise<Found | undefined>;
  remove(kept: KeptOne): Promise<void>;
}

export const programProcess = (contextOf: (type: HandlerType, name: string) => HandlerContext): ProgramProcess => ({
  preview: (type, name, inputs, former) => handlers[type].preview(contextOf(type, name), inputs, former),
  create: async (type, name, inputs) => ({
    type,
    name,
    ...(await handlers[type].create(contextOf(type, name), inputs)),
  }),
  diff: ({ type, name, id, outputs }, inputs) => findForEngine(type)!.diff(contextOf(type, name), id, outputs, inputs),
  update: async ({ type, name, id, outputs }, inputs) => ({
    type,
    name,
    ...(await handlers[type].update(contextOf(type, name), id, outputs, inputs)),
  }),
  read: ({ type, name, id, outputs }) => findForEngine(type)!.read(contextOf(type, name), id, outputs),
  remove: ({ type, name, id, outputs }) => handlers[type].delete(contextOf(type, name), id, outputs),
});
