package history

import (
	"fmt"
	"regexp"
	"strings"
)

// Name is what can be asked for: a module, a name in one, a member of a class, or a parameter of any of these.
type Name struct {
	Dotted    string // transformers.Trainer.__init__
	Parameter string // tokenizer, "" when the name itself is asked for
}

var nameForm = regexp.MustCompile(`^([A-Za-z_][\w-]*(?:\.[A-Za-z_]\w*)*)(?:\(([A-Za-z_]\w*)=?\))?$`)

// ParseName reads a name such as transformers.AdamW or transformers.Trainer.__init__(tokenizer=).
func ParseName(text string) (Name, error) {
	const longest = 1000
	parts := nameForm.FindStringSubmatch(strings.TrimSpace(text))
	if parts == nil || len(text) > longest {
		return Name{}, fmt.Errorf("%.100q is no name; write it as in package.module.Class.method, and a parameter as in package.function(parameter=)", text)
	}
	return Name{Dotted: parts[1], Parameter: parts[2]}, nil
}

func (n Name) String() string {
	if n.Parameter == "" {
		return n.Dotted
	}
	return n.Dotted + "(" + n.Parameter + "=)"
}
