/** What a trial tells from single answers: jobs, versions, what a failed job means, and where a create says its id is. */
import { expect, test } from "vitest";
import { readTold, withTold } from "../../reconciler/cli/doctor/told";
import type { Rejection } from "../../reconciler/core/model/outcome";
import { accepted } from "../../reconciler/core/model/outcome";
import { builtInDialect } from "../../reconciler/dialect/built-in";
import { type Answer, conditionOfJob } from "../../reconciler/dialect/conditions";
import type { RecordPlace } from "../../reconciler/dialect/dialect";
import { readJob } from "../../reconciler/dialect/jobs";
import { constantsIn, namesAnId, readCurl } from "../../reconciler/dialect/learn/curl";
import { readDescription } from "../../reconciler/dialect/learn/description";
import { type FoundItems, findListIn } from "../../reconciler/dialect/learn/items";
import { counting, translated, waysOn } from "../../reconciler/dialect/learn/pages";
import { learnRecord } from "../../reconciler/dialect/learn/records";
import { knownReferenceIn } from "../../reconciler/dialect/learn/values";
import { candidates, foldersOf, placesOfOne, stylesOf } from "../../reconciler/dialect/learn/where";
import { withLocation } from "../../reconciler/dialect/located";
import { compilePointers, findArray, numberInUnit } from "../../reconciler/dialect/pointers";
import { readDialectText } from "../../reconciler/dialect/read-dialect";
import { judgeFirst } from "../../reconciler/engine/doctor/enter";
import { collectionsTold } from "../../reconciler/engine/doctor/find-list";
import { askedForOne } from "../../reconciler/engine/doctor/read-whole";
import type { DoctorReport } from "../../reconciler/engine/doctor/report";
import { inMirroredWords } from "../../reconciler/engine/doctor/trial/groups";
import { jobNamed, learnJob } from "../../reconciler/engine/doctor/trial/jobs";
import { idsNamed } from "../../reconciler/engine/doctor/trial/lists";
import { leaveOutPartialLists } from "../../reconciler/engine/doctor/trial/make";
import { versioned } from "../../reconciler/engine/doctor/trial/send";
import {
  flagOfDeleted,
  placeBeside,
  placeThatChanged,
  placeThatDiffers,
} from "../../reconciler/engine/doctor/trial/states";
import { asksForVersion, versionsIn } from "../../reconciler/engine/doctor/trial/versions";
import { isOffList } from "../../reconciler/engine/doctor/trial/volumes";
import { Trial } from "../../reconciler/engine/doctor/trial/watch";
import { refusedForItself, writesFor } from "../../reconciler/engine/doctor/trial/writes";

test.each([
  ["an action beside a record", { volume: { id: 7 }, action: { id: 36, type: "create" } }, "36", "/action/id"],
  ["a task alone", { task_id: "t-1", status: "queued" }, "t-1", "/task_id"],
  ["an operation by its name", { operation: { name: "op-9", operationType: "insert" } }, "op-9", "/operation/name"],
  ["a job in a wrapper of the operation", { createresponse: { jobid: "j1" } }, "j1", { in: "/*", value: "/jobid" }],
  ["a job that is a text with a number", { job: "j1" }, "j1", "/job"],
  ["a task by its id in a list", { tasks: ["1f2e3d4c-8f6e"] }, "1f2e3d4c-8f6e", "/tasks/0"],
  ["an action in a list", { actions: [{ id: 9001, status: "running" }] }, "9001", { in: "/actions", value: "/id" }],
] as const)("%s is a job", (_, body, id, place) => {
  expect(jobNamed(body)).toMatchObject({ id, place });
});

test.each([
  ["a record", { id: "v-1", name: "data", status: "creating" }],
  ["what was done", { action: "create", status: "ok" }],
  ["the number of a request", { request_id: "r-1", data: "done" }],
  ["no body", undefined],
] as const)("%s is no job", (_, body) => {
  expect(jobNamed(body)).toBeUndefined();
});

test("a job is called as in the path at which a person asks for one", () => {
  const told = { method: "GET", path: "/api/v1/trackings/{id}" } as const;
  expect(jobNamed({ ok: true, trackingId: "j-7" }, told)).toMatchObject({ id: "j-7", place: "/trackingId" });
  expect(jobNamed({ ok: true, trackingId: "j-7" })).toBeUndefined();
});

test.each([
  [
    "volume.delete",
    `curl -X POST -d '{"variables":{"id":42}}' https://c.example/api/v1/graphql`,
    { path: "/api/v1/graphql", body: { variables: { id: "{id:number}" } } },
  ],
  [
    "volume.delete",
    `curl -X POST -d '{"query":"mutation($id: ID!) { drop(id: $id) {id} }","variables":{"id":"42"}}' https://c.example/api/v1/graphql`,
    { body: { query: "mutation($id: ID!) { drop(id: $id) { id } }", variables: { id: "{id}" } } },
  ],
  [
    "volume.delete",
    `curl -X POST -d '{"disk":"42"}' https://c.example/api/v1/remove`,
    { path: "/api/v1/remove", body: { disk: "{id}" } },
  ],
  [
    "vm.resize.confirm",
    `curl -X POST -d '{"keep":1}' https://c.example/api/v1/nodes/n1/vms/101/settle`,
    { path: "/api/v1/nodes/n1/vms/{id}/settle", body: { keep: 1 } },
  ],
  [
    "volume.delete",
    `curl -X POST -d '{"disk":7}' https://c.example/api/v1/projects/12/remove`,
    { path: "/api/v1/projects/12/remove", body: { disk: "{id:number}" } },
  ],
  [
    "group.rule.delete",
    `curl -X POST -d '{"rule":9007}' https://c.example/api/v1/drop`,
    { path: "/api/v1/drop", body: { rule: "{rule_id:number}" } },
  ],
  [
    "group.rule.delete",
    `curl -X POST -d '{"protocol":"tcp","port_from":443,"port_to":"443","cidr":null,"group":"web"}' https://c.example/api/v1/groups/42/revoke`,
    {
      path: "/api/v1/groups/{id}/revoke",
      body: {
        protocol: "{field:/protocol}",
        port_from: "{field:/port_range_min:number}",
        port_to: "{field:/port_range_max}",
        cidr: "{field:/remote_ip_prefix}",
        group: "web",
      },
    },
  ],
  [
    "group.rule.delete",
    "curl 'https://c.example/api/v1/rpc?Action=Revoke&GroupId=42&IpProtocol=tcp&FromPort=22&ToPort=22'",
    {
      query: {
        Action: "Revoke",
        GroupId: "{id}",
        IpProtocol: "{field:/protocol}",
        FromPort: "{field:/port_range_min}",
        ToPort: "{field:/port_range_max}",
      },
    },
  ],
  [
    "vm.list",
    "curl -sS -H'X-Region: west' -G -d limit=10 -b 'sid=x' https://c.example/api/v1/vms",
    { query: { limit: "10" }, headers: { "X-Region": "west" } },
  ],
  [
    "vm.list",
    "curl -u ops:pw -d 'Action=DescribeVms&Version=2016' https://c.example/rpc",
    { method: "POST", query: { Action: "DescribeVms", Version: "2016" } },
  ],
  [
    "volume.delete",
    "curl -XDELETE https://c.example/api/v1/resources/d1001",
    { method: "DELETE", path: "/api/v1/resources/{id}" },
  ],
  [
    "vm.resize.confirm",
    `curl --request=PUT --data='{"state":"1"}' 'https://c.example/domains/%7B6F2D1F6A-8F6E-4B0E-9D0F-0D3C6A529E11%7D/state'`,
    { method: "PUT", path: "/domains/{id}/state", body: { state: "1" } },
  ],
  [
    "group.rule.delete",
    "curl -X DELETE https://c.example/firewalls/6f2d1f6a-8f6e-4b0e-9d0f-0d3c6a529e11/rules/6f2d1f6a-8f6e-4b0e-9d0f-0d3c6a529e11",
    { path: "/firewalls/{id}/rules/{rule_id}" },
  ],
  [
    "group.rule.delete",
    `curl -sX DELETE -d '{"inbound_rules":[{"protocol":"tcp","ports":"443-443","sources":{"addresses":["0.0.0.0/0"],"groups":[]}}]}' https://c.example/firewalls/42/rules`,
    {
      method: "DELETE",
      path: "/firewalls/{id}/rules",
      body: {
        inbound_rules: [
          {
            protocol: "{field:/protocol}",
            ports: "{field:/port_range_min}-{field:/port_range_max}",
            sources: { addresses: ["{field:/remote_ip_prefix}"], groups: ["{field:/remote_group_id}"] },
          },
        ],
      },
    },
  ],
  [
    "wait",
    "curl 'https://c.example/api/v1/client?command=query&jobid=6f2d1f6a-8f6e-4b0e-9d0f-0d3c6a529e11'",
    { method: "GET", path: "/api/v1/client", query: { command: "query", jobid: "{id}" } },
  ],
  [
    "wait",
    "curl https://c.example/v6/requests/6f2d1f6a-8f6e-4b0e-9d0f-0d3c6a529e11/status",
    { path: "/v6/requests/{id}/status" },
  ],
  [
    "wait",
    "curl 'https://c.example/v6/status?requestId=6f2d1f6a-8f6e-4b0e-9d0f-0d3c6a529e11'",
    { query: { requestId: "{id}" } },
  ],
  [
    "volume.delete",
    "curl -X DELETE https://c.example/rest/v3.1/Network_Storage/2001.json",
    { path: "/rest/v3.1/Network_Storage/{id}.json" },
  ],
  [
    "vm.resize.confirm",
    "curl -X POST https://c.example/20160918/instances/ocid1.vm.oc1.iad.aaaaaaaaabcd1234/actions/confirm",
    { path: "/20160918/instances/{id}/actions/confirm" },
  ],
  [
    "vm.resize.confirm",
    "curl -X PUT https://c.example/v2/instance/6f2d1f6a-8f6e-4b0e-9d0f-0d3c6a529e11:accept-scale",
    { path: "/v2/instance/{id}:accept-scale" },
  ],
  [
    "vm.resize.confirm",
    "curl -X POST https://c.example/instances/ID:acceptSize",
    { path: "/instances/{id}:acceptSize" },
  ],
  ["volume.delete", "curl -X DELETE https://c.example/storage/local:vm-100-disk-0", { path: "/storage/{id}" }],
  ["vm.list", "curl https://c.example/projects/group%2Fone/my%20vms", { path: "/projects/group%2Fone/my%20vms" }],
  ["vm.list", "curl https://c.example/{project}/vms", { path: "/{project}/vms" }],
  // Two kinds may share a number.
  ["volume.delete", "curl -X DELETE https://c.example/projects/7/volumes/7", { path: "/projects/7/volumes/{id}" }],
  ["volume.delete", "curl -X DELETE https://c.example/volumes/7/projects/7", { path: "/volumes/{id}/projects/7" }],
  [
    "volume.delete",
    "curl -X DELETE 'https://c.example/volumes/7?project_id=7'",
    { path: "/volumes/{id}", query: { project_id: "7" } },
  ],
  [
    "volume.delete",
    `curl -d '{"tenant":{"id":7},"server":"7","volume":7}' https://c.example/drop`,
    { body: { tenant: { id: 7 }, server: "7", volume: "{id:number}" } },
  ],
  // An option that is not known here may have a value; without a scheme the host comes first.
  ["vm.list", "curl --netrc-file /root/netrc https://c.example/vms", { path: "/vms" }],
  ["vm.list", "curl --netrc-file /root/netrc --dump-header head c.example/vms", { path: "/vms" }],
  ["vm.list", "curl -k c.example:8443/vms", { path: "/vms" }],
  // Browsers write a quote and an exclamation mark so.
  [
    "volume.delete",
    `curl -d $'{"disk":"vol-12345678","why":"it\\'s old\\u0021"}' https://c.example/drop`,
    { body: { disk: "{id}", why: "it's old!" } },
  ],
  ["vm.list", "curl https://c.example/ql?query=%7Bvms%7Bid%7D%7D", { query: { query: "{vms{ id }}" } }],
] as const)("a request for %s as a shell has it: %s", (operation, command, route) => {
  expect(readCurl(operation, command, "https://c.example", new Set())?.route).toMatchObject(route);
});

test.each([
  ["volume.list", "URL/volumes?page=2&per_page=20", { query: { per_page: "20" } }],
  ["volume.list", "URL/volumes?page=1&offset=0", { query: { page: "1", offset: "0" } }],
  ["attachments", "'URL/links?marker=6f2d1f6a&kind=disk'", { query: { kind: "disk" } }],
  [
    "vm.list",
    `URL/rpc -d '{"Action":"DescribeVms","NextToken":"caeba","at":{"cursor":"x","size":5}}'`,
    {
      body: { Action: "DescribeVms", at: { size: 5 } },
    },
  ],
  ["volume.delete", `-X DELETE 'URL/volumes/6f2d1f6a-8f6e-4b0e-9d0f-0d3c6a529e11?page=2'`, { query: { page: "2" } }],
] as const)("an example of a later page tells how a list begins: %s %s", (operation, request, route) => {
  const command = `curl ${request.replace("URL", "https://c.example")}`;
  expect(readCurl(operation, command, "https://c.example", new Set())?.route).toEqual(expect.objectContaining(route));
});

test.each([
  [{ path: "/vms?a=%2F&limit=50" }, ["/vms?a=%2F&limit=1"]],
  [{ path: "/rpc", body: { Action: "List", MaxResults: 50 } }, [{ Action: "List", MaxResults: 1 }]],
  [{ path: "/rpc", body: { query: "{ vms { id } }" } }, []],
] as const)("a list is asked for one item by the size that it names: %j", (request, wanted) => {
  const asked = askedForOne(request, "https://c.example").map(({ path, body }) => body ?? path);
  expect(asked).toEqual(wanted);
});

test("and else by the usual names for one, in capitals where the others are", () => {
  const asked = askedForOne({ path: "/rpc", body: { Action: "List" } }, "https://c.example");
  expect(asked.map(({ body }) => body)).toContainEqual({ Action: "List", MaxResults: 1 });
  expect(askedForOne({ path: "/vms" }, "https://c.example")).toContainEqual({ path: "/vms?per_page=1" });
});

test("of requests that were tried, those are tried again that were refused in words of their own", () => {
  const at = (path: string, words: string) => ({ route: { method: "DELETE", path } as const, words });
  const nowhere = ["/a", "/b", "/c"].map((path) => at(path, "nothing is here"));
  const own = at("/volumes/{id}", "volume is creating");
  expect(refusedForItself([...nowhere, own])).toEqual([own.route]);
});

test("what stands in the path of a list is no id", () => {
  const command = "curl -X DELETE https://c.example/rules/1/west-1/6f2d1f6a-8f6e-4b0e-9d0f-0d3c6a529e11";
  const constants = constantsIn([{ method: "GET", path: "/instances/1/west-1" }]);
  const route = readCurl("group.rule.delete", command, "https://c.example", new Set(), constants)?.route;
  expect(route?.path).toBe("/rules/1/west-1/{rule_id}");
});

test.each([
  ["vm.resize.confirm", "curl -X POST https://c.example/servers/web/confirm", false],
  ["vm.resize.confirm", "curl -X POST https://c.example/servers/{id}/confirm", true],
  ["volume.delete", `curl -X DELETE -d '{"force":1}' https://c.example/volumes/data`, false],
  ["wait", "curl https://c.example/jobs/last", false],
  ["vm.list", "curl https://c.example/servers", true],
] as const)("a request for %s, %s, names what it is about: %s", (operation, command, isNamed) => {
  const told = readCurl(operation, command, "https://c.example", new Set());
  expect(told === undefined ? undefined : namesAnId(operation, told.route)).toBe(isNamed);
});

const post = { method: "POST", path: "/api" } as const;
test.each([
  ["a word of the path", { method: "GET", path: "/v2/cloud/servers" }, "/v2/cloud/volumes"],
  ["the last word of it", { method: "GET", path: "/v2/compute/vms" }, "/v2/compute/volumes"],
  [
    "a command in the query",
    { method: "GET", path: "/rpc", query: { Action: "DescribeServers" } },
    '"Action":"DescribeVolumes"',
  ],
  ["a command in the body", { ...post, body: { cmd: "listServers" } }, '"cmd":"listVolumes"'],
  ["a word in a header", { ...post, headers: { "X-Action": "list_servers" } }, '"X-Action":"list_block_volumes"'],
  [
    "a word of the path and one of the body",
    { ...post, path: "/v3/vms/list", body: { kind: "vm", length: 20 } },
    '"path":"/v3/disks/list","body":{"kind":"disk","length":20}',
  ],
  [
    "a word of the path, where one of the body says something else of VMs",
    { ...post, path: "/vm/v3/search", body: { of: "vm" } },
    '"path":"/vm/v3/search","body":{"of":"disk"}',
  ],
  ["the first word of a query", { ...post, body: { query: "{ vms(n: 1) { nodes } }" } }, "{ volumes(n: 1) { nodes } }"],
] as const)("what tells that VMs are listed is %s, and volumes are asked for alike", (_, asking, sent) => {
  const asked = [...candidates("volume.list", null, stylesOf(asking, "vm"), [])];
  const alike = asked.filter((one) => one.style !== undefined).map((one) => JSON.stringify(one.asking));
  expect(alike.some((one) => one.includes(sent))).toBe(true);
});

test("a list that names nothing that it is of tells nothing of the others", () => {
  expect(stylesOf({ method: "GET", path: "/rpc", query: { page: 1 } }, "vm")).toEqual([]);
});

test("a job whose state is null is not over, and one that shows none is a question", () => {
  const wait = {
    method: "GET",
    path: "/jobs/{id}",
    id: ["/id"],
    status: ["/outcome"],
    done: ["OK"],
    failed: ["KO"],
    message: [],
    error: ["/error"],
  } as const;
  const shown = [{ outcome: null }, { outcome: "ok" }, { outcome: "KO" }, { state: "OK" }];
  expect(shown.map((body) => readJob(wait, body)?.means)).toEqual(["waiting", "done", "failed", undefined]);
  const errors = [null, {}, "", 0, { code: 0, message: "" }, { code: 9 }, "busy"].map((error) => ({
    outcome: "OK",
    error,
  }));
  expect(errors.map((body) => readJob(wait, body)?.means)).toEqual(
    [..."12345"].map(() => "done").concat("failed", "failed"),
  );
});

test("an id that is a link is what the link ends with, and what leads on stands beside each list", () => {
  const volumes = ["a-1", "b-2"].map((id) => ({ href: `https://c.example/compute/drives/${id}`, title: id }));
  const known = { volumes: new Set<string>(), flavors: new Set<string>(), images: new Set<string>() };
  const { fields } = learnRecord("volume", builtInDialect, volumes, known);
  const id = { value: "/href", cut: "*/drives/{value}" };
  expect(fields.find(({ field }) => field === "id")?.place).toEqual(id);
  const byUsualName = volumes.map(({ href }) => ({ id: href }));
  expect(learnRecord("volume", builtInDialect, byUsualName, known).fields[0]?.place).toEqual({ ...id, value: "/id" });
  const way = { next: ["/data/vms/pageInfo/endCursor"], param: "/variables/after" };
  expect(translated(way, "/data/vms/nodes", "/data/disks/nodes").next).toEqual(["/data/disks/pageInfo/endCursor"]);
});

test("a version is asked for by a status or by its words, and told by what records show", () => {
  const refused = (httpStatus: number, message: string) =>
    ({ status: "rejected", condition: "refused", httpStatus, message }) as const;
  expect([
    asksForVersion(refused(412, "no")),
    asksForVersion(refused(428, "no")),
    asksForVersion(refused(400, "If-Match is required")),
    asksForVersion(refused(409, "the name is taken")),
  ]).toEqual([true, true, true, false]);
  const samples = new Map([["group", [{ id: "g-1", name: "front", meta: { revision: 3 } }]]] as const);
  expect(versionsIn({ samples })).toEqual([
    { from: ["/meta/revision"], send: "If-Match" },
    { from: ["/meta/revision"], send: "/revision" },
    // Where no record shows one, the answer may.
    { from: [], header: "ETag", send: "If-Match" },
  ]);
});

test("a job that failed means what the dialect says of its message, and then what its words say", () => {
  const exists = "This rule already exists in the selected security group.";
  expect(conditionOfJob("group.rule.create", exists, [{ is: "rule_exists", message: "already exists" }])).toBe(
    "rule_exists",
  );
  expect(conditionOfJob("volume.resize", "Volume is attached and cannot be extended", [])).toBe("volume_attached");
  expect(conditionOfJob("volume.resize", "the host is down", [])).toBe("refused");
});

test("what the Location of a write says stands beside its body", () => {
  const location = "/api/v1/volume/v-1";
  expect(withLocation("volume.create", undefined, location)).toEqual({ location });
  expect(withLocation("volume.resize", { id: "v-1" }, location)).toEqual({ id: "v-1", location });
  expect(withLocation("volume.get", { id: "v-1" }, location)).toEqual({ id: "v-1" });
  expect(withLocation("group.create", undefined, undefined)).toBeUndefined();
});

test.each(["X-Acme-Session", "X-Tenant-Key"])(
  "a credential is never taken over from a command, whether its header is %s or its parameter is a key",
  (name) => {
    const told = readCurl(
      "vm.list",
      `curl -H '${name}: s3cret' -H 'X-Action: Describe' 'https://c.example/api/v1/vms?api_key=s3cret&all=1'`,
      "https://c.example",
      new Set(),
    );
    expect(told?.authorization).toEqual({ name, header: "{token}" });
    expect(told?.route).toEqual({
      method: "GET",
      path: "/api/v1/vms",
      query: { all: "1" },
      headers: { "X-Action": "Describe" },
    });
  },
);

test.each([
  ["Authorization: x", "{token}"],
  ["Authorization: Bearer x", "Bearer {token}"],
  ["Authorization: c2VjcmV0LXRva2Vu==", "{token}"],
  ["Cookie: session=c2VjcmV0==", "session={token}"],
  ["Cookie: session=x; lang=en", "{token}"],
  ["Authorization: key=x, realm=y", "{token}"],
])("of %s the form alone is taken over", (header, form) => {
  const told = readCurl("vm.list", `curl -H '${header}' https://c.example/vms`, undefined, new Set());
  expect(told?.authorization?.header).toBe(form);
});

const opaque = "AIzaSyD4-abcdefghijklmnop";
test.each([
  ["vm.list", `'URL/vms?key=${opaque}&all=1'`, { query: { all: "1" } }, "key"],
  ["vm.list", "'URL/vms?ticket=eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ4In0.AIza'", {}, "ticket"],
  ["vm.list", "-H 'X-Acme: eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ4In0.AIza' URL/vms", {}, undefined],
  ["vm.list", "'URL/vms?key=Name'", { query: { key: "Name" } }, undefined],
  ["volume.delete", `-d 'disk={id}&passwd=x' URL/disks/remove`, { query: { disk: "{id}" } }, "passwd"],
  [
    "volume.delete",
    `-d '{"disk":"{id}","auth":{"user":"me","key":"x"},"with":[{"token":"x"}]}' URL/disks/remove`,
    { body: { disk: "{id}", with: [{}] } },
    "auth",
  ],
  ["wait", `-d '{"token":"{id}"}' URL/jobs`, { body: { token: "{id}" } }, undefined],
] as const)("no credential is taken over for %s from %s", (operation, request, route, credentialIn) => {
  const told = readCurl(operation, `curl ${request.replace("URL", "https://c.example")}`, undefined, new Set());
  expect(told?.route).toMatchObject(route);
  expect(JSON.stringify(told)).not.toMatch(/AIza|"x"/);
  expect(told?.credentialIn).toBe(credentialIn);
});

test.each([
  ["-d @body.json", "@body.json"],
  ["-F token=s3cret", "(token)"],
  ["-T disk.json", "disk.json"],
  ["--data-urlencode id@disk.txt", "(id@disk.txt)"],
])("a request whose body is no JSON is refused: %s", (sent, named) => {
  const curl = [`volume.delete=curl -X POST ${sent} https://c.example/volumes/{id}/drop`];
  const read = () => withTold(readDialectText("", "").dialect, readTold({ curl }), undefined, new Set());
  expect(read).toThrow(named);
  expect(read).not.toThrow("s3cret");
});

const uuids = ["6f2d1f6a-8f6e-4b0e-9d0f-0d3c6a529e11", "0d3c6a52-8f6e-4b0e-9d0f-6f2d1f6a9e11"] as const;

test.each([
  ["volume.delete", "-X DELETE 'URL/volumes/A?project_id=B'", { path: "/volumes/{id}", query: { project_id: "B" } }],
  [
    "volume.delete",
    `-d '{"volumeId":"A","tenant":{"id":"B"}}' URL/drop`,
    { body: { volumeId: "{id}", tenant: { id: "B" } } },
  ],
  ["vm.resize.confirm", `-d '{"accept":{"flavor":"B"}}' URL/servers/A/act`, { path: "/servers/{id}/act" }],
  ["volume.delete", "-X DELETE 'URL/bricks/A?hint=B'", { path: "/bricks/{id}", query: { hint: "B" } }],
  [
    "group.rule.delete",
    `-d '{"rule":"B","org":"org-1234567"}' URL/groups/A/drop`,
    { path: "/groups/{id}/drop", body: { rule: "{rule_id}", org: "org-1234567" } },
  ],
] as const)("the id of another thing stays as it is: %s %s", (operation, request, route) => {
  const written = (text: string) => text.replaceAll(/\b[AB]\b/g, (letter) => uuids[letter === "A" ? 0 : 1]);
  const command = `curl ${written(request).replace("URL", "https://c.example")}`;
  const wanted = JSON.parse(written(JSON.stringify(route)));
  expect(readCurl(operation, command, "https://c.example", new Set())?.route).toMatchObject(wanted);
});

test("the name of a thing beside the id of another is no request for every one", () => {
  const curl = [`volume.delete=curl -X DELETE https://c.example/volumes/data?project_id=${uuids[1]}`];
  const read = () => withTold(readDialectText("", "").dialect, readTold({ curl }), undefined, new Set());
  expect(read).toThrow("like an id");
});

test.each(["vm.list", "vm.get", "wait", "attachments"])(
  "nothing that changes anything is sent to read: %s",
  (operation) => {
    for (const method of ["DELETE", "PUT", "PATCH"]) {
      const curl = [`${operation}=curl -X ${method} https://c.example/things/{id}`];
      const read = () => withTold(readDialectText("", "").dialect, readTold({ curl }), undefined, new Set());
      expect(read).toThrow(`sends ${method}, and ${operation} only reads`);
    }
  },
);

test("a header without a name or a value is none", () => {
  const command = "curl -H @headers.txt -H 'X-Empty;' -H 'X-None:' -H 'X-Tenant: t 1' https://c.example/vms";
  expect(readCurl("vm.list", command, undefined, new Set())?.route.headers).toEqual({ "X-Tenant": "t 1" });
});

test("a credential that stands in no header is said to be one that cannot be sent", () => {
  const read = (header: string) => () =>
    withTold(
      readDialectText("", "").dialect,
      readTold({ curl: [`vm.list=curl ${header} https://c.example/vms?token=x`] }),
      undefined,
      new Set(),
    );
  expect(read("")).toThrow("a credential in its query or its body (token)");
  expect(read("-H 'X-Auth-Token: x'")).not.toThrow();
});

const nothingKnown = { volumes: new Set<string>(), flavors: new Set<string>(), images: new Set<string>() };
const placesIn = (kind: "vm" | "volume" | "flavor" | "region", records: readonly object[], known: object = {}) =>
  Object.fromEntries(
    learnRecord(kind, builtInDialect, records, { ...nothingKnown, ...known }).fields.map(({ field, place }) => [
      field,
      place,
    ]),
  );

test("an id and a name that are known are found under any key, and an id that is a path is not cut", () => {
  const disks = ["a1", "b2"].map((id) => ({ sysno: `/acme/disks/${id}`, name: id, tags: { shown: `disk-${id}` } }));
  const own = { id: new Set(["/acme/disks/a1"]), name: new Set(["disk-a1"]) };
  expect(placesIn("volume", disks, { own, hasPaths: true })).toMatchObject({ id: "/sysno", name: "/tags/shown" });
});

test.each([
  ["that other records refer to", "vm", { Uuid: "u-1", VpsRef: "v-1" }, { id: "/VpsRef" }],
  ["that is named for its kind", "vm", { Uuid: "u-1", InstanceId: "i-1" }, { id: "/InstanceId" }],
  [
    "of the record, and not of what stands in it",
    "vm",
    { serverId: "u-1", serverName: "web", image: { id: "i-1", name: "debian" }, region: { id: "r-1", name: "west" } },
    { id: "/serverId", name: "/serverName" },
  ],
  ["within what holds the record", "vm", { server: { id: "u-1" }, image: { id: "i-1" } }, { id: "/server/id" }],
  ["that is called as its kind is", "flavor", { InstanceType: "f-1", TypeName: "m1" }, { id: "/InstanceType" }],
  [
    "where there is nothing but a name",
    "flavor",
    { title: "m1.small", memory: 1024 },
    { id: "/title", name: "/title" },
  ],
  ["a shape", "flavor", { shape: "m1.small", ocpus: 1 }, { id: "/shape" }],
  [
    "and not the name that is shown",
    "flavor",
    { name: "f-1", displayName: "m1" },
    { id: "/name", name: "/displayName" },
  ],
] as const)("of several ids it is the one %s", (_, kind, record, places) => {
  expect(placesIn(kind, [record], { referred: new Set(["v-1"]) })).toMatchObject(places);
});

test("of two ids it is the one that records of other kinds are read by, and a state of the record comes before one of a list", () => {
  const status = { conditions: [{ type: "Ready", status: "True" }], phase: "Running" };
  const record = { metadata: { name: "web", uid: "u-1" }, spec: {}, status };
  expect(placesIn("vm", [record], {})).toMatchObject({ id: "/metadata/uid", status: "/status/phase" });
  expect(placesIn("vm", [record], { alike: "/metadata/name" })).toMatchObject({ id: "/metadata/name" });
});

test.each([
  [[{ kind: "vm", object: { id: "a" } }], { in: "/rows", value: "/object" }],
  [[{ cursor: "x", node: { id: "a" } }, { node: { id: "b" } }], { in: "/rows", value: "/node" }],
  [[{ id: "a", object: { x: 1 } }], "/rows"],
  [[{ kind: "vm", config: { id: "a" } }], "/rows"],
  [[{ kind: "vm" }], "/rows"],
])("of the list of %j the records are at %j", (rows, place) => {
  expect(findListIn({ rows }, ["vm"])).toMatchObject({ place });
});

test("what the first disk of a VM is called is no id of the VM", () => {
  const vm = { uuid: "m-1", meta: { name: "web" }, disks: [{ uuid: "d-1", name: "root" }] };
  expect(placesIn("vm", [{ kind: "vm", object: vm }])).toMatchObject({ id: "/object/uuid", name: "/object/meta/name" });
  expect(placesIn("vm", [{ kind: "vm", odd: vm }])).toMatchObject({ id: undefined, name: undefined });
});

test("an id is recognised in other letters, and a short word is not", () => {
  const disks = [
    { id: "d-1", machine: "AB-1234567F" },
    { id: "d-2", machine: null },
  ];
  const place = { value: "/machine", case: "lower" };
  expect(placesIn("volume", disks, { vms: new Set(["ab-1234567f"]) })).toMatchObject({ attached_to: place });
  expect(knownReferenceIn("https://c.example/VMS/AB-1234567F", new Set(["ab-1234567f"]))).toBeUndefined();
  expect(knownReferenceIn("ON", new Set(["on"]))).toBeUndefined();
});

test.each(["00000000-0000-0000-0000-000000000000", "-1", "none"])("a volume on no VM may say %s there", (none) => {
  const disks = [
    { id: "d-1", name: "a", size: 1, server: "v-1" },
    { id: "d-2", name: "b", size: 2, server: none },
  ];
  const attached_to = { value: "/server", none, absent: "none" };
  expect(placesIn("volume", disks, { vms: new Set(["v-1"]) })).toMatchObject({ attached_to });
});

test("what a trial has sent is found under any key, and a size by what its own volumes have", () => {
  const disks = [
    { id: "d-1", kopien: 1, groesse: 1024 },
    { id: "d-2", kopien: 1, groesse: 51200 },
  ];
  const made = { sizes: new Map([["d-1", 1]]), data: new Set<string>(), root: new Set<string>() };
  expect(placesIn("volume", disks, { made })).toMatchObject({ size: { value: "/groesse", unit: "MB" } });
  expect(placesIn("volume", disks.slice(0, 1), { made })).toMatchObject({ size: undefined });
  const vms = [{ id: "i-1", besitzer: "ops@acme.example" }];
  const sent = { owner: "ops@acme.example" };
  expect(placesIn("vm", vms, { made: { ...made, sent } })).toMatchObject({ owner: "/besitzer" });
});

test("a VM that shows a state at rest while it is locked is told by the lock beside it", () => {
  const records = [{ status: "running" }, { status: "stopped" }, { status: "held" }];
  const busy = { status: "running", lock: "migrate" };
  expect(placeThatDiffers([...records, busy], ["/status"])).toEqual({
    place: { join: ["/status", "/lock"] },
    words: ["running", "stopped", "held", "running/migrate"],
  });
});

test.each([
  ["one word stands for both", [{ power: "off", task: "spawning" }], { join: ["/power", "/task"] }, ["on", "off"]],
  [
    "each of two fields takes it for another",
    [
      { power: "on", task: "boot" },
      { power: "off", task: "wait" },
    ],
    { join: ["/power", "/task"] },
    ["on", "off"],
  ],
  ["one field is enough", [{ power: "none", task: "boot" }], undefined, ["on", "off"]],
] as const)("a VM that is built is read neither as running nor as stopped where %s", (_, building, place, words) => {
  const atRest = [
    { power: "on", task: null },
    { power: "off", task: null },
  ];
  const told = placeThatDiffers(atRest, ["/power"], building);
  expect([told?.place, told?.words]).toEqual([place, words]);
});

test("where nothing tells a VM that is built from a stopped one, no place is named", () => {
  const atRest = [{ power: "on" }, { power: "off" }];
  expect(placeThatDiffers(atRest, ["/power"], [{ power: "off" }])).toBeUndefined();
});

test("an egress rule is deleted in mirrored words, where the request has such", () => {
  const body = { inbound_rules: [{ sources: ["{field:/remote_ip_prefix}"] }] };
  expect(inMirroredWords({ method: "POST", path: "/x", query: { command: "revokeIngress" }, body })).toEqual({
    method: "POST",
    path: "/x",
    query: { command: "revokeEgress" },
    body: { outbound_rules: [{ destinations: ["{field:/remote_ip_prefix}"] }] },
  });
  expect(inMirroredWords({ method: "DELETE", path: "/rules/{rule_id}" })).toBeUndefined();
});

test("a next page that is named relative to the list is followed as a link", () => {
  const page = { body: { items: [{}], next: "servers?page=2" }, at: "/items", headers: {}, items: [{}] };
  const ways = waysOn({ ...page, id: undefined, origin: "https://c.example" });
  expect(ways?.[0]).toEqual({ next: ["/next"], as: "link" });
});

test.each([
  ["https://c.example/servers?page=2", undefined],
  ["https://c.example:443/servers?page=2", undefined],
  ["https://c.example.other/servers?page=2", "rewritten"],
  ["http://c.example/servers?page=2", "rewritten"],
])("a link to %s is one of the service at https://c.example, or is followed there by its path", (next, links) => {
  const page = { body: { items: [{}], next }, at: "/items", headers: {}, items: [{}] };
  expect(waysOn({ ...page, id: undefined, origin: "https://c.example" })?.[0]).toEqual({
    next: ["/next"],
    ...(links !== undefined && { links }),
  });
});

test("three places tell apart what two do not", () => {
  const of = (power: string, status: string, transaction?: string) => ({
    powerState: { keyName: power },
    status: { keyName: status },
    ...(transaction !== undefined && { activeTransaction: { transactionStatus: { name: transaction } } }),
  });
  const records = [of("ON", "OK"), of("OFF", "OK"), of("ON", "HELD"), of("ON", "OK", "MOVE")];
  expect(placeThatDiffers(records, ["/powerState/keyName"])?.words).toEqual([
    "ON/OK",
    "OFF/OK",
    "ON/HELD",
    "ON/OK/MOVE",
  ]);
});

test("below a list whose path ends with a slash, one is looked for with a slash and without", () => {
  const places = placesOfOne("group.get", null, "/api/firewalls/", []);
  expect(places.slice(0, 2)).toEqual(["/api/firewalls/{id}/", "/api/firewalls/{id}"]);
});

test.each([
  [{ "d-1": 1000, "d-2": 2000 }, undefined],
  [{ "d-1": 10, "d-2": 20 }, undefined],
  [
    { "d-1": 1024, "d-2": 2048 },
    { value: "/size", unit: "MB" },
  ],
  [{ "d-1": 10, "d-2": 10 }, "/size"],
  [{ "d-1": 1, "d-2": 1 }, "/size"],
] as const)("of volumes of 1 and 2 GB that show %j, the size is %j", (shown, size) => {
  const volumes = Object.entries(shown).map(([id, size]) => ({ id, name: id, size }));
  const sizes = new Map([
    ["d-1", 1],
    ["d-2", 2],
  ]);
  const made = { sizes, data: new Set<string>(), root: new Set<string>() };
  expect(placesIn("volume", volumes, { made })["size"]).toEqual(size);
});

test("and a number of MB that are no whole GB is no size in MB", () => {
  const made = { sizes: new Map([["d-1", 1]]), data: new Set<string>(), root: new Set<string>() };
  expect(placesIn("volume", [{ id: "d-1", name: "a", size_mb: 1000 }], { made })["size"]).toBeUndefined();
});

test("what a resize alone has changed is told, and nothing where more has", () => {
  const before = { size: { template: "f-100" }, vmState: "RUNNING", updated: "1", cores: 1, note: "a" };
  const after = { size: { template: "f-200" }, vmState: "PAUSED", updated: "2", cores: 2, note: "a" };
  expect(placeThatChanged(before, after)).toBe("/size/template");
  expect(placeThatChanged(before, { ...after, note: "b" })).toBeUndefined();
});

const at = (status: string, state: string): object => ({ status, task: { state } });

test.each<[what: string, rest: readonly object[], busy: readonly object[], place: RecordPlace | undefined]>([
  ["another place says it", [at("ok", "none")], [at("ok", "growing")], { join: ["/status", "/task/state"] }],
  ["the given one says it", [at("ok", "none")], [at("growing", "none")], undefined],
  ["none says it", [at("ok", "none")], [at("ok", "none")], undefined],
  [
    "the given one is not always there",
    [at("ok", "none"), { task: { state: "none" } }],
    [at("growing", "none")],
    { join: ["/status", "/task/state"] },
  ],
  ["the given one is not there", [{ task: { state: "none" } }], [{ task: { state: "growing" } }], undefined],
])("that something is under way is read beside the state where %s", (_, rest, busy, place) => {
  expect(placeBeside(rest, busy, ["/state", "/status"])).toEqual(place);
});

test("lists are looked for in the folders of what was told, and further up", () => {
  const told = ["/v4/linode/instances", "/v4/firewalls/{id}/rules/{rule_id}", "/api/v1/vm/list"];
  expect(foldersOf(told)).toEqual(["/v4/linode", "/v4", "/api/v1/vm"]);
  const paths = [...candidates("volume.list", null, [], [], ["/v4"])].map(({ asking }) => asking.path);
  expect(paths).toContain("/v4/volumes");
});

test("an image that was deleted since is named still, and a VM that is not listed is no reference", () => {
  const vms = ["i-1", "i-gone"].map((ref, nth) => ({ id: `v-${nth}`, template: { ref } }));
  expect(placesIn("vm", vms, { images: new Set(["i-1"]) })).toMatchObject({ image: "/template/ref" });
  const disks = ["v-1", "v-hidden"].map((ref, nth) => ({ id: `d-${nth}`, machine: { ref } }));
  expect(placesIn("volume", disks, { vms: new Set(["v-1"]) })).toMatchObject({ attached_to: undefined });
});

test("a page is asked for as the answer calls the one that it shows", () => {
  const pager = { pageNo: "1", pageSize: "3", totalRows: "7" };
  const page = { body: { result: { rows: [{}], pager } }, at: "/result/rows", headers: {}, items: [{}] };
  const ways = counting({ ...page, id: undefined, origin: "https://c.example" });
  expect(ways.slice(0, 2)).toEqual([0, 1].map((number) => ({ number, param: "pageNo" })));
});

test("entries of a list that are null are passed over", () => {
  const found = findListIn({ result: { machines: [{ id: "a" }, null] } }, ["machine"]);
  expect(found).toEqual({ place: { in: "/result/machines/*" }, items: [{ id: "a" }] });
  expect(findArray({ result: { machines: [] } }, compilePointers([{ in: "/result/machines/*" }]))).toEqual([]);
});

test.each([
  [
    "of what was asked for together",
    { reservationSet: [{ reservationId: "r-1", instancesSet: [{ instanceId: "i-1" }] }] },
  ],
  [
    "of each zone",
    { id: "x", kind: "l", items: { "z/a": { instances: [{ instanceId: "i-1" }] }, "z/b": { warning: {} } } },
  ],
] as const)("a list in parts is found: those %s", (_, body) => {
  const found = findListIn(body, ["instances", "instance"]);
  expect(found).toMatchObject({ items: [{ instanceId: "i-1" }] });
  const { place } = found as FoundItems;
  expect(findArray(body, compilePointers([place]))).toEqual([{ instanceId: "i-1" }]);
  expect(findArray({ reservationSet: [], items: { "z/b": {} } }, compilePointers([place]))).toEqual([]);
  expect(findArray({}, compilePointers([place]))).toBeUndefined();
});

test("what holds no list is no list in parts: a named record, and scopes that say that they are empty", () => {
  const vms = [{ id: "vm-1", name: "web", volumes: [{ id: "v-1" }] }];
  expect(findListIn({ servers: vms }, ["volumes"])).toMatchObject({ place: "/servers" });
  expect(
    findListIn({ items: { "z/1": { warning: { code: "NONE" } }, "z/2": { warning: {} } } }, ["vms"]),
  ).toBeUndefined();
});

test.each([
  ["below its own plural", { disks: { disk: { id: "a" } } }, "/disks/disk", [{ id: "a" }]],
  ["as an item", { diskSet: { item: { id: "a" } } }, "/diskSet/item", [{ id: "a" }]],
  ["alone", { disk: { id: "a", name: "b", size: 1 } }, "/disk", [{ id: "a", name: "b", size: 1 }]],
] as const)("one thing that stands %s is a list of one", (_, body, place, items) => {
  expect(findListIn(body, ["disk", "disks"])).toEqual({ place: { in: place, absent: "none" }, items });
});

test.each([
  ["places in a list", { 0: { id: 7, name: "a" }, 1: { id: 8, name: "b" } }, { in: "/vms/*" }],
  ["places in a list, beside ids of another name", { 1: { uuid: "u-7" }, 2: { uuid: "u-8" } }, { in: "/vms/*" }],
  ["names", { "web-1": { id: 7, name: "web-1" }, "db-1": { id: 8, name: "db-1" } }, { in: "/vms/*" }],
  ["ids, which the records show as well", { 7: { id: 7, name: "a" }, 8: { id: 8 } }, { in: "/vms", keys: "id" }],
  ["ids, which the records do not show", { 0: { name: "a" }, 1: { name: "b" } }, { in: "/vms", keys: "id" }],
  ["ids, beside others", { 17: { uuid: "u-7" }, 18: { uuid: "u-8" } }, { in: "/vms", keys: "id" }],
] as const)("of a map whose keys are %s, the ids are known", (_, vms, place) => {
  expect(findListIn({ vms }, ["vms"])).toMatchObject({ place });
});

test.each([
  [{ deleted: false }, { deleted: true }, { kept: "false", deleted: "true" }],
  [{ deleted: null }, { deleted: true }, { kept: undefined, deleted: "true" }],
  [{}, { deleted: 1 }, { kept: undefined, deleted: "1" }],
  [{ deleted: true }, { deleted: true }, undefined],
  [{}, { ready: true }, undefined],
  [{}, { deleted_at: "2026-01-01T00:00:00Z" }, undefined],
] as const)("of a record that was %j and is %j the flag is known", (before, after, flag) => {
  const found = flagOfDeleted({ id: 7, ...before }, { id: 7, ...after });
  expect(found).toEqual(flag === undefined ? undefined : { place: "/deleted", ...flag });
});

test("what holds a list is no list of one", () => {
  const body = { disks: { disk: [{ id: "a" }, { id: "b" }] } };
  expect(findListIn(body, ["disk", "disks"])).toMatchObject({ place: "/disks/disk" });
});

test("what was listed before a trial is none of its own, whatever name it seems to bear", () => {
  const group = { id: "g-1", name: "default", others: ["trial-0a1b2c-a"] };
  const report = { dialect: builtInDialect, samples: new Map([["group", [group]]]) };
  const [isNoted, isDeleted] = [() => false, () => false];
  const named = (others: readonly string[]) =>
    idsNamed({ report, isNoted, isDeleted, isOfOthers: (_: string, id: string) => others.includes(id) } as never, {
      kind: "group",
      name: "trial-0a1b2c-a",
      askedAt: 0,
    });
  expect([named([]), named(["g-1"])]).toEqual([["g-1"], []]);
});

test("a bit tells running from stopped, and a field that a lock is in tells what waits", () => {
  const records = [
    ["1", "0"],
    ["0", "0"],
    ["1", "resize"],
  ].map(([on, locked]) => ({ name: "web", on, locked }));
  expect(placeThatDiffers(records.slice(0, 2), ["/status"])).toEqual({ words: ["1", "0"], place: "/on" });
  expect(placeThatDiffers(records, ["/on"])?.place).toEqual({ join: ["/on", "/locked"] });
});

test("states are told by any word that comes and goes with them, also among others", () => {
  const records = ["ready", "off"].map((word) => ({ label: "web", zustand: word }));
  expect(placeThatDiffers(records, ["/status"])).toEqual({ words: ["ready", "off"], place: "/zustand" });
  expect(placeThatDiffers(records.slice(0, 1), ["/status"])).toBeUndefined();
  // A flavor is no state, though a resize alone changes it.
  const resized = ["tiny", "huge"].map((plan) => ({ zustand: "ready", plan }));
  expect(placeThatDiffers(resized, ["/zustand"])?.place).toBe("/plan");
  expect(placeThatDiffers(resized, ["/zustand"], [], ({ place }) => place === "/plan")).toBeUndefined();
  const among = ["running", "deallocated"].map((word) => ({
    view: [{ code: "Provisioning/succeeded" }, { code: `Power/${word}` }],
  }));
  const place = { in: "/view", value: "/code", cut: "Power/{value}" };
  expect(placeThatDiffers(among, ["/status"])).toEqual({ words: ["running", "deallocated"], place });
});

test("a cursor in a header is sent as the header calls it, and keys with capitals want such parameters", () => {
  const page = { items: [{}], at: "", id: undefined, origin: "https://c.example" };
  const ways = waysOn({ ...page, body: [{}], headers: { "x-next-cursor": "c:2" } });
  expect(ways?.[0]).toEqual({ next_header: "x-next-cursor", param: "cursor" });
  const counted = counting({ ...page, body: { TotalCount: 4 }, headers: {} });
  expect(counted[0]).toEqual({ offset: true, param: "Offset" });
  // Keys with a capital do not prove that the parameters have one.
  expect(counted).toContainEqual({ offset: true, param: "offset" });
});

test("bytes are counted in thousands where only that makes whole gigabytes", () => {
  expect([
    numberInUnit(20 * 1000 ** 3, "B"),
    numberInUnit(20 * 1024 ** 3, "B"),
    numberInUnit(512 * 1024 ** 2, "B"),
  ]).toEqual([20, 20, 0.5]);
});

const rejected = (condition: Rejection["condition"], httpStatus = 400): Rejection => ({
  status: "rejected",
  condition,
  httpStatus,
  message: "no",
});
test.each([
  ["that it refuses in general", "refused", "unknown"],
  ["that nothing is at this path", "unsupported", "unknown"],
  ["that it does not exist", "not_found", "accepted"],
  ["that the credential is refused", "unauthenticated", "refused"],
] as const)("who says of a volume that nobody has %s: case %#", (_, condition, credential) => {
  const seen = { outcome: rejected(condition), status: 400, body: { message: "no" }, headers: {} };
  expect(judgeFirst(seen)).toMatchObject({ reachable: true, credential });
});

test.each([
  ["shows its state", { id: "t-1", state: "done" }, ["/state"]],
  ["shows no state", { id: "t-1", kind: "backup" }, undefined],
  ["is under way for as long as anybody looks", { id: "t-1", state: "RUNNING" }, undefined],
] as const)("what stands at the path of a job and %s", async (_, shown, status) => {
  let { dialect } = readDialectText("", "");
  let job: object = shown;
  const open: string[] = [];
  let now = 0;
  const trial: Parameters<typeof learnJob>[0] = {
    get report() {
      return { dialect };
    },
    ports: {
      clock: { now: () => (now += 10), sleep: async () => {} },
      timing: { pollMs: 1, quietMs: 20, quietCreateMs: 40, mostMs: 400, discoveryMs: 40 },
      doctor: {
        async probe({ method, path }) {
          const isIt = path === "/api/v1/tasks/t-1" && method === "GET";
          const answer = { status: isIt ? 200 : 404, text: JSON.stringify(isIt ? job : {}), paging: {} } as Answer;
          return { outcome: isIt ? { status: "accepted", value: undefined } : rejected("not_found", 404), answer };
        },
      },
    },
    open,
    jobless: new Set(),
    learn(more) {
      dialect = { ...dialect, ...more };
    },
    say: () => {},
  };
  await learnJob(trial, { task_id: "t-1" });
  expect(dialect.wait?.status).toEqual(status);
  expect(open).toHaveLength(status === undefined ? 1 : 0);
  // A question about the same jobs is answered by a shorter one, and one about jobs that are named elsewhere is not.
  await learnJob(trial, { operation_id: "o-1" });
  job = { id: "t-1", state: "done" };
  await learnJob(trial, { task_id: "t-1" });
  const others = open.filter((line) => !line.includes("/task_id"));
  expect(open.filter((line) => line.includes(", was RUNNING"))).toEqual([]);
  expect(others).toHaveLength(status === undefined ? 1 : 0);
});

test.each([
  ["asks for one, and one is known: it is sent as it is", 412, { from: ["/etag"], send: "If-Match" }, 1],
  ["asks for one, and none is known: each that may be is tried", 412, undefined, 2],
  ["is about something else", 409, undefined, 1],
] as const)("a refusal that %s", async (_, status, fingerprint, times) => {
  let sent = 0;
  const { dialect } = readDialectText("", "");
  const report: DoctorReport = {
    reachable: true,
    credential: "accepted",
    ...{ operations: [], records: [], unknownVmStates: [], open: [], diagnostics: [] },
    ...{ likelyStates: {}, samples: new Map(), emptied: new Set() },
    given: dialect,
    dialect: { ...dialect, ...(fingerprint && { fingerprint }) },
  };
  const trial = { report, learn: () => {}, learnt: () => {}, say: () => {} };
  const outcome = await versioned(trial, async () => {
    sent++;
    return rejected("refused", status);
  });
  expect([sent, outcome.status]).toEqual([times, "rejected"]);
});

test("what tells a root disk is true of those of other VMs as well, and no text of one disk alone", () => {
  const disks = ["a1", "b2"].map((id, nth) => ({
    volume: { id: `vol-${id}`, crn: `crn:v1:acme:volume:vol-${id}`, serial: `3f2a91c4d${nth}`, lun: 7000 + nth },
  }));
  const made = { sizes: new Map([["vol-b2", 1]]), data: new Set(["vol-b2"]), root: new Set(["vol-a1"]) };
  const root = (entries: readonly object[]) =>
    placesIn("vm", [{ id: "i-1", name: "web", volumes: entries }], { volumes: new Set(["vol-a1", "vol-b2"]), made })[
      "volume_entry.root"
    ];
  expect(root(disks)).toBeUndefined();
  expect(root(disks.map((disk, nth) => ({ ...disk, slot: `/dev/sd${"ab"[nth]}` })))).toEqual({
    value: "/slot",
    is: "/dev/sda",
  });
});

test("a flavor that was sent is found where none are listed, and the size of a disk is none", () => {
  const vm = { id: "i-1", name: "web", image: { root_volume: { size: 10 } }, commercial_type: "m1.small" };
  const made = { sizes: new Map(), data: new Set<string>(), root: new Set<string>() };
  expect(placesIn("vm", [vm], { made: { ...made, sent: { flavor: "m1.small" } } })).toMatchObject({
    flavor: "/commercial_type",
  });
  expect(placesIn("vm", [vm], {})).toMatchObject({ flavor: undefined });
});

test("where nothing is called an id, what the record is of may be", () => {
  expect(placesIn("vm", [{ vm: "vm-12", name: "web", host: "host-3" }], {})).toMatchObject({ id: "/vm" });
  expect(placesIn("volume", [{ disk: "d-1", vm: "vm-12", name: "data" }], {})).toMatchObject({ id: "/disk" });
});

test.each([
  ["what is called so", [{ uid: "in-west-1", name: "West" }], {}, "/uid"],
  ["its name, where that is all", [{ name: "West", location: "Berlin" }], {}, "/name"],
  ["its name, where others refer to it", [{ code: 7, name: "west-1" }], { referred: new Set(["west-1"]) }, "/name"],
])("the id of a region is %s", (_, regions, known, id) => {
  expect(placesIn("region", regions, known)).toMatchObject({ id, name: "/name" });
});

test("what leads on stands in a link that leaves out the rest of the query", () => {
  const next = { href: "https://inner.example/v1/volumes?limit=2&start=v-3" };
  const page = { body: { volumes: [{}, {}], next }, headers: {}, items: [{}, {}], at: "/volumes", id: "/id" };
  expect(waysOn({ ...page, origin: "https://c.example" })).toContainEqual({
    next: [{ value: "/next/href", cut: "*&start={value}" }],
    param: "start",
    as: "token",
  });
});

test("a record is asked for with what its list is asked with", () => {
  const said = { lists: ["/v1/volumes"], idKeys: ["id"], query: { version: "2026-01-01" } };
  const routes = writesFor("volume.delete", readDialectText("", "").dialect, said);
  expect(routes).toContainEqual({ method: "DELETE", path: "/v1/volumes/{id}", query: { version: "2026-01-01" } });
});

test("a DELETE that names nothing in its path is never a guess: it may delete all that there is", () => {
  const at = { lists: ["/v1/things"], idKeys: ["id"], query: { version: "1" } };
  const text = `operations: { volume.delete: { method: DELETE, path: /v1/disks, body: { id: "{id}" } } }`;
  for (const { dialect } of [readDialectText("", ""), readDialectText(text, "")])
    for (const [operation, own] of [
      ["volume.delete", "{id}"],
      ["group.rule.delete", "{rule_id}"],
    ] as const) {
      const deletes = writesFor(operation, dialect, at).filter(({ method }) => method === "DELETE");
      const guessed = deletes.filter((route) => route !== dialect.operations[operation]);
      expect(guessed).not.toEqual([]);
      expect(guessed.filter(({ path }) => !path.includes(own))).toEqual([]);
    }
  // What a person told is tried as it stands.
  const told = readDialectText(text, "").dialect;
  expect(writesFor("volume.delete", told, at)).toContain(told.operations["volume.delete"]);
});

test("what confirms a resize says what may revert one, and the other way", () => {
  const nowhere = { lists: [], idKeys: [] };
  const text = `operations: { vm.resize.confirm: { method: PUT, path: "/vms/{id}/Accept", body: { accept: true } } }`;
  const reverts = writesFor("vm.resize.revert", readDialectText(text, "").dialect, nowhere);
  expect(reverts).toContainEqual({ method: "PUT", path: "/vms/{id}/Decline", body: { decline: true } });
  expect(reverts).toContainEqual({ method: "PUT", path: "/vms/{id}/Accept", body: { accept: false } });
  const revert = `operations: { vm.resize.revert: { method: POST, path: "/vms/{id}/act", body: { do: UNDO } } }`;
  const confirms = writesFor("vm.resize.confirm", readDialectText(revert, "").dialect, nowhere);
  expect(confirms).toContainEqual({ method: "POST", path: "/vms/{id}/act", body: { do: "COMMIT" } });
  expect(writesFor("vm.resize.confirm", readDialectText("", "").dialect, nowhere)).toHaveLength(1);
});

test("a request about one thing that was told says where all of its kind are", () => {
  const { dialect: given } = readDialectText(
    `operations:
  vm.resize.confirm: { method: POST, path: "/c/machines/{id}/keep" }
  group.rule.delete: { method: DELETE, path: "/c/{field:/zone}/walls/{id}/holes/{rule_id}" }`,
    "",
  );
  expect([collectionsTold({ given }, "vm"), collectionsTold({ given }, "volume")]).toEqual([["/c/machines"], []]);
  expect(collectionsTold({ given }, "group")).toEqual([]);
});

test("a list is not asked for by the name or the id of the one that a person copied", () => {
  const at = "https://c.example/v1/disks?filter[title]=data&id=7&status=all&name=disks&per_page=5";
  const told = readCurl("volume.list", `curl -g '${at}'`, undefined, new Set());
  expect(told?.route.query).toEqual({ status: "all", name: "disks", per_page: "5" });
});

test.each([
  ["at once", 0, false, null],
  ["after a while", 2, false, null],
  ["never", 99, false, "left out"],
  ["no more since it was deleted", 99, true, null],
] as const)("a list that shows a volume of the trial's own %s", async (_, after, isDeleted, isLeftOut) => {
  let looks = 0;
  const route = builtInDialect.operations["vm.list"];
  const trial = {
    ports: { clock: { now: () => looks }, timing: { discoveryMs: 5 } },
    notes: { made: [{ kind: "volume", id: "v-1", name: "trial-0a1b2c-v", askedAt: 0 }] },
    isDeleted: () => isDeleted,
    client: {
      can: { canFindCreated: () => true },
      listVolumes: async () => accepted(looks++ < after ? [] : [{ id: "v-1" }]),
    },
    report: {
      dialect: { ...builtInDialect, operations: { ...builtInDialect.operations, "volume.list": route } },
      operations: [{ operation: "volume.list", verdict: "found", route, tried: [] }],
      emptied: new Set<string>(),
    },
    open: [] as string[],
    wait: async () => undefined,
    learnt: (report: unknown) => Object.assign(trial.report, report),
  };
  await leaveOutPartialLists(trial as never);
  expect(trial.report.dialect.operations["volume.list"]).toEqual(isLeftOut === null ? route : null);
  expect(trial.open.join()).toContain(isLeftOut ?? "");
  expect(trial.report.operations[0]?.verdict).toBe(isLeftOut === null ? "found" : "missing");
});

const describedBy = (paths: object, more: object = {}, base?: string) => {
  const { reads = {}, writes = {} } = readDescription({ ...more, paths }, base) ?? {};
  const routes = Object.entries(writes).map(([operation, { method, path }]) => [operation, `${method} ${path}`]);
  return { ...reads, ...Object.fromEntries(routes) };
};
test.each([
  ["disks below a folder called compute", { "/compute/disks": { get: {} } }, { "volume.list": ["/compute/disks"] }],
  ["types of volumes, which are no volumes", { "/volumes/types": { get: {} } }, {}],
  ["types of VMs", { "/servers/types": { get: {} } }, { "flavor.list": ["/servers/types"] }],
  [
    "the more usual word first",
    { "/groups": { get: {} }, "/security-groups": { get: {} } },
    { "group.list": ["/security-groups", "/groups"] },
  ],
  [
    "the delete of a volume, and of nothing of it or below its word",
    {
      "/volumes/snapshots/{id}": { delete: {} },
      "/volumes/{id}/tags": { delete: {} },
      "/volumes/purge-deleted": { post: {} },
      "/volumes/{volume-id}": { delete: {} },
    },
    { "volume.delete": "DELETE /volumes/{id}" },
  ],
  [
    "a delete with its verb before the id",
    { "/disk/delete/{id}": { post: {} } },
    { "volume.delete": "POST /disk/delete/{id}" },
  ],
  [
    "the delete of a group's rule, and of no other rule",
    {
      "/alarm-rules/{id}": { delete: {} },
      "/load-balancers/{lb}/rules/{id}": { delete: {} },
      "/projects/{p}/firewall-rules/{id}": { delete: {} },
      "/firewalls/{firewall-id}/rules/{rule-id}": { delete: {} },
    },
    { "group.rule.delete": "DELETE /firewalls/{id}/rules/{rule_id}" },
  ],
  [
    "a rule by itself",
    { "/api/v1/rules/{id}": { delete: {} } },
    { "group.rule.delete": "DELETE /api/v1/rules/{rule_id}" },
  ],
  [
    "the decisions about a resize of a VM",
    {
      "/volumes/{id}/resize/cancel": { post: {} },
      "/vms/{id}/actions": { post: { summary: "confirms or reverts a resize" } },
      "/vms/{id}:acceptResize": { post: {} },
      "/vms/{id}/actions/rollback": { post: { summary: "after a resize" } },
    },
    { "vm.resize.confirm": "POST /vms/{id}:acceptResize", "vm.resize.revert": "POST /vms/{id}/actions/rollback" },
  ],
])("a description names %s", (_, paths, told) => {
  expect(describedBy(paths)).toEqual(told);
});

const deletes = { "/disks/{id}": { delete: {} } };
test.each([
  ["nothing says otherwise", {}, undefined, "/disks/{id}"],
  ["basePath says", { swagger: "2.0", basePath: "/v2/" }, undefined, "/v2/disks/{id}"],
  [
    "servers say",
    { servers: [{ url: "https://c.example/{v}", variables: { v: { default: "v3" } } }] },
    undefined,
    "/v3/disks/{id}",
  ],
  ["the base URL has it", { servers: [{ url: "https://c.example/in/v3" }] }, "/in", "/v3/disks/{id}"],
  ["servers are no list", { servers: "x" }, undefined, "/disks/{id}"],
])("paths of a description are below what %s", (_, more, base, path) => {
  expect(describedBy(deletes, more, base)["volume.delete"]).toBe(`DELETE ${path}`);
});

test("a path of a description may stand elsewhere in it, and a circle ends", () => {
  const components = { pathItems: { disk: { delete: {} } } };
  const at = { "/disks/{id}": { $ref: "#/components/pathItems/disk" } };
  expect(describedBy(at, { components })).toEqual({ "volume.delete": "DELETE /disks/{id}" });
  expect(describedBy({ "/disks/{id}": { $ref: "#/paths/~1disks~1{id}" } })).toEqual({});
});

test("what a browser adds to a request, and the version of a copied record, are no part of it", () => {
  const noise = ["If-Match: 'W/3'", "sec-ch-ua: x", "Origin: https://c.example", "Accept-Language: de", "X-Tenant: t"];
  const said = noise.map((header) => `-H "${header}"`).join(" ");
  const told = readCurl("volume.delete", `curl -X DELETE ${said} https://c.example/disks/{id}`, undefined, new Set());
  expect(told?.route.headers).toEqual({ "X-Tenant": "t" });
});

test("what several requests have alike in their headers is sent with every one", () => {
  const at = "https://c.example";
  const told = readTold({
    curl: [
      `vm.list=curl -H 'X-Action: List' -H 'X-Request-Id: r-1' ${at}/vms`,
      `vm.resize.confirm=curl -X POST -H 'X-Action: Accept' -H 'X-Request-Id: r-1' ${at}/vms/ID/accept`,
    ],
  });
  const { start } = withTold(readDialectText("", "").dialect, told, at, new Set());
  expect(start.headers).toEqual({ "X-Request-Id": "r-1" });
  expect(start.operations["vm.list"]?.headers).toEqual({ "X-Action": "List" });
  const alone = withTold(
    readDialectText("", "").dialect,
    { ...told, commands: told.commands.slice(0, 1) },
    at,
    new Set(),
  );
  expect(alone.start.headers).toEqual({ "X-Request-Id": "r-1" });
  expect(alone.start.operations["vm.list"]?.headers).toEqual({ "X-Action": "List" });
});

test("of a service at the root of its host every path that is tried begins there", () => {
  const { dialect } = readDialectText("", "");
  const said = { lists: ["/"], idKeys: ["id"], query: { Action: "List" } };
  const paths = [
    ...writesFor("volume.delete", dialect, said).map(({ path }) => path),
    ...writesFor("group.rule.delete", dialect, said).map(({ path }) => path),
    ...placesOfOne("group.get", null, "/", []),
  ];
  expect(paths.filter((path) => !path.startsWith("/"))).toEqual([]);
  expect(paths).toContain("/{id}");
});

test("a list of attachments that is left out once nothing hangs on anything is empty from then on", async () => {
  const route = {
    method: "GET",
    path: "/attachments",
    items: ["/attachments"],
    vm: ["/vm"],
    volume: ["/disk"],
  } as const;
  const learnt: unknown[] = [];
  const isOff = (client: unknown, body: unknown) =>
    isOffList(
      {
        report: { dialect: { ...builtInDialect, attachments: route } },
        client,
        learn: ({ attachments }: { readonly attachments?: unknown }) => learnt.push(attachments),
        ports: {
          doctor: {
            probe: async () => ({
              outcome: { status: "accepted", value: body },
              answer: { status: 200, text: JSON.stringify(body) },
            }),
          },
        },
      } as unknown as Parameters<typeof isOffList>[0], // It uses no more of a trial than this.
      "m-1",
      "v-1",
    );
  const hangingOn = (attachedTo: string | null) => ({
    getVolume: async () => ({ status: "accepted", value: { attachedTo } }),
  });
  const unreadable = { getVolume: async () => ({ status: "rejected", condition: "unreadable" }) };
  expect(await isOff(hangingOn("m-1"), {})).toBe(false);
  expect(await isOff(hangingOn(null), {})).toBe(true);
  expect(await isOff(unreadable, { links: [{ id: "a" }] })).toBe(false);
  expect(learnt).toEqual([]);
  expect(await isOff(unreadable, {})).toBe(true);
  expect(learnt).toEqual([{ ...route, items: [{ in: "/attachments", absent: "none" }] }]);
});

test("a word has one meaning, in whatever letters it is written", () => {
  const words: Record<string, Set<string>> = { changing: new Set(["running"]), gone: new Set(["halted"]) };
  for (const [phase, word] of [
    ["running", "Running"],
    ["changing", "RUNNING"],
    ["running", "running"],
    ["stopped", "Halted"],
    ["gone", "HALTED"],
  ] as const)
    Trial.prototype.mean(words, phase, word);
  expect(words).toEqual({
    running: new Set(["Running"]),
    stopped: new Set(["Halted"]),
    changing: new Set(),
    gone: new Set(),
  });
});

test.each([
  [{ net: { gateway: "10.0.0.1", dns: ["1.1.1.1"] } }, { net: { gateway: "10.0.0.2", dns: ["8.8.8.8"] } }, undefined],
  [{ hypervisor: "10.9.9.9", version: "1.2.3.4" }, { hypervisor: "10.9.9.9", version: "1.2.3.4" }, undefined],
  [{ at: "10.0.0.7" }, { at: "10.0.0.7" }, undefined],
  [{ gateway: "10.0.0.1", at: "10.0.0.7" }, { gateway: "10.0.0.2", at: "10.0.0.8" }, "/at"],
])("an address that is of something beside the VM, or of several, is none of it: %j %j", (one, other, place) => {
  const vms = [one, other].map((shown, nth) => ({ id: `vm-${nth}`, name: `web-${nth}`, status: "up", ...shown }));
  const { floating_ip, private_ip } = placesIn("vm", vms);
  expect([floating_ip, private_ip]).toEqual([undefined, place]);
});

test.each([
  // A small number, a label that is called as a VM is, and a VM on which nothing hangs now.
  [{ index: 1 }, undefined],
  [{ labels: { role: "web" } }, undefined],
  [{ created_by_vm: "vm-1001" }, undefined],
  [{ hangs_with: "vm-1001" }, "/hangs_with"],
  [{ on_resource: "vm-1001" }, "/on_resource"],
  [{ elastic_block: { server: "vm-1001" } }, "/elastic_block/server"],
  [{ last_attached_to: "vm-1001" }, undefined],
  [{ bay_no: 1 }, "/bay_no"],
  [{ server: "web" }, { value: "/server", by: "name" }],
])("what a volume hangs on is told by no chance: %j", (shown, place) => {
  const known = { vms: new Set(["1", "2", "vm-1001"]), vmNames: new Set(["web"]) };
  expect(placesIn("volume", [{ id: "vol-1", name: "data", size: 10, ...shown }], known)["attached_to"]).toEqual(place);
});
