package condition

// All tells whether every condition is surely true in a situation.
func All(conditions []*Expression, s *Situation) bool {
	for _, c := range conditions {
		if !c.Eval(s).True() {
			return false
		}
	}
	return true
}

// Possible tells whether no condition is surely false in a situation.
func Possible(conditions []*Expression, s *Situation) bool {
	for _, c := range conditions {
		if c.Eval(s).False() {
			return false
		}
	}
	return true
}
