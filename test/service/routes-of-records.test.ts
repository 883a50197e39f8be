/** Requests that take values from the record that they are about, and routes for rules of one direction. */
import { expect, test } from "vitest";
import type { Outcome } from "../../reconciler/core/model/outcome";
import { readDialectText } from "../../reconciler/dialect/read-dialect";
import { start } from "./make-client";
import { fault, json, type Script } from "./scripted-server";

const rules = [
  { id: "r-1", direction: "ingress", protocol: "tcp", port_range_min: 22, port_range_max: 22, ether_type: "IPv4" },
  { id: "r-3", direction: "ingress", protocol: "tcp", port_range_min: 80, port_range_max: 80, remote_ip_prefix: null },
  { id: "r-2", direction: "egress", protocol: "udp", port_range_min: 53, port_range_max: 53, ether_type: "IPv4" },
];

async function asked(
  dialectText: string,
  act: (client: Awaited<ReturnType<typeof start>>["client"]) => Promise<Outcome<unknown>>,
) {
  const { dialect, diagnostics } = readDialectText(dialectText, "dialect.yaml");
  expect(diagnostics).toEqual([]);
  const service: Script = (request, response, raw) => {
    if (request.url === "/api/v1/vm/list")
      return json(200, [{ id: "v", name: "web", zone: "b/1", lease: null, up: "..", empty: "" }])(
        request,
        response,
        raw,
      );
    if (request.url === "/api/v1/security-group/g/rule") return json(200, { data: rules })(request, response, raw);
    return (request.method === "GET" ? fault(404, "no") : json(200, { data: "done" }))(request, response, raw);
  };
  const { client, server } = await start([service], { dialect });
  const outcome = await act(client);
  const sent = server.received.filter(({ method }) => method !== "GET");
  return { outcome, sent: sent.map(({ method, url, body }) => `${method} ${url} ${body}`.trim()) };
}

test("a path takes the zone of the VM from its record", async () => {
  const text = `operations: { vm.resize.confirm: { method: POST, path: "/zones/{field:/zone}/vms/{id}/confirm" } }`;
  const { sent } = await asked(text, (client) => client.confirmResize("v"));
  expect(sent).toEqual(["POST /zones/b%2F1/vms/v/confirm"]);
});

test("a record that does not show the value, or that is not there, sends nothing", async () => {
  const text = `operations: { vm.resize.confirm: { method: POST, path: "/zones/{field:/area}/vms/{id}/confirm" } }`;
  const missing = await asked(text, (client) => client.confirmResize("v"));
  expect([missing.sent, missing.outcome]).toEqual([
    [],
    expect.objectContaining({ status: "rejected", message: expect.stringContaining("nothing at /area") }),
  ]);
  const gone = await asked(text, (client) => client.confirmResize("w"));
  expect([gone.sent, gone.outcome]).toEqual([[], expect.objectContaining({ condition: "not_found" })]);
});

test("a query takes a value from the record as a path does", async () => {
  const text = `operations: { vm.resize.confirm: { method: POST, path: "/vms/{id}", query: { zone: "{field:/zone}" } } }`;
  expect((await asked(text, (client) => client.confirmResize("v"))).sent).toEqual(["POST /vms/v?zone=b%2F1"]);
});

test.each(["up", "empty"])(
  "a value that would be another path sends nothing (%s), and stands in a body",
  async (key) => {
    const inPath = `operations: { vm.resize.confirm: { method: DELETE, path: "/vms/{id}/{field:/${key}}" } }`;
    const { sent, outcome } = await asked(inPath, (client) => client.confirmResize("v"));
    expect([sent, outcome]).toEqual([
      [],
      expect.objectContaining({
        status: "rejected",
        message: expect.stringContaining(`nothing at /${key} that can stand there`),
      }),
    ]);
    const inBody = `operations: { vm.resize.confirm: { method: POST, path: "/vms/{id}", body: { of: "{field:/${key}}" } } }`;
    expect((await asked(inBody, (client) => client.confirmResize("v"))).sent).toHaveLength(1);
  },
);

test("a rule is deleted by what it says, and by another route in the other direction", async () => {
  const text = `operations:
  group.rule.delete:
    - { method: POST, path: "/revoke-egress/{rule_id}", when: { direction: egress } }
    - { method: POST, path: "/groups/{id}/revoke", body: { port: "{field:/port_range_min}", what: "{field:/protocol}" } }
`;
  const one = await asked(text, (client) => client.deleteRule("g", "r-1"));
  expect(one.sent).toEqual(['POST /groups/g/revoke {"port":"22","what":"tcp"}']);
  const other = await asked(text, (client) => client.deleteRule("g", "r-2"));
  expect(other.sent).toEqual(["POST /revoke-egress/r-2"]);
});

test("a rule that says that there is no address is deleted so, and a VM whose record says nothing sends nothing", async () => {
  const text = `operations:
  group.rule.delete: { method: POST, path: "/groups/{id}/revoke", body: { port: "{field:/port_range_min:number}", cidr: "{field:/remote_ip_prefix}" } }
  vm.resize.confirm: { method: POST, path: "/vms/{id}/confirm", body: { lease: "{field:/lease}" } }
`;
  const rule = await asked(text, (client) => client.deleteRule("g", "r-3"));
  expect(rule.sent).toEqual(['POST /groups/g/revoke {"port":80,"cidr":null}']);
  const vm = await asked(text, (client) => client.confirmResize("v"));
  expect([vm.sent, vm.outcome.status]).toEqual([[], "rejected"]);
});

test.each([
  ["is shown on a page of which the list does not speak", "far", "far"],
  ["is shown in other letters", "FAR", "far"],
])("a VM that %s is deleted with its version, and does not count as missing", async (_, id, shown) => {
  const page = (one: string) => json(200, [{ id: one, name: one, status: "ACTIVE", etag: "7" }]);
  const near = shown === id ? page("near") : page(shown);
  const service: Script = (request, response, raw) => {
    const answer = request.method === "DELETE" ? json(200, {}) : request.url?.includes("page=2") ? page(shown) : near;
    return answer(request, response, raw);
  };
  const { dialect } = readDialectText(
    "operations: { vm.get: null }\nfingerprint: { from: /etag, send: If-Match }",
    "d",
  );
  const { client } = await start([service], { dialect });
  expect(await client.deleteVm(id, undefined)).not.toMatchObject({ condition: "not_found" });
});
