package history

import "testing"

// TestUnaliased puts the module in the place of its alias alone, and never in that of a function.
func TestUnaliased(t *testing.T) {
	for name, want := range map[string]string{
		"lgb.train(verbose_eval=)":    "lightgbm.train(verbose_eval=)",
		"plt.axes(hold=)":             "matplotlib.pyplot.axes(hold=)",
		"FSDP(forward_prefetch=)":     "torch.distributed.fsdp.FullyShardedDataParallel(forward_prefetch=)",
		"np(x=)":                      "np(x=)",
		"xgb":                         "xgb",
		"kettle.lgb.train(x=)":        "kettle.lgb.train(x=)",
		"transformers.Trainer(args=)": "transformers.Trainer(args=)",
	} {
		if got := Unaliased(name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
}
