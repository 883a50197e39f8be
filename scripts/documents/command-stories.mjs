// What docs/commands.md shows: one story that begins and ends with an empty folder, in the order of the document. Each
// line is run, and its real output stands below it.
export const commandStories = {
  init: [{ run: ["reconcile init"] }],
  validate: [
    { run: ["reconcile validate"] },
    {
      says: "Everything that is wrong is told at once, each with its place:",
      run: [
        "sed 's/flavor_id:/flavour:/; s/web\\[a\\]/wbe[a]/' reconcile.yaml > wrong.yaml",
        "reconcile validate wrong.yaml   # exit 1",
      ],
    },
  ],
  plan: [
    { run: ["reconcile plan"] },
    { says: "For scripts:", run: ["reconcile plan --json --detailed-exitcode   # exit 2"] },
  ],
  apply: [
    { run: ["reconcile apply --auto-approve"] },
    { says: "Again:", run: ["reconcile apply --auto-approve"] },
    {
      says: "A volume that grows must come off its VM, so the plan wants your word that it is flushed, and nothing is sent without it:",
      run: ["sed -i.bak 's/size: 20 /size: 40 /' reconcile.yaml", "reconcile apply --auto-approve   # exit 3"],
    },
    { run: ["reconcile apply --auto-approve --confirm-flush volume.data"] },
    {
      says: "A plan can be saved, reviewed, and applied exactly as reviewed:",
      run: ["reconcile plan --var env=test --out change.plan.json > review.txt", "reconcile apply change.plan.json"],
    },
  ],
  drift: [{ run: ["reconcile drift"] }],
  graph: [{ run: ["reconcile graph"] }, { run: ["reconcile graph --format svg --out picture.svg"] }],
  import: [
    {
      says: "Forgotten and taken over again; nothing happens in the service:",
      run: [
        "ID=$(reconcile state show 'vm.web[b]' | awk '$1 == \"id\" { print $2 }')",
        "reconcile state rm 'vm.web[b]'",
        "reconcile import 'vm.web[b]' \"$ID\" --var env=test",
      ],
    },
  ],
  "vm start": [{ run: ["reconcile vm stop 'vm.web[a]'", "reconcile vm start 'vm.web[a]'"] }],
  "vm stop": [],
  "vm reboot": [{ run: ["reconcile vm reboot 'vm.web[a]'"] }],
  "vm snapshot": [{ run: ["reconcile vm snapshot 'vm.web[a]' --name before-upgrade"] }],
  "state list": [{ run: ["reconcile state list"] }],
  "state show": [{ run: ["reconcile state show volume.data"] }],
  "state rm": [],
  "state mv": [{ run: ["reconcile state mv volume.data volume.files", "reconcile state mv volume.files volume.data"] }],
  "state pull": [{ run: ["reconcile state pull > copy.json"], shows: false }],
  "state push": [{ run: ["reconcile state push copy.json"] }],
  "state unlock": [{ run: ["reconcile state unlock"] }],
  "state check": [],
  "state resolve": [
    {
      says: "Only for a create that was left open:",
      run: ["reconcile state resolve volume.data --not-created   # exit 1"],
    },
  ],
  destroy: [
    {
      says: "What is lost has to be permitted, and what is protected is refused:",
      run: ["reconcile destroy --auto-approve   # exit 3"],
    },
    { run: ["reconcile destroy --auto-approve --allow-data-loss"] },
  ],
  "orphans list": [
    { run: ["reconcile orphans list"] },
    {
      says: "That is what the state knows. Each can be looked up in the service too; one that is not found stays on the list, because a lost permission looks the same:",
      run: ["reconcile orphans list --refresh"],
    },
  ],
  "orphans delete": [
    {
      run: [
        "ID=$(reconcile orphans list | awk '/web-test-a/ { print $2 }')",
        'reconcile orphans delete "$ID"   # exit 3',
        'reconcile orphans delete "$ID" --allow-data-loss',
      ],
    },
  ],
  doctor: [{ run: ["reconcile doctor --out my.dialect.yaml"] }],
  emulator: [
    {
      says: "Any client can use it; here the doctor looks at one that has nothing beyond the documented operations:",
      run: [
        "reconcile emulator --port 4010 --contract-only &",
        "RECONCILE_TOKEN=anything reconcile doctor --base-url http://127.0.0.1:4010 > report.txt",
        "head -3 report.txt",
      ],
    },
  ],
  explain: [{ run: ["reconcile explain consent/flush"] }],
  completion: [{ run: ["reconcile completion bash > reconcile.bash"], shows: false }],
  version: [],
};
