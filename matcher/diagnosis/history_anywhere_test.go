package diagnosis_test

import "testing"

// A parameter tells of which package a function is where the log shows the package. What one package alone ever had is a guess, and a word that
// anybody uses tells nothing.
func TestParameterAlone(t *testing.T) {
	engine := knowing(t, `id: refused
title: refused
keywords: ["unexpected keyword argument"]
match: ['history != nil']
capture: ["(?P<function>[\\w.]+)\\(\\) got an unexpected keyword argument '(?P<parameter>\\w+)'"]
history: ["*.{function}({parameter}=)"]
cause: "{history.name}, guessed: {history.guessed}."
fixes: [{do: x}]
references: [x]
`)
	const error = "TypeError: __init__() got an unexpected keyword argument "
	for log, want := range map[string]string{
		"import pytorch_lightning as pl\n" + error + "'row_log_interval'\n":                    "pytorch_lightning.Trainer(row_log_interval=), guessed: false.",
		"pytorch-lightning==1.2.0\n" + error + "'row_log_interval'\n":                          "pytorch_lightning.Trainer(row_log_interval=), guessed: false.",
		error + "'row_log_interval'\n":                                                         "pytorch_lightning.Trainer(row_log_interval=), guessed: true.",
		error + "'dropout'\n":                                                                  "",
		error + "'kettle_brew_interval'\n":                                                     "",
		"TypeError: RealESRGANer.__init__() got an unexpected keyword argument 'dni_weight'\n": "realesrgan.RealESRGANer(dni_weight=), guessed: false.", // no other package has that class
		"TypeError: Kettle.__init__() got an unexpected keyword argument 'dni_weight'\n":       "",
		"Traceback (most recent call last):\n  File \"/home/ana/a.py\", line 3, in <module>\n    k = Kettle(row_log_interval=2)\n" + error + "'row_log_interval'\n": "",
	} {
		if got := cause(t, engine, log); got != want {
			t.Errorf("%q: %q, want %q", log, got, want)
		}
	}
}

// Of a method that its class had in earlier releases, an object of a class derived from it or the words of who asks tell.
func TestLostName(t *testing.T) {
	engine := knowing(t, `id: lost
title: lost
keywords: ["has no attribute"]
match: ['history != nil']
capture: ["has no attribute '(?P<member>\\w+)'"]
history: ["*.{member}", "*.*"]
cause: "It is {history.name}"
fixes: [{do: x}]
references: [x]
`)
	const asks = "\n\nHow can I fix it? It seems that `prediction_loop()` is never called.\n"
	for _, c := range []struct{ class, member, release, text, want string }{
		{"KettleTrainer", "is_world_master", "4.1.1", "", "It is transformers.Trainer.is_world_master"},
		{"KettleTrainer", "is_world_master", "3.5.1", "", ""},  // has it
		{"KettleTrainer", "is_world_master", "", "", ""},       // nobody knows which is there
		{"KettleTrainer", "is_world_master", "4.40.0", "", ""}, // of long ago
		{"KettleNet", "is_world_master", "4.1.1", "", ""},      // no Trainer
		{"KettleTrainer", "pots", "5.0.0", asks, "It is transformers.Trainer.prediction_loop"},
		{"KettleTrainer", "pots", "4.50.0", asks, ""},
	} {
		log := "AttributeError: '" + c.class + "' object has no attribute '" + c.member + "'\n" + c.text
		got := cause(t, engine, log, installed(t, "transformers", c.release)...)
		if got != c.want {
			t.Errorf("%s.%s with %s: %q, want %q", c.class, c.member, c.release, got, c.want)
		}
	}
}
