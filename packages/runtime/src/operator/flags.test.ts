import { describe, expect, expectTypeOf, it } from "vitest";
import { operatorFlags } from "./flags.ts";
import type { FlagTable } from "./parse-flags.ts";

const own = {
  "prometheus-addr": { type: "string", default: "http://localhost:9090", describe: "where Prometheus is" },
  "dry-run": { type: "boolean", describe: "decide, but do nothing" },
  burst: { type: "number", describe: "how many at once" },
  port: { type: "number", integer: true, min: 1, max: 65_535, describe: "port to serve" },
  output: {
    type: "string",
    format: { expected: "text or json", test: (value) => ["text", "json"].includes(value) },
    describe: "format",
  },
} as const satisfies FlagTable;
const parse = (line: string, env: Record<string, string> = {}) =>
  operatorFlags(
    line.split(" ").filter((word) => word !== ""),
    { env, flags: own, defaultNamespaces: ["default"] },
  );

describe("flags", () => {
  it("accept the documented example: memhog-operator -v2 --prometheus-addr=… --kubeconfig=…", () => {
    const { options, values } = parse(
      "-v2 --prometheus-addr=http://localhost:9091 --kubeconfig=/home/me/.kube/config --logtostderr",
    );
    expect(options).toEqual({
      kubeconfig: "/home/me/.kube/config",
      namespaces: ["default"],
      leaderElection: false,
      metricsBindAddress: ":8080",
      healthProbeBindAddress: ":8081",
      profilerBindAddress: "0",
      verbosity: 2,
    });
    expect(values["prometheus-addr"]).toBe("http://localhost:9091");
  });

  it.each(["-v2", "-v=2", "-v 2", "--v=2", "--v 2"])("parse %s as verbosity 2", (line) =>
    expect(parse(line).options.verbosity).toBe(2),
  );

  it.each([
    { line: "", env: {}, namespaces: ["default"] },
    { line: "", env: { POD_NAMESPACE: "apps" }, namespaces: ["apps"] },
    { line: "-n web", env: { POD_NAMESPACE: "apps" }, namespaces: ["web"] },
    { line: "--namespace=web -nother", env: {}, namespaces: ["web", "other"] },
    { line: "-n web,other", env: {}, namespaces: ["web", "other"] },
    { line: "-namespace web", env: {}, namespaces: ["web"] },
    { line: "--all-namespaces", env: { POD_NAMESPACE: "apps" }, namespaces: "all" },
    { line: "-A", env: {}, namespaces: "all" },
  ])("$line with $env watches $namespaces", ({ line, env, namespaces }) =>
    expect(parse(line, env).options.namespaces).toEqual(namespaces),
  );

  it("watch the namespace of the kubeconfig's context by default", () => {
    expect(operatorFlags([], { env: {}, flags: {}, defaultNamespaces: "own" }).options.namespaces).toBe("own");
  });

  it.each([
    { line: "--leader-elect", leads: true },
    { line: "--leader-elect=true", leads: true },
    { line: "--leader-elect=false", leads: false },
    { line: "--leader-elect --leader-elect=false", leads: false },
  ])("$line means $leads: the last one wins", ({ line, leads }) => expect(parse(line).options.leaderElection).toBe(leads));

  it.each([
    { line: "--promethus-addr=x", message: "unknown flag --promethus-addr (did you mean --prometheus-addr?)" },
    { line: "--colour", message: "unknown flag --colour → --help lists all flags" },
    { line: "-x", message: "unknown flag -x" },
    { line: "--burst=lots", message: '--burst: expected a number, found "lots"' },
    { line: "--v=lots", message: '--v: expected a whole number of at least 0, found "lots"' },
    { line: "-v=-1", message: '--v: expected a whole number of at least 0, found "-1"' },
    { line: "-v -1", message: '--v: expected a whole number of at least 0, found "-1"' },
    { line: "-v1.5", message: '--v: expected a whole number of at least 0, found "1.5"' },
    { line: "--port=0", message: '--port: expected a whole number of at least 1 and at most 65535, found "0"' },
    {
      line: "-n UPPER",
      message: '--namespace: expected the name of a namespace: at most 63 lowercase letters, digits and dashes, found "UPPER"',
    },
    { line: "-n a,,b", message: 'found ""' },
    { line: "--namespace=", message: 'found ""' },
    { line: "--kubeconfig=", message: '--kubeconfig: expected a value, found ""' },
    { line: "--metrics-bind-address=8080", message: '--metrics-bind-address: expected an address like ":8080"' },
    { line: "--output=xml", message: '--output: expected text or json, found "xml"' },
    { line: "--kubeconfig", message: "expected a value after --kubeconfig" },
    { line: "--dry-run=maybe", message: '--dry-run: expected true or false, found "maybe"' },
    { line: "-n web -A", message: "expected either --namespace or --all-namespaces" },
    { line: "--constructor", message: "unknown flag --constructor" },
  ])("refuse $line and say why", ({ line, message }) => {
    expect(() => parse(line)).toThrow(expect.objectContaining({ code: "FLAGS", message: expect.stringContaining(message) }));
  });

  it("reject an invalid $POD_NAMESPACE", () =>
    expect(() => parse("", { POD_NAMESPACE: "No" })).toThrow("$POD_NAMESPACE: expected the name of a namespace"));

  it("of the operator have the types of their table", () => {
    const { values: ours } = parse("--dry-run --burst 3");
    expectTypeOf(ours["prometheus-addr"]).toEqualTypeOf<string>();
    expectTypeOf(ours["dry-run"]).toEqualTypeOf<boolean>();
    expectTypeOf(ours.burst).toEqualTypeOf<number | undefined>();
    expect(ours).toMatchObject({ "prometheus-addr": "http://localhost:9090", "dry-run": true, burst: 3 });
  });

  it("return other arguments as words", () => {
    expect(operatorFlags(["explain", "-n", "web", "--", "-x"], { env: {}, flags: {}, defaultNamespaces: "own" }).words).toEqual([
      "explain",
      "-x",
    ]);
  });
});
