/**
 * List pages in the envelope. A cursor is the seq of the first entry of its page, so that a page neither repeats nor
 * misses what stays while entries before it come and go, and finding it costs a bisection.
 */
import { answer, type Reply, type Request, refuseWith, there } from "./decision";
import type { Entities } from "./entities";
import { firstAtOrAfter, type OrderedIds } from "./world";

const emptyOrder: OrderedIds = { seqs: [], ids: [] };

/** `show` answers undefined for an entry that this list does not show. */
export function pageOf(request: Request, list: OrderedIds | undefined, show: (id: string) => unknown): Reply {
  const { seqs, ids } = list ?? emptyOrder;
  const size = request.settings.pageSize;
  const cursor = request.query.get("page") ?? "";
  if (!/^[0-9]{0,15}$/.test(cursor)) return refuseWith(400, "page must be the next or prev of another page");
  const found = cursor === "" ? 0 : firstAtOrAfter(list ?? emptyOrder, Number(cursor)) + request.pageShift;
  const start = Math.max(0, found);
  const data: unknown[] = [];
  for (const id of ids.slice(start, start + size)) {
    const record = show(id);
    if (record !== undefined) data.push(record);
  }
  const next = seqs[start + size];
  const prev = start > 0 ? seqs[Math.max(0, start - size)] : undefined;
  return answer(200, {
    data,
    page: {
      next: next === undefined ? "" : String(next),
      prev: prev === undefined ? "" : String(prev),
      // A list that lags counts the entries that it shows: it says nothing of later ones.
      total_size: request.staleMs > 0 ? ids.filter((id) => show(id) !== undefined).length : ids.length,
    },
  });
}

/** The project's own of a kind, less what is too young for a list that lags. */
export function pageOfKind<K extends "vm" | "volume" | "group">(
  request: Request,
  kind: K,
  show: (one: Entities[K]) => unknown,
): Reply {
  const { world, caller, now, staleMs } = request;
  return pageOf(request, world.order.get(`${kind}/${caller.projectId}`), (id) => {
    const one = there(world.tables[kind].get(id), id);
    return staleMs > 0 && Date.parse(one.created_at) > now - staleMs ? undefined : show(one);
  });
}

/** A short catalogue as a list: its own positions are the cursors. */
export function pageOfCatalogue(request: Request, records: readonly unknown[]): Reply {
  const positions = records.map((_, position) => position);
  return pageOf(request, { seqs: positions, ids: positions.map(String) }, (id) => records[Number(id)]);
}
