/** The lines of a run, written in batches; nothing waits for the writing. */
import type { EngineEvent } from "../engine/events";
import type { Records } from "./database/records";

const flushMs = 300;

export function createRunLog(records: Records, run: number) {
  let lines: { readonly at: Date; readonly body: object }[] = [];
  let writing: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  const flush = (): Promise<void> => {
    clearTimeout(timer);
    timer = undefined;
    const batch = lines;
    lines = [];
    if (batch.length > 0) writing = writing.then(() => records.addLines(run, batch)).catch(() => undefined);
    return writing;
  };
  return {
    emit(event: EngineEvent): void {
      lines.push({ at: new Date(), body: { ...event } });
      timer ??= setTimeout(() => void flush(), flushMs);
    },
    flush,
  };
}
