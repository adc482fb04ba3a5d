// Checks the import rules between packages and layers (docs/architecture.md).
//
// Reads every import of every source file as text, because TypeScript 7 has no compiler API. A rule says which of our own
// files the files below `from` may import: those that match `to`.
import { globSync, readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";
import { top } from "./process.ts";

interface Rule {
  readonly from: RegExp;
  /** The files that `from` may import besides those in its own folder. */
  readonly to: readonly RegExp[];
  readonly why: string;
}

const runtime = "packages/runtime/src";
const layer = (...names: readonly string[]) => new RegExp(`^${runtime}/(${names.join("|")})/`);

// Tests may also import the testing entry points.
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
    from: layer("plans", "hooks"),
    to: [layer("controller", "client", "schema", "objects", "concurrency")],
    why: "plans and hooks stand on controllers",
  },
  { from: layer("http"), to: [], why: "HTTP knows nothing of Kubernetes" },
  {
    from: layer("webhook"),
    to: [layer("http", "client", "schema", "objects", "concurrency")],
    why: "webhooks serve; they do not reconcile",
  },
  {
    from: layer("operator"),
    to: [layer("controller", "webhook", "http", "cache", "client", "schema", "objects", "concurrency")],
    why: "operator is the top of the runtime",
  },
  { from: /^packages\/localcluster\//, to: [], why: "localcluster depends on nothing of ours, so everything may stand on it" },
  {
    from: /^workloads\/hog\/src\/(options|hog|main)\.ts$/,
    to: [],
    why: "the hog depends on nothing but Node, whose memory is part of every measurement",
  },
  {
    from: /^packages\/kit\//,
    to: [/^@memhog\/runtime(\/|$)/],
    why: "the kit describes operators by the runtime's public values",
  },
  {
    from: /^operators\/[^/]+\/src\/(decide|model)\//,
    to: [/^operators\/[^/]+\/src\/(api|decide|model)\//, /^@memhog\/runtime(\/(objects|kinds))?$/],
    why: "decisions are pure: values in, values out",
  },
];

/** The entry points of the packages. */
const doors =
  /^@memhog\/((runtime|kit|localcluster|simulator|memhog-operator|hog)(\/testing)?|simulator\/simulate|hog\/options|runtime\/(operator|controller|plans|hooks|webhook|schema|cache|client|objects|kinds|concurrency|http))$/;

/** The imports of a file: relative to the repository root for our own files, names for packages. */
export function importsOf(file: string): readonly string[] {
  const source = readFileSync(join(top, file), "utf8");
  const specifiers = [
    ...source.matchAll(/^\s*(?:import|export)\b[^"';]*?from\s+"([^"]+)"|^\s*import\s+"([^"]+)"|\bimport\("([^"]+)"\)/gm),
  ];
  return specifiers
    .map(([, a, b, c]) => a ?? b ?? c ?? "")
    .map((name) => (name.startsWith(".") ? normalize(join(dirname(file), name)) : name));
}

/** Checks one import of a file (a path relative to the repository root, or a package name). Returns no violation, or one. */
export function judge(file: string, target: string): readonly string[] {
  if (target.startsWith("@memhog/") && !doors.test(target))
    return [`${file}: ${target} is not an entry point; import one of the package exports`];
  const own =
    target.includes("/") && !target.startsWith("node:") && /^(packages|operators|workloads|bench|tools|@memhog)\//.test(target);
  if (!own) return [];
  if (packageOf(file) !== packageOf(target) && /^(packages|operators|workloads)\//.test(target)) {
    return [`${file}: imports ${target} of another package; import its entry points (@memhog/…)`];
  }
  if (isForTests(file)) return [];
  if (isForTests(target)) return [`${file}: may not import ${target} (it is for tests)`];
  const rule = rules.find(({ from }) => from.test(file));
  if (rule === undefined || rule.from.test(target) || rule.to.some((allowed) => allowed.test(target))) return [];
  return [`${file}: may not import ${target} (${rule.why})`];
}

/** Whether the path is a test, a fixture or a testing entry point. */
function isForTests(path: string): boolean {
  return (
    /\.(test|fixture)\.ts$|\/testing(\.ts$|\/|$)|\/simulator\/simulate$|\/conformance\/|^bench\/|^tools\/fuzz(\/|\.ts$)/.test(
      path,
    ) || path.endsWith("/vitest-setup.ts")
  );
}

/** For example packages/runtime/src/x.ts → packages/runtime. */
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
  console.log(`${files.length} files, ${complaints.length} forbidden imports`);
  process.exit(complaints.length === 0 ? 0 : 1);
}
