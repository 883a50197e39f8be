/**
 * `reconcile completion SHELL`: a script for the shell. The script asks `reconcile completion suggest -- WORDS` at each
 * key press, so that it never goes out of date.
 */

import { command, oneOrMore } from "../command";
import { fail } from "../compose";
import { suggestions } from "../suggestions";

export const completionCommand = command({
  usage: "completion bash|zsh|fish",
  summary: "prints a completion script for your shell",
  section: "This program",
  examples: [
    ['eval "$(reconcile completion bash)"', "in ~/.bashrc; for zsh the same in ~/.zshrc after compinit"],
    ["reconcile completion fish > ~/.config/fish/completions/reconcile.fish", "for fish"],
  ],
  flags: [],
  positionals: oneOrMore("bash, zsh or fish"),
  complete: () => Object.keys(scripts).map((word) => ({ word })),
  async run({ args, commands }) {
    const [shell, ...words] = args;
    if (shell === "suggest") {
      const found = await suggestions(commands, words);
      process.stdout.write(found.map(({ word, says }) => `${word}${says === undefined ? "" : `\t${says}`}\n`).join(""));
      return 0;
    }
    const script = Object.hasOwn(scripts, shell) ? scripts[shell] : undefined;
    if (script === undefined)
      throw fail("cli/unknown-shell", `there is no completion for ${shell}`, "reconcile completion bash, zsh or fish");
    process.stdout.write(script);
    return 0;
  },
});

const scripts: Readonly<Record<string, string>> = {
  bash: `# bash completion for reconcile: eval "$(reconcile completion bash)"
_reconcile() {
  local current=\${COMP_WORDS[COMP_CWORD]} line
  COMPREPLY=()
  while IFS= read -r line; do
    line=\${line%%$'\\t'*}
    if [ "$line" = ":files" ]; then
      compopt -o filenames 2>/dev/null
      while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen -f -- "$current")
    else
      # vm.web[a] needs quotes, which the shell adds to what it takes for file names.
      case "$line" in *\\[*) compopt -o filenames 2>/dev/null ;; esac
      COMPREPLY+=("$line")
    fi
  done < <(reconcile completion suggest -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -F _reconcile reconcile
`,
  zsh: `#compdef reconcile
# zsh completion for reconcile, after compinit: eval "$(reconcile completion zsh)"
_reconcile() {
  local line word
  local -a found
  for line in "\${(@f)$(reconcile completion suggest -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    [[ -z $line ]] && continue
    if [[ $line == ":files" ]]; then _files; return; fi
    word=\${line%%$'\\t'*}
    if [[ $line == *$'\\t'* ]]; then found+=("\${word//:/\\\\:}:\${line#*$'\\t'}"); else found+=("\${word//:/\\\\:}"); fi
  done
  _describe reconcile found
}
compdef _reconcile reconcile
`,
  fish: `# fish completion for reconcile: reconcile completion fish | source
function __reconcile_suggest
  set -l words (commandline -opc)
  set -l current (commandline -ct)
  for line in (reconcile completion suggest -- $words[2..-1] "$current" 2>/dev/null)
    if test "$line" = ":files"
      __fish_complete_path "$current"
    else
      printf '%s\\n' $line
    end
  end
end
complete -c reconcile -e
complete -c reconcile -f -a '(__reconcile_suggest)'
`,
};
