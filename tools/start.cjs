// The entry point of every npm script. Plain CommonJS that any Node since 12 can run, because a fresh clone has no
// dependencies installed and the machine's Node may be old. Installs the dependencies of package-lock.json (once; a stamp
// file records the installed lock file), then runs the command with the Node 24 from node_modules.
//
//     node tools/start.cjs test [arguments…]   runs tools/test.ts with Node 24
"use strict";
const { spawn, spawnSync } = require("child_process");
const { createHash } = require("crypto");
const fs = require("fs");
const os = require("os");
const path = require("path");

const top = path.resolve(__dirname, "..");
const modules = path.join(top, "node_modules");
const stamp = path.join(modules, ".memhog-installed");

main().catch(function fail(error) {
  process.stderr.write(`start: ${error.message}\n`);
  process.exit(1);
});

async function main() {
  const command = process.argv[2];
  const script = path.join(top, "tools", `${command}.ts`);
  if (command === undefined || !fs.existsSync(script)) throw new Error(`no such command: ${command} (expected tools/${command}.ts)`);
  await install();
  const env = Object.assign({}, process.env);
  env.PATH = path.join(modules, ".bin") + path.delimiter + env.PATH;
  // `npm exec` and old npm versions set variables for the outer Node that would mislead the inner one.
  delete env.NODE_CHANNEL_FD;
  const child = spawn(path.join(modules, ".bin", "node"), [script].concat(process.argv.slice(3)), { stdio: "inherit", env: env });
  // The terminal sends Ctrl-C to the whole process group, including the child; other signals are forwarded.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => { if (signal !== "SIGINT") child.kill(signal); });
  // npm starts this script through a shell that exits on SIGTERM without forwarding it. A new parent means that npm has
  // exited.
  const parent = process.ppid;
  setInterval(() => { if (process.ppid !== parent) child.kill("SIGTERM"); }, 500).unref();
  child.on("exit", (code, signal) => process.exit(signal ? 128 + os.constants.signals[signal] : code));
}

/** Installs the dependencies if the lock file has changed since the last installation. */
async function install() {
  const wanted = createHash("sha256").update(fs.readFileSync(path.join(top, "package-lock.json"))).digest("hex");
  if (fs.existsSync(stamp) && fs.readFileSync(stamp, "utf8") === wanted) return;
  const since = Date.now();
  const progress = startProgress("installing dependencies");
  const log = [];
  const code = await new Promise((resolve, reject) => {
    // Not `npm ci`: it fails if a registry lacks packages for other platforms, which are not needed. --no-save keeps the
    // lock file and its versions unchanged. --include=dev: Node 24 is a dev dependency, also needed with
    // NODE_ENV=production.
    const npm = spawn("npm", ["install", "--no-save", "--include=dev", "--no-audit", "--no-fund", "--loglevel=error"], { cwd: top, stdio: ["ignore", "pipe", "pipe"] });
    npm.stdout.on("data", (data) => log.push(data));
    npm.stderr.on("data", (data) => log.push(data));
    npm.on("error", reject);
    npm.on("close", resolve);
  });
  progress.stop();
  if (code !== 0) throw new Error(`npm install failed with exit code ${code}:\n${Buffer.concat(log).toString()}`);
  const node = spawnSync(path.join(modules, ".bin", "node"), ["--version"], { encoding: "utf8" });
  if (node.status !== 0 || !/^v2[4-9]\./.test(node.stdout)) {
    throw new Error(`expected Node 24 or newer in node_modules/.bin, found ${node.stdout || node.error}\n` +
      "The package `node` brings it in a preinstall script: allow install scripts (npm config get ignore-scripts) and try again.");
  }
  fs.writeFileSync(stamp, wanted);
  process.stderr.write(`installed dependencies in ${Math.round((Date.now() - since) / 1000)} s\n`);
}

/** Shows the elapsed seconds on a terminal; prints a line every ten seconds elsewhere. */
function startProgress(what) {
  const since = Date.now();
  const seconds = () => Math.round((Date.now() - since) / 1000);
  const tty = process.stderr.isTTY;
  process.stderr.write(`${what} …${tty ? "" : "\n"}`);
  const timer = setInterval(() => process.stderr.write(tty ? `\r${what} … ${seconds()} s` : `${what} … ${seconds()} s\n`), tty ? 1000 : 10000);
  return { stop: () => { clearInterval(timer); if (tty) process.stderr.write("\r\u001b[K"); } };
}
