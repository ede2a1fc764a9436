package catalogue

import (
	"context"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/gpu-triage/triage/matcher"
	"github.com/gpu-triage/triage/rules/signature"
)

// All are the pages of all signatures, sorted by their ids.
func All(ctx context.Context, engine *matcher.Engine) ([]*Page, error) {
	return pagesOf(ctx, engine, engine.Base().Signatures())
}

// pagesOf are the pages of some signatures, in their order, with examples of theirs alone.
func pagesOf(ctx context.Context, engine *matcher.Engine, signatures []*signature.Signature) ([]*Page, error) {
	all, err := engine.Base().Examples(signatures)
	if err != nil {
		return nil, err
	}
	answered, beside := byAnswer(all), make(map[string][]signature.Example)
	for _, e := range all {
		if owner := e.Owner(); owner != e.Answer.ID {
			beside[owner] = append(beside[owner], e)
		}
	}
	pages := make([]*Page, len(signatures))
	workers, ctx := errgroup.WithContext(ctx)
	workers.SetLimit(runtime.GOMAXPROCS(0))
	for i, s := range signatures {
		workers.Go(func() (err error) {
			pages[i], err = pageOf(ctx, engine, s, slices.Concat(ownFirst(s, answered[s.ID]), beside[s.ID]))
			return err
		})
	}
	if err := workers.Wait(); err != nil {
		return nil, err
	}
	return pages, nil
}

// ownFirst are the examples that stand with a signature, and those that stand elsewhere only where there are none.
func ownFirst(s *signature.Signature, answered []signature.Example) []signature.Example {
	own := slices.DeleteFunc(slices.Clone(answered), func(e signature.Example) bool { return e.Owner() != s.ID })
	if len(own) > 0 {
		return own
	}
	return answered
}
