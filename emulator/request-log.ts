/** Which requests arrived, for tests and reports: counts without bound, the requests themselves the latest ones only. */
export interface LoggedRequest {
  readonly operation: string;
  readonly method: string;
  readonly path: string;
  /** 0: the connection was dropped without an answer. */
  status: number;
  readonly at: string;
  /** The body as sent, for writes, unless it is large. Headers are never kept: one of them holds the credential. */
  body?: unknown;
}

export interface RequestLog {
  readonly counts: Map<string, number>;
  entries: LoggedRequest[];
}

const mostRequests = 5_000;

export const createRequestLog = (): RequestLog => ({ counts: new Map(), entries: [] });

export function logRequest(log: RequestLog, entry: LoggedRequest): LoggedRequest {
  log.counts.set(entry.operation, (log.counts.get(entry.operation) ?? 0) + 1);
  log.entries.push(entry);
  // The log is cut to half when it is full, so that a request costs next to nothing.
  if (log.entries.length >= 2 * mostRequests) log.entries = log.entries.slice(-mostRequests);
  return entry;
}

export const showLog = (log: RequestLog) => ({
  counts: Object.fromEntries(log.counts),
  log: log.entries.slice(-mostRequests),
});
