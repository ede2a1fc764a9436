package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/gpu-triage/triage/matcher"
	"github.com/gpu-triage/triage/matcher/report"
	"github.com/gpu-triage/triage/rules"
	"github.com/gpu-triage/triage/rules/signature"
	"github.com/spf13/cobra"
)

// newRuleOptions are what one call of `triage rules new` asks for.
type newRuleOptions struct {
	known  ruleFlags
	dir    string
	family string
	id     string
	line   int
	path   string
}

func newRulesNew(std streams) *cobra.Command {
	o := &newRuleOptions{}
	cmd := &cobra.Command{
		Use:   "new [FILE]",
		Short: "Make a signature, with its test, from a log that was not recognized",
		Long: `Reads a log that no signature knows and writes two files: a signature, with its conditions taken from the exception
or the line, and the log as its test, with secrets replaced. What is left to write is marked TODO. Then:

  triage rules test DIR`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.path = strings.Join(args, "")
			return runRulesNew(cmd.Context(), std, o)
		},
	}
	o.known.add(cmd)
	cmd.Flags().StringVar(&o.dir, "dir", "rules", "folder to write to, as `DIR`")
	cmd.Flags().StringVar(&o.family, "family", "mine", "folder below it, for failures of one kind")
	cmd.Flags().StringVar(&o.id, "id", "", "name of the signature (default: from what the log says)")
	cmd.Flags().IntVar(&o.line, "line", 0, "line of the log that names the failure (default: what was diagnosed)")
	return cmd
}

func runRulesNew(ctx context.Context, std streams, o *newRuleOptions) error {
	base, err := o.known.load()
	if err != nil {
		return err
	}
	var log bytes.Buffer
	var name string
	paths := []string{o.path}
	if o.path == "" {
		paths = nil
	}
	err = eachLog(ctx, std, paths, func(source string, from io.Reader) error {
		if name != "" {
			return fmt.Errorf("%s: a signature is made from one log", o.path)
		}
		name = source
		n, err := io.Copy(&log, io.LimitReader(from, matcher.MaxExample+1))
		if n > matcher.MaxExample {
			err = fmt.Errorf("%s: more than %d MiB; cut it around the failure, keeping what might be confused with it", source, matcher.MaxExample>>20)
		}
		return err
	})
	if err != nil {
		return err
	}
	draft, err := o.draft(ctx, base, name, log.Bytes())
	if err != nil {
		return err
	}
	return draft.write(std, o)
}

// A draft is a signature to be, and the log that shows it.
type draft struct {
	id        string
	keyword   string
	errorType string // "" for a line that is no exception
	message   string // the line, without the type of an exception
	line      int    // in log
	log       []byte
}

var errNothingNew = errors.New("nothing failed in this log, as far as can be told; --line N says which line names the failure")

// draft finds out what the log is about. A log that a signature knows needs no new one.
func (o *newRuleOptions) draft(ctx context.Context, base *rules.Base, name string, log []byte) (*draft, error) {
	log = []byte(report.Redact(string(log)))
	d := &draft{line: o.line, log: log}
	if d.line == 0 {
		reading := matcher.New(base).Begin()
		if err := reading.Read(ctx, name, bytes.NewReader(log)); err != nil {
			return nil, err
		}
		report := reading.Report()
		if len(report.Diagnoses) == 0 {
			return nil, errNothingNew
		}
		found := report.Diagnoses[0]
		if s := base.Signature(found.ID); s != nil && s.Role != signature.Generic {
			return nil, fmt.Errorf("%s knows this log: %s; triage rules show %s prints it", found.ID, found.Title, found.ID)
		}
		d.line = found.Evidence[0].Line
		d.message = found.Evidence[0].Text
	}
	if d.message == "" {
		lines := strings.Split(string(log), "\n")
		if d.line < 1 || d.line > len(lines) {
			return nil, fmt.Errorf("--line %d: the log has %d lines", d.line, len(lines))
		}
		d.message = strings.TrimSpace(lines[d.line-1])
	}
	d.message, _, _ = strings.Cut(d.message, "\n")
	if m := exceptionLine.FindStringSubmatch(d.message); m != nil && o.line == 0 {
		d.errorType, d.message = m[1], m[2]
	}
	d.keyword = longest(literals.FindAllString(d.message, -1), d.errorType)
	d.id = o.id
	if d.id == "" {
		d.id = idFrom(d.errorType, d.message)
	}
	if !idForm.MatchString(d.id) {
		return nil, fmt.Errorf("--id %s: an id is lower-case words, digits and hyphens", d.id)
	}
	return d, nil
}

var (
	exceptionLine = regexp.MustCompile(`^([\w.]+): (.*)$`)
	literals      = regexp.MustCompile(`[A-Za-z_'][A-Za-z_' -]{6,}[A-Za-z_']`) // words without what changes from run to run
	changing      = regexp.MustCompile(`0x[0-9a-f]+|\d+(?:\\?\.\d+)*`)
	idWord        = regexp.MustCompile(`[A-Z]?[a-z]+|[A-Z]+`)
	idForm        = regexp.MustCompile(`^[a-z0-9]+(?:-[a-z0-9]+)*$`)
)

func longest(words []string, otherwise string) string {
	best := ""
	for _, w := range words {
		if len(w) > len(best) {
			best = w
		}
	}
	if best == "" {
		return otherwise
	}
	return best
}

// idFrom makes an id of the first words of an exception's name and message.
func idFrom(errorType, message string) string {
	var words []string
	for _, word := range idWord.FindAllString(errorType[strings.LastIndexByte(errorType, '.')+1:]+" "+message, -1) {
		if word = strings.ToLower(word); len(word) > 2 && word != "error" && word != "the" && len(words) < 5 {
			words = append(words, word)
		}
	}
	if len(words) == 0 {
		return "new-failure"
	}
	return strings.Join(words, "-")
}

// pattern is a regular expression for the message in which numbers and addresses may be others.
func (d *draft) pattern() string {
	return changing.ReplaceAllStringFunc(regexp.QuoteMeta(d.message), func(found string) string {
		if strings.HasPrefix(found, "0x") {
			return `0x[0-9a-f]+`
		}
		return `[\d.]+`
	})
}

func (d *draft) signature() string {
	match := []string{"text matches " + quoteExpression(d.pattern())}
	if d.errorType != "" {
		match = []string{"error.type == " + quoteExpression(d.errorType), "error.message matches " + quoteExpression(d.pattern())}
	}
	var out strings.Builder
	fmt.Fprintf(&out, "id: %s\ntitle: TODO what went wrong, in a few words\nkeywords: [%s]\nmatch:\n", d.id, quoteYAML(d.keyword))
	for _, condition := range match {
		fmt.Fprintf(&out, "  - %s\n", quoteYAML(condition))
	}
	out.WriteString(`# confirm: conditions on facts that tell this cause from others that print the same; triage facts lists facts
# confirm:
#   - torch >= "2.6.0"
cause: >
  TODO why it happens.
fixes:
  - do: TODO what helps, best first.
    run: []
references:
  - TODO where this is from
`)
	return out.String()
}

// quoteExpression writes a text as a string of the condition language.
func quoteExpression(text string) string {
	if !strings.Contains(text, "`") {
		return "`" + text + "`"
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`
}

// quoteYAML writes a text on one line as a string of YAML.
func quoteYAML(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// example is the log with its verdict in it.
func (d *draft) example() []byte {
	var out bytes.Buffer
	out.WriteString("#=source= TODO where this log is from\n")
	for i, line := range bytes.SplitAfter(d.log, []byte{'\n'}) {
		if i+1 == d.line {
			fmt.Fprintf(&out, "#=match= %s confirmed\n", d.id)
		}
		out.Write(line)
	}
	return out.Bytes()
}

func (d *draft) write(std streams, o *newRuleOptions) error {
	folder := filepath.Join(o.dir, o.family)
	signature, example := filepath.Join(folder, d.id+".yaml"), filepath.Join(folder, d.id+".log")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	for name, content := range map[string][]byte{signature: []byte(d.signature()), example: d.example()} {
		file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if errors.Is(err, os.ErrExist) {
			return fmt.Errorf("%s is there already; --id gives another name", name)
		}
		if err != nil {
			return err
		}
		_, err = file.Write(content)
		if err := errors.Join(err, file.Close()); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintf(std.out, "%s\n%s\n\nFill in what is marked TODO, add a near miss (#=not= %s), then: triage rules test %s\n", signature, example, d.id, o.dir)
	return err
}
