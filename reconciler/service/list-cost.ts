/**
 * What a list costs beside reads of one thing at a time, as this client has measured it: how many a page shows, and how
 * many times as long as a read a page takes. Before anything is measured a page shows a hundred and costs one read.
 */
import type { Kind } from "../core/model/address";
import { kinds } from "../core/model/kinds";
import { type ListCost, usualListCost } from "../core/model/list-cost";
import type { Operation } from "../core/model/operation";
import { mustGet } from "../core/text/invariant";
import { onlyDefined } from "../core/text/objects";
import type { PagedOperation } from "../dialect/answers";

/** The cost of a page is bounded, because a page is only one request where requests are counted. */
const mostSingleReads = 5;

type OneRead = `${Kind}.get`;

const oneReads = new Map<Operation, Kind>(kinds.map((kind) => [`${kind}.get`, kind]));

export const isOneRead = (operation: Operation): operation is OneRead => oneReads.has(operation);

export function measureLists(sizeAsked: (operation: PagedOperation) => number | undefined) {
  const pageMs = new Map<PagedOperation, number>();
  const oneMs = new Map<Kind, number>();
  const pageItems = new Map<PagedOperation, number>();
  const pageCounts = new Map<PagedOperation, number>();
  const later = (before: number | undefined, ms: number): number =>
    before === undefined ? ms : 0.8 * before + 0.2 * ms;
  return {
    one(operation: OneRead, ms: number): void {
      const kind = mustGet(oneReads, operation);
      oneMs.set(kind, later(oneMs.get(kind), ms));
    },
    page(operation: PagedOperation, ms: number): void {
      pageMs.set(operation, later(pageMs.get(operation), ms));
    },
    /** The first of several pages is full, so it shows the size of a page. */
    whole(operation: PagedOperation, pages: readonly { readonly items: number }[]): void {
      const [first] = pages;
      pageCounts.set(operation, Math.max(1, pages.length));
      if (first === undefined || first.items === 0) return;
      if (pages.length > 1) pageItems.set(operation, first.items);
      else pageItems.set(operation, Math.max(first.items, pageItems.get(operation) ?? usualListCost.pageItems));
    },
    of(kind: Kind): ListCost {
      const operation = `${kind}.list` as const;
      const page = pageMs.get(operation);
      const one = oneMs.get(kind);
      const pages = pageCounts.get(operation);
      return {
        ...onlyDefined({ pages }),
        pageItems: pageItems.get(operation) ?? sizeAsked(operation) ?? usualListCost.pageItems,
        pageReads:
          page === undefined || one === undefined ? 1 : Math.min(mostSingleReads, Math.max(1, page / Math.max(1, one))),
      };
    },
  };
}
