/**
 * A refresh asks for the difference between what it has just read and what the program last said, and only tells it:
 * what would refuse an update is a warning there, and an error where an update or its preview asks.
 */
import { deepEqual } from "../core/text/deep-equal";
import { type Handler, type HandlerContext, HandlerFailure } from "./handler";

const justRead = new WeakMap<object, Set<string>>();

async function readIn({ service }: HandlerContext): Promise<Set<string>> {
  const { client } = await service();
  const read = justRead.get(client) ?? new Set();
  justRead.set(client, read);
  return read;
}

export function tellingAfterRead<H extends Handler>(handler: H): H {
  const keyOf = (id: string): string => `${handler.type} ${id}`;
  return {
    ...handler,
    async read(context, id, before) {
      const found = await handler.read(context, id, before);
      if (found !== undefined && before !== undefined) (await readIn(context)).add(keyOf(found.id));
      return found;
    },
    async diff(context, id, before, inputs) {
      const isRefresh = (await readIn(context)).delete(keyOf(id));
      try {
        return await handler.diff(context, id, before, inputs);
      } catch (error) {
        if (!isRefresh || !(error instanceof HandlerFailure)) throw error;
        const differing = Object.keys(handler.inputs).filter((name) => !deepEqual(before[name], inputs[name]));
        return {
          changes: differing.map((property) => ({ property, replaces: false })),
          replaces: [],
          deleteBeforeReplace: false,
          warnings: [`the next update will be refused as it stands: ${error.message}`],
        };
      }
    },
  };
}
