#!/usr/bin/env node
// The program.    memhog-operator -v2 --prometheus-addr=http://localhost:9090 --kubeconfig=$HOME/.kube/config
import { main } from "@memhog/runtime";
import { operatorName } from "./api/names.ts";
import { obey } from "./cli/commands.ts";
import { memhogFlags } from "./cli/flags.ts";

await main(operatorName, (argv, env) => obey(memhogFlags(argv, env)));
