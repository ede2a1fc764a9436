package backend

import (
	"strings"
	"testing"

	"github.com/gpu-triage/triage/rules/condition"
)

// sdpaRow is one call with what PyTorch's can_use_... functions and its choice say, as an H200 answered.
type sdpaRow struct {
	ID     string         `json:"id"`
	Facts  map[string]any `json:"facts"`
	Expect map[string]any `json:"expect"`
}

// TestPyTorch compares the rules about scaled_dot_product_attention with PyTorch itself.
func TestPyTorch(t *testing.T) {
	l := library(t, "torch_sdpa")
	for _, row := range readRows[sdpaRow](t, "../../testdata/oracle/torch-sdpa-2.11.jsonl.gz") {
		selection := l.Evaluate(factsOf(t, l, row.Facts))
		for _, b := range selection.Backends {
			want, told := row.Expect[b.Name].(bool)
			if told && (b.Verdict == Allowed) != want {
				t.Errorf("%s: %s is %s, PyTorch says %v\n%v", row.ID, b.Name, b.Verdict, want, row.Facts)
			}
		}
		want, _ := row.Expect["selected"].(string)
		if strings.HasPrefix(want, "ERROR") || want == "MATH" && mathRaises(row.Facts) {
			want = ""
		}
		if !selection.Decided || selection.Selected != want {
			t.Errorf("%s: %q is selected, PyTorch selects %q\n%v", row.ID, selection.Selected, want, row.Facts)
		}
	}
}

// mathRaises tells whether the math implementation, which is chosen where no other is left, raises when it is called. The oracle asked for the
// choice alone.
func mathRaises(facts map[string]any) bool {
	number := func(name string) int { n, _ := facts[name].(float64); return int(n) }
	queries, keys := number("num_heads"), number("num_gqa_groups")
	if facts["enable_gqa"] == true {
		return queries%keys != 0
	}
	return facts["is_causal"] == true && facts["attn_mask"] != nil || queries != keys && queries != 1 && keys != 1
}

// TestPyTorchLog reads warnings as PyTorch 2.11 printed them.
func TestPyTorchLog(t *testing.T) {
	l := library(t, "torch_sdpa")
	for line, rule := range map[string]string{
		"[W1120 17:53:59.783443773 sdp_utils.cpp:180] Warning: Flash attention requires q,k,v to have the same last dimension and to be less than or equal to 256. Got Query.size(-1): 512, Key.size(-1): 512, Value.size(-1): 512 instead. (function check_head_dim_size_flash)":                                                                                                                                      "sdpa-flash-head-dim",
		"[W1120 17:53:59.783452448 sdp_utils.cpp:706] Warning: cuDNN attention has been runtime disabled. (function check_runtime_disabled_cudnn)":                                                                                                                                                                                                                                                                     "sdpa-cudnn-disabled",
		"[W1120 17:53:59.783510173 sdp_utils.cpp:522] Warning: head_dim should be no more than 256 (function check_cudnn_tensor_shapes)":                                                                                                                                                                                                                                                                               "sdpa-cudnn-head-dim",
		"[W1120 17:53:59.783605046 sdp_utils_cpp.h:418] Warning: For dense input, both fused kernels require query, key and value to have the same num_heads. Query.sizes(): [2, 8, 64, 128], Key sizes(): [2, 1, 64, 128], Value sizes(): [2, 1, 64, 128] instead. To broadcast dense inputs, try using unsqueeze and expand_to before passing them into the kernel. (function check_batch_size_and_num_heads_dense)": "sdpa-flash-heads",
		"[W1120 17:53:59.783719686 sdp_utils_cpp.h:91] Warning: Expected query, key and value to all be of dtype: {Half, BFloat16}. Got Query dtype: float, Key dtype: float, and Value dtype: float instead. (function check_tensor_dtype)":                                                                                                                                                                           "sdpa-flash-dtype",
		"/usr/lib/python3/site-packages/model.py:31: UserWarning: Flash attention does not support the is_causal flag when seqlen_q != seqlen_k. Got seqlen_q: 1 seqlen_k: 64. If you would like to use causal attention with non-square masks, please see CausalAttnMask. (Triggered internally at /pytorch/aten/src/ATen/native/transformers/cuda/sdp_utils.cpp:457.)":                                               "sdpa-flash-causal-cross",
		"[W1120 17:53:59.784034646 sdp_utils.cpp:255] Warning: Mem efficient attention requires last dimension of inputs to be divisible by 8. Got Query.size(-1): 65, Key.size(-1): 65, Value.size(-1): 8 instead. (function check_head_dim_size_mem_efficient)":                                                                                                                                                      "sdpa-efficient-head-dim",
		"[W1120 17:53:59.784525747 sdp_utils_cpp.h:362] Warning: The number of heads in key/value must divide number of heads in query.Got input Key sizes(): 3, Value sizes(): 3, Query sizes(): 1 instead. (function check_grouped_query_attention)":                                                                                                                                                                 "sdpa-flash-grouped-heads",
		"[W1120 17:53:59.783886111 sdp_utils_cpp.h:262] Warning: Flash Attention does not support non-null attn_mask. (function check_for_attn_mask)":                                                                                                                                                                                                                                                                  "sdpa-flash-mask",
		"[W1120 17:53:59.784735904 sdp_utils.cpp:718] Warning: cuDNN SDPA is not deterministic. (function check_cudnn_deterministic)":                                                                                                                                                                                                                                                                                  "sdpa-cudnn-deterministic",
	} {
		log, ok := l.ReadSelectionLog([]string{line})
		if !ok || !log.mayBeFrom(rule) {
			t.Errorf("no rule says %q", line)
		}
	}
}

func factsOf(t *testing.T, l *Library, decoded map[string]any) map[string]condition.Value {
	t.Helper()
	facts := make(map[string]condition.Value)
	for name, d := range decoded {
		i, ok := l.byName[name]
		if !ok {
			t.Fatalf("no fact %s", name)
		}
		v, err := condition.FromJSON(d, l.facts[i].Type)
		if err != nil {
			t.Fatal(err)
		}
		facts[name] = v
	}
	return facts
}

// mayBeFrom tells whether the log has a line that a rule may have printed.
func (t *SelectionLog) mayBeFrom(id string) bool {
	for r := range t.rules {
		if r.id == id {
			return true
		}
	}
	return false
}
