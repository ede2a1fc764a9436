package facts_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/gpu-triage/triage/matcher"
	"github.com/gpu-triage/triage/matcher/facts"
	"github.com/gpu-triage/triage/rules"
)

// stated are the facts that a text states, as "name=value", with what follows from them.
func stated(t *testing.T, text string) (map[string]string, map[string]string) {
	t.Helper()
	base, err := rules.Open()
	if err != nil {
		t.Fatal(err)
	}
	job := matcher.New(base).Begin()
	if err := job.Read(context.Background(), "issue.md", strings.NewReader(text)); err != nil {
		t.Fatal(err)
	}
	values, sources := make(map[string]string), make(map[string]string)
	for _, f := range job.Report().Facts {
		values[f.Name], sources[f.Name] = fmt.Sprint(f.Value), f.Source
	}
	return values, sources
}

func TestProse(t *testing.T) {
	for text, want := range map[string]string{
		"My card is an RTX 5090D.":                                "gpu=RTX 5090D",
		"I use flash-attn 2.6.3 on two A100s":                     "gpu=A100 gpu_count=2 flash_attn=2.6.3",
		"Hardware: 8x H100 80GB":                                  "gpu=H100 80GB gpu_count=8",
		"We have 4 × NVIDIA GeForce RTX 4090 in the box":          "gpu=NVIDIA GeForce RTX 4090 gpu_count=4",
		"- PyTorch version: 2.3":                                  "torch=2.3",
		"* **PyTorch**: 2.3.1+cu121":                              "torch=2.3.1+cu121",
		"torch==2.7":                                              "torch=2.7",
		"| transformers | 4.48.0 |":                               "transformers=4.48.0",
		"| CUDA | 12.8 |":                                         "cuda=12.8",
		"CUDA: 12.8":                                              "cuda=12.8",
		"cuda version: 12.4":                                      "cuda=12.4",
		"Python 3.10 / Ubuntu 22.04":                              "python=3.10 os=Ubuntu 22.04",
		"Environment: Python 3.11, PyTorch 2.5.1, CUDA 12.4":      "python=3.11 torch=2.5.1 cuda=12.4",
		"The driver version is fine. Driver: 550.54.14":           "driver=550.54.14",
		"I'm on Windows 11 with Triton 3.1.0 and xformers 0.0.29": "os=Windows 11 triton=3.1.0 xformers=0.0.29",
		"python_version: 3.12":                                    "python=3.12",
		"TransformerEngine 2.1 and vLLM 0.8.4":                    "transformer_engine=2.1 vllm=0.8.4",
		"It fails with torch 2.7.":                                "torch=2.7",
		"deepspeed (0.14.4), accelerate (0.33.0)":                 "deepspeed=0.14.4 accelerate=0.33.0",
	} {
		values, _ := stated(t, text+"\n")
		for _, pair := range strings.Split(want, " ") {
			name, value, ok := strings.Cut(pair, "=")
			if ok && !strings.HasPrefix(values[name], value) {
				t.Errorf("%q: %s is %q, not %s", text, name, values[name], value)
			}
		}
	}
}

func TestProseStatesNothing(t *testing.T) {
	for _, text := range []string{
		"works with torch 2.4 but not 2.5",
		"It worked with PyTorch 2.4.1 last week.",
		"xformers requires CUDA 12.1",
		"flash-attn needs torch 2.2 or newer",
		"I tried Python 3.9 and 3.10",
		"FlashAttention 3 does not support A100",
		"Should I upgrade to torch 2.6.0?",
		"transformers>=4.40 is asked for",
		"Tested on A100, H100 and L40S",
		"configs/h100_a100.yaml is read",
		"I downgraded numpy 1.26.4 after that",
		"pip install torch==2.3.0",
		"same error with torch 2.3.1 and torch 2.4.1",
		"FROM nvidia/cuda:12.1.0-devel-ubuntu22.04",
		"see https://example.org/torch 2.4.1",
		"PyTorch 2.1.0 with CUDA 12.1 (you have 2.0.1)",
		"Can I run this on a V100?",
		"Maybe a 4090 or an RTX 3090 is enough",
	} {
		values, _ := stated(t, text+"\n")
		if len(values) > 0 {
			t.Errorf("%q states %v", text, values)
		}
	}
}

func TestLogOutweighsProse(t *testing.T) {
	values, sources := stated(t, "I have torch 2.3.1 here\n```\nPyTorch version: 2.4.0+cu121\n```\n")
	if values["torch"] != "2.4.0+cu121" || sources["torch"] != string(facts.FromLog) {
		t.Errorf("torch is %s by %s", values["torch"], sources["torch"])
	}
}

func TestDifferentProse(t *testing.T) {
	values, _ := stated(t, "One machine has an RTX 4090.\nThe second machine has an RTX 3090.\n")
	if values["gpu"] != "" {
		t.Errorf("two machines are taken for one with %s", values["gpu"])
	}
}

func TestProseIsNoLog(t *testing.T) {
	values, _ := stated(t, "2024-05-24 03:30:22,799 INFO run: comparing with the figures of an A100\n")
	if values["gpu"] != "" {
		t.Errorf("a line of a log was taken for prose: %v", values)
	}
}
