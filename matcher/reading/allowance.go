package reading

// allowance bounds how long it takes to match texts which are like no other and that signatures may know. What it costs to match a text is
// its bytes and what any text costs, once for each signature that is asked about it. Each byte pays for one signature; what lies above is
// taken from what is free, which is more than any log needs that tells of failures: a list of failures, or a log made to keep the reader
// busy, has used it up after a moment. From then on only as many of its texts are matched as it pays for, and what it ends with.
//
// The zero value is ready to use.
type allowance struct {
	spent   int // of what is free
	refused bool
}

const (
	freeMatching = 24 << 20 // about a second
	anyText      = 1000     // what any text costs, in bytes
	anySignature = 64       // what a signature costs that is asked about the shortest text, likewise
)

// costOf is what it costs to match a text with so many signatures.
func costOf(text string, signatures int) int { return anyText + (len(text)+anySignature)*signatures }

// covers tells whether a text of so many bytes may be matched. It pays for one signature.
func (a *allowance) covers(length int) bool {
	if a.spent > 0 {
		a.spent = max(0, a.spent-length)
	}
	covered := a.spent < freeMatching
	a.refused = a.refused || !covered
	return covered
}

// pay takes the cost of a text that was matched.
func (a *allowance) pay(cost int) { a.spent += cost }
