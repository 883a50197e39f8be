import { describe, expect, it } from "vitest";
import { readDesired } from "../../reconciler/config/read/desired";
import { head, readText } from "../support/desired-file";

/** `code line:column | summary | fix` of each problem; lines count from the first one below the head. */
const problems = (body: string, options = {}) =>
  readText(body, options).diagnostics.map(
    ({ code, source, summary, fix }) =>
      `${code.slice("config/".length)} ${source === undefined ? "-" : `${source.line - 4}:${source.column}`} | ${summary}${fix === undefined ? "" : ` | ${fix}`}`,
  );

const table = (cases: Record<string, [body: string, ...expected: string[]]>) =>
  it.each(Object.entries(cases))("%s", (_, [body, ...expected]) => {
    expect(problems(body)).toEqual(expected);
  });

const rule = (written: string) => `groups: { web: { rules: [ ${written} ] } }`;

describe("shape", () => {
  table({
    "a key of a block inside, written too high": [
      "vms: { web: { delete_floating_ip: true } }",
      "unknown-key 1:15 | the key delete_floating_ip is not known here | write it under lifecycle:",
    ],
    "a key of a block two levels down": [
      "poll_interval: 1s",
      "unknown-key 1:1 | the key poll_interval is not known here | write it under service.timing:",
    ],
    "a key that several blocks inside have": [
      "volumes: { data: { size: 1, command: [a] } }",
      "unknown-key 1:29 | the key command is not known here | write it under flush: or after_attach:",
    ],
    "a key that blocks of several depths have": [
      "vms: { web: { timeout: 1s } }",
      "unknown-key 1:15 | the key timeout is not known here | write it under after_ready: or after_attach: or lifecycle.verify_resize:",
    ],
    "a block that is one of the file's checks as well": [
      "lifecycle: { prevent_destroy: true }",
      "unknown-key 1:1 | the key lifecycle is not known here | write it under checks: or defaults.vm: or defaults.volume: or defaults.group: or vms.KEY: or volumes.KEY: or groups.KEY:",
    ],
    "a read and a lookup that are no maps, each once": [
      "reads: { a: 5, b: { } }\nlookups: { c: 5, d: { vm: x } }",
      "wrong-type 1:13 | a cannot be 5",
      "missing 1:16 | state is missing | add state: and where the state of the other project lies",
      "wrong-type 2:15 | c cannot be 5",
      'wrong-type 2:27 | vm cannot be "x"',
    ],
    "what a lookup does not look for": [
      "lookups: { a: { }, b: { disk: { name: x } }, c: { vm: { nam: x } }, d: { vm: { id: a, name: b } } }\nreads: { r: { state: x, to: y } }",
      "missing 1:12 | one of vm, volume, group, image, flavor is missing | write for example { vm: { name: legacy-app } }",
      "missing 1:20 | one of vm, volume, group, image, flavor is missing | write for example { vm: { name: legacy-app } }",
      "unknown-key 1:25 | the key disk is not known here | remove it",
      "missing 1:51 | id or name is missing | a lookup takes an id or a name, one of the two",
      "unknown-key 1:57 | the key nam is not known here | write name",
      "missing 1:74 | id or name is missing | a lookup takes an id or a name, one of the two",
      "unknown-key 2:25 | the key to is not known here | remove it",
    ],
    "a key with a name that objects inherit": [
      "constructor: { a: 1 }\nvms: { web: { toString: 1 } }",
      "unknown-key 1:1 | the key constructor is not known here | remove it",
      "unknown-key 2:15 | the key toString is not known here | remove it",
    ],
    "a choice among nothing": [
      "vars: { f: { one_of: [], default: 5 } }",
      "wrong-type 1:22 | one_of cannot be an empty list",
    ],
    "a lookup of two things": [
      "lookups: { a: { vm: { name: x }, group: { name: y } } }",
      "invalid-value 1:12 | the lookup a looks for vm and group | write a lookup for each, with a name of its own",
    ],
    "a number outside its limits, beside another mistake: no quotes help": [
      "vms: { web: { lifecycle: { verify_resize: { check: { tcp: 0, http: 'http://x' } } } } }",
      "invalid-value 1:52 | check cannot be a map",
      "wrong-type 1:59 | tcp cannot be 0",
    ],
    "a key like one that stands beside it": [
      "volumes: { data: { size: 1, sise: 2 } }",
      "unknown-key 1:29 | the key sise is not known here | remove it",
    ],
    "a misspelt key at the top": ["grups: {}", "unknown-key 1:1 | the key grups is not known here | write groups"],
    "a misspelt key of a VM": [
      "vms: { web: { flavour_id: x } }",
      "unknown-key 1:15 | the key flavour_id is not known here | write flavor_id",
    ],
    "a misspelt key that is needed, once": [
      "volumes: { data: { sise: 1 } }",
      "unknown-key 1:20 | the key sise is not known here | write size",
    ],
    "a time behind the end of the day": [
      "checks: { hours: { from: '08:00', to: '24:30' } }",
      'invalid-value 1:39 | to cannot be "24:30"',
    ],
    "how many of a block may be down, by each of them": [
      "vms: { web: { for_each: [a], max_unavailable: '${each}' } }",
      "interpolation 1:47 | ${each} has no meaning here | write a number, a share such as 25%, or a variable",
    ],
    "the value of an output, at its line": [
      "vms: { web: }\noutputs:\n  ip:\n    ${vm.wbe.id}",
      "unknown-reference 4:5 | vm.wbe is not declared | write vm.web",
    ],
    "a key of an output that there is not": [
      "outputs: { a: { value: 1, descr: x, sensitve: true } }",
      "unknown-key 1:27 | the key descr is not known here | put what it holds under value:",
      "unknown-key 1:37 | the key sensitve is not known here | write sensitive",
    ],
    "a misspelt key far inside": [
      "vms: { web: { lifecycle: { verify_resize: { check: { tpc: 22 } } } } }",
      "unknown-key 1:54 | the key tpc is not known here | write tcp",
    ],
    "a section as other tools call it": [
      "security_groups: {}",
      "unknown-key 1:1 | the key security_groups is not known here | write groups",
    ],
    "a field as other tools call it": [
      "volumes: { data: { size: 1, instance_id: web } }",
      "unknown-key 1:29 | the key instance_id is not known here | write attach_to",
    ],
    "what the service has no call for": [
      "vms: { web: { security_groups: [web] } }",
      "unknown-key 1:15 | the key security_groups is not known here | a VM is put into its group in the service's console: there is no call for it",
    ],
    "what the service has not": [
      "groups: { web: { tags: {} } }",
      "unknown-key 1:18 | the key tags is not known here | the service has no tags or labels: put what you want to find into the name",
    ],
    "what stands elsewhere here": [
      "volumes: { data: { size: 1, deletion_protection: true } }",
      "unknown-key 1:29 | the key deletion_protection is not known here | write lifecycle: { prevent_destroy: true }",
    ],
    "what is no section here": [
      "locals: {}",
      "unknown-key 1:1 | the key locals is not known here | write vars: { NAME: { default: … } }",
    ],
    "a truth value of older YAML": [
      "vms: { web: { skip_floating_ip: yes } }",
      'wrong-type 1:33 | skip_floating_ip cannot be "yes" | write true',
    ],
    "a port by its name": [
      rule("{ protocol: tcp, dst_port: https }"),
      'invalid-value 1:54 | dst_port cannot be "https" | write 443',
    ],
    "several ports with a comma between braces": [
      rule("{ protocol: tcp, dst_port: 443,444 }"),
      "unknown-key 1:58 | the key 444 is not known here | write several as a list: dst_port: [443, 444]",
    ],
    "several ranges with a comma between braces": [
      rule("{ protocol: tcp, remote_ip: 10.0.0.0/8,192.168.0.0/16 }"),
      "unknown-key 1:66 | the key 192.168.0.0/16 is not known here | write several as a list: remote_ip: [10.0.0.0/8, 192.168.0.0/16]",
    ],
    "a map where a list is expected": [
      "groups: { web: { rules: { protocol: tcp } } }",
      "wrong-type 1:25 | rules cannot be a map | put it into brackets, or a dash before it: rules: [ { … } ]",
    ],
    "a key that resembles nothing": [
      "groups: { web: { xyzzy: 1 } }",
      "unknown-key 1:18 | the key xyzzy is not known here | remove it",
    ],
    "a list where a map is expected": [
      "vms: [web]",
      "wrong-type 1:6 | vms cannot be a list | give each a key in place of its dash: vms: { KEY: { … } }",
    ],
    "a list where a map with keys of its own is expected": [
      "checks: [{ flavors: [a] }]\ngroups: { web: [{ protocol: tcp }] }",
      "wrong-type 1:9 | checks cannot be a list",
      "wrong-type 2:16 | web cannot be a list",
    ],
    "a word where a VM is expected": ["vms: { web: yes }", 'wrong-type 1:13 | web cannot be "yes"'],
    "a number where text is expected is quoted as written": [
      "vms: { web: { user_id: 0042 } }",
      'wrong-type 1:24 | user_id cannot be 42 | write "0042", in quotes',
    ],
    "a number that a merge key brings is quoted where it stands": [
      "x-all: &all { user_id: 0042 }\nvms: { web: { <<: *all } }",
      'wrong-type 1:24 | user_id cannot be 42 | write "0042", in quotes',
    ],
    "a number behind an anchor is quoted, and not the anchor; an alias is not": [
      "vms: { web: { user_id: &id 42 }, app: { user_id: *id } }",
      'wrong-type 1:28 | user_id cannot be 42 | write "42", in quotes',
      "wrong-type 1:50 | user_id cannot be 42",
    ],
    "a key that no address can hold": [
      "groups: { 'we b': }",
      "invalid-name 1:11 | the key we b is not allowed here | write we_b",
    ],
    "such keys keep what they may hold, and one of which nothing is left gets no empty advice": [
      "groups: { web-1.x: , '': , é: }",
      "invalid-name 1:11 | the key web-1.x is not allowed here | write web-1_x",
      "invalid-name 1:22 | the key  is not allowed here | give it a name of those",
      "invalid-name 1:28 | the key é is not allowed here | give it a name of those",
    ],
    "everything at once, in the order of the file": [
      "vms:\n  web: { size: 0, power: on }\ngroups:\n  net: { rules: [{ dst_port: x }] }",
      "invalid-value 2:16 | size cannot be 0",
      'not-allowed 2:26 | power cannot be "on"',
      'invalid-value 4:30 | dst_port cannot be "x"',
    ],
  });

  const odd = (what: string) =>
    `this line holds the character ${what}, which looks like a space or like nothing | type the line anew, or replace it with an ordinary space`;
  table({
    "a no-break space before a key": ["vms:\n  web:\n\u00a0   name: web-1", `yaml-syntax 3:1 | ${odd("U+00A0")}`],
    "a no-break space behind a colon": ["vms:\n  web:\n    name:\u00a0web-1", `yaml-syntax 3:5 | ${odd("U+00A0")}`],
    "a character without width in a key": ["vms: { web\u200b: { name: web-1 } }", `yaml-syntax 1:8 | ${odd("U+200B")}`],
    "a quote that is not closed, where it begins": [
      'vms:\n  web:\n    name: "web-1\n  db:\n    name: db-1',
      'yaml-syntax 3:11 | the file is not valid YAML | close the " that stands here',
    ],
    "a brace that is not closed, where it stands": [
      "vms: { web: { name: web-1 }\nvolumes: { data: { size: 5 } }",
      "yaml-syntax 1:6 | the file is not valid YAML | close the { that stands here",
    ],
    "text with a colon": [
      "groups:\n  web:\n    description: Note: this is public",
      "yaml-syntax 3:18 | the file is not valid YAML | put text that holds a colon and a space in quotes",
    ],
    "no space behind a dash": [
      "groups:\n  web:\n    rules:\n      -protocol: tcp\n       dst_port: 22",
      "yaml-syntax 4:18 | the file is not valid YAML | put a space behind the dash",
    ],
    "no space behind a colon": [
      "vms:\n  web:\n    name:web-1\n    size: 5",
      "yaml-syntax 3:5 | the file is not valid YAML | put a space behind the colon",
    ],
    "no space behind the dash of an item with one key": [
      "groups:\n  web:\n    rules:\n    -protocol: tcp",
      "unknown-key 4:5 | the key -protocol is not known here | put a space behind the dash",
    ],
    "no space behind the only colon": [
      "vms:\n  web:\n    name:web-1",
      'wrong-type 3:5 | web cannot be "name:web-1" | put a space behind the colon',
    ],
    "a key of an item in another column": [
      "groups:\n  web:\n    rules:\n      - protocol: tcp\n       dst_port: 22",
      "yaml-syntax 5:1 | the file is not valid YAML | begin the keys of one item in one column",
    ],
    "text that begins with a character of YAML": [
      "groups: { web: { description: @home } }",
      "yaml-syntax 1:31 | the file is not valid YAML | put the text in quotes",
    ],
    "a merge that git left to a person": [
      "vms:\n<<<<<<< ours\n  web: { size: 5 }\n",
      "yaml-syntax 2:1 | the file is not valid YAML | keep one side of the merge that git could not do by itself",
    ],
    "a reference as templates write it": [
      "vms:\n  web:\n    name: {{ env }}-web",
      'yaml-syntax 3:20 | the file is not valid YAML | write "${…}", with quotes, for what {{ … }} is elsewhere',
    ],
    "ports in one text": [
      rule('{ protocol: tcp, dst_port: "80-90,443" }'),
      'invalid-value 1:54 | dst_port cannot be "80-90,443" | write [80-90, 443]',
    ],
    "a protocol of the layer above": [
      rule("{ protocol: http, dst_port: 80 }"),
      'not-allowed 1:39 | protocol cannot be "http" | write tcp',
    ],
    "a direction as other tools call it": [
      rule("{ protocol: tcp, dst_port: 80, direction: in }"),
      'not-allowed 1:69 | direction cannot be "in" | write ingress',
    ],
    "an address alone where an entry is expected": [
      "removed: [vm.db]",
      'wrong-type 1:11 | removed cannot be "vm.db" | write { from: vm.db, destroy: false }',
    ],
    "a key where an address is expected": [
      "moved: [{ from: db, to: vm.web }]\nvms: { web: { name: web-1 } }",
      'invalid-value 1:17 | from cannot be "db" | write vm.db, volume.db or group.db',
    ],
    "the braces of another language": [
      "vms: { web: { name: 'web-{{ var.n }}' } }",
      'invalid-name 1:21 | the name web-{{ var.n }} contains "{"; only a-z, 0-9 and hyphens are allowed | write web-${var.n}',
    ],
    "true in quotes": [
      'vms: { web: { lifecycle: { prevent_destroy: "true" } } }',
      'wrong-type 1:45 | prevent_destroy cannot be "true" | write true, without quotes',
    ],
    "a block that is one reference": [
      'vars: { all: { default: { power: running } } }\nvms: { web: "${var.all}" }',
      'wrong-type 2:13 | web cannot be "${var.all}"',
    ],
    "a duration with its unit written out": [
      "service: { timing: { poll_interval: 2 sec } }",
      'invalid-value 1:37 | poll_interval cannot be "2 sec" | write 2s',
    ],
    "an address without its scheme": [
      "service: { base_url: cloud.example.com }",
      'invalid-value 1:22 | base_url cannot be "cloud.example.com" | write https://cloud.example.com',
    ],
    "a credential in an address": [
      "service: { base_url: 'https://me:secret@cloud.example.com' }",
      "invalid-value 1:22 | base_url holds a credential | take it out of the URL and set RECONCILE_TOKEN or RECONCILE_AUTHORIZATION",
    ],
    "a credential that is not written as an address has it": [
      "service: { base_url: 'https://me:sec/ret@cloud.example.com' }",
      "invalid-value 1:22 | base_url holds a credential | take it out of the URL and set RECONCILE_TOKEN or RECONCILE_AUTHORIZATION",
    ],
  });

  it("names the offending line, what was expected and what would be right", () => {
    expect(readText("vms:\n  web: { power: runing }").diagnostics).toEqual([
      {
        severity: "error",
        code: "config/not-allowed",
        summary: 'power cannot be "runing"',
        detail: "expected one of running, stopped",
        fix: "write running",
        address: "vm.web",
        source: { file: "reconcile.yaml", line: 6, column: 17 },
        excerpt: "  web: { power: runing }",
      },
    ]);
  });

  it.each([
    ["project: p", "version is missing"],
    ["version: 2", "version cannot be 2"],
    ['version: "1"', 'version cannot be "1"'],
  ])("%s needs version: 1", (text, summary) => {
    const { desired, diagnostics } = readDesired([{ file: "f", text }]);
    expect(desired).toBeUndefined();
    expect(diagnostics).toMatchObject([
      { code: "config/version", summary, fix: expect.stringContaining("version: 1") },
    ]);
  });

  it("a missing version does not hide what is wrong with the key in its place", () => {
    const { diagnostics } = readDesired([{ file: "f", text: "vmss: {}" }]);
    expect(diagnostics.map(({ fix }) => fix)).toEqual(["write vms", "write version: 1 at the top of the file"]);
  });

  it("a VM names everything it lacks", () => {
    const { diagnostics } = readDesired([{ file: "f", text: "version: 1\nvms: { web: {} }" }]);
    expect(diagnostics.map(({ summary }) => summary)).toEqual(
      ["flavor_id", "image_id", "owner", "project", "region", "size", "user_id"].map((key) => `${key} is missing`),
    );
  });
});

describe("values", () => {
  table({
    "a size with a unit": ["vms: { web: { size: 20GB } }", 'invalid-value 1:21 | size cannot be "20GB" | write 20'],
    "a size in other units, and what no fix could make right": [
      "volumes: { a: { size: 10TB }, b: { size: 500 MB }, c: { size: 0GB }, d: { size: 10 GiB } }",
      'invalid-value 1:23 | size cannot be "10TB"',
      'invalid-value 1:42 | size cannot be "500 MB"',
      'invalid-value 1:63 | size cannot be "0GB"',
      'invalid-value 1:81 | size cannot be "10 GiB" | write 10',
    ],
    "durations and ports that no fix could make right": [
      "vms: { web: { lifecycle: { verify_resize: { timeout: 3000000, check: { tcp: '00' } } } } }\ngroups: { web: { rules: [{ protocol: tcp, dst_port: 70000-80 }, { protocol: tcp, dst_port: '70000,80' }] } }",
      "invalid-value 1:54 | timeout cannot be 3000000",
      'invalid-value 1:77 | tcp cannot be "00"',
      'invalid-value 2:53 | dst_port cannot be "70000-80"',
      'invalid-value 2:92 | dst_port cannot be "70000,80"',
    ],
    "a fraction of a GB": ["volumes: { data: { size: 1.5 } }", "invalid-value 1:26 | size cannot be 1.5"],
    "a VM without data volume (contract: at least 1)": [
      "vms: { web: { size: '0' } }",
      'invalid-value 1:21 | size cannot be "0"',
    ],
    "a large volume is only a warning": [
      "volumes: { data: { size: 1601 } }",
      "size-over-limit 1:26 | a size of 1601 GB is more than the service's console accepts",
    ],
    "a number without unit as duration": [
      "service: { timing: { poll_interval: 2 } }",
      "invalid-value 1:37 | poll_interval cannot be 2 | write 2s",
    ],
    "a duration that no timer can wait for": [
      "service: { timing: { poll_interval: 1000h } }",
      'invalid-value 1:37 | poll_interval cannot be "1000h"',
    ],
    "a base URL of another sort": [
      "service: { base_url: ftp://x }",
      'invalid-value 1:22 | base_url cannot be "ftp://x"',
    ],
    "two checks": [
      "vms: { web: { lifecycle: { verify_resize: { check: { tcp: 1, http: 'http://x' } } } } }",
      "invalid-value 1:52 | check cannot be a map",
    ],
    "a field that a volume does not have": [
      "volumes: { data: { size: 1, lifecycle: { ignore_changes: [sise] } } }",
      'not-allowed 1:59 | ignore_changes cannot be "sise" | write size',
    ],
    "a flush via a command that is not there": [
      "volumes: { data: { size: 1, flush: { via: command } } }",
      "missing 1:29 | command is missing | add command: [program, argument, …] beside via: command",
    ],
    "a command as one text": [
      "volumes: { data: { size: 1, flush: { via: command, command: sync now } } }",
      'wrong-type 1:61 | command cannot be "sync now" | write [sync, now]',
    ],
    "a command as a text of nothing": [
      "volumes: { data: { size: 1, flush: { via: command, command: ' ' } } }",
      'wrong-type 1:61 | command cannot be " "',
    ],
    "a command as one text for a shell": [
      "volumes: { data: { size: 1, flush: { via: command, command: sync && umount /data } } }",
      'wrong-type 1:61 | command cannot be "sync && umount /data" | write [sh, -c, "sync && umount /data"]',
    ],
    "a command as one text with what brackets take for more": [
      "vms: { web: {} }\nvolumes: { data: { size: 1, flush: { via: command, command: '-x a,b 007 null ${vm.web.id}' } } }",
      'wrong-type 2:61 | command cannot be "-x a,b 007 null ${vm.web.id}" | write [-x, "a,b", "007", "null", "${vm.web.id}"]',
    ],
    "a policy with nothing right": [
      "policy: { command: conftest, env: [RECONCILE_TOKEN] }",
      'wrong-type 1:20 | command cannot be "conftest" | write [conftest]',
      'invalid-value 1:36 | env cannot be "RECONCILE_TOKEN"',
    ],
    "a day that is none": [
      'checks: { hours: { days: [Mon], from: "08:00", to: "09:00" } }',
      'invalid-value 1:27 | days cannot be "Mon"',
    ],
    "a control character": [
      'vms: { web: { owner: "a\\e[31mb" } }',
      'control-character 1:22 | owner cannot be "a\\u001b[31mb"',
    ],
  });

  it("a check that says nothing is told what it may say", () => {
    const { diagnostics } = readText("vms: { web: { lifecycle: { verify_resize: { check: {} } } } }");
    expect(diagnostics[0]).toMatchObject({
      summary: "check cannot be an empty map",
      detail: "expected one of command, env, http, tcp",
    });
  });

  it("a credential in the base URL is refused and not repeated", () => {
    const { diagnostics } = readText("service: { base_url: https://joe:s3cret@x }");
    expect(diagnostics.map(({ code }) => code)).toEqual(["config/invalid-value"]);
    expect(JSON.stringify(diagnostics)).not.toContain("s3cret");
  });
});

describe("names", () => {
  table({
    "too short": [
      "vms: { db: }",
      "invalid-name 1:8 | the name db is 2 characters long; 3 to 50 are allowed | give it a name: name: db-1",
    ],
    "with an underscore": [
      "vms: { web: { name: my_web } }",
      'invalid-name 1:21 | the name my_web contains "_"; only a-z, 0-9 and hyphens are allowed | write my-web',
    ],
    "with a key of its for_each that fits no name": [
      "vms: { web: { for_each: [a_b, c] } }",
      'invalid-name 1:8 | the name web-a_b contains "_"; only a-z, 0-9 and hyphens are allowed | the key is a part of the name: write one of a-z, 0-9 and hyphens in place of a_b in the for_each',
    ],
    "with an underscore beside such a key": [
      "vms: { web: { for_each: [web], name: 'my_${each}' } }",
      'invalid-name 1:38 | the name my_web contains "_"; only a-z, 0-9 and hyphens are allowed | write "my-${each}"',
    ],
    "with several places that look like the key": [
      "vms: { web: { for_each: [e], name: 'my_${each}_server' } }",
      'invalid-name 1:36 | the name my_e_server contains "_"; only a-z, 0-9 and hyphens are allowed | write such a name, with ${each} in it',
    ],
    "too long for such a key": [
      `vms: { web: { for_each: [a], name: 'x${"1".repeat(50)}-\${each}' } }`,
      `invalid-name 1:36 | the name x${"1".repeat(50)}-a is 53 characters long; 3 to 50 are allowed | write such a name, with \${each} in it`,
    ],
    "the platform's group": [
      "groups: { net: { name: Default } }",
      "reserved-name 1:24 | the group default is managed by the platform and cannot be declared | choose another name; a rule can still refer to it with { id: … }",
    ],
    "one name in a for_each": [
      "vms: { web: { for_each: [a, b], name: one } }",
      "duplicate-name 1:39 | several instances of one vm have the name one | put ${each} into the name",
    ],
    "keys of a for_each that differ in their case alone": [
      "vms: { web: { for_each: [A, a], name: 'web-${each}' } }",
      "duplicate-name 1:39 | several instances of one vm have the name web-a | names have no capital letters: give A and a keys that differ without them",
    ],
  });

  it("one name for two VMs, in whatever case, names both lines", () => {
    const { diagnostics } = readText("vms:\n  one: { name: WEB-1 }\n  two: { name: web-1 }");
    expect(diagnostics).toMatchObject([
      { code: "config/duplicate-name", detail: "vm.one in reconcile.yaml:6 and vm.two in reconcile.yaml:7" },
    ]);
  });

  it("a VM, a volume and a group may share a name", () => {
    expect(problems("vms: { web: }\nvolumes: { web: { size: 1 } }\ngroups: { web: }")).toEqual([]);
  });
});

describe("references", () => {
  table({
    "a misspelt VM": [
      "vms: { web: }\nvolumes: { data: { size: 1, attach_to: wbe } }",
      "unknown-reference 2:40 | vm.wbe is not declared | write web",
    ],
    "a for_each without key": [
      "vms: { web: { for_each: [a, b] } }\nvolumes: { data: { size: 1, attach_to: web } }",
      "reference-needs-key 2:40 | vm.web has a for_each: the reference must name one of its keys | write web[a]",
    ],
    "a key that is not there": [
      "vms: { web: { for_each: [one, two] } }\nvolumes: { data: { size: 1, attach_to: 'vm.web[tow]' } }",
      "unknown-reference 2:40 | vm.web[tow] is not declared | write vm.web[two]",
    ],
    "a key where there is no for_each": [
      "vms: { web: }\nvolumes: { data: { size: 1, attach_to: 'web[a]' } }",
      "unknown-reference 2:40 | vm.web[a] is not declared | write web",
    ],
    "a group where a VM is expected": [
      "groups: { web: }\nvolumes: { data: { size: 1, attach_to: group.web } }",
      'unknown-reference 2:40 | attach_to cannot be "group.web"',
    ],
    "a reference without id": [
      "volumes: { data: { size: 1, attach_to: { name: x } } }",
      "missing 1:29 | id is missing | add id: and the id of the resource",
      "unknown-key 1:42 | the key name is not known here | remove it",
    ],
  });

  it("lists the keys of the for_each", () => {
    const { diagnostics } = readText("vms: { web: { for_each: 20 } }\nvolumes: { data: { size: 1, attach_to: web } }");
    expect(diagnostics[0]?.detail).toBe("its keys are 0, 1, 2, 3, 4, 5, 6, 7 and 12 more");
  });
});

describe("rules", () => {
  table({
    "a port for icmp": [
      rule("{ protocol: icmp, dst_port: 1 }"),
      "invalid-rule 1:45 | a rule for icmp takes no port | remove dst_port",
    ],
    "a port without protocol": [
      rule("{ dst_port: 1 }"),
      "invalid-rule 1:29 | a rule with a port needs a protocol | add protocol: tcp or protocol: udp",
    ],
    "an unknown protocol": [rule("{ protocol: tpc }"), 'not-allowed 1:39 | protocol cannot be "tpc" | write tcp'],
    "port 0": [rule("{ protocol: tcp, dst_port: 0 }"), "invalid-value 1:54 | dst_port cannot be 0"],
    "a port too large": [rule("{ protocol: tcp, dst_port: 65536 }"), "invalid-value 1:54 | dst_port cannot be 65536"],
    "a range upside down": [
      rule("{ protocol: tcp, dst_port: 20-10 }"),
      'invalid-value 1:54 | dst_port cannot be "20-10" | write 10-20',
    ],
    "no CIDR": [rule("{ remote_ip: 10.0.0 }"), 'invalid-value 1:40 | remote_ip cannot be "10.0.0"'],
    "a prefix too long": [
      rule("{ remote_ip: 10.0.0.0/33 }"),
      'invalid-value 1:40 | remote_ip cannot be "10.0.0.0/33" | write a prefix from 0 to 32; 10.0.0.0/32 is this address alone',
    ],
    "two remotes": [
      rule("{ remote_ip: 10.0.0.0/8, remote_group: self }"),
      "invalid-rule 1:52 | a rule has either remote_ip or remote_group | make two rules of it",
    ],
    "IPv6 in a rule for IPv4": [
      rule("{ ethertype: IPv4, remote_ip: '::/0' }"),
      "invalid-rule 1:57 | remote_ip ::/0 is IPv6, but the rule's ethertype is IPv4 | write ethertype: IPv6, or leave it out",
    ],
  });

  it.each([
    ["{ protocol: tcp, dst_port: 80 }", "{ protocol: TCP, dst_port: '80', remote_ip: 0.0.0.0/0, description: again }"],
    ["{ remote_ip: 10.1.2.3/8 }", "{ remote_ip: 10.0.0.0/8, direction: ingress, ethertype: IPv4 }"],
    ["{ remote_group: self }", "{ remote_group: group.web }"],
    ["{ protocol: udp, dst_port: 1-65535 }", "{ protocol: udp }"],
  ])("%s and %s are identical, and the service would roll the group back", (a, b) => {
    const { diagnostics } = readText(`groups:\n  web:\n    rules:\n      - ${a}\n      - ${b}`);
    expect(diagnostics).toMatchObject([
      { code: "config/duplicate-rule", detail: expect.stringContaining("reconcile.yaml:8 and reconcile.yaml:9") },
    ]);
  });
});

describe("variables and for_each", () => {
  it("a reference that means nothing is told once, and not again by whatever would take its value", () => {
    const none = '"${var.none}"';
    const { diagnostics } = readText(`
prices: { currency: ${none}, vm: { m1.small: ${none} } }
checks:
  { flavors: [${none}], images: ${none}, regions: [${none}], names: { vm: ${none} }, at_most: { remove: ${none} },
    hours: { days: [${none}], from: ${none}, to: "18:00" } }
policy: { command: [${none}], env: [${none}], timeout: ${none} }
reads: { r: { state: ${none} } }
lookups: { a: { vm: { name: ${none} } }, b: { vm: { id: ${none} } }, c: { vm: ${none} } }
rollout: { a: { of: [${none}], max_unavailable: ${none} }, b: { of: ${none}, on_failure: revert, check: ${none} } }
ssh: { user: ${none}, jump: ${none}, port: ${none} }
reachability:
  - never: { from: ${none}, to: [${none}], tcp: [${none}], udp: ${none} }
    except: { from: ${none} }
    allow: [ { from: ${none}, until: ${none}, reason: ${none} } ]
imports: [ { to: ${none}, id: ${none} } ]
moved: [ { from: ${none}, to: ${none} } ]
removed: [ { from: ${none}, destroy: ${none} } ]
vms:
  web:
    name: ${none}
    size: ${none}
    after_ready: { command: [${none}], env: [${none}], timeout: ${none} }
    lifecycle: { snapshot_before: [${none}], verify_resize: { check: { http: ${none} } } }
  db: { for_each: [${none}] }
volumes:
  data: { size: ${none}, attach_to: ${none}, flush: { via: command, command: ${none}, env: ${none} } }
  logs: { size: 3, attach_to: { id: ${none} } }
groups:
  web:
    rules:
      - { protocol: [${none}], dst_port: [${none}], remote_ip: [${none}] }
      - { protocol: tcp, dst_port: ${none}, remote_group: [${none}], enabled: ${none} }
`);
    expect(diagnostics.filter(({ code }) => code !== "config/unknown-variable")).toEqual([]);
  });

  it("names the environment as a place for a value where it is read", () => {
    const sources = [{ file: "f", text: "version: 1\nvars: { env: }\n" }];
    const { diagnostics } = readDesired(sources, { environment: {} });
    expect(diagnostics.map(({ fix }) => fix)).toContain(
      "give --var env=…, or set RECONCILE_VAR_env, or write a default",
    );
  });

  table({
    "a variable without a value": [
      "vars: { env: }",
      "variable-without-value 1:9 | the variable env has no value and no default | give --var env=…, or write a default",
    ],
    "a variable that is not declared": [
      "vars: { env: { default: x } }\nvms: { web: { name: 'web-${var.evn}' } }",
      "unknown-variable 2:21 | no variable evn is declared | write ${var.env}",
    ],
    "an interpolation that is not closed": [
      "vms: { web: { name: 'web-${var.x' } }",
      "interpolation 1:21 | an interpolation is not closed | close it with }, or write $${ for a literal ${",
    ],
    "something else in an interpolation": [
      "vars: { env: { default: x } }\nvms: { web: { name: 'web-${env}' } }",
      "interpolation 2:21 | ${env} is not known | write ${var.env}",
    ],
    "each without for_each": [
      "vms: { web: { name: 'web-${each}' } }",
      "interpolation 1:21 | ${each} has no meaning here | add for_each",
    ],
    "an output of a fleet's stack": [
      'outputs: { a: "${stack.base.id}" }',
      "interpolation 1:15 | ${stack.base.id} has no meaning here | write ${var.NAME}, and inputs: { NAME: … } in the fleet's file",
    ],
    "each.value of a list": [
      "vms: { web: { for_each: [a], name: 'web-${each.value}' } }",
      "interpolation 1:36 | ${each.value} needs a for_each that is a map | write ${each}",
    ],
    "a field that is not there, for one key": [
      "vms: { web: { for_each: { a: { zone: x }, b: { } }, name: 'web-${each.value.zone}' } }",
      "interpolation 1:59 | ${each.value} has no zone for the key b",
    ],
    "what stands behind a key is nothing": [
      "vars: { m: { default: { k: , j: 1 } } }\nvms: { web: { for_each: { a: { zone: }, b: }, name: 'web-${each.value.zone}', owner: '${var.m.k}' } }\ngroups: { web: { for_each: { c: }, description: '${each.value}' } }",
      "interpolation 2:53 | ${each.value.zone} is empty for the key a | give it a value",
      "interpolation 2:53 | ${each.value} is empty for the key b | give it a value",
      "interpolation 2:86 | ${var.m.k} is empty | give it a value",
      "interpolation 3:49 | ${each.value} is empty for the key c | give it a value",
    ],
    "all of the value of a for_each, which is none": [
      "vms: { web: { for_each: { a: { b: 1 } }, name: 'web-${each.value[*]}' } }",
      "interpolation 1:48 | ${each.value[*]} is not known for the key a",
    ],
    "how long a list is, and a key in quotes": [
      "vars: { l: { default: [a] }, m: { default: { a: 1 } } }\nvms: { web: { name: 'web-${var.l.length}', owner: 'o-${var.m[\"a\"]}' } }",
      "interpolation 2:21 | ${var.l} has no length",
      'interpolation 2:51 | ${var.m} has no "a" | write ${var.m[a]}',
    ],
    "a list within a text": [
      "vars: { l: { default: [a] } }\nvms: { web: { name: 'web-${var.l}' } }",
      "interpolation 2:21 | ${var.l} is a list and cannot stand within text",
    ],
    "a repeated key": [
      "vms: { web: { for_each: [a, b, a] } }",
      "for-each 1:32 | the for_each key a is given twice | keep one of the two",
    ],
    "a key with a space": [
      "vms: { web: { for_each: ['a b'] } }",
      'for-each 1:26 | the for_each key "a b" holds a bracket, a space or a control character',
    ],
    "a negative number": ["vms: { web: { for_each: -1 } }", "for-each 1:25 | for_each cannot be -1"],
    "an interpolation in a key": [
      "vars: { env: { default: x } }\nvms: { web: { for_each: { '${var.env}': 1 }, name: abc } }",
      'for-each 2:41 | the for_each key "${var.env}" holds an interpolation | use a list, or a variable that is the whole map: for_each: ${var.NAME}',
    ],
    "a number that would fill the memory": [
      "vms: { web: { for_each: 1e9 } }",
      "for-each 1:25 | for_each makes too many instances | split them into projects, each in a folder and with a state of its own",
    ],
    text: ["vms: { web: { for_each: abc } }", 'for-each 1:25 | for_each cannot be "abc" | write [abc]'],
  });

  it("a million resources in one file: refused before it is read, with the way", () => {
    const started = performance.now();
    const { desired, diagnostics } = readDesired([{ file: "million.yaml", text: "#".repeat(64_000_001) }]);
    expect([desired, diagnostics.map(({ code, fix }) => [code, fix])]).toEqual([
      undefined,
      [["config/too-large", expect.stringMatching(/^split it into projects/)]],
    ]);
    expect(performance.now() - started).toBeLessThan(5000);
  });

  it("how few may stand in a list", () => {
    expect(readText("vars: { f: { one_of: [], default: 5 } }").diagnostics).toMatchObject([
      { detail: "expected at least 1 item" },
    ]);
    // Where a text or a map may stand as well, the list is no less a list.
    expect(readText("reachability: [ { never: { from: [], to: internet } } ]").diagnostics).toMatchObject([
      { summary: "from cannot be an empty list", detail: "expected at least 1 item" },
    ]);
  });

  it("--var for a variable that is not declared", () => {
    expect(problems("vars: { env: { default: x } }", { vars: { evn: "y" } })).toEqual([
      "unknown-variable - | --var evn sets a variable that is not declared | write --var env=…",
    ]);
  });

  it("a variable of the environment that is nearly one of the file, and no other", () => {
    const read = (environment: Record<string, string>) =>
      readText("vars: { webs: { default: 1 } }", { environment }).diagnostics;
    expect(read({ webz: "5" })).toMatchObject([{ severity: "warning", fix: "write RECONCILE_VAR_webs" }]);
    expect([...read({ webz: "5", webs: "5" }), ...read({ other_project: "5" })]).toEqual([]);
  });

  it("a variable file may hold more than is declared, with a warning", () => {
    const { desired, diagnostics } = readText("vars: { env: { default: x } }", {
      varFiles: [{ file: "v.yaml", text: "evn: 1" }],
    });
    expect(desired).toBeDefined();
    expect(diagnostics).toMatchObject([{ severity: "warning", source: { file: "v.yaml", line: 1 }, fix: "write env" }]);
  });

  it("a problem in the defaults is reported there, and once", () => {
    const text = `${head.replace("size: 10", "size: ten")}vms: { web: { for_each: 100 } }`;
    expect(readDesired([{ file: "f", text }]).diagnostics).toMatchObject([
      { source: { line: 4 }, address: "vm.web[0]" },
    ]);
  });
});

describe("imports, moved and removed", () => {
  const vms = "vms: { web: , each: { for_each: [a] } }\ngroups: { net: }\n";
  table({
    "importing to what is not declared": [
      `${vms}imports: [{ to: vm.wbe, id: x }]`,
      "unknown-reference 3:17 | vm.wbe is not declared | write vm.web",
    ],
    "importing to a for_each": [
      `${vms}imports: [{ to: vm.each, id: x }]`,
      "reference-needs-key 3:17 | vm.each has a for_each: the reference must name one of its keys | write vm.each[a]",
    ],
    "importing nothing": [
      `${vms}imports: [{ to: vm.web }]`,
      "invalid-import 3:11 | an import needs the id of what exists | add id: or name:",
    ],
    "importing by id and name": [
      `${vms}imports: [{ to: vm.web, id: x, name: y }]`,
      "invalid-import 3:38 | an import takes an id or a name, not both | remove one of the two",
    ],
    "importing a group by name": [
      `${vms}imports: [{ to: group.net, name: y }]`,
      "invalid-import 3:34 | only a VM can be imported by its name | give its id: instead",
    ],
    "importing one thing twice": [
      `${vms}imports: [{ to: vm.web, id: x }, { to: 'vm.each[a]', id: x }]`,
      "invalid-import 3:58 | the id x is imported twice | one existing resource can have one address",
    ],
    "importing one name twice": [
      `${vms}imports: [{ to: vm.web, name: X }, { to: 'vm.each[a]', name: x }]`,
      "invalid-import 3:62 | the name x is imported twice | one existing resource can have one address",
    ],
    "no address": [
      `${vms}moved: [{ from: web, to: vm.web }]`,
      'invalid-value 3:17 | from cannot be "web" | write vm.web, volume.web or group.web',
    ],
    "moving what is still declared": [
      `${vms}moved: [{ from: vm.web, to: 'vm.each[a]' }]`,
      "invalid-move 3:17 | vm.web is moved, and still declared | take its block out of the file, or the move",
    ],
    "a block moved as a whole, and still declared": [
      "vms: { each: { for_each: [a] }, site: { for_each: [b] } }\nmoved: [{ from: vm.each, to: vm.site }]",
      "invalid-move 2:17 | vm.each is moved, and still declared | take its block out of the file, or the move",
    ],
    "an instance that stays where it is declared": [
      "vms: { each: { for_each: [a, b] } }\nmoved: [{ from: 'vm.each[a]', to: 'vm.each[b]' }]\nremoved: [{ from: 'vm.each[b]' }]",
      "invalid-move 2:17 | vm.each[a] is moved, and still declared | take its key out of the for_each, or the move",
      "invalid-removal 3:19 | vm.each[b] is removed, and still declared | take its key out of the for_each, or this removal",
    ],
    "moving to what is not declared": [
      `${vms}moved: [{ from: vm.old, to: vm.wbe }]`,
      "unknown-reference 3:29 | vm.wbe is not declared | write vm.web",
    ],
    "moving to what resembles nothing declared": [
      `${vms}moved: [{ from: vm.old, to: vm.xyzzy }]`,
      "unknown-reference 3:29 | vm.xyzzy is not declared | declare it under vms",
    ],
    "moving to another kind": [
      `${vms}moved: [{ from: volume.old, to: vm.web }]`,
      "invalid-move 3:33 | volume.old cannot become vm.web | take the move out",
    ],
    "moving two to one": [
      `${vms}moved: [{ from: vm.x, to: vm.web }, { from: vm.y, to: vm.web }]`,
      "invalid-move 3:55 | two resources are moved to vm.web | keep one of the two",
    ],
    "moving in a circle": [
      `${vms}moved: [{ from: vm.x, to: vm.y }, { from: vm.y, to: vm.x }]`,
      "invalid-move 3:17 | the moves from vm.x go round in a circle | take one of them out",
      "invalid-move 3:43 | the moves from vm.y go round in a circle | take one of them out",
    ],
    "removing what is still declared": [
      `${vms}removed: [{ from: vm.each }]`,
      "invalid-removal 3:19 | vm.each is removed, and still declared | take its block out of the file, or this removal",
    ],
  });
});

describe("rollouts", () => {
  const vms = "vms: { web: { for_each: 2 }, main: {}, job: { max_unavailable: 1 } }\n";
  table({
    "a VM in two of them": [
      `${vms}rollout: { one: { of: vm.main }, two: { of: [vm.web, vm.main] } }`,
      "conflicting-setting 2:34 | vm.main is in two rollouts: one and two | leave it in one of the two, or take max_unavailable out of its block",
    ],
    "a VM in one, and counted by its block": [
      `${vms}rollout: { one: { of: vm.job } }`,
      "conflicting-setting 2:12 | vm.job is in two rollouts: vm.job and one | leave it in one of the two, or take max_unavailable out of its block",
    ],
    "a VM named twice in one": [`${vms}rollout: { one: { of: [vm.web, 'vm.web[0]'] } }`],
    "no VM": [`${vms}rollout: { one: { of: vm.wbe } }`, 'invalid-value 2:23 | of cannot be "vm.wbe" | write vm.web'],
    "a canary of none": [
      `${vms}rollout: { one: { of: vm.web, canary: 0 } }`,
      "invalid-value 2:39 | canary cannot be 0",
    ],
    "a way back without a check": [
      `${vms}rollout: { one: { of: vm.web, on_failure: revert } }`,
      "missing 2:12 | check is missing | add check: { tcp: 22 }, which says when a VM has to go back",
    ],
  });

  it("whose VMs go back when their check fails confirm no resize before it, and others and own checks stay", () => {
    const { desired } = readText(
      `vms: { web: {}, own: { lifecycle: { verify_resize: { check: { tcp: 5432 } } } }, other: {}, forward: {} }
rollout: { back: { of: [vm.web, vm.own], check: { tcp: 80 }, timeout: 9s, on_failure: revert }, on: { of: vm.forward, check: { tcp: 81 } } }`,
    );
    const usual = { confirm: "auto", timeoutMs: 120_000, onFailure: "revert" };
    expect(
      Object.fromEntries(
        desired?.resources.flatMap((one) => (one.kind === "vm" ? [[one.address, one.lifecycle.verifyResize]] : [])) ??
          [],
      ),
    ).toMatchObject({
      "vm.web": { check: { kind: "tcp", port: 80 }, timeoutMs: 9000, onFailure: "revert" },
      "vm.own": { check: { kind: "tcp", port: 5432 }, timeoutMs: 120_000 },
      "vm.other": usual,
      "vm.forward": usual,
    });
    const other = desired?.resources.find(({ address }) => address === "vm.forward");
    expect(other).not.toHaveProperty("lifecycle.verifyResize.check");
  });
});

it("warns of a volume's name with a variable of another program in it, which nothing replaces", () => {
  const { desired, diagnostics } = readText(
    'volumes: { a: { name: "$USER-data", size: 1 }, b: { name: "{{ env }}-x", size: 1 }, c: { name: "5$ each", size: 1 } }\n',
  );
  expect(desired?.resources.map(({ name }) => name)).toEqual(["$USER-data", "{{ env }}-x", "5$ each"]);
  expect(diagnostics.map(({ severity, code, address }) => [severity, code, address])).toEqual([
    ["warning", "config/invalid-name", "volume.a"],
    ["warning", "config/invalid-name", "volume.b"],
  ]);
});
