/** The header and variable `traceparent` of the W3C's Trace Context. */

export interface SpanContext {
  /** 32 hexadecimal digits. */
  readonly traceId: string;
  /** 16 hexadecimal digits. */
  readonly spanId: string;
  /** Its lowest bit says that somebody records this trace. */
  readonly flags: number;
}

export function parseTraceparent(text: string | undefined): SpanContext | undefined {
  const [, version, traceId = "", spanId = "", flags = ""] =
    /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/.exec(text?.trim() ?? "") ?? [];
  if (version === undefined || version === "ff" || /^0+$/.test(traceId) || /^0+$/.test(spanId)) return undefined;
  return { traceId, spanId, flags: Number.parseInt(flags, 16) };
}

export const formatTraceparent = ({ traceId, spanId, flags }: SpanContext): string =>
  `00-${traceId}-${spanId}-${(flags & 0xff).toString(16).padStart(2, "0")}`;
