package catalogue

import (
	"context"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/gpu-triage/triage/matcher"
	"github.com/gpu-triage/triage/rules/signature"
)

// All are the pages of all signatures, sorted by their ids.
func All(ctx context.Context, engine *matcher.Engine) ([]*Page, error) {
	return pagesOf(ctx, engine, engine.Base().Signatures())
}

func pagesOf(ctx context.Context, engine *matcher.Engine, signatures []*signature.Signature) ([]*Page, error) {
	pages := make([]*Page, len(signatures))
	workers, ctx := errgroup.WithContext(ctx)
	workers.SetLimit(runtime.GOMAXPROCS(0))
	for i, s := range signatures {
		workers.Go(func() error {
			examples, err := engine.Base().Examples([]*signature.Signature{s})
			if err != nil {
				return err
			}
			pages[i], err = pageOf(ctx, engine, s, examples)
			return err
		})
	}
	if err := workers.Wait(); err != nil {
		return nil, err
	}
	return pages, nil
}
