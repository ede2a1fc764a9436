package logline

import (
	"strings"

	"github.com/gpu-triage/triage/rules/pattern"
)

// labelled is a printed line with a word of a person before it.
var labelled = pattern.Lazy(`^\W{0,3}(?i:the )?(?i:errors?|logs?|output|message)(?i: message)?\W{0,3}[:：]\s*(\[(?:rank|\d{4}-)|\d{4}-\d\d-\d\d|[A-Za-z_.]+Error: )`)

// tagged is a title with the tag that a tracker asks for.
var tagged = pattern.Lazy(`^(?i:\[(?:question|q|bug|bug report|help|help wanted|issue|usage|installation|feature request|support)\])\s*[:：]?\s*`)

// withoutLabel is a line of a post without the word that its author put before what was printed.
func withoutLabel(line string) string {
	if line != "" && line[0] == '[' {
		line = line[len(tagged().FindString(line)):]
	}
	return labelled().ReplaceAllString(line, "$1")
}

// What people change when they type what was printed: a class in two words or without its capitals, no blank behind its colon, "unable to" for "cannot".
var (
	parted  = pattern.Lazy(`\b(Assertion|Attribute|Connection|Import|Index|Key|Memory|Name|Runtime|Syntax|Type|Usage|Value) [Ee]rror: ?`)
	lowered = pattern.Lazy(`\b(?:assertion|attribute|filenotfound|import|index|key|memory|modulenotfound|name|notimplemented|os|runtime|type|value)error: `)
	glued   = pattern.Lazy(`\b([A-Z]\w*Error):([A-Za-z'"(\[])`)
	// byClass is an exception that a program reports by its class and its message: "Error reported to x: <class 'y.NotFoundError'>, train.record is not there".
	byClass  = pattern.Lazy(`^(\W{0,2})[\w:. ]{0,60}\b(?:[Ee]rror|[Ee]xception)[\w ]{0,40}: <(?:class|type) '([\w.]*\w(?:Error|Exception))'>[,:] ?`)
	reworded = pattern.Lazy(`\b(?:Cannot|(?i:can['’]t|cant|can not|unable to|could not|couldn['’]t)) import (?:the )?name (['‘"]?\w)`)
)

// capitals are the words of a class's name, as the parts of it that begin with one.
var capitals = strings.NewReplacer("assertion", "Assertion", "attribute", "Attribute", "filenotfound", "FileNotFound", "import", "Import", "index", "Index", "key", "Key",
	"memory", "Memory", "modulenotfound", "ModuleNotFound", "name", "Name", "notimplemented", "NotImplemented", "os", "OS", "runtime", "Runtime", "type", "Type", "value", "Value", "error", "Error")

// asPrinted is a sentence with its messages as Python prints them.
func asPrinted(sentence string) string {
	sentence = byClass().ReplaceAllString(sentence, "${1}${2}: ")
	sentence = parted().ReplaceAllString(sentence, "${1}Error: ")
	sentence = lowered().ReplaceAllStringFunc(sentence, capitals.Replace)
	sentence = glued().ReplaceAllString(sentence, "$1: $2")
	return reworded().ReplaceAllString(sentence, "cannot import name $1")
}
