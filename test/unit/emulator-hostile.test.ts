import { once } from "node:events";
import { connect } from "node:net";
import { describe, expect, it } from "vitest";
import { operationNames, startEmulator } from "../../emulator/index";
import { builtInDialect } from "../../reconciler/dialect/built-in";
import { readDialectText } from "../../reconciler/dialect/read-dialect";
import { hostileRequest, randomFrom, sendRaw } from "../support/hostile-inputs";

// HOSTILE_REQUESTS=20000 for the whole campaign; HOSTILE_SEED to see one again.
const count = Number(process.env["HOSTILE_REQUESTS"] ?? 2_000);
const seed = Number(process.env["HOSTILE_SEED"] ?? 20_260_101);

describe("random and hostile requests", () => {
  it.each([
    ["as the contract says", { with: operationNames }],
    ["in the words of a dialect", { speaks: readDialectText("version: 1\n", "dialect.yaml").dialect }],
  ])(
    `${count} of them (seed ${seed}) each end in a success or a 4xx with the envelope, never a 500 or a crash: %s`,
    async (_, options) => {
      const internal: string[] = [];
      const emulator = await startEmulator({
        timeScale: 0,
        ...options,
        logger: (line) => line.startsWith("internal error") && internal.push(line),
      });
      const chance = randomFrom(seed);
      const wrong: string[] = [];
      const statuses: Record<number, number> = {};
      let sent = 0;
      const worker = async () => {
        while (sent < count) {
          sent += 1;
          const request = hostileRequest(chance);
          const answer = await sendRaw(emulator.port, request.bytes);
          statuses[answer.status] = (statuses[answer.status] ?? 0) + 1;
          if (!isFine(answer)) wrong.push(`${answer.status} ${answer.body.slice(0, 200)} <- ${request.told}`);
        }
      };
      await Promise.all(Array.from({ length: 8 }, worker));
      const noHost = await sendRaw(emulator.port, Buffer.from("GET //[ HTTP/1.1\r\nHost: x\r\n\r\n"));
      expect(noHost.status).toBe(404);
      const alive = await fetch(`${emulator.url}/api/v1/region/list`, { headers: { authorization: "Bearer x" } });
      expect(wrong).toEqual([]);
      expect(internal).toEqual([]);
      expect(alive.status).toBe(200);
      if (process.env["HOSTILE_REQUESTS"] !== undefined) process.stdout.write(`${JSON.stringify(statuses)}\n`);
      await emulator.close();
    },
  );
});

function isFine({ status, body }: { status: number; body: string }): boolean {
  if (status >= 200 && status < 300) return true;
  if (status < 400 || status >= 500) return false;
  try {
    const { error } = JSON.parse(body) as { error: { code: number; message: string } };
    return error.code === status && typeof error.message === "string" && error.message !== "";
  } catch {
    return false;
  }
}

it.each([
  ["its own words", {}],
  ["the words of a dialect", { speaks: builtInDialect }],
])("does nothing for a client that goes away within its body, in %s", async (_, words) => {
  const id = "11111111-1111-4111-8111-111111111111";
  const emulator = await startEmulator({ ...words, timeScale: 0, seed: { vms: [{ id, name: "web-1" }] } });
  const socket = connect(emulator.port, "127.0.0.1");
  const head = ["Host: here", "Authorization: Bearer ops-token", "Content-Type: application/json", "Content-Length: 9"];
  socket.write(`POST /api/v1/vm/stop/${id} HTTP/1.1\r\n${head.join("\r\n")}\r\nExpect: 100-continue\r\n\r\n`);
  // By then the head has been read.
  await once(socket, "data");
  socket.destroy();
  await once(socket, "close");
  // A request that follows is answered after the one before it has ended.
  await fetch(`${emulator.url}/api/v1/vm/list`, { headers: { Authorization: "Bearer ops-token" } });
  expect(emulator.dump().vms.map(({ status }) => status)).toEqual(["ACTIVE"]);
  await emulator.close();
});
