package diagnosis_test

import (
	"context"
	"strings"
	"testing"

	"github.com/gpu-triage/triage/matcher"
	"github.com/gpu-triage/triage/matcher/facts"
	"github.com/gpu-triage/triage/rules"
)

// A machine that has changed since the job ran is told of, and what it would do now; the answer stays about the log.
func TestContradictions(t *testing.T) {
	base, err := rules.Load()
	if err != nil {
		t.Fatal(err)
	}
	log := `PyTorch version: 2.6.0+cu124
transformer_engine==2.6.0
DEBUG:DotProductAttention:Running with config={'transformer_engine_version': '2.6.0', 'compute_capability': 'sm100', 'flash_attn_version': 'not installed', 'flash_attn_3_version': 'not installed', 'cudnn_version': '9.8.0', 'qkv_type': <class 'torch.Tensor'>, 'qkv_dtype': torch.bfloat16, 'qkv_layout': 'thd_thd_thd', 'batch_size': 4, 'num_heads': 16, 'num_gqa_groups': 16, 'max_seqlen_q': 4096, 'max_seqlen_kv': 4096, 'head_dim_qk': 192, 'head_dim_v': 128, 'attn_mask_type': 'padding_causal', 'window_size': (-1, 0), 'alibi_slopes_shape': None, 'core_attention_bias_type': 'no_bias', 'core_attention_bias_shape': None, 'core_attention_bias_requires_grad': False, 'pad_between_seqs': False, 'attention_dropout': 0.0, 'context_parallel': False, 'deterministic': False, 'is_training': True, 'fp8': False, 'fp8_meta': {'fp8_checkpoint': False, 'fp8_group': None}, 'inference_params': None}
Traceback (most recent call last):
  File "/job/train.py", line 3, in <module>
    layer(x)
ValueError: No dot product attention backend is available for the provided inputs. Please run with NVTE_DEBUG=1 NVTE_DEBUG_LEVEL=2 to find out the reasons for disabling all backends.
`
	live := func(name, text string) facts.Fact {
		value, err := base.Vocabulary.Parse(name, text)
		if err != nil {
			t.Fatal(err)
		}
		return facts.Fact{Name: name, Value: value, Source: facts.FromLive, Where: "here"}
	}
	tests := []struct {
		name string
		live []facts.Fact
		want []string // in the notes; none means that nothing is noted about the machine
	}{
		{"the same", []facts.Fact{live("cudnn", "9.8.0.87"), live("torch", "2.6.0+cu124"), live("sm", "100")}, nil},
		{"not installed in the log, and not now", []facts.Fact{live("flash_attn", "none")}, nil},
		{"another cuDNN", []facts.Fact{live("cudnn", "9.12.0.46"), live("torch", "2.6.0")},
			[]string{"The log has cudnn 9.8.0 (train.log:3); now it is 9.12.0.46 (here). The answer is about the log.",
				"With what this machine has now, transformer_engine would use FusedAttention instead of no backend."}},
		{"gone", []facts.Fact{live("transformer_engine", "none")}, []string{"The log has transformer_engine 2.6.0 (train.log:3); now there is none (here)."}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			reading := matcher.New(base).Begin()
			if err := reading.Read(context.Background(), "train.log", strings.NewReader(log)); err != nil {
				t.Fatal(err)
			}
			report := reading.Report(test.live...)
			notes := strings.Join(report.Notes, "\n")
			for _, want := range test.want {
				if !strings.Contains(notes, want) {
					t.Errorf("%q is missing in\n%s", want, notes)
				}
			}
			if len(test.want) == 0 && strings.Contains(notes, "now") {
				t.Errorf("notes: %s", notes)
			}
		})
	}
}
