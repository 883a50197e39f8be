/** The engine that started this process, as far as its address shows. */
import { connect } from "node:net";

/** The engine's address: an argument of every provider's process. */
export const engineAddress = (): string | undefined => process.argv.slice(2).find((arg) => /^[\w.-]+:\d+$/.test(arg));

/** Whether the engine still listens. The parent of this process proves nothing, because it may be a shell. */
export function isEngineThere(): Promise<boolean> {
  const [host, port] = engineAddress()?.split(":") ?? [];
  if (host === undefined || port === undefined) return Promise.resolve(true);
  return new Promise((resolve) => {
    const socket = connect({ host, port: Number(port), timeout: 2000 });
    const end = (isThere: boolean) => (): void => {
      socket.destroy();
      resolve(isThere);
    };
    socket.once("connect", end(true)).once("error", end(false)).once("timeout", end(false));
  });
}
