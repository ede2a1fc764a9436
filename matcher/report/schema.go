package report

import _ "embed"

// JSONSchema describes the JSON form of a Report, in the words of https://json-schema.org/draft/2020-12
//
//go:embed report.schema.json
var JSONSchema []byte
