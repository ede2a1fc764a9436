package facts

import (
	"slices"
	"strings"

	"github.com/gpu-triage/triage/matcher/logline"
	"github.com/gpu-triage/triage/rules/condition"
	"github.com/gpu-triage/triage/rules/fact"
)

// Told is a fact that a sentence of a post tells.
type Told struct {
	Fact
	Line logline.Line // the sentence
}

// Bounds of what a post tells.
const (
	maxTold  = 300 // bytes of a value
	maxTried = 8   // things that were tried
	maxBelow = 4   // lines of code that a sentence announces
)

// FoundOut is what the author of a post has found out already, by the sentences of it. Of each fact the first counts.
func FoundOut(v *fact.Vocabulary, sentences []logline.Sentence) []Told {
	if len(sentences) == 0 {
		return nil
	}
	forms := v.FoundOut()
	r := postReader{vocabulary: v, sentences: sentences}
	for i, s := range sentences {
		r.field(s)
		if s.Code || forms.Asks != nil && forms.Asks.Matches(s.Text) {
			continue
		}
		for j := range forms.Sentences {
			if r.read(&forms.Sentences[j], i) {
				break
			}
		}
	}
	r.namePackage()
	r.parted()
	if len(r.tried) > 0 {
		r.note(fact.Tried, condition.ListValue(r.tried...), r.triedIn)
	}
	return r.told
}

// field takes in a line that says which release of a package is there: "xgboost: 2.0.0".
func (r *postReader) field(s logline.Sentence) {
	fields := r.vocabulary.FoundOut().Fields
	if fields == nil {
		return
	}
	m := fields.Submatch(s.Text)
	if m == nil {
		return
	}
	if name, ok := r.vocabulary.Package(m[fields.Group("name")]); ok {
		r.say(name, m[fields.Group("value")], s.Line)
	}
}

// postReader reads the sentences of one post.
type postReader struct {
	vocabulary *fact.Vocabulary
	sentences  []logline.Sentence
	told       []Told
	tried      []condition.Value
	triedIn    logline.Line
}

// read asks one form of sentences about a sentence, which may end in the next one. It tells whether that told something.
func (r *postReader) read(form *fact.FoundSentence, i int) bool {
	text := r.sentences[i].Text
	if form.Two && i+1 < len(r.sentences) && !r.sentences[i+1].Code {
		text += " " + r.sentences[i+1].Text
	}
	at := form.Pattern.Regexp().FindStringSubmatchIndex(text)
	if at == nil || at[0] > len(r.sentences[i].Text) || form.Unless != nil && form.Unless.Matches(text) {
		return false
	}
	values := make(map[string]string)
	for group, name := range form.Pattern.Names() {
		if name != "" && at[2*group] >= 0 {
			values[name] = trimmed(text[at[2*group]:at[2*group+1]])
		}
	}
	if form.Follows != "" {
		values[form.Follows] = r.below(i)
	}
	if !r.named(values) {
		return false
	}
	for name, value := range values {
		r.say(name, value, r.sentences[i].Line)
	}
	return true
}

// below are the lines of code that stand right below a sentence.
func (r *postReader) below(i int) string {
	var code []string
	for _, s := range r.sentences[i+1:] {
		if !s.Code || len(code) == maxBelow {
			break
		}
		code = append(code, s.Text)
	}
	return strings.Join(code, ", ")
}

// named puts the name by which pip knows it into the place of a package. What has releases and is no package has them in words. It tells
// whether the values are about anything.
func (r *postReader) named(values map[string]string) bool {
	name, ok := values[fact.ChangedPackage]
	if !ok {
		return true
	}
	if pip := r.vocabulary.Installs(name); pip != "" {
		values[fact.ChangedPackage] = pip
		return true
	}
	delete(values, fact.ChangedPackage)
	if things := r.vocabulary.FoundOut().Things; things == nil || !things.Matches(name) {
		return false
	}
	for release, words := range map[string]string{fact.WorksRelease: fact.WorksWith, fact.FailsRelease: fact.BeganWith} {
		if value := values[release]; value != "" {
			values[words] = name + " " + value
		}
		delete(values, release)
	}
	return len(values) > 0
}

// say notes a value in words, unless something was said of the fact before.
func (r *postReader) say(name, text string, line logline.Line) {
	if text == "" || len(text) > maxTold {
		return
	}
	if name == fact.Tried {
		if len(r.tried) < maxTried {
			r.tried = append(r.tried, condition.StringValue(text))
			if len(r.tried) == 1 {
				r.triedIn = line
			}
		}
		return
	}
	if value, err := r.vocabulary.Parse(name, text); err == nil && r.is(name) == "" {
		r.note(name, value, line)
	}
}

func (r *postReader) note(name string, value condition.Value, line logline.Line) {
	r.told = append(r.told, Told{Fact: Fact{Name: name, Value: value, Source: FromProse, Where: place(line)}, Line: line})
}

// is the value of a fact in words, "" for one that was not told.
func (r *postReader) is(name string) string {
	if i := r.index(name); i >= 0 {
		return r.told[i].Value.String()
	}
	return ""
}

func (r *postReader) index(name string) int {
	return slices.IndexFunc(r.told, func(t Told) bool { return t.Name == name })
}

// namePackage finds of a release that was told without its package whose it is: that of the only package in the title.
func (r *postReader) namePackage() {
	i := max(r.index(fact.WorksRelease), r.index(fact.FailsRelease))
	if i < 0 || r.is(fact.ChangedPackage) != "" {
		return
	}
	named := make(map[string]bool)
	for word := range strings.FieldsFuncSeq(r.sentences[0].Text, betweenNames) {
		if pip := r.vocabulary.Installs(word); pip != "" {
			named[pip] = true
		}
	}
	if len(named) != 1 {
		r.told = slices.DeleteFunc(r.told, func(t Told) bool { return t.Name == fact.WorksRelease || t.Name == fact.FailsRelease })
		return
	}
	for pip := range named {
		r.note(fact.ChangedPackage, condition.StringValue(pip), r.told[i].Line)
	}
}

func betweenNames(c rune) bool { return strings.ContainsRune(" \t,;:()[]`'\"/=<>!", c) }

// trimmed is a value without the marks around it.
func trimmed(text string) string {
	const marks = "\"'*.,:; "
	bare := strings.Trim(text, "`"+marks)
	if strings.Count(bare, "`")%2 == 0 {
		return bare
	}
	return strings.Trim(text, marks) // the last word is in marks of its own
}
