/** Which requests a service refused, but for the look that has to follow a delete, and finds nothing. */
interface Answered {
  readonly operation: string;
  readonly status: number;
}

/** `idOf`: what a request is about, spelled alike for a delete and for a look. */
export function refusedOf<T extends Answered>(sent: readonly T[], idOf: (one: T) => string | undefined): T[] {
  const deleted = new Set<string | undefined>();
  return sent.filter((one) => {
    if (/^(volume|group)\.delete$/.test(one.operation) && one.status < 300) deleted.add(idOf(one));
    if (/^(volume\.get|group\.get|group\.rule\.list)$/.test(one.operation) && one.status === 404)
      return !deleted.has(idOf(one));
    return one.status >= 400;
  });
}
