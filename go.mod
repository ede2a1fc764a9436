module github.com/gpu-triage/triage

go 1.26
