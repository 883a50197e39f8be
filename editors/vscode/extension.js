// Starts `reconcile lsp` for the files of a desired state. Everything it knows comes from that program.
const { existsSync } = require("node:fs");
const { join } = require("node:path");
const { commands, window, workspace } = require("vscode");
const { LanguageClient, TransportKind } = require("vscode-languageclient/node");

let client;

/** The program as the settings name it, else the folder's own, else that of the PATH. */
function programOf(folder, named) {
  if (named.length > 0) return named;
  const own = folder === undefined ? undefined : join(folder, "node_modules", ".bin", "reconcile");
  // VS Code starts no extension without more in a folder that nobody trusts, so this program is the user's own choice.
  return own !== undefined && existsSync(own) ? [own] : ["reconcile"];
}

async function start() {
  const settings = workspace.getConfiguration("reconcile");
  const folder = workspace.workspaceFolders?.[0]?.uri.fsPath;
  const [command, ...args] = programOf(folder, settings.get("command", []));
  const environment = settings.get("environment", "");
  client = new LanguageClient(
    "reconcile",
    "reconcile",
    {
      command,
      args: [...args, "lsp", ...(environment === "" ? [] : ["--env", environment])],
      transport: TransportKind.stdio,
      options: { cwd: folder, shell: process.platform === "win32" },
    },
    { documentSelector: [{ scheme: "file", language: "yaml" }] },
  );
  try {
    await client.start();
  } catch (error) {
    await window.showErrorMessage(`reconcile lsp did not start: ${error.message}. Setting: reconcile.command`);
  }
}

exports.activate = async (context) => {
  context.subscriptions.push(
    commands.registerCommand("reconcile.restart", async () => {
      await client?.stop();
      await start();
    }),
    workspace.onDidChangeConfiguration((change) => {
      if (change.affectsConfiguration("reconcile")) void commands.executeCommand("reconcile.restart");
    }),
  );
  await start();
};

exports.deactivate = () => client?.stop();
