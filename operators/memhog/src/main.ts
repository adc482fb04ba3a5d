#!/usr/bin/env node
// Entry point.    memhog-operator -v2 --prometheus-addr=http://localhost:9090 --kubeconfig=$HOME/.kube/config
import { runOperator } from "@memhog/runtime";
import { program } from "./cli/commands.ts";

await runOperator(program);
