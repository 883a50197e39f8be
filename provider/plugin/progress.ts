/**
 * The progress of one call. Each message is a call of the engine, which writes a line of it: what is over before anybody
 * could read it is not told, and of what follows each other fast only the last.
 */
export function progressOf(tell: (message: string) => void) {
  let latest = "";
  let waiting: NodeJS.Timeout | undefined;
  return {
    tell(message: string): void {
      latest = message;
      waiting ??= setTimeout(() => {
        waiting = undefined;
        tell(latest);
      }, unreadMs);
    },
    end: (): void => clearTimeout(waiting),
  };
}

export const unreadMs = 300;
