package logline

import "github.com/gpu-triage/triage/rules/pattern"

var (
	goesOn = pattern.Lazy(`(?i)\b(?:retrying|(?:will|to) (?:re)?try|retry(?:ing)? in|(?:re)?trying again|attempt \d+|skipp(?:ing|ed)|ignor(?:ing|ed)|fall(?:ing|s)? ?back|continuing)\b`)
	// libraryRecord is the header of glog and of TensorFlow's records.
	libraryRecord = pattern.Lazy(`^(?:\[[^\]\n]*\]:? ?)?[EF]\d{4} |^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d+: [EF] `)
)

// GoesOn tells whether a message says of an error that the program goes on after it: "..., falling back to the CPU", "will retry in 5 s".
func GoesOn(message string) bool { return goesOn().MatchString(message) }

// ofGo is such a record of Kubernetes' programs, which end with the error that they tell last.
var ofGo = pattern.Lazy(`^[EF]\d{4} \S+ +\d+ \w+\.go:\d+\] `)

// OfLibrary tells whether a line is a record of C++ libraries, which tell in them also of errors that they get over.
func OfLibrary(text string) bool {
	return libraryRecord().MatchString(text) && !ofGo().MatchString(text)
}
