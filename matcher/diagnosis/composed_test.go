package diagnosis_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/gpu-triage/triage/matcher"
	"github.com/gpu-triage/triage/matcher/facts"
	"github.com/gpu-triage/triage/matcher/report"
	"github.com/gpu-triage/triage/rules"
)

const (
	config = "DEBUG:DotProductAttention:Running with config={'transformer_engine_version': 'RELEASE', 'compute_capability': 'smSM', 'flash_attn_version': '2.7.3', 'flash_attn_3_version': 'not installed', 'cudnn_version': 'CUDNN', 'qkv_type': <class 'torch.Tensor'>, 'qkv_dtype': torch.bfloat16, 'qkv_layout': 'LAYOUT', 'batch_size': 2, 'num_heads': 32, 'num_gqa_groups': 32, 'max_seqlen_q': 2048, 'max_seqlen_kv': 2048, 'head_dim_qk': DIM, 'head_dim_v': DIM, 'attn_mask_type': 'MASK', 'window_size': (-1, 0), 'alibi_slopes_shape': None, 'core_attention_bias_type': 'no_bias', 'core_attention_bias_shape': None, 'core_attention_bias_requires_grad': False, 'pad_between_seqs': False, 'attention_dropout': 0.0, 'context_parallel': False, 'cp_comm_type': 'p2p', 'deterministic': False, 'is_training': True, 'fp8': False, 'fp8_meta': {'fp8_checkpoint': False, 'fp8_group': None}, 'inference_params': None, 'softmax_type': 'vanilla', 'return_max_logit': False, 'cuda_graph': False, 'num_splits': 1}\n"
	none   = "DEBUG:DotProductAttention:Available backends = {FlashAttention=False, FusedAttention=False, UnfusedDotProductAttention=False}\nDEBUG:DotProductAttention:Selected backend = NoBackend\nTraceback (most recent call last):\n  File \"/srv/pretrain.py\", line 301, in <module>\n    train()\nValueError: No dot product attention backend is available for the provided inputs. Please run with NVTE_DEBUG=1 NVTE_DEBUG_LEVEL=2 to find out the reasons for disabling all backends.\n"
	flash  = "DEBUG:DotProductAttention:Disabling FlashAttention 2 due to NVTE_FLASH_ATTN=0\n"
	unfus  = "DEBUG:DotProductAttention:Disabling UnfusedDotProductAttention due to NVTE_UNFUSED_ATTN=0\n"
	fused  = "DEBUG:DotProductAttention:Disabling FusedAttention as no backend supports the provided input\n"
)

// situationLog is a log of a call of 192/192 on an A100 with two switches, with some words replaced.
func situationLog(replace ...string) string {
	usual := []string{"RELEASE", "2.9.0+70f5", "SM", "80", "CUDNN", "9.14.0", "LAYOUT", "sbhd_sbhd_sbhd", "DIM", "192", "MASK", "causal"}
	return strings.NewReplacer(append(replace, usual...)...).Replace(config) + flash + unfus + fused + none
}

func diagnosed(t *testing.T, log string, known ...facts.Fact) report.Report {
	t.Helper()
	base, err := rules.Load()
	if err != nil {
		t.Fatal(err)
	}
	reading := matcher.New(base).Begin()
	if err := reading.Read(context.Background(), "train.log", strings.NewReader(log)); err != nil {
		t.Fatal(err)
	}
	answer := reading.Report(known...)
	if len(answer.Diagnoses) == 0 {
		t.Fatal("nothing is diagnosed")
	}
	return answer
}

// TestComposed: title and cause name the rule that takes out each backend, and the smallest change comes first.
func TestComposed(t *testing.T) {
	for _, c := range []struct {
		name, log string
		certainty report.Certainty
		says      []string // in the cause
		first     string   // what the first fix does
		verified  bool
		asks      int
	}{
		{"all told", situationLog(), report.Confirmed,
			[]string{"NVTE_FLASH_ATTN=0 is set", "above 128 only from Hopper", "192/192 on sm80", "NVTE_UNFUSED_ATTN=0 is set"}, "Set NVTE_FLASH_ATTN=1", true, 0},
		{"another GPU, cuDNN and head dim", situationLog("SM", "90", "CUDNN", "9.3.0", "DIM", "256"), report.Confirmed,
			[]string{"need cuDNN 9.5; here they are 256/256 with cuDNN 9.3.0"}, "Set NVTE_FLASH_ATTN=1", true, 0},
		{"told in a few words, where other facts may take a backend out as well", "NVTE_FLASH_ATTN=0 NVTE_UNFUSED_ATTN=0\nGPU: NVIDIA A100-SXM4-80GB\n" +
			"transformer_engine 2.1.0, torch 2.6.0, cudnn 9.7.1, flash-attn 2.7.4\nhead_dim_qk = 192, head_dim_v = 128\n" + none[strings.Index(none, "Traceback"):], report.Confirmed,
			[]string{"NVTE_FLASH_ATTN=0 is set", "FusedAttention: Head dims above 128 (192/128) need Hopper", "NVTE_UNFUSED_ATTN=0 is set"}, "Set NVTE_UNFUSED_ATTN=1", false, 0},
		{"packed sequences", situationLog("LAYOUT", "thd_thd_thd", "DIM", "128", "MASK", "padding_causal"), report.Confirmed,
			[]string{"packed sequences (thd) only from Hopper"}, "Set NVTE_FLASH_ATTN=1", true, 0},
		{"a cuDNN that was not checked", situationLog("CUDNN", "9.99.0"), report.Confirmed, []string{"above 128 only from Hopper"}, "Set NVTE_FLASH_ATTN=1", true, 0},
		{"a release that is not covered", situationLog("RELEASE", "2.77.0"), report.Confirmed,
			[]string{`The log says "Disabling FlashAttention 2 due to NVTE_FLASH_ATTN=0"`, `The log says "Disabling FusedAttention as no backend`}, "Unset variables", false, 0},
		{"cuDNN's own reason", strings.Replace(situationLog("RELEASE", "2.20.2"), "FusedAttention as no backend supports the provided input", "FusedAttention: No valid engine for the graph", 1),
			report.Confirmed, []string{"cuDNN itself refuses this call"}, "", false, 0},
		{"Megatron chose one", "python pretrain_gpt.py --attention-backend fused\n" + situationLog(), report.Confirmed, []string{"NVTE_FLASH_ATTN=0 is set"}, "Let Megatron allow all backends", true, 0},
		{"all_gather", "torchrun pretrain_gpt.py --context-parallel-size 2 --cp-comm-type all_gather\ntransformer_engine==1.11.0\nnvidia-cudnn-cu12==9.1.0.70\n" +
			"RuntimeError: /te/fused_attn.cpp:467 in function nvte_fused_attn_fwd: Invalid combination of data type and sequence length for fused attention.\n",
			report.Likely, []string{"all_gather", "causal_bottom_right", "needs cuDNN 9.3 (with thd or padding 9.6); here it is cuDNN 9.1.0"}, "Upgrade cuDNN to 9.6", false, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := diagnosed(t, c.log).Diagnoses[0]
			if d.Certainty != c.certainty || len(d.Missing) != c.asks {
				t.Errorf("%s %s, asks for %v", d.ID, d.Certainty, d.Missing)
			}
			for _, want := range c.says {
				if !strings.Contains(d.Cause, want) {
					t.Errorf("%q is missing in %q", want, d.Cause)
				}
			}
			if strings.Contains(d.Title+d.Cause, "unknown") || strings.Contains(d.Cause, "does not tell") {
				t.Errorf("%s\n%s", d.Title, d.Cause)
			}
			if c.first != "" && (len(d.Fixes) == 0 || !strings.HasPrefix(d.Fixes[0].Do, c.first) || d.Fixes[0].Verified != c.verified) {
				t.Errorf("fixes %+v", d.Fixes)
			}
			verified := slices.ContainsFunc(d.Fixes, func(f report.Fix) bool { return f.Verified })
			if verified && slices.ContainsFunc(d.Fixes, func(f report.Fix) bool { return f.Set == nil }) {
				t.Errorf("general advice beside a verified fix: %+v", d.Fixes)
			}
		})
	}
}

// TestBeyondIsSaid: a version that the rules were not compared with is named in a note.
func TestBeyondIsSaid(t *testing.T) {
	notes := strings.Join(diagnosed(t, situationLog("CUDNN", "9.99.0")).Notes, " ")
	if !strings.Contains(notes, "9.99.0") {
		t.Errorf("notes: %s", notes)
	}
}
