package xid

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/gpu-triage/triage/rules/rulefile"
)

func shippedCatalogue(t *testing.T) *Catalogue {
	t.Helper()
	content, err := os.ReadFile("../" + File)
	if err != nil {
		t.Fatal(err)
	}
	d := &rulefile.Decoder{}
	catalogue := Read(d, content, "")
	if len(d.Problems) > 0 {
		t.Fatal(d.Problems)
	}
	return catalogue
}

func TestExplain(t *testing.T) {
	number := func(n int) *int { return &n }
	reset := "stop every job on this GPU and reset it (nvidia-smi --gpu-reset -i INDEX; with NVSwitch all GPUs together, or reboot)"
	tests := []struct {
		name   string
		event  Event
		others []Event
		want   Meaning
	}{
		{"off the bus", Event{Code: 79, Text: "GPU has fallen off the bus."}, nil, Meaning{Name: "GPU has fallen off the bus",
			Blame: BlameHardware, Bucket: "RESTART_BM",
			Action: "reboot the node; if it happens again, take it out of service and check power, cooling and the PCIe slot",
			Later:  "if it repeats, take the GPU out of service and send the vendor nvidia-bug-report.sh's file"}},
		{"the line names the action", Event{Code: 154, Text: "GPU recovery action changed from 0x0 (None) to 0x2 (Node Reboot Required)"}, nil,
			Meaning{Name: "the action that the GPU needs has changed", Blame: BlameConsequence, Bucket: "XID_154", Action: "Node Reboot Required"}},
		{"45 with another", Event{GPU: "a", Code: 45}, []Event{{GPU: "a", Code: 31}}, Meaning{Name: "the driver ended the programs on this GPU",
			Blame: BlameConsequence, Bucket: "WORKFLOW_XID_45", Action: "follow the other Xid of this GPU", Later: "nothing has to be done"}},
		{"45 alone, another GPU's do not count", Event{GPU: "a", Code: 45}, []Event{{GPU: "b", Code: 31}},
			Meaning{Name: "the driver ended the programs on this GPU", Blame: BlameConsequence, Bucket: "RESTART_FM",
				Action: "restart the fabric manager (systemctl restart nvidia-fabricmanager)", Later: "nothing has to be done"}},
		{"link down, peer failed", Event{Code: 149, Text: "NETIR_LINK_EVT Fatal XC0 i0 Link 08 (0x025001c6 0x00000000 0x00000000 0x00000000)"}, nil,
			Meaning{Name: "NVLink error, unit NETIR", Blame: BlameHardware, Bucket: "RESET_GPU", Action: reset,
				Later: "the other end of this link failed first, look at its errors", SubCode: number(37), Severity: "link"}},
		{"link error that needs nothing", Event{Code: 145, Text: "RLW_REMAP Nonfatal XC0 i0 Link 00 (0x00000004 0x00000100 0x00000000 0x00000000)"}, nil,
			Meaning{Name: "NVLink error, unit RLW", Blame: BlameHardware, Bucket: "IGNORE", Later: "nothing has to be done",
				SubCode: number(0), Severity: "non-fatal"}},
		{"link error with an unknown status", Event{Code: 144, Text: "SAW_MVB Fatal XC0 i0 Link 00 (0x00000001 0x40000000 0x0 0x0)"}, nil,
			Meaning{Name: "NVLink error, unit SAW", Blame: BlameHardware, Bucket: "WORKFLOW_NVLINK5_ERR",
				Action: "see the link's sub-code; without one, reset the GPU and look at the other end of the link",
				Later:  "see the link's sub-code; without one, reset the GPU and look at the other end of the link"}},
		{"unknown code", Event{Code: 999}, nil, Meaning{Blame: BlameDriver, Name: "not in the catalogue of 2025-10-29"}},
	}
	catalogue := shippedCatalogue(t)
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := catalogue.Explain(append([]Event{test.event}, test.others...))
			if diff := cmp.Diff(test.want, got[0]); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestMistakes(t *testing.T) {
	d := &rulefile.Decoder{}
	Read(d, []byte("actions: {RESET: reset it}\nxids:\n  - {code: 1, name: x, blame: nobody, now: REBOOT}\n"+
		"  - {code: 2, name: y, blame: driver, action: '('}\n"), "")
	if len(d.Problems) != 3 {
		t.Errorf("%d mistakes are found, there are three", len(d.Problems))
	}
	err := d.Problems.Error()
	for _, want := range []string{`xid.yaml:3:31: unknown blame "nobody"`, `xid.yaml:3:44: the action "REBOOT" is not explained`, "xid.yaml:4:48: error parsing regexp"} {
		if !strings.Contains(err, want) {
			t.Errorf("%q is missing in:\n%v", want, err)
		}
	}
}
