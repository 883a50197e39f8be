/**
 * A refresh asks for the difference between what it has just read and what the program last said, and only tells it:
 * what would refuse an update is a warning there, and an error where an update or its preview asks.
 */
import { deepEqual } from "../core/text/deep-equal";
import { type Handler, HandlerFailure } from "./handler";
import { perClient } from "./per-client";

const justRead = perClient(() => new Set<string>());

export function tellingAfterRead<H extends Handler>(handler: H): H {
  const keyOf = (id: string): string => `${handler.type} ${id}`;
  return {
    ...handler,
    async read(context, id, before) {
      const found = await handler.read(context, id, before);
      if (found !== undefined && before !== undefined) justRead(await context.service()).add(keyOf(found.id));
      return found;
    },
    async diff(context, id, before, inputs) {
      const isRefresh = justRead(await context.service()).delete(keyOf(id));
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
