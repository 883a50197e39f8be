/** `reconcile completion SHELL`: a script that knows commands, flags, and the addresses in the state. */
import { commands } from "../command-table";
import { fail } from "../compose";
import type { Invocation } from "../invocation";

export async function run({ args }: Invocation): Promise<number> {
  const shell = args[0]!;
  const script = scripts[shell];
  if (script === undefined)
    throw fail("cli/unknown-shell", `there is no completion for ${shell}`, "reconcile completion bash, zsh or fish");
  process.stdout.write(script());
  return 0;
}

const firstWords = (): string[] => [...new Set(commands.map((command) => command.name.split(" ")[0]!)), "help"];
const secondWords = (first: string): string[] =>
  commands.filter((command) => command.name.startsWith(`${first} `)).map((command) => command.name.split(" ")[1]!);
const withSecond = (): string[] => firstWords().filter((first) => secondWords(first).length > 0);
const flagsOf = (name: string): string[] =>
  commands
    .filter((command) => command.name === name || command.name.startsWith(`${name} `))
    .flatMap((command) => command.flags.map((flag) => `--${flag}`));

const addresses =
  'reconcile state list --json 2>/dev/null | sed -n \'s/.*"type":"resource","address":"\\([^"]*\\)".*/\\1/p\'';

const scripts: Record<string, () => string> = {
  bash: () => `# bash completion for reconcile: eval "$(reconcile completion bash)"
_reconcile() {
  local word=\${COMP_WORDS[COMP_CWORD]} first=\${COMP_WORDS[1]}
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then COMPREPLY=($(compgen -W "${firstWords().join(" ")}" -- "$word")); return; fi
  case "$first" in
${withSecond()
  .map(
    (first) =>
      `    ${first}) if [ "$COMP_CWORD" -eq 2 ]; then COMPREPLY=($(compgen -W "${secondWords(first).join(" ")}" -- "$word")); return; fi ;;`,
  )
  .join("\n")}
  esac
  if [[ "$word" == -* ]]; then
    case "$first" in
${firstWords()
  .map((first) => `      ${first}) COMPREPLY=($(compgen -W "${[...new Set(flagsOf(first))].join(" ")}" -- "$word")) ;;`)
  .join("\n")}
    esac
    return
  fi
  case "$first" in
    state|vm|import) COMPREPLY=($(compgen -W "$(${addresses})" -- "$word")) ;;
    *) case "\${COMP_WORDS[COMP_CWORD-1]}" in
         --target|--replace|--confirm-flush) COMPREPLY=($(compgen -W "$(${addresses})" -- "$word")) ;;
         *) COMPREPLY=($(compgen -f -- "$word")) ;;
       esac ;;
  esac
}
complete -o filenames -F _reconcile reconcile
`,
  zsh: () => `#compdef reconcile
# zsh completion for reconcile: eval "$(reconcile completion zsh)"
_reconcile() {
  local -a first
  first=(${firstWords()
    .map(
      (word) =>
        `'${word}:${(commands.find((command) => command.name.split(" ")[0] === word)?.summary ?? "help").replaceAll("'", "").replaceAll(":", "")}'`,
    )
    .join(" ")})
  if (( CURRENT == 2 )); then _describe command first; return; fi
  case "$words[2]" in
${withSecond()
  .map((word) => `    ${word}) if (( CURRENT == 3 )); then compadd ${secondWords(word).join(" ")}; return; fi ;;`)
  .join("\n")}
  esac
  case "$words[CURRENT]" in
    -*) case "$words[2]" in
${firstWords()
  .map((word) => `      ${word}) compadd -- ${[...new Set(flagsOf(word))].join(" ")} ;;`)
  .join("\n")}
    esac ;;
    *) case "$words[2]" in
      state|vm|import) compadd -- $(${addresses}) ;;
      *) _files ;;
    esac ;;
  esac
}
compdef _reconcile reconcile
`,
  fish: () =>
    `# fish completion for reconcile: reconcile completion fish | source
${commands
  .map((command) => {
    const [first, second] = command.name.split(" ");
    return second === undefined
      ? `complete -c reconcile -n __fish_use_subcommand -a ${first} -d '${command.summary.replaceAll("'", "")}'`
      : `complete -c reconcile -n '__fish_seen_subcommand_from ${first}' -a ${second} -d '${command.summary.replaceAll("'", "")}'`;
  })
  .join("\n")}
${[...new Set(commands.flatMap((command) => command.flags))].map((flag) => `complete -c reconcile -l ${flag}`).join("\n")}
complete -c reconcile -n '__fish_seen_subcommand_from state vm import' -a '(${addresses})'
`,
};
