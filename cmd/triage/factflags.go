package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gpu-triage/triage/matcher/facts"
	"github.com/gpu-triage/triage/matcher/live"
	"github.com/gpu-triage/triage/rules"
	"github.com/gpu-triage/triage/rules/fact"
)

// factFlags are what the user knows of the situation.
type factFlags struct {
	facts []string
	files []string
}

func (f *factFlags) add(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.facts, "fact", nil, "something known, as `NAME=VALUE`: torch=2.6.0, env.NCCL_DEBUG=INFO, flash_attn=none (repeatable)")
	cmd.Flags().StringArrayVar(&f.files, "facts", nil, "`FILE` of facts, as triage facts --format json prints them (repeatable)")
	_ = cmd.MarkFlagFilename("facts", "json")
	_ = cmd.RegisterFlagCompletionFunc("fact", completeFact)
}

// completeFact offers the names of facts, each with what it is.
func completeFact(_ *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	const asTyped = cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	if strings.Contains(typed, "=") {
		return nil, asTyped
	}
	base, err := rules.Open()
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var names []string
	for _, name := range base.Vocabulary.Names() {
		if !strings.HasPrefix(name, typed) {
			continue
		}
		info, _ := base.Vocabulary.Fact(name)
		names = append(names, cobra.CompletionWithDesc(name+"=", info.About))
	}
	return names, asTyped
}

// read gives the facts, all of the user's own word. The error tells every wrong one.
func (f *factFlags) read(vocabulary *fact.Vocabulary) ([]facts.Fact, error) {
	var known []facts.Fact
	var wrong []error
	for _, given := range f.facts {
		name, text, ok := strings.Cut(given, "=")
		if !ok {
			wrong = append(wrong, fmt.Errorf("--fact %s: a fact is written NAME=VALUE", given))
			continue
		}
		said, err := facts.Said(vocabulary, map[string]string{name: text}, "--fact")
		if err != nil {
			wrong = append(wrong, fmt.Errorf("--fact %s: %w", given, err))
		}
		known = append(known, said...)
	}
	for _, file := range f.files {
		facts, err := readFacts(file, vocabulary)
		if err != nil {
			wrong = append(wrong, fmt.Errorf("--facts %s: %w", file, err))
		}
		known = append(known, facts...)
	}
	return known, errors.Join(wrong...)
}

// maxFactsFile bounds a file of facts, in bytes.
const maxFactsFile = 16 << 20

// readFacts reads what `triage facts` printed, or an object with a member for each fact. Facts of a machine keep weighing less than
// what a log says; those that a person wrote down weigh more.
func readFacts(file string, vocabulary *fact.Vocabulary) ([]facts.Fact, error) {
	content, err := readAtMost(file, maxFactsFile)
	if err != nil {
		return nil, err
	}
	document, err := live.ParseDocument(content, vocabulary)
	if err != nil {
		return nil, err
	}
	var known []facts.Fact
	for _, f := range document.Facts {
		value, err := vocabulary.FromJSON(f.Name, f.Value)
		if err != nil {
			return nil, err
		}
		known = append(known, facts.Fact{Name: f.Name, Value: value, Source: facts.Source(f.Source), Where: file})
	}
	return known, nil
}
