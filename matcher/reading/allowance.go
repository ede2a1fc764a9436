package reading

// allowance bounds how long it takes to match texts which have the words of many failures and are like no other. What it costs to match a
// text is its bytes, once for each signature that is asked about it. Each byte pays for one signature; what lies above is taken from what
// is free, which is more than any log needs that tells of failures: a list of failures, or a log made to keep the reader busy, has used it
// up after a moment. From then on only as many of its texts are matched as it pays for, and its last lines.
//
// The zero value is ready to use.
type allowance struct {
	spent   int // of what is free
	refused bool
}

const freeMatching = 16 << 20 // bytes times signatures: about half a second

// covers tells whether a text may be matched. It pays for one signature.
func (a *allowance) covers(text string) bool {
	a.spent = max(0, a.spent-len(text))
	covered := a.spent < freeMatching
	a.refused = a.refused || !covered
	return covered
}

// pay takes the cost of a text that was matched.
func (a *allowance) pay(cost int) { a.spent += cost }
