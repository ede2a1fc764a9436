package traceback

import "testing"

func TestPrompt(t *testing.T) {
	for text, want := range map[string]bool{
		"lea@box:~/code$ python train.py":                true,
		"(base) lea@box:~$":                              true,
		"root@a1b2c3:/workspace# nvidia-smi":             true,
		"(env) [lea@login-1 code]$ sbatch job.sh":        true,
		`(base) PS C:\Users\lea\code> python train.py`:   true,
		`(sd) C:\code>python launch.py`:                  true,
		"git@github.com:lea/code.git could not be read":  false,
		"wrong file: lea@box:~/code$1.txt":               false,
		`C:\code\train.py:12: UserWarning: a > b`:        false,
		"expected lea@box: 12 # of ranks, got 8":         false,
		"  lea@box:~/code$ stands within what was given": false,
	} {
		if got := isPrompt(text); got != want {
			t.Errorf("isPrompt(%q) = %t, want %t", text, got, want)
		}
	}
}
