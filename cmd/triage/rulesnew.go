package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gpu-triage/triage/matcher/example"
	"github.com/gpu-triage/triage/matcher/reading"
	"github.com/gpu-triage/triage/matcher/report"
	"github.com/gpu-triage/triage/matcher/traceback"
	"github.com/gpu-triage/triage/rules/signature"

	"github.com/spf13/cobra"

	"github.com/gpu-triage/triage/matcher"
	"github.com/gpu-triage/triage/rules"
)

// newRuleOptions are what one call of `triage rules new` asks for.
type newRuleOptions struct {
	known  ruleFlags
	dir    string
	family string
	named  bool // the family, by the user
	id     string
	line   int
	path   string
}

func newRulesNew(std streams) *cobra.Command {
	o := &newRuleOptions{}
	cmd := &cobra.Command{
		Use:   "new [FILE]",
		Short: "Make a signature, with its examples, from a log that was not recognized",
		Long: `Reads a log that no signature knows and writes a signature: with conditions taken from the exception or the line, and
with the part of the log around it, secrets replaced, as its first example. What is left to write is marked TODO. Then:

  triage rules check DIR
  triage rules test DIR`,
		Args: cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.path = strings.Join(args, "")
			o.named = cmd.Flags().Changed("family")
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
	log, err := o.readLog(ctx, std)
	if err != nil {
		return err
	}
	draft, err := o.draft(ctx, matcher.New(base), base, log)
	if err != nil {
		return err
	}
	file, err := o.write(draft)
	if err != nil {
		return err
	}
	if err := o.say(std, file); err != nil {
		return err
	}
	if draft.anyProgram {
		_, err := fmt.Fprintln(std.err, "warning: this exception is Python's own and only your code is in its traceback: a signature of its words "+
			"would fit every program. If a library is the cause, name the line that it prints with --line N")
		if err != nil {
			return err
		}
	}
	return o.try(ctx, std, file, draft.id)
}

// readLog reads the one log that the signature is made from, without secrets and carriage returns.
func (o *newRuleOptions) readLog(ctx context.Context, std streams) ([]string, error) {
	var log bytes.Buffer
	var paths []string
	if o.path != "" {
		paths = []string{o.path}
	}
	logs := 0
	err := eachLog(ctx, std, paths, func(source string, from io.Reader) error {
		logs++
		if logs > 1 {
			return fmt.Errorf("%s: a signature is made from one log", o.path)
		}
		n, err := io.Copy(&log, io.LimitReader(from, example.MaxExample+1))
		if n > example.MaxExample {
			err = fmt.Errorf("%s: more than %d MiB; cut it around the failure, keeping what might be confused with it", source, example.MaxExample>>20)
		}
		return err
	})
	text := strings.ReplaceAll(report.Redact(log.String()), "\r\n", "\n")
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n"), err
}

var errNothingNew = errors.New("nothing failed in this log, as far as can be told; --line N says which line names the failure")

// draft finds out what the log is about. A log that a signature knows needs no new one.
func (o *newRuleOptions) draft(ctx context.Context, engine *matcher.Engine, base *rules.Base, log []string) (*draft, error) {
	if o.line > len(log) || o.line < 0 {
		return nil, fmt.Errorf("--line %d: the log has %d lines", o.line, len(log))
	}
	d := &draft{id: o.id}
	if o.line != 0 {
		d.about(strings.TrimSpace(log[o.line-1]), false)
		d.excerpt(log, o.line)
	} else if err := d.diagnosed(ctx, engine, log); err != nil {
		return nil, err
	}
	if d.id == "" {
		d.id = free(base, d.name())
	}
	if !idForm.MatchString(d.id) {
		return nil, fmt.Errorf("--id %s: an id is lower-case words, digits and hyphens", d.id)
	}
	return d, nil
}

// diagnosed makes the draft about the root cause of a log.
func (d *draft) diagnosed(ctx context.Context, engine *matcher.Engine, log []string) error {
	job := engine.Begin()
	if err := job.Read(ctx, "new.log", strings.NewReader(strings.Join(log, "\n")+"\n")); err != nil {
		return err
	}
	found := job.Report().Diagnoses
	if len(found) == 0 {
		return errNothingNew
	}
	cause := found[0]
	known := engine.Base().Signature(cause.ID)
	if known != nil && !known.Role.LastResort() {
		return fmt.Errorf("%s knows this log: %s; triage rules show %s prints it", cause.ID, cause.Title, cause.ID)
	}
	d.about(cause.Evidence[0].Text, true)
	d.excerpt(log, cause.Evidence[0].Line)
	d.anyProgram = known != nil && pythonsOwn(known, cause.Evidence[0].Text) && onlyOwnCode(job.Result().Events, cause.Evidence[0].Line)
	return nil
}

// pythonsOwn tells whether a generic signature and the text of the exception that it answers are about one of Python's own. Python prints
// those without a module. The signature that is about any exception, whose place all others take, takes the place of none.
func pythonsOwn(generic *signature.Signature, text string) bool {
	name, _, _ := strings.Cut(text, ":")
	return len(generic.Overrides) > 0 && !strings.Contains(name, ".")
}

// onlyOwnCode tells whether the exception of a line has a traceback, and no frame of a library in it or in those that it came with.
func onlyOwnCode(events []*reading.Event, line int) bool {
	shown := func(el reading.Element) bool { return el.Exception != nil && el.Line.Number == line }
	at := slices.IndexFunc(events, func(e *reading.Event) bool { return slices.ContainsFunc(e.Chain, shown) })
	if at < 0 {
		return false
	}
	var frames []traceback.Frame
	for _, el := range events[at].Chain {
		frames = append(frames, el.Exception.Frames...)
	}
	return len(frames) > 0 && !slices.ContainsFunc(frames, func(f traceback.Frame) bool { return !f.User() })
}

// free is the id, with a number when a signature has it already.
func free(base *rules.Base, id string) string {
	for n, tried := 2, id; ; n++ {
		if base.Signature(tried) == nil {
			return tried
		}
		tried = fmt.Sprintf("%s-%d", id, n)
	}
}

// write makes the file of the signature. It never replaces one.
func (o *newRuleOptions) write(d *draft) (name string, err error) {
	folder := filepath.Join(o.dir, o.family)
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return "", err
	}
	name = filepath.Join(folder, d.id+".yaml")
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, os.ErrExist) {
		return "", fmt.Errorf("%s is there already; --id gives another name", name)
	}
	if err != nil {
		return "", err
	}
	_, err = io.WriteString(file, d.signature())
	return name, errors.Join(err, file.Close())
}

// say tells what to do next. In the repository the program is built anew with the file in it, so that no folder is to be named.
func (o *newRuleOptions) say(std streams, file string) error {
	program, dir := "triage", " "+o.dir
	_, err := os.Stat(shippedLogs)
	if below, relErr := filepath.Rel(filepath.Join("rules", "failures"), o.dir); err == nil && relErr == nil && !strings.HasPrefix(below, "..") {
		program, dir = "go run ./cmd/triage", ""
	}
	_, err = fmt.Fprintf(std.out, "%s\n\nWrite what is marked TODO there. Then:\n  %s rules check%s\n  %s rules test%s\n", file, program, dir, program, dir)
	return err
}

// try diagnoses the examples with the new signature, and tells what is not as it should be.
func (o *newRuleOptions) try(ctx context.Context, std streams, file, id string) error {
	known := ruleFlags{dirs: append(slices.Clone(o.known.dirs), o.dir)}
	base, err := known.load()
	if err != nil {
		return err
	}
	written := base.Signature(id)
	if written == nil {
		return fmt.Errorf("%s: it was written and is not read; is %s a folder named backends?", file, o.dir)
	}
	if err := o.warnOfFamily(std, base, written); err != nil {
		return err
	}
	examples, err := example.Load(base, []*signature.Signature{written}, nil)
	if err != nil {
		return err
	}
	engine := matcher.New(base)
	for _, one := range examples {
		for _, mistake := range example.Try(ctx, engine, one) {
			if _, err := fmt.Fprintf(std.err, "warning: %s:%d:%d: as it stands, %s\n", file, one.Place.Line, one.Place.Column, mistake); err != nil {
				return err
			}
		}
	}
	return nil
}

// warnOfFamily tells when the family that the user named is a new one: often it is misspelled.
func (o *newRuleOptions) warnOfFamily(std streams, base *rules.Base, written *signature.Signature) error {
	var others []string
	for _, e := range base.Signatures() {
		if e.ID != written.ID {
			others = append(others, e.Family)
		}
	}
	if !o.named || slices.Contains(others, written.Family) {
		return nil
	}
	slices.Sort(others)
	_, err := fmt.Fprintf(std.err, "warning: made the new family %s; there are %s\n", o.family, strings.Join(slices.Compact(others), ", "))
	return err
}
