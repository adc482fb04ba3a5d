#!/usr/bin/env node
// The program.    memhog-operator -v2 --prometheus-addr=http://localhost:9090 --kubeconfig=$HOME/.kube/config
import { AddressError, ConfigError, FlagError } from "@memhog/runtime";
import { obey } from "./cli/commands.ts";
import { memhogFlags } from "./cli/flags.ts";
import { NotReadyToStartError } from "./cli/preflight.ts";
import { PrometheusError } from "./observe/prometheus/errors.ts";

try {
  await obey(memhogFlags(process.argv.slice(2), process.env));
} catch (error) {
  const isForPeople = [FlagError, AddressError, ConfigError, NotReadyToStartError, PrometheusError].some(
    (kind) => error instanceof kind,
  );
  if (!isForPeople) throw error;
  console.error(`memhog-operator: ${(error as Error).message}`);
  process.exitCode = error instanceof FlagError ? 2 : 1;
}
