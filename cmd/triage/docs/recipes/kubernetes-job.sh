#!/usr/bin/env bash
# Says why a Job failed, from the logs of all its pods: kubernetes-job.sh NAME [kubectl's flags, such as -n NAMESPACE]
set -euo pipefail
job=$1
shift
logs=$(mktemp -d)
trap 'rm -rf "$logs"' EXIT

for pod in $(kubectl get pods "$@" -l "batch.kubernetes.io/job-name=$job" -o name); do
	for container in $(kubectl get "$pod" "$@" -o 'jsonpath={.spec.initContainers[*].name} {.spec.containers[*].name}'); do
		# Of a container that was restarted, what came before is in its previous log.
		kubectl logs "$pod" "$@" -c "$container" --previous >"$logs/${pod#pod/}.$container.previous.log" 2>/dev/null || true
		kubectl logs "$pod" "$@" -c "$container" >"$logs/${pod#pod/}.$container.log" || true
	done
done
find "$logs" -type f -empty -delete
cd "$logs" && triage --live off .
