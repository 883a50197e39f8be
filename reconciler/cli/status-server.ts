/** `/healthz` and `/metrics` of a watcher. They hold no secret. */
import { systemClock } from "../outside/clock";
import { healthOf, type WatchStatus, watchMetricsText } from "../report/watch-status";
import { type Listening, listenAt } from "./listen";

export const startStatusServer = (listen: string, status: () => WatchStatus): Promise<Listening> =>
  listenAt(listen, "--listen 127.0.0.1:9464, or --listen none", (request, response) => {
    const answer = (code: number, type: string, text: string): void => {
      response.writeHead(code, { "content-type": type, "cache-control": "no-store" }).end(text);
    };
    switch (request.url?.split("?")[0]) {
      case "/metrics":
        return answer(200, "text/plain; version=0.0.4; charset=utf-8", watchMetricsText(status()));
      case "/healthz": {
        const { healthy, body } = healthOf(status(), systemClock.now());
        return answer(healthy ? 200 : 503, "application/json", `${JSON.stringify(body)}\n`);
      }
      default:
        return answer(404, "text/plain", "/healthz or /metrics\n");
    }
  });
