// Which way the arrows point (docs/architecture.md), guarded. Words alone fade.
//
// Every import of every source file is read as text; TypeScript 7 has no compiler API to ask, and an import statement
// needs none. A rule says: files below `from` may reach, among our own files, only what matches `to`.
import { globSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { top } from "./process.ts";

interface Rule {
  readonly from: RegExp;
  /** What a file below `from` may import of our own tree, beside its own folder. */
  readonly to: readonly RegExp[];
  readonly why: string;
}

const runtime = "packages/runtime/src";
const layer = (...names: readonly string[]) => new RegExp(`^${runtime}/(${names.join("|")})/`);

// Tests may reach further than the code they test: they enter by the testing doors too.
const rules: readonly Rule[] = [
  { from: layer("objects"), to: [], why: "objects are pure values" },
  { from: layer("concurrency"), to: [], why: "concurrency knows nothing of Kubernetes" },
  { from: layer("client"), to: [layer("objects", "concurrency")], why: "client stands on values and time only" },
  { from: layer("schema"), to: [layer("objects", "client", "concurrency")], why: "a schema describes; it runs nothing" },
  { from: layer("cache"), to: [layer("client", "objects", "concurrency")], why: "cache → client" },
  {
    from: layer("controller"),
    to: [layer("cache", "client", "schema", "objects", "concurrency")],
    why: "controller → cache → client",
  },
  {
    from: layer("webhook"),
    to: [layer("client", "schema", "objects", "concurrency")],
    why: "webhooks serve; they do not reconcile",
  },
  {
    from: layer("operator"),
    to: [layer("controller", "webhook", "cache", "client", "schema", "objects", "concurrency")],
    why: "operator is the top of the runtime",
  },
  { from: /^packages\/localcluster\//, to: [], why: "localcluster depends on nothing of ours, so everything may stand on it" },
  {
    from: /^operators\/[^/]+\/src\/(decide|model)\//,
    to: [/^operators\/[^/]+\/src\/(api|decide|model)\//, /^@memhog\/runtime$/],
    why: "decisions are pure: values in, values out",
  },
];

/** Only these doors of our packages exist. */
const doors = /^@memhog\/(runtime|localcluster|simulator|memhog-operator|hog)(\/testing)?$|^@memhog\/simulator\/simulate$/;

/** The imports of a file: paths below the top for our own files, names for packages. */
function importsOf(file: string): readonly string[] {
  const source = readFileSync(join(top, file), "utf8");
  const specifiers = [
    ...source.matchAll(/^\s*(?:import|export)\b[^"';]*?from\s+"([^"]+)"|^\s*import\s+"([^"]+)"|\bimport\("([^"]+)"\)/gm),
  ];
  return specifiers
    .map(([, a, b, c]) => a ?? b ?? c ?? "")
    .map((name) => (name.startsWith(".") ? normalize(join(dirname(file), name)) : name));
}

/** What is wrong with a file that imports this target (a path below the top, or a package name): nothing, or one complaint. */
export function judge(file: string, target: string): readonly string[] {
  if (target.startsWith("@memhog/") && !doors.test(target))
    return [`${file}: ${target} is not a door; enter packages by their exports`];
  const own =
    target.includes("/") && !target.startsWith("node:") && /^(packages|operators|workloads|bench|tools|@memhog)\//.test(target);
  if (!own) return [];
  if (packageOf(file) !== packageOf(target) && /^(packages|operators|workloads)\//.test(target)) {
    return [`${file}: reaches into ${target}; enter packages by their doors (@memhog/…)`];
  }
  if (isForTests(file)) return [];
  if (isForTests(target)) return [`${file}: may not import ${target} (it is for tests)`];
  const rule = rules.find(({ from }) => from.test(file));
  if (rule === undefined || rule.from.test(target) || rule.to.some((allowed) => allowed.test(target))) return [];
  return [`${file}: may not import ${target} (${rule.why})`];
}

/** Tests, what they stand on, and the doors for them. */
function isForTests(path: string): boolean {
  return (
    /\.(test|fixture)\.ts$|\/testing(\.ts$|\/|$)|\/simulator\/simulate$|\/conformance\/|^bench\//.test(path) ||
    path.endsWith("/vitest-setup.ts")
  );
}

/** packages/runtime/src/x.ts → packages/runtime */
function packageOf(path: string): string {
  return path.split("/").slice(0, 2).join("/");
}

if (import.meta.main) {
  const files = globSync("{packages,operators,workloads,bench,tools}/**/*.ts", {
    cwd: top,
    exclude: (name) => /node_modules/.test(String(name)),
  });
  const complaints = files.flatMap((file) => importsOf(file).flatMap((target) => judge(file, target)));
  for (const complaint of complaints) console.log(complaint);
  console.log(`${files.length} files, ${complaints.length} forbidden arrows`);
  process.exit(complaints.length === 0 ? 0 : 1);
}
