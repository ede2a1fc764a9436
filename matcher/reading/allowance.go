package reading

// allowance bounds how long it takes to match texts which are like no other and of which each is an event of its own. What it costs to match a text is
// its bytes and what any text costs, once for each signature that is asked about it. Four bytes pay for one of these; what lies above is
// taken from what is free, which is more than any log needs that tells of failures: a list of failures, or a log made to keep the reader
// busy, has used it up after a moment. From then on only as many of its texts are matched as it pays for, and what it ends with.
type allowance struct {
	free    int
	spent   int // of what is free
	refused bool
}

// What is free, and what a text costs beside its bytes.
const (
	freeLines      = 6 << 20  // for lines: some thousand of them that have the words of several failures each
	freeExceptions = 24 << 20 // for exceptions: two thousand with a message of a line
	anyText        = 1000
	anySignature   = 64
)

// costOf is what it costs to match a text with so many signatures.
func costOf(text string, signatures int) int { return anyText + (len(text)+anySignature)*signatures }

// covers tells whether a text of so many bytes may be matched, and takes what it pays.
func (a *allowance) covers(length int) bool {
	if a.spent > 0 {
		a.spent = max(0, a.spent-length/4)
	}
	covered := a.spent < a.free
	a.refused = a.refused || !covered
	return covered
}

// pay takes the cost of a text that was matched.
func (a *allowance) pay(cost int) { a.spent += cost }
