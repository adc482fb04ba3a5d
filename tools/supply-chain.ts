// npm run supply-chain -- licenses | audit | sbom: what the operators ship of other people's code.
//
//   licenses   every production dependency has a license that an Apache-2.0 program can include; from the lock file, offline
//   audit      known vulnerabilities of production dependencies, from the registry; without an answer it says so and exits with 0
//   sbom       a CycloneDX document of what memhog-operator depends on, by npm
//
// `npm run check` runs `licenses` only: `audit` needs the network and takes seconds.
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { top } from "./process.ts";

const allowed = new Set([
  "0BSD",
  "Apache-2.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "BlueOak-1.0.0",
  "ISC",
  "MIT",
  "(MIT OR Apache-2.0)",
]);

interface LockedPackage {
  readonly license?: string;
  readonly dev?: boolean;
  readonly devOptional?: boolean;
  /** One of our own packages. */
  readonly link?: boolean;
}

/** "name: license" of each production dependency whose license is missing or not allowed. */
export function unlicensed(lock: { readonly packages: Readonly<Record<string, LockedPackage>> }): readonly string[] {
  return Object.entries(lock.packages)
    .filter(([path, { dev, devOptional, link }]) => path.startsWith("node_modules/") && !dev && !devOptional && !link)
    .filter(([, { license }]) => license === undefined || !allowed.has(license))
    .map(([path, { license = "none" }]) => `${path.slice("node_modules/".length)}: ${license}`);
}

function licenses(): number {
  const found = unlicensed(JSON.parse(readFileSync(join(top, "package-lock.json"), "utf8")));
  for (const line of found) console.log(`expected a license among ${[...allowed].join(", ")}, found ${line}`);
  return found.length === 0 ? 0 : 1;
}

function audit(): number {
  const { stdout } = spawnSync("npm", ["audit", "--omit=dev", "--json"], { cwd: top, encoding: "utf8", timeout: 60_000 });
  const report = JSON.parse(stdout || "{}") as { vulnerabilities?: Record<string, { severity: string; range: string }> };
  if (report.vulnerabilities === undefined) {
    console.log("skipped: the registry did not answer");
    return 0;
  }
  const found = Object.entries(report.vulnerabilities);
  for (const [name, { severity, range }] of found) console.log(`${severity}: ${name} ${range}`);
  console.log(`${found.length} production dependencies with known vulnerabilities`);
  return found.length === 0 ? 0 : 1;
}

function sbom(): number {
  const args = ["sbom", "--sbom-format=cyclonedx", "--omit=dev", "--workspace=@memhog/memhog-operator"];
  return spawnSync("npm", args, { cwd: top, stdio: "inherit" }).status ?? 1;
}

const commands: Readonly<Record<string, () => number>> = { licenses, audit, sbom };

if (import.meta.main) {
  const [name = ""] = process.argv.slice(2);
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (command === undefined) console.error(`Usage: npm run supply-chain -- ${Object.keys(commands).join(" | ")}`);
  process.exitCode = command?.() ?? 2;
}
