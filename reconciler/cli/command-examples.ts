/**
 * What one types: examples for the help of each command. The document of all commands runs them in this order of its
 * own, so they are kept true by a test.
 */
export interface Example {
  readonly line: string;
  readonly says: string;
}

const one = (line: string, says: string): Example => ({ line, says });

const examples: Readonly<Record<string, readonly Example[]>> = {
  init: [
    one("reconcile init", "a reconcile.yaml that plans and applies as it is, on the embedded service"),
    one("reconcile init prod/reconcile.yaml", "the same elsewhere"),
  ],
  validate: [
    one("reconcile validate", "needs neither a service nor a credential: good for a pre-commit hook"),
    one("reconcile validate --json", "the problems in the last line, each with file and line, for an editor or CI"),
  ],
  plan: [
    one("reconcile plan", "looks and shows; sends only reads"),
    one("reconcile plan --steps", "every request in its order"),
    one("reconcile plan --out change.plan.json", "saves what you reviewed, for: reconcile apply change.plan.json"),
    one("reconcile plan --detailed-exitcode", "exit 2 when changes are pending, for scripts"),
    one("reconcile plan --target vm.db", "only this VM and what it stands on"),
  ],
  rehearse: [
    one("reconcile rehearse", "the real plan on a twin of what exists, before the service sees a single write"),
  ],
  watch: [one("reconcile watch --interval 10m", "looks every ten minutes, until it is stopped")],
  exposure: [one("reconcile exposure", "who can reach what through the groups, now and after the plan")],
  pull: [one("reconcile pull", "the YAML for what exists; applying it changes nothing")],
  "group import": [one("reconcile group import listing.json", "the service's bulk import, and everything it skipped")],
  "export pulumi": [one("reconcile export pulumi", "a Pulumi program for what the state holds")],
  apply: [
    one("reconcile apply", "shows the plan, asks, and does it"),
    one("reconcile apply change.plan.json", "exactly what was reviewed; refused when anything moved on since"),
    one(
      "reconcile apply -y --confirm-flush volume.data",
      "does not ask, and gives your word that this volume is flushed",
    ),
    one("reconcile apply -y --allow-loss vm.db", "does not ask, and permits what the plan says vm.db loses, no more"),
    one("reconcile apply -y --allow-data-loss", "does not ask, even for what loses data"),
  ],
  destroy: [one("reconcile destroy", "shows what would be deleted and what is lost with it, and asks")],
  drift: [one("reconcile drift", "exit 0: nobody changed anything behind its back; exit 2: this is what")],
  import: [
    one(
      "reconcile import vm.db 8fc19b74-c152-4a95-b91b-9f72680463d9",
      "vm.db must be declared; nothing changes in the service",
    ),
    one(
      "reconcile import vm.db 8fc19b74-c152-4a95-b91b-9f72680463d9 --generate",
      "prints the YAML that declares it as it is",
    ),
  ],
  "vm start": [one("reconcile vm start vm.db", "and waits until it runs")],
  "vm stop": [one("reconcile vm stop 'vm.web[a]'", "the service answers when it has stopped, after about 20 seconds")],
  "vm reboot": [one("reconcile vm reboot vm.db", "a restart; nothing in the state changes")],
  "vm snapshot": [one("reconcile vm snapshot vm.db --name db-before-upgrade", "prints the id of the image made")],
  "state list": [one("reconcile state list", "address, id and name of everything managed")],
  "state show": [one("reconcile state show vm.db", "one record in full")],
  "state rm": [
    one(
      "reconcile state rm volume.scratch",
      "nothing is deleted in the service; a removed entry in the file does the same",
    ),
  ],
  "state mv": [one("reconcile state mv vm.old vm.new", "a moved entry in the file does the same, for everybody")],
  "state pull": [
    one("reconcile state pull > copy.json", "a copy, for a look or for safe-keeping"),
    one("reconcile state pull --force > left.json", "what is left of a state that lost lines of its journal"),
  ],
  "state push": [
    one("reconcile state push copy.json", "refuses what is older, shorter or of another history without --force"),
  ],
  "state unlock": [one("reconcile state unlock", "refuses while the holder is alive")],
  "state resolve": [
    one(
      "reconcile state resolve volume.data --not-created",
      "you looked, and it is not there: the next run creates it",
    ),
    one("reconcile state resolve vm.db --confirmed", "the resize was confirmed in the service's console"),
    one("reconcile state resolve volume.data --attached", "the lost attach was done: the volume hangs there"),
  ],
  "orphans list": [
    one("reconcile orphans list", "what was left alive, and why; from the state alone"),
    one("reconcile orphans list --refresh", "and which of it the service still shows"),
  ],
  "orphans delete": [
    one("reconcile orphans delete 59f5539a-ba27-4526-86ab-078ba76d038a --allow-data-loss", "ends one for good"),
  ],
  graph: [
    one("reconcile graph --format svg --out picture.svg", "the resources, as a picture for any browser"),
    one("reconcile graph --plan", "the steps of the plan, as Mermaid for a Markdown page"),
  ],
  doctor: [
    one(
      "reconcile doctor --base-url https://cloud.example.com",
      "tries what is safe to try, and says what each missing operation costs",
    ),
    one("reconcile doctor --out my.dialect.yaml", "writes the dialect that fits, for service.dialect or --dialect"),
  ],
  emulator: [
    one("reconcile emulator --port 4010 --dir world", "a world that stays, at http://127.0.0.1:4010"),
    one(
      "reconcile emulator --port 4010 --contract-only --time-scale 60",
      "nothing beyond the documented operations, sixty times faster",
    ),
    one(
      "reconcile emulator --port 4010 --fault operation=vm.create,kind=drop-after,count=1",
      "does the first create and loses its answer",
    ),
  ],
  explain: [
    one("reconcile explain consent/flush", "what it means and what to do"),
    one("reconcile explain", "all codes"),
  ],
  completion: [
    one('eval "$(reconcile completion bash)"', "in ~/.bashrc; for zsh the same in ~/.zshrc after compinit"),
    one("reconcile completion fish > ~/.config/fish/completions/reconcile.fish", "for fish"),
  ],
  version: [one("reconcile version", "the version")],
};

export const examplesOf = (command: string): readonly Example[] => examples[command] ?? [];
