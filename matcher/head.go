package matcher

// headLines is how many lines of a source, from its first, are read for facts that are stated in words as common as "torch": where
// programs and people say what is installed. Facts in rarer words, and those in messages of exceptions, are found everywhere.
const headLines = 5000

// headKinds remembers of each kind of lines among the first of a source that no line of it can state anything new, or how often that
// was asked in vain. Programs repeat themselves, and one answer is enough for all lines of a kind.
type headKinds map[string]int

const (
	dull     = -1 // nothing new
	mostAsks = 8
)

// may tells whether a line may state something new in common words.
func (h headKinds) may(r *Reading, form *Form, raw []byte) bool {
	var room [maxKind]byte
	kind, ok := lineKind(room[:0], raw)
	if !ok {
		return true
	}
	asked := h[string(kind)]
	if asked == dull || asked == mostAsks {
		return asked == mostAsks
	}
	if asked++; !r.mayState(form, raw) {
		asked = dull
	}
	h[string(kind)] = asked
	return asked != dull
}

// mayState tells whether some line of the kind of this one may state something new in common words.
func (r *Reading) mayState(form *Form, raw []byte) (may bool) {
	form.Clean(0, raw, func(line Line) error { //nolint:errcheck // nothing fails
		text := line.Body()
		r.ids = append(r.engine.common.in(line.Text, r.ids[:0]), r.engine.commonNumbered...)
		for _, n := range r.ids {
			switch i := &r.engine.interest[n]; {
			case i.reader != nil:
				may = may || !r.facts.settled(i.reader, text, i.weight())
			case i.pattern != nil:
				may = may || r.mayLook(i.number, text)
			}
		}
		for _, number := range r.engine.wordless {
			may = may || r.mayLook(number, text)
		}
		return nil
	})
	return may
}

// mayLook tells whether some line of the kind of this text may be the first that a pattern of the scope matches.
func (r *Reading) mayLook(number int, text string) bool {
	return r.seen[number].Number == 0 && r.engine.base.Scope.SeenPatterns()[number].OfKind().Matches(text)
}
