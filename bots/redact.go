package bots

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/gpu-triage/triage/matcher/report"
)

// RedactReport returns a report with every secret taken out of every text in it. The engine has done so with what it says itself; here the
// names of fetched logs and the notes about them are added, which strangers choose too.
func RedactReport(answer report.Report) (report.Report, error) {
	data, err := json.Marshal(answer)
	if err != nil {
		return report.Report{}, err
	}
	var tree any
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	if err := decoder.Decode(&tree); err != nil {
		return report.Report{}, err
	}
	if data, err = json.Marshal(redacted(tree)); err != nil {
		return report.Report{}, err
	}
	var clean report.Report
	return clean, json.Unmarshal(data, &clean)
}

func redacted(tree any) any {
	switch node := tree.(type) {
	case string:
		return report.Redact(node)
	case []any:
		for i := range node {
			node[i] = redacted(node[i])
		}
	case map[string]any:
		for name, value := range node {
			if text, ok := value.(string); ok {
				// A name such as env.HF_TOKEN tells what its value is.
				_, value, _ = strings.Cut(report.Redact(name+"="+text), "=")
			}
			node[name] = redacted(value)
		}
	}
	return tree
}
