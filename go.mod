module github.com/gpu-triage/triage

go 1.26

require (
	github.com/aquasecurity/go-pep440-version v0.0.1
	github.com/expr-lang/expr v1.17.8
	gopkg.in/yaml.v3 v3.0.1
)

require (
	github.com/aquasecurity/go-version v0.0.1 // indirect
	golang.org/x/xerrors v0.0.0-20231012003039-104605ab7028 // indirect
)
