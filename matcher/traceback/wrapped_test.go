package traceback

import (
	"strings"
	"testing"
)

// TestKeras: what Keras puts around the message of a layer's exception, and around one that AutoGraph's code raised.
func TestKeras(t *testing.T) {
	const before, behind = "Exception encountered when calling layer \"net\" (type Net).\n\n", "\n\nCall arguments received by layer \"net\" (type Net):\n  • x=1\n"
	for name, c := range map[string]struct{ printed, typ, message, function string }{
		"a layer": {
			"tf.errors.InvalidArgumentError: " + before + "{{function_node __wrapped__MatMul_device_/job:localhost}} Matrix size-incompatible" + behind,
			"tf.errors.InvalidArgumentError", "Matrix size-incompatible", "main",
		},
		"a graph": {
			"tf.errors.InvalidArgumentError: Graph execution error:\n\nDetected at node 'ctc' defined at (most recent call last):\n    File \"/w/train.py\", line 3, in main\n      fit(x)\nNode: 'ctc'\nSaw a label\n\t [[{{node ctc}}]] [Op:x]\n",
			"tf.errors.InvalidArgumentError", "Saw a label\n\t [[{{node ctc}}]] [Op:x]", "main",
		},
		"AutoGraph": {
			"ValueError: in user code:\n\n    File \"/w/net.py\", line 12, in call  *\n        return x + self.gain\n\n    AttributeError: no gain\n",
			"AttributeError", "no gain", "call",
		},
		"AutoGraph in a layer": {
			"ValueError: " + before + "in user code:\n\n    File \"/w/net.py\", line 12, in call  *\n        return x + self.gain\n\n    AttributeError: no gain\n" + behind,
			"AttributeError", "no gain", "call",
		},
	} {
		exceptions, _ := read(t, "x.log", "Traceback (most recent call last):\n  File \"/w/train.py\", line 3, in main\n    net(x)\n"+c.printed)
		if len(exceptions) != 1 || exceptions[0].Earlier == nil {
			t.Fatalf("%s is read as\n%s", name, outline(exceptions, ""))
		}
		inner := exceptions[0].Earlier
		if inner.Type != c.typ || inner.Message != c.message || inner.Frames[len(inner.Frames)-1].Function != c.function {
			t.Errorf("%s is read as\n%s", name, outline(exceptions, ""))
		}
	}
}

// TestGraphWithoutNode: what stands above the line of the node is no message, however long it is; without that line there is none.
func TestGraphWithoutNode(t *testing.T) {
	const raised = "Traceback (most recent call last):\n  File \"/w/train.py\", line 3, in main\n    fit(x)\nInvalidArgumentError: Graph execution error:\n\n"
	stack := "Detected at node 'ctc' defined at (most recent call last):\n" + strings.Repeat("    File \"/w/net.py\", line 12, in call\n      return self.inner(x)\n", 300)
	exceptions, _ := read(t, "x.log", raised+stack)
	if len(exceptions) != 1 || exceptions[0].Earlier != nil {
		t.Errorf("without a node it is read as\n%s", outline(exceptions, ""))
	}
	exceptions, _ = read(t, "x.log", raised+stack+"Node: 'ctc'\nSaw a label\n")
	if len(exceptions) != 1 || exceptions[0].Earlier == nil || exceptions[0].Earlier.Message != "Saw a label" {
		t.Errorf("behind a long stack it is read as\n%s", outline(exceptions, "")[:400])
	}
}

// TestGatheredRanks: who gathers what failed on the ranks names each below its own message, also where only that message was pasted.
func TestGatheredRanks(t *testing.T) {
	const of = "Traceback (most recent call last): (RANK 0)\n  File \"/w/plan.py\", line 7, in plan\n    raise ValueError(name)\nValueError: no such tensor\n"
	exceptions, _ := read(t, "x.log", "GatherException: GatherException ranks:dict_keys([0])\n"+of)
	if len(exceptions) != 1 || exceptions[0].Earlier == nil || exceptions[0].Earlier.Type != "ValueError" {
		t.Errorf("it is read as\n%s", outline(exceptions, ""))
	}
}
