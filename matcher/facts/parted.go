package facts

import (
	"slices"
	"strings"

	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/fact"
	"github.com/gpu-triage/triage/rules/pattern"
)

// setting is an option with its value, as people write it: tp=2, pp 4 is none.
var setting = pattern.Lazy(`([A-Za-z_][\w.-]*) ?= ?([\w.]+)`)

// parted leaves of two combinations of options, one of which works and the other fails, the option whose values part them: of tp=2, pp=1 and
// tp=2, pp=4 it is pp. Where several do, or none, both stay as they were written.
func (r *postReader) parted() {
	works, fails := r.index(fact.WorksWith), r.index(fact.FailsWith)
	if works < 0 || fails < 0 {
		return
	}
	good, bad := settings(r.told[works].Value.String()), settings(r.told[fails].Value.String())
	var parting []string
	for name, values := range good {
		if others := bad[name]; len(others) > 0 && !slices.ContainsFunc(values, func(v string) bool { return slices.Contains(others, v) }) {
			parting = append(parting, name)
		}
	}
	if len(parting) != 1 || len(good) == 1 && len(bad) == 1 {
		return
	}
	name := parting[0]
	r.told[works].Value = condition.StringValue(written(name, good[name]))
	r.told[fails].Value = condition.StringValue(written(name, bad[name]))
}

// settings are the values that options have in a text, by their names.
func settings(text string) map[string][]string {
	values := make(map[string][]string)
	for _, m := range setting().FindAllStringSubmatch(text, -1) {
		if !slices.Contains(values[m[1]], m[2]) {
			values[m[1]] = append(values[m[1]], m[2])
		}
	}
	return values
}

func written(name string, values []string) string {
	return name + "=" + strings.Join(values, " or "+name+"=")
}
