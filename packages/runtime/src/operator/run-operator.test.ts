import { describe, expect, expectTypeOf, it, vi } from "vitest";
import { ConfigError } from "../client/errors.ts";
import { controller } from "../controller/controller.ts";
import { done } from "../controller/outcome.ts";
import { ConfigMap } from "../objects/kinds/core.ts";
import { Gordon } from "../schema/sample-operators.fixture.ts";
import { outputOf } from "../testing/start-operator.ts";
import { allowed } from "../webhook/admission.ts";
import { convert } from "../webhook/conversion.ts";
import { validate } from "../webhook/webhooks.ts";
import { FlagError, OperatorOptionsError } from "./errors.ts";
import { exitCodeFor, helpText, type OperatorProgram, permissionsOf, runOperator } from "./run-operator.ts";

const gordons = controller(Gordon, { owns: [ConfigMap] }, async () => done());

const program = {
  name: "gordon-operator",
  description: "Keeps a number of gordons running.",
  version: "1.2.3",
  resources: [Gordon],
  controllers: [gordons],
} satisfies OperatorProgram;

const kindsIn = (yaml: string) => [...yaml.matchAll(/^kind: (\w+)$/gm)].map(([, kind]) => kind);

describe("the program of an operator", () => {
  it("prints its version", async () => expect(await outputOf(program, "--version")).toBe("gordon-operator 1.2.3"));

  it("prints its CRDs, its RBAC objects, or both", async () => {
    const crd = ["CustomResourceDefinition"];
    const rbac = ["ServiceAccount", "Role", "RoleBinding"];
    expect(kindsIn(await outputOf(program, "crd"))).toEqual(crd);
    expect(kindsIn(await outputOf(program, "rbac"))).toEqual(rbac);
    expect(kindsIn(await outputOf(program, "--print"))).toEqual([...crd, ...rbac]);
    expect(kindsIn(await outputOf(program, "rbac", "--all-namespaces"))).toContain("ClusterRole");
    expect(await outputOf(program, "rbac", "-n", "shop")).toMatch(/^ {2}namespace: shop$/m);
  });

  it("prints the permissions of all its features, whatever the current flags are", async () => {
    const withWebhooks = { ...program, webhooks: [validate(Gordon, () => allowed())] };
    const plain = await outputOf(withWebhooks, "rbac");
    expect(plain).toContain("leases");
    expect(plain).toContain("gordon-operator-webhook-certificates");
    for (const flags of [["--leader-elect"], ["--webhooks"], ["--webhooks", "--webhook-cert-path=/certificates"]])
      expect(await outputOf(withWebhooks, "rbac", ...flags)).toBe(plain);
    expect(JSON.stringify(permissionsOf(withWebhooks))).toContain("gordon-operator-webhook-certificates");
    expect(JSON.stringify(permissionsOf(withWebhooks, { webhooks: false }))).not.toContain("certificates");
  });

  it("prints the permissions of optional webhooks only with --webhooks", async () => {
    const optional = { ...program, webhooks: [validate(Gordon, () => allowed())], optionalWebhooks: true };
    expect(await outputOf(optional, "rbac")).not.toContain("gordon-operator-webhook-certificates");
    expect(await outputOf(optional, "rbac", "--webhooks")).toContain("gordon-operator-webhook-certificates");
    expect(JSON.stringify(permissionsOf(optional))).toContain("gordon-operator-webhook-certificates");
  });

  it("prints the conversion of a kind in its CRD, and serves it by default", async () => {
    const converting = { ...program, webhooks: [convert(Gordon, {})] };
    expect(await outputOf(converting, "crd", "-n", "shop")).toMatch(/strategy: Webhook[\s\S]*namespace: shop/);
    expect(helpText(converting)).toContain("serve the operator's webhooks (default true)");
  });

  it("passes its flags to configure, with the types of their table", async () => {
    const seen: unknown[] = [];
    await outputOf(
      {
        ...program,
        flags: { image: { type: "string", default: "gordon:v1", describe: "image" } },
        configure: (flags, { namespaces }) => {
          seen.push(flags.image, namespaces);
          return {};
        },
      },
      ...["rbac", "--image=gordon:v2", "-n", "a"],
    );
    expect(seen).toEqual(["gordon:v2", ["a"]]);
    // Only checks types: never called.
    void (() =>
      runOperator({
        name: "x",
        flags: { burst: { type: "number", describe: "burst" }, loud: { type: "boolean", describe: "loud" } },
        configure: (flags) => {
          expectTypeOf(flags.burst).toEqualTypeOf<number | undefined>();
          expectTypeOf(flags.loud).toEqualTypeOf<boolean>();
          return { controllers: [] };
        },
      }));
  });

  it("runs custom commands with their arguments", async () => {
    const explain = { args: ["POD"], describe: "say why", run: ([pod]: readonly string[]) => `${pod} is fine` };
    const explaining = { ...program, commands: { explain } };
    expect(await outputOf(explaining, "explain", "web-1")).toBe("web-1 is fine");
    expect(helpText(explaining)).toMatch(/^ {2}gordon-operator explain POD +say why$/m);
    await expect(outputOf(explaining, "explain")).rejects.toThrow("explain: expected POD, found none");
  });

  it.each([
    { argv: ["crd", "extra"], message: "crd: expected no argument, found extra → usage: gordon-operator crd" },
    { argv: ["dance"], message: 'expected flags or a command (crd, rbac), found "dance"' },
    { argv: ["--print", "crd"], message: "expected no argument, found crd" },
    { argv: ["constructor"], message: 'found "constructor"' },
    { argv: ["-n", "UPPER"], message: "--namespace: expected the name of a namespace" },
    { argv: ["--webhooks"], message: "unknown flag --webhooks" },
  ])("refuses $argv as a usage error", async ({ argv, message }) => {
    const error = await outputOf(program, ...argv).catch((thrown: Error) => thrown);
    expect(error).toMatchObject({ code: "FLAGS", message: expect.stringContaining(message) });
    expect(exitCodeFor(error as Error)).toBe(2);
  });

  it("--help shows its flags and default namespaces", () => {
    const help = helpText({ ...program, flags: { image: { type: "string", default: "x", describe: "image of a gordon" } } });
    expect(help).toMatch(/^Keeps a number of gordons running\.\n\nUsage:\n {2}gordon-operator \[flags\] +run the operator$/m);
    expect(help).toMatch(/--image string +image of a gordon \(default "x"\)/);
    for (const flag of ["--install-crds", "--kubeconfig", "-n, --namespace", "-v, --v", "-h, --help"])
      expect(help).toContain(flag);
    expect(help).toContain("then to the namespace of the kubeconfig's context");
    expect(helpText({ ...program, defaultNamespaces: ["default"] })).toContain("$POD_NAMESPACE, then to default\n");
  });

  it("rejects custom flags that hide a built-in one", () => {
    const flag = { type: "string", describe: "x" } as const;
    expect(() => helpText({ ...program, flags: { v: flag } })).toThrow(OperatorOptionsError);
    expect(() => helpText({ ...program, flags: { name: { ...flag, short: "n" } } })).toThrow(
      "--name, which would hide --namespace",
    );
  });

  it("calls prepare only before it starts, and close when it has stopped", async () => {
    const prepare = vi.fn(() => Promise.reject(new ConfigError("no cluster")));
    await outputOf({ ...program, prepare }, "crd");
    expect(prepare).not.toHaveBeenCalled();
    await expect(outputOf({ ...program, prepare })).rejects.toThrow("no cluster");
    const close = vi.fn();
    const failing = { ...program, prepare: () => ({ close, options: { controllers: [gordons, gordons] } }) };
    await expect(outputOf(failing)).rejects.toThrow("two named gordon");
    expect(close).toHaveBeenCalledOnce();
  });
});

describe("the exit code", () => {
  it("is 2 for usage errors and 1 for everything else", () =>
    expect([exitCodeFor(new FlagError("x")), exitCodeFor(new ConfigError("x"))]).toEqual([2, 1]));

  it("a bug is thrown, with its stack", async () => {
    const bug = new TypeError("cannot read properties of undefined");
    await expect(runOperator({ ...program, prepare: () => Promise.reject(bug) })).rejects.toBe(bug);
  });
});
