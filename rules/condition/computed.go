package condition

// Computed is a value that a Go function works out, once per situation.
type Computed struct {
	Value func(*Situation) Value
	Needs []*Expression // what the function evaluates: they tell which names the value hangs on. More may be added until the scope is used

	choose func(*Situation) int // which of Needs the value is; nil when it may hang on all of them
}

// neededIn are the expressions that the value hangs on in a situation.
func (c *Computed) neededIn(s *Situation) []*Expression {
	if c.choose == nil {
		return c.Needs
	}
	if i := c.choose(s); i >= 0 {
		return c.Needs[i : i+1]
	}
	return nil
}

// Compute adds a slot for a computed value. Expressions cannot write it before Bind gives it a name; the title is for messages.
func (s *Scope) Compute(title string, t Type, c *Computed) Slot {
	return s.add(declared{name: title, shape: Shape{Type: t}, computed: c})
}

// Circular are the computed values that need themselves, and that no situation could be asked for.
func (s *Scope) Circular() []string {
	var circular []string
	const open, done = 1, 2
	state := make([]int, len(s.slots))
	var visit func(n *node)
	visitSlot := func(slot Slot) {
		computed := s.slots[slot].computed
		switch {
		case computed == nil || state[slot] == done:
			return
		case state[slot] == open:
			circular = append(circular, s.slots[slot].name)
			return
		}
		state[slot] = open
		for _, needed := range computed.Needs {
			visit(needed.root)
		}
		state[slot] = done
	}
	visit = func(n *node) {
		if n.slot != noSlot {
			visitSlot(n.slot)
		}
		for _, operand := range n.operands {
			visit(operand)
		}
	}
	for slot := range s.slots {
		visitSlot(Slot(slot))
	}
	return circular
}
