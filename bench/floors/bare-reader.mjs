// The floor of a refresh: one list page by page, then every volume and every group's rules, on a fixed number of
// connections, and nothing else. `node bare-reader.mjs URL CONNECTIONS STATE [FILE]`: the ids come from a state, and with
// FILE that is parsed first, as whoever compares the service with a file has to.
import { readFileSync } from "node:fs";
import { Pool } from "undici";

const [url, connections, stateFile, file] = process.argv.slice(2);
if (file !== undefined) (await import("yaml")).parse(readFileSync(file, "utf8"));
const pool = new Pool(url, { connections: Number(connections), pipelining: 1 });
const headers = { authorization: "Bearer ops-token", accept: "application/json" };

async function get(path) {
  const { statusCode, body } = await pool.request({ method: "GET", path, headers });
  const value = await body.json();
  if (statusCode !== 200) throw new Error(`${path} answered ${statusCode}`);
  return value;
}

async function list() {
  const vms = [];
  for (let page = ""; ; ) {
    /** @type {any} */
    const answer = await get(`/api/v1/vm/list${page === "" ? "" : `?page=${encodeURIComponent(page)}`}`);
    vms.push(...answer.data);
    const next = answer.page?.next;
    if (!next) return vms;
    page = next;
  }
}

const { resources } = JSON.parse(readFileSync(stateFile, "utf8"));
const reads = Object.values(resources).flatMap(({ kind, id }) =>
  kind === "volume" ? [`/api/v1/volume/${id}`] : kind === "group" ? [`/api/v1/security-group/${id}/rule`] : [],
);
await Promise.all([list(), ...reads.map(get)]);
await pool.close();
