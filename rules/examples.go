package rules

import (
	"runtime"
	"slices"

	"github.com/gpu-triage/triage/rules/rulefile"
	"github.com/gpu-triage/triage/rules/signature"
	"golang.org/x/sync/errgroup"
)

// Examples are those that stand in the files of signatures, in their order. The error is rulefile.Problems when some are written wrongly.
func (b *Base) Examples(signatures []*signature.Signature) ([]signature.Example, error) {
	reader := signature.ExampleReader{Vocabulary: b.Vocabulary}
	for _, e := range b.Entries {
		reader.IDs = append(reader.IDs, e.ID)
	}
	read := make([][]signature.Example, len(signatures))
	wrong := make([]rulefile.Problems, len(signatures))
	workers := new(errgroup.Group)
	workers.SetLimit(runtime.GOMAXPROCS(0))
	for i, s := range signatures {
		workers.Go(func() (err error) {
			read[i], wrong[i], err = reader.Read(s)
			return err
		})
	}
	if err := workers.Wait(); err != nil {
		return nil, err
	}
	if problems := slices.Concat(wrong...); len(problems) > 0 {
		return nil, problems
	}
	return slices.Concat(read...), nil
}

// Unfinished are the places in the files of signatures that still have to be written.
func (b *Base) Unfinished(signatures []*signature.Signature) (rulefile.Problems, error) {
	var found rulefile.Problems
	for _, s := range signatures {
		problems, err := s.Unfinished()
		if err != nil {
			return nil, err
		}
		found = append(found, problems...)
	}
	return found, nil
}
