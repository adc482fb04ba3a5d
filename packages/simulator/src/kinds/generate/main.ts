// Writes generated/structs.ts from the Go packages of a Kubernetes version in the module cache of `go mod download`:
//
//     node packages/simulator/src/kinds/generate/main.ts "$(go env GOMODCACHE)/k8s.io" 0.37.1
//
// structs.real.test.ts compares the result with a real API server.
import { globSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { builtInKinds } from "../built-in.ts";
import { structNameOf } from "../structs.ts";
import { linesOf, packageName } from "./go-structs.ts";

/** Kinds that appear in requests but are not stored. */
const unstoredKinds = [
  "policy.v1.Eviction",
  "autoscaling.v1.Scale",
  "core.v1.Binding",
  "meta.v1.DeleteOptions",
  "authentication.v1.TokenRequest",
  "authentication.v1.SelfSubjectReview",
  "authorization.v1.SelfSubjectAccessReview",
  "authorization.v1.SelfSubjectRulesReview",
  "authorization.v1.SubjectAccessReview",
  "authorization.v1.LocalSubjectAccessReview",
];

function packagesIn(modules: string, version: string) {
  const folders = [
    ...globSync(`api@v${version}/*/v*`, { cwd: modules }),
    join(`apimachinery@v${version}`, "pkg/apis/meta/v1"),
    join(`apiextensions-apiserver@v${version}`, "pkg/apis/apiextensions/v1"),
  ];
  return folders.map((folder) => ({
    name: packageName(folder),
    files: globSync("types*.go", { cwd: join(modules, folder) })
      .filter((file) => !/swagger_doc|_test/.test(file))
      .map((file) => readFileSync(join(modules, folder, file), "utf8")),
  }));
}

const [modules = "", version = ""] = process.argv.slice(2);
const lines = linesOf(packagesIn(modules, version), [...builtInKinds.map(structNameOf), ...unstoredKinds]);
const text = [
  `// Made from the Go packages of Kubernetes ${version.replace(/^0/, "1")} by generate/main.ts; generate/go-structs.ts says what it means.`,
  "export const structs: Readonly<Record<string, string>> = {",
  ...[...lines].map(([name, fields]) => `  ${JSON.stringify(name)}: ${JSON.stringify(fields)},`),
  "};",
  "",
].join("\n");
writeFileSync(new URL("../generated/structs.ts", import.meta.url), text);
console.log(`${lines.size} structs, ${text.length} characters`);
