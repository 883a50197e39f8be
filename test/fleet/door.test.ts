/** Who is let in by `fleet serve`, over HTTP: this machine's person until people sign in, and from then on who signs in. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { servePages } from "../../reconciler/cli/fleet/serve";
import { closeFleet, type FleetSession, openFleet } from "../../reconciler/cli/fleet/session";
import { hashOf } from "../../reconciler/fleet/access";
import { noSettings } from "../../reconciler/fleet/model";
import { eventually } from "../support/eventually";
import { makeFolder } from "../support/folder";
import { type PostgresServer, postgresMissing, startPostgres } from "../support/postgres-server";

let server: PostgresServer | undefined;
let session: FleetSession;
const before = process.cwd();
const said: string[] = [];
const listen = (address: string) =>
  servePages(session, { listen: address, cache: makeFolder(), say: (text) => said.push(text) });

beforeAll(async () => {
  process.chdir(makeFolder());
  if (postgresMissing === undefined) server = await startPostgres();
  session = await openFleet(server?.url ?? "embedded", { sendsOnly: true });
});
afterAll(async () => {
  await closeFleet(session);
  await server?.stop();
  process.chdir(before);
});

test("without sign-ins it serves its own machine, says so, and listens nowhere else", async () => {
  await expect(listen("0.0.0.0:0")).rejects.toMatchObject({
    diagnostics: [{ summary: expect.stringContaining("would show the fleet to everybody") }],
  });
  const server = await listen("127.0.0.1:0");
  expect(said).toEqual([expect.stringContaining("this machine alone")]);
  expect((await fetch(server.url)).status).toBe(200);
  // Somebody gets a token while it serves.
  await session.records.addToken({ hash: hashOf("token-of-ann"), name: "ann", role: "operator", stacks: [] });
  await eventually("the door closes", async () => {
    const answer = await fetch(server.url, { redirect: "manual" });
    return answer.status === 302 && answer.headers.get("location") === "/sign-in" ? true : undefined;
  });
  await server.close();
});

test("listening to others, nobody is this machine's person, whatever becomes of the tokens", async () => {
  const server = await listen("0.0.0.0:0");
  const here = server.url.replace("0.0.0.0", "127.0.0.1");
  await session.records.dropTokens("ann");
  await new Promise((resolve) => setTimeout(resolve, 1200));
  expect((await fetch(here, { redirect: "manual" })).headers.get("location")).toBe("/sign-in");
  await server.close();
  // A provider in the fleet's file is a door as well.
  const roles = [{ role: "viewer", stacks: [] }] as const;
  await session.records.saveSettings({
    ...noSettings,
    signIn: {
      issuer: "https://login.example",
      clientId: "x",
      url: "https://fleet.example",
      scopes: [],
      nameClaim: "email",
      roles,
    },
  });
  const again = await listen("0.0.0.0:0");
  const page = await fetch(`${again.url.replace("0.0.0.0", "127.0.0.1")}/sign-in`);
  expect(await page.text()).toContain("Sign in with login.example");
  await again.close();
});
