/** Mistakes in a file. */
import { applied, both, file, head, mistake, rewritten, sets, validate, vm, type Worlds } from "./scene";

export const config = {
  "config/unknown-key": [
    mistake(`${head()}vms: { web: { flavour_id: m1.small } }`, { word: /write (\S+)/, insteadOf: "flavour_id" }),
    mistake(`${head()}vmz: { web: {} }`, { word: /write (\S+)/, insteadOf: "vmz" }),
  ],
  "config/missing": [
    mistake(`${head()}volumes: { data: {} }`, {
      hand: /add size \(in GB\)/,
      done: (here) => here.edit("reconcile.yaml", "data: {}", "data: { size: 3 }"),
    }),
  ],
  "config/version": [
    mistake(head().replace("version: 1", "version: 2"), { word: /write (version: 1)/, insteadOf: "version: 2" }),
    mistake(head().replace("version: 1\n", ""), { write: /write (version: 1)/ }),
  ],
  "config/unknown-reference": [
    mistake(`${head()}vms: { web: {} }\nvolumes: { data: { size: 3, attach_to: wev } }`, {
      word: /write (\S+)/,
      insteadOf: "wev",
    }),
    mistake(`${head()}groups: { web: { rules: [ { protocol: tcp, dst_port: 80, remote_group: wev } ] } }`, {
      word: /write (\S+)/,
      insteadOf: "wev",
    }),
  ],
  "config/reference-needs-key": [
    mistake(
      `${head()}vms: { web: { for_each: [a, b] } }\nvolumes: { data: { size: 3, attach_to: web } }`,
      { word: /write (.*)/, insteadOf: /web(?= \} \}$)/ },
      {
        follow: [
          { word: /write (.*)/, insteadOf: /web(?= \} \}$)/ },
          { word: /such as (".*")/, insteadOf: "web[a]" },
        ],
      },
    ),
  ],
  "config/unknown-variable": [
    mistake(`${head({ more: 'vars: { size: { default: "3" } }\n' })}volumes: { data: { size: "\${var.sise}" } }`, {
      word: /write (\S+)/,
      insteadOf: "${var.sise}",
    }),
    {
      files: file(`vms: { web: { name: "web-\${var.color}" } }`),
      ...validate,
      follow: [{ write: /declare it: (.*)/ }, { flag: /--var \S+/ }],
      knows: () => ({ "…": "red" }),
    },
  ],
  "config/variable-without-value": [
    mistake(
      `${head({ more: "vars: { size: {} }\n" })}volumes: { data: { size: "\${var.size}" } }`,
      { flag: /--var [^\s,]+/ },
      { knows: () => ({ "…": "3", VALUE: "3" }) },
    ),
  ],
  "config/invalid-name": [
    mistake(`${head()}vms: { web: { name: web_server } }`, { word: /write (\S+)/, insteadOf: "web_server" }),
    mistake(`${head()}vms: { web_server: { for_each: [a, b], } }`, {
      word: /give it a name: (.*)/,
      insteadOf: /(?<=b\], )/,
    }),
    mistake(`${head()}vms: { we: {} }`, { word: /give it a name: (.*)/, insteadOf: /(?<=we: \{)/ }),
  ],
  "config/reserved-name": [
    mistake(`${head()}groups: { default: {} }`, {
      hand: /choose another name/,
      done: (here) => here.edit("reconcile.yaml", "{ default: {} }", "{ web: {} }"),
    }),
  ],
  "config/duplicate-key": [
    mistake(`${head()}vms:\n  web: {}\n  web: {}\n`, {
      hand: /keep one of the two/,
      done: (here) => here.edit("reconcile.yaml", "  web: {}\n  web: {}\n", "  web: {}\n"),
    }),
  ],
  "config/duplicate-name": [
    mistake(`${head()}vms: { one: { name: web-1 }, two: { name: web-1 } }`, {
      hand: /./,
      done: (here) => here.edit("reconcile.yaml", "two: { name: web-1 }", "two: { name: web-2 }"),
    }),
  ],
  "config/duplicate-rule": [
    mistake(
      `${head()}groups: { web: { rules: [ { protocol: tcp, dst_port: 80 }, { protocol: tcp, dst_port: 80 } ] } }`,
      {
        hand: /keep one of the two/,
        done: (here) => here.edit("reconcile.yaml", "{ protocol: tcp, dst_port: 80 }, ", ""),
      },
    ),
  ],
  "config/wrong-type": [
    mistake(`${head()}volumes: { data: { size: 3, flush: { via: command, command: sync now } } }`, {
      word: /write (.*)/,
      insteadOf: "sync now",
    }),
  ],
  "config/invalid-value": [
    mistake(`${head()}volumes: { data: { size: 3GB } }`, { word: /write (\S+)/, insteadOf: "3GB" }),
  ],
  "config/not-allowed": [
    mistake(`${head()}groups: { web: { rules: [ { protocol: tpc, dst_port: 80 } ] } }`, {
      word: /write (\S+)/,
      insteadOf: "tpc",
    }),
    mistake(`${head()}vms: { web: { power: runing } }`, { word: /write (\S+)/, insteadOf: "runing" }),
    mistake(
      `${head({ more: "vars: { size: { default: 30, one_of: [3, 5] } }\n" })}volumes: { data: { size: "\${var.size}" } }`,
      { word: /write (.*)/, insteadOf: "30" },
    ),
  ],
  "config/interpolation": [
    mistake(`${head()}vms: { web: { for_each: [a], name: "web-\${each" } }`, {
      hand: /close it with \}/,
      done: (here) => here.edit("reconcile.yaml", /\$\{each/, "$&}"),
    }),
  ],
  "config/for-each": [
    mistake(`${head()}vms: { web: { for_each: a b, name: "w-\${each}" } }`, { word: /write (.*)/, insteadOf: "a b" }),
    mistake(`${head()}vms: { web: { for_each: [a, a] } }`, {
      hand: /keep one of the two/,
      done: (here) => here.edit("reconcile.yaml", "[a, a]", "[a]"),
    }),
  ],
  "config/environment": [
    mistake(`${head({ more: "environments: { staging: {}, prod: {} }\n" })}vms: { web: { name: "web-\${env}" } }`, {
      flag: /--env \S+(?=,)/,
    }),
    mistake(
      `${head({ more: "environments: { staging: {}, prod: {} }\n" })}vms: { web: { name: "web-\${env}" } }`,
      { flag: /--env \S+/ },
      { command: ["validate", "--env", "prd"] },
    ),
    mistake(`${head()}vms: { web: {} }`, { write: /declare it: (.*)/ }, { command: ["validate", "--env", "prod"] }),
  ],
  "config/shared-name": [
    mistake(
      `${head({ more: "environments: { staging: {}, prod: {} }\n" })}vms: { web: { name: web-1 } }`,
      { word: /name: ("\S+")/, insteadOf: "web-1" },
      { command: ["validate", "--env", "all"] },
    ),
  ],
  "config/shared-state": [
    mistake(
      `${head({ more: "environments: { staging: {}, prod: {} }\nstate: one.json\n" })}vms: { web: { name: "web-\${env}" } }`,
      { word: /as in (\S+),/, insteadOf: "one.json" },
      { command: ["validate", "--env", "all"] },
    ),
  ],
  "config/yaml-syntax": [
    mistake(`${head()}vms: { web: { name: web-${"${each}"}, for_each: [a] } }`, {
      word: /such as (".*")/,
      insteadOf: "web-${each}",
    }),
  ],
  "config/encoding": [
    {
      files: {},
      before: (here) => here.writeBytes("reconcile.yaml", Buffer.from(`${head()}# \u00e9\n`, "latin1")),
      ...validate,
      follow: [{ hand: /save the file as UTF-8/, done: (here) => here.write("reconcile.yaml", `${head()}# \u00e9\n`) }],
    },
  ],
  "config/file-unreadable": [
    {
      files: file(vm, { more: "components: { shop: { from: ./none.yaml } }\n" }),
      ...validate,
      follow: [{ hand: /correct the path/, done: (here) => here.edit("reconcile.yaml", /components.*\n/, "") }],
    },
  ],
  "config/invalid-move": [
    mistake(`${head()}vms: { web: {} }\nmoved: [ { from: vm.web, to: vm.web } ]`, {
      hand: /./,
      done: (here) => here.edit("reconcile.yaml", /moved.*/, ""),
    }),
  ],
  "config/invalid-import": [
    mistake(`${head()}vms: { web: {} }\nimports: [ { to: vm.web, id: "1" }, { to: vm.web, id: "2" } ]`, {
      hand: /keep one/,
      done: (here) => here.edit("reconcile.yaml", /,.{0,3}\{ to: vm.web, id: "2" \}/, ""),
    }),
  ],
  "config/invalid-removal": [
    mistake(`${head()}vms: { web: {} }\nremoved: [ { from: vm.web, destroy: false } ]`, {
      hand: /./,
      done: (here) => here.edit("reconcile.yaml", /removed.*/, ""),
    }),
  ],
  "config/variable-circle": [
    mistake(`${head({ more: 'vars: { a: { default: "${var.b}" }, b: { default: "${var.a}" } }\n' })}${vm}`, {
      hand: /give one of them a value/,
      done: (here) => here.edit("reconcile.yaml", "${var.a}", "x"),
    }),
  ],

  "config/invalid-rule": [
    mistake(`${head()}groups: { web: { rules: [ { protocol: icmp, dst_port: 80 } ] } }`, {
      hand: /remove dst_port/,
      done: rewritten(", dst_port: 80", ""),
    }),
    mistake(`${head()}groups: { web: { rules: [ { dst_port: 80 } ] } }`, {
      hand: /add protocol: tcp/,
      done: rewritten("{ dst_port", "{ protocol: tcp, dst_port"),
    }),
    mistake(
      `${head()}groups: { web: { rules: [ { protocol: tcp, dst_port: 80, remote_ip: "::/0", ethertype: IPv4 } ] } }`,
      { word: /write (ethertype: \S+),/, insteadOf: "ethertype: IPv4" },
    ),
  ],
  "config/conflicting-setting": [
    {
      files: { "a.yaml": head(), "b.yaml": "version: 1\nproject: other\n" },
      command: ["validate", "a.yaml", "b.yaml"],
      follow: [{ hand: /keep one of the two/, done: (here) => here.edit("b.yaml", "project: other\n", "") }],
    },
  ],
  "config/lookup-failed": [
    {
      files: file(
        'volumes: { data: { size: 3, attach_to: { id: "${lookup.old.id}" } } }\nlookups: { old: { volume: { name: nobody } } }',
      ),
      command: ["plan"],
      follow: [{ question: /./ }],
    },
  ],
  "config/read-failed": [
    {
      files: file('groups: { web: { description: "${read.net.word}" } }\nreads: { net: { state: ./none.json } }'),
      command: ["plan"],
      follow: [{ question: /./ }],
    },
  ],
  "config/sensitive": [
    mistake(
      `${head({ more: "vars: { word: { default: abc, sensitive: true } }\n" })}vms: { web: { name: "w-\${var.word}" } }`,
      { hand: /take sensitive: true off/, done: rewritten(", sensitive: true", "") },
    ),
  ],
  "dialect/unknown-key": [mistake(head({ dialect: ", statez: {}" }), { word: /write (\S+)/, insteadOf: "statez" })],
  "dialect/paging": [
    mistake(head({ dialect: ", pagination: { size: 50 }" }), {
      hand: /add size_param: limit/,
      done: rewritten("size: 50", "size: 50, size_param: limit"),
    }),
  ],
  "dialect/name-pattern": [
    mistake(head({ dialect: ', names: { vm: { pattern: "(" } }' }), { word: /such as (".*")/, insteadOf: '"("' }),
  ],
  "dialect/todo": [
    mistake(
      head({ dialect: ", todo: [look]" }),
      { hand: /do it, then take the line out of todo/, done: rewritten("todo: [look]", "todo: []") },
      { command: ["validate"] },
    ),
  ],
  "dialect/error-rule": [
    mistake(head({ dialect: ", errors: [ { is: conflict } ]" }), {
      word: /such as (status: 409)/,
      insteadOf: /(?<=is: conflict)/,
      joins: ", ",
    }),
  ],
  "dialect/documented-operation": [
    mistake(head({ operations: "vm.create: null" }), {
      hand: /Take the line out/,
      done: rewritten("vm.create: null", ""),
    }),
  ],
  "dialect/placeholder": [
    mistake(head({ operations: 'vm.get: { method: GET, path: "/api/v1/vm" }' }), { question: /./ }),
  ],
  "dialect/wrong-type": [
    {
      files: {
        "reconcile.yaml": `version: 1\nproject: acme\nregion: in-west-1\nservice: { dialect: d.yaml }\n`,
        "d.yaml": "[]",
      },
      command: ["validate"],
      afterwards: [],
      follow: [{ question: /reconcile doctor --out FILE/ }],
    },
  ],
  "cli/file-exists": [
    {
      files: file(vm),
      command: ["init"],
      afterwards: [],
      follow: [{ run: /reconcile init OTHER-FILE/ }],
      knows: () => ({ OTHER: "other", FILE: "file.yaml" }),
    },
  ],
  "cli/no-files": [
    {
      name: "of tests",
      files: file(vm),
      command: ["test"],
      follow: [{ run: /reconcile test --init/ }],
      afterwards: [],
    },
  ],
  "cli/name-missing": [
    {
      files: file(vm),
      before: applied,
      command: ["vm", "snapshot", "vm.web"],
      knows: () => ({ NAME: "before" }),
      afterwards: [],
      follow: [{ run: /reconcile vm snapshot \S+ --name NAME/ }],
    },
  ],
  "cli/unknown-code": [
    {
      files: {},
      command: ["explain", "plan/shrnk"],
      follow: [{ arg: /reconcile explain ([\w/-]+)/, insteadOf: "plan/shrnk" }],
    },
  ],
  "cli/unknown-output": [
    {
      files: file("outputs: { one: { value: x } }"),
      before: applied,
      command: ["output", "onee"],
      follow: [{ arg: /(\bone\b)/, insteadOf: "onee" }],
    },
  ],
  "cli/bad-flag": [
    {
      name: "orphans delete without an id",
      files: file(vm),
      command: ["orphans", "delete"],
      afterwards: [],
      follow: [{ run: /reconcile orphans list/ }],
    },
    {
      name: "a format",
      files: file(vm),
      before: applied,
      command: ["output", "--format", "ansibel"],
      follow: [{ arg: /--format (\S+)/, insteadOf: "ansibel" }],
    },
  ],
  "cli/bad-var": [{ files: file(vm), command: ["plan", "--var", "x"], follow: [{ question: /--var NAME=VALUE/ }] }],
  "cli/unknown-setting": [
    {
      files: file(vm),
      ...validate,
      before: sets("RECONCILE_STATE_KYE", () => "a passphrase that is long"),
      follow: [
        {
          hand: /write RECONCILE_STATE_KEY/,
          done: both(
            sets("RECONCILE_STATE_KYE", () => ""),
            sets("RECONCILE_STATE_KEY", () => "a passphrase that is long"),
          ),
        },
      ],
    },
  ],
  "cli/usage": [
    {
      files: file("groups: { web: {} }"),
      command: ["explain", "reach"],
      follow: [{ run: /reconcile explain reach .*/ }, { question: /name a group/ }],
      afterwards: [],
    },
  ],
  "cli/file-unreadable": [
    {
      files: {},
      command: ["plan"],
      follow: [{ question: /name a file or folder, or write one with: reconcile init/ }],
    },
    { files: file(vm), command: ["group", "import", "none.json"], follow: [{ question: /name a JSON file/ }] },
    { files: file(vm), command: ["plan", "--var-file", "none"], follow: [{ question: /^correct the path$/ }] },
    { files: file(vm), command: ["plan", "--prices", "none"], follow: [{ question: /^correct the path$/ }] },
    { files: file(vm), command: ["plan", "--target-file", "none"], follow: [{ question: /^correct the path$/ }] },
  ],
} satisfies Worlds;
