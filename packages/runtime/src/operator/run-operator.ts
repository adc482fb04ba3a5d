// The program around an operator: its command line and its commands. A main.ts is one call:
//
//     await runOperator({
//       name: "gordon-operator",
//       resources: [Gordon],
//       flags: { image: { type: "string", default: "gordon:v1", describe: "image of a gordon" } },
//       configure: ({ image }) => ({ controllers: [gordons({ image })] }),
//     });
//
//     gordon-operator --install-crds     applies the CRDs, then runs the operator
//     gordon-operator crd                prints the CRDs
//     gordon-operator rbac               prints the service account, the roles and their bindings
//
// Usage and configuration errors (a flag, a kubeconfig, a port in use) end the program with one line. Bugs end it with a stack trace.

import { isForeseen } from "../concurrency/abort.ts";
import { printable } from "../objects/untrusted-text.ts";
import { crdOf } from "../schema/custom-resource-definition.ts";
import type { AnyResource } from "../schema/define-resource.ts";
import { toYaml } from "../schema/install.ts";
import type { Grant } from "../schema/permissions.ts";
import { rolesFor } from "../schema/rbac.ts";
import { conversionFor } from "../webhook/configuration.ts";
import { FlagError } from "./errors.ts";
import {
  checkCustomFlags,
  commonFlags,
  crdFlags,
  type DefaultNamespaces,
  type FlagOptions,
  type OperatorFlags,
  operatorFlags,
  webhookFlags,
} from "./flags.ts";
import { operator } from "./operator.ts";
import { type ElectionOptions, grantsOf, type OperatorOptions, resolveOptions } from "./options.ts";
import { aligned, type FlagTable, type FlagValues, helpFor } from "./parse-flags.ts";
import { addressOf } from "./start-webhooks.ts";

/** Options of an operator except those that flags set. */
type StaticOptions = Omit<OperatorOptions, "name" | "controllers" | "installCrds" | keyof FlagOptions>;

export interface OperatorProgram<F extends FlagTable = FlagTable> extends StaticOptions {
  /** The name of the program, its Lease and its field manager: lowercase letters, digits and dashes. */
  readonly name: string;
  /** One sentence for --help. */
  readonly description?: string;
  /** For --version: usually the version in package.json. */
  readonly version?: string;
  /** The kinds it defines: for `crd`, `--install-crds` and `--print`. @default none */
  readonly resources?: readonly AnyResource[];
  /** @default none: `configure` then returns them */
  readonly controllers?: OperatorOptions["controllers"];
  /** Leader election options, for --leader-elect. */
  readonly leaderElection?: ElectionOptions;
  /** Most installations run without the webhooks, so their permissions are printed only with --webhooks. @default false */
  readonly optionalWebhooks?: boolean;
  /** Custom flags, in addition to the built-in ones. */
  readonly flags?: F;
  /** Watched if neither a flag nor $POD_NAMESPACE is given. @default "own", the namespace that `kubectl get` uses */
  readonly defaultNamespaces?: DefaultNamespaces;
  /**
   * Returns options that depend on flags; they override all others. Must not access the cluster or the network, because it is also
   * called to print permissions.
   */
  configure?(flags: FlagValues<F>, options: FlagOptions): Partial<OperatorOptions>;
  /**
   * Called only before the operator starts: for checks, and for options that depend on the cluster, which replace those of
   * `configure`. `close` is called when the operator has stopped.
   */
  prepare?(flags: FlagValues<F>, options: FlagOptions): Promise<Prepared> | Prepared;
  /** Commands beside `crd` and `rbac`. @default none */
  readonly commands?: Readonly<Record<string, Command<F>>>;
  /** More text at the end of --help. */
  readonly epilog?: string;
}

export interface Prepared {
  readonly options?: Partial<OperatorOptions>;
  readonly close?: (() => Promise<void> | void) | undefined;
}

export interface Command<F extends FlagTable = FlagTable> {
  /** Its arguments, for --help and errors: "POD". @default none */
  readonly args?: readonly string[];
  /** For --help. */
  readonly describe: string;
  /** Resolves to what it prints. Called with as many arguments as `args` names. */
  run(args: readonly string[], flags: FlagValues<F>, options: FlagOptions): Promise<string> | string;
}

/** Runs the program, with the arguments and the environment of this process. Sets the exit code: 2 for a usage error, else 1. */
export async function runOperator<const F extends FlagTable = Record<never, never>>(program: OperatorProgram<F>): Promise<void> {
  try {
    await runCommandLine(program, {
      argv: process.argv.slice(2),
      env: process.env,
      print: (text) => console.log(printable(text)),
    });
  } catch (error) {
    if (!isForeseen(error)) throw error;
    console.error(printable(`${program.name}: ${error.message}`));
    process.exitCode = exitCodeFor(error);
  }
}

/** 2 for a usage error, as in shells and grep; 1 for everything else. */
export function exitCodeFor(error: Error): 1 | 2 {
  return error instanceof FlagError ? 2 : 1;
}

export interface CommandLine {
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly print: (text: string) => void;
}

/** Like `runOperator`, independent of the process. @throws FlagError for a usage error, and whatever the command throws */
export async function runCommandLine<F extends FlagTable>(program: OperatorProgram<F>, line: CommandLine): Promise<void> {
  const { name, version = "unknown" } = program;
  const { options, values, words } = parseCommandLine(program, line.argv, line.env);
  const own: FlagValues<F> = values;
  if (values.help) return line.print(helpText(program));
  if (values.version) return line.print(`${name} ${version}`);
  const [word, ...args] = values.print ? ["--print", ...words] : words;
  if (word === undefined) return run(program, own, options);
  const command = commandsOf(program).get(word);
  if (command === undefined) {
    const known = [...commandsOf(program).keys()].filter((each) => !each.startsWith("-")).join(", ");
    throw new FlagError(`expected flags or a command (${known}), found ${JSON.stringify(word)} → --help`);
  }
  const { args: expected = [] } = command;
  if (args.length !== expected.length) {
    const usage = [name, word, ...expected].join(" ");
    throw new FlagError(
      `${word}: expected ${expected.join(" ") || "no argument"}, found ${args.join(" ") || "none"} → usage: ${usage}`,
    );
  }
  line.print((await command.run(args, own, options)).trimEnd());
}

/** Parses a command line of the program. @throws FlagError */
export function parseCommandLine<F extends FlagTable>(
  program: OperatorProgram<F>,
  argv: readonly string[],
  env: CommandLine["env"] = {},
): OperatorFlags<F> {
  const { defaultNamespaces = "own" } = program;
  return operatorFlags(argv, { env, flags: allFlags(program), defaultNamespaces });
}

function commandsOf<F extends FlagTable>(program: OperatorProgram<F>): ReadonlyMap<string, Command<F>> {
  const crd: Command<F> = {
    describe: "print the CustomResourceDefinitions as YAML",
    run: async (_args, flags, options) => toYaml(...crdsOf(program, flags, options)),
  };
  const rbac: Command<F> = {
    describe: "print the service account, its roles and bindings as YAML; cluster roles with --all-namespaces",
    run: async (_args, flags, options) => toYaml(...rbacOf(program, flags, options)),
  };
  const both: Command<F> = {
    describe: "",
    run: async (_args, flags, options) => toYaml(...crdsOf(program, flags, options), ...rbacOf(program, flags, options)),
  };
  return new Map(Object.entries({ ...program.commands, crd, rbac, "--print": both }));
}

/** The namespace of the operator, as far as the command line tells. */
function homeOf({ namespaces }: FlagOptions): string {
  return typeof namespaces === "string" ? "default" : (namespaces[0] ?? "default");
}

function crdsOf<F extends FlagTable>(program: OperatorProgram<F>, flags: FlagValues<F>, options: FlagOptions): readonly object[] {
  const resolved = resolveOptions(withAllFeatures(program, flags, options));
  return (program.resources ?? []).map((resource) => {
    const conversion = conversionFor(resource, resolved.webhooks, addressOf(resolved, homeOf(options)));
    return crdOf(resource, { ...(conversion && { conversion }) });
  });
}

function rbacOf<F extends FlagTable>(program: OperatorProgram<F>, flags: FlagValues<F>, options: FlagOptions): readonly object[] {
  const namespace = homeOf(options);
  const namespaces = options.namespaces === "own" ? [namespace] : options.namespaces;
  return rolesFor(grantsOf(resolveOptions(withAllFeatures(program, flags, options))), {
    name: program.name,
    namespace,
    namespaces,
  });
}

export interface PermissionsOptions {
  /** Include those of the webhooks. @default true */
  readonly webhooks?: boolean;
  /** Flags that change what the program may do. @default none */
  readonly args?: readonly string[];
}

/** The permissions of the program in all namespaces: for manifests. */
export function permissionsOf(
  program: OperatorProgram,
  { webhooks = true, args = [] }: PermissionsOptions = {},
): readonly Grant[] {
  const { options, values } = parseCommandLine(program, ["--all-namespaces", ...args]);
  const all = withAllFeatures(program, values, options);
  return grantsOf(resolveOptions({ ...all, webhooks: webhooks ? (program.webhooks ?? []) : [] }));
}

/**
 * The options with leader election, all webhooks and certificates of its own: permissions and CRDs are printed for the installation,
 * not for the current flags.
 */
function withAllFeatures<F extends FlagTable>(
  program: OperatorProgram<F>,
  flags: FlagValues<F>,
  options: FlagOptions,
): OperatorOptions {
  const { leaderElection = true, webhooks = [], webhookServer = {}, optionalWebhooks = false } = program;
  const { webhooks: asked } = flags as FlagValues<typeof webhookFlags>;
  const printed = optionalWebhooks && !asked ? [] : webhooks;
  return { ...withFlags(program, flags, options), leaderElection, webhooks: printed, webhookServer };
}

function withFlags<F extends FlagTable>(
  program: OperatorProgram<F>,
  flags: FlagValues<F>,
  options: FlagOptions,
  configured: Partial<OperatorOptions> | undefined = program.configure?.(flags, options),
): OperatorOptions {
  const { controllers = [], webhookServer = {}, leaderElection = true } = program;
  const given = flags as FlagValues<typeof webhookFlags>;
  const certificateFolder = given["webhook-cert-path"];
  return {
    ...program,
    controllers,
    ...options,
    leaderElection: options.leaderElection && leaderElection,
    webhooks: given.webhooks ? (program.webhooks ?? []) : [],
    webhookServer: {
      port: given["webhook-port"],
      ...webhookServer,
      ...(certificateFolder !== undefined && { certificateFolder }),
    },
    ...configured,
  };
}

async function run<F extends FlagTable>(program: OperatorProgram<F>, flags: FlagValues<F>, options: FlagOptions): Promise<void> {
  const installs = (flags as FlagValues<typeof crdFlags>)["install-crds"];
  const { options: prepared, close } = (await program.prepare?.(flags, options)) ?? {};
  try {
    const installCrds = installs ? (program.resources ?? []) : [];
    await operator({ ...withFlags(program, flags, options, prepared), installCrds }).run();
  } finally {
    await close?.();
  }
}

/** The custom flags, and those for CRDs and webhooks if the program has any. */
function allFlags<F extends FlagTable>(program: OperatorProgram<F>): F {
  const { name, flags = {} as F, resources = [], webhooks = [] } = program;
  const implied = { ...(resources.length > 0 && crdFlags), ...(webhooks.length > 0 && webhookFlagsFor(program)) };
  checkCustomFlags(name, flags, { ...commonFlags, ...implied });
  return { ...flags, ...implied };
}

/** If no conversion webhook is served, objects of its CRD cannot be read. Therefore conversion is enabled by default. */
function webhookFlagsFor({ webhooks = [] }: Pick<OperatorOptions, "webhooks">): FlagTable {
  const converts = webhooks.some(({ type }) => type === "convert");
  return { ...webhookFlags, webhooks: { ...webhookFlags.webhooks, default: converts } };
}

/** The text of --help. */
export function helpText<F extends FlagTable>(program: OperatorProgram<F>): string {
  const { name, description, defaultNamespaces = "own", epilog } = program;
  const flags = allFlags(program);
  const usage = [...commandsOf(program)]
    .filter(([word]) => !word.startsWith("-"))
    .map(([word, { args = [], describe }]) => ({ left: `  ${[name, word, ...args].join(" ")}`, right: describe }));
  return [
    ...(description === undefined ? [] : [description, ""]),
    "Usage:",
    aligned([{ left: `  ${name} [flags]`, right: "run the operator" }, ...usage]),
    "",
    ...(Object.keys(flags).length === 0 ? [] : ["Flags:", helpFor(flags), ""]),
    "Common flags:",
    helpFor(defaultNamespaces === "own" ? commonFlags : { ...commonFlags, namespace: watching(defaultNamespaces) }),
    ...(epilog === undefined ? [] : ["", epilog]),
  ].join("\n");
}

function watching(names: readonly string[]): FlagTable[string] {
  return { ...commonFlags.namespace, describe: `namespaces to watch; defaults to $POD_NAMESPACE, then to ${names.join(", ")}` };
}
