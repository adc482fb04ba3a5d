import { describe, expect, it, vi } from "vitest";
import { obey } from "./commands.ts";
import { memhogFlags } from "./flags.ts";

/** What a command prints. */
async function printed(...argv: readonly string[]): Promise<string> {
  const lines: string[] = [];
  vi.spyOn(console, "log").mockImplementation((line: string) => void lines.push(line));
  await obey(memhogFlags(argv, {}));
  return lines.join("\n");
}

const kindsIn = (yaml: string) => [...yaml.matchAll(/^kind: (\w+)$/gm)].map(([, kind]) => kind);

describe("what an install is made of is printed", () => {
  it("crd: both definitions", async () =>
    expect(kindsIn(await printed("crd"))).toEqual(["CustomResourceDefinition", "CustomResourceDefinition"]));

  it("rbac: Roles alone for a namespace, a ClusterRole for all", async () => {
    expect(kindsIn(await printed("rbac", "-n", "shop"))).toEqual(["ServiceAccount", "Role", "RoleBinding"]);
    expect(kindsIn(await printed("rbac", "--all-namespaces"))).toContain("ClusterRole");
  });

  it("manifests: everything, once", async () => {
    const own = kindsIn(await printed("manifests"));
    expect(own.filter((kind) => kind === "CustomResourceDefinition")).toHaveLength(2);
    expect(own.filter((kind) => kind === "Deployment")).toHaveLength(1);
    expect(own).not.toContain("ClusterRole");
    expect(kindsIn(await printed("manifests", "--all-namespaces"))).toContain("ClusterRole");
  });

  it("every command of --help is obeyed, and another is refused by name", async () => {
    const [, commands = ""] = /Commands[^\n]*\n([\s\S]*?)\n\n/.exec(await printed("--help")) ?? [];
    expect([...commands.matchAll(/^ {2}(\w+)/gm)].map(([, name]) => name)).toEqual(["explain", "crd", "rbac", "manifests"]);
    await expect(printed("dance")).rejects.toThrow('found "dance"');
  });

  it("what cannot be meant is refused before anything is asked of a cluster", async () => {
    await expect(printed("explain", "web", "-o", "xml")).rejects.toThrow('--output: expected text or json, found "xml"');
    await expect(printed("--page-bind-address", "8082")).rejects.toThrow(
      'like ":8080" or "127.0.0.1:8080", or "0" for none, found "8082"',
    );
  });
});
