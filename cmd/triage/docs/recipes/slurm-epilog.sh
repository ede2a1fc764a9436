#!/bin/bash
# Slurm runs it where slurmctld runs, at the end of each job (EpilogSlurmctld= in slurm.conf). Of a job that failed, it leaves the answer
# beside the job's output, as slurm-1234.out.triage. It never changes how the job ends, and takes a minute at most.
PATH=/usr/local/bin:/usr/bin:/bin # Slurm sets none

case ${SLURM_JOB_EXIT_CODE2:-0:0} in 0:0) exit 0 ;; esac

# Newer Slurms say where the output is; older ones know it as long as the job is remembered.
output=${SLURM_JOB_STDOUT:-$(scontrol show job "$SLURM_JOB_ID" --oneliner | sed -n 's/.* StdOut=\([^ ]*\).*/\1/p')}
[ -n "$output" ] || exit 0

# As the user: the output may lie where only they can read and write.
cd / && exec timeout 60 runuser -u "$SLURM_JOB_USER" -- sh -c '
	[ -f "$1" ] && [ ! -L "$1.triage" ] || exit 0
	triage --live off --format markdown -- "$1" >"$1.triage" 2>&1 || [ $? -eq 1 ] || rm -f "$1.triage"
	exit 0
' triage "$output"
