package backend

import "iter"

// reasons tells which rules stand behind the verdicts in one situation: first what is wrong with variants that are there, in the
// library's order, then which variants are not there.
type reasons struct {
	*situation
	exist   [maxVariants]verdict
	settled [maxVariants]bool // a rule says of the variant what makes all else not worth telling
}

func reasonsIn(s *situation) *reasons {
	r := &reasons{situation: s}
	for i := range s.library.variants {
		r.exist[i] = s.exists(i)
	}
	for _, rule := range s.library.releases[s.release].rules {
		off, _ := rule.off.at(s.release)
		if !rule.ends || off.whole || s.fires(rule) != on {
			continue
		}
		for _, v := range off.variants {
			r.settled[v] = true
		}
	}
	return r
}

// rulesBehind describes the rules behind a backend's verdict: those that take it out, or that may when none surely does, which sure tells.
func (r *reasons) rulesBehind(backend int, verdict string) (rules []Rule, sure bool) {
	if verdict == Allowed {
		return nil, false
	}
	var surely, perhaps []Rule
	for rule, fired := range r.about(backend) {
		if fired == on {
			surely = append(surely, rule.describeIn(r.situation))
		} else {
			perhaps = append(perhaps, rule.describeIn(r.situation))
		}
	}
	if verdict == Unknown || len(surely) == 0 {
		return append(surely, perhaps...), false
	}
	return surely, true
}

// idsBehind are the ids of the rules that take a backend out; when none surely does so, of those that may.
func (r *reasons) idsBehind(backend int) []string {
	surely, perhaps := []string{}, []string{}
	for rule, fired := range r.about(backend) {
		if fired == on {
			surely = append(surely, rule.id)
		} else {
			perhaps = append(perhaps, rule.id)
		}
	}
	if len(surely) == 0 {
		return perhaps
	}
	return surely
}

// about are the rules that take out, or may take out, variants of a backend.
func (r *reasons) about(backend int) iter.Seq2[*rule, verdict] {
	return func(yield func(*rule, verdict) bool) {
		for _, ends := range []bool{false, true} {
			for _, rule := range r.library.releases[r.release].rules {
				if rule.ends != ends || !ends && r.allSettled(rule) {
					continue
				}
				if fired := r.takesOut(rule, backend); fired != off && !yield(rule, fired) {
					return
				}
			}
		}
	}
}

// allSettled tells whether a rule is about nothing but variants of which enough is told.
func (r *reasons) allSettled(rule *rule) bool {
	off, _ := rule.off.at(r.release)
	if off.whole {
		return false
	}
	for _, v := range off.variants {
		if !r.settled[v] {
			return false
		}
	}
	return true
}

// takesOut tells whether a rule takes out a variant of a backend that would exist otherwise.
func (r *reasons) takesOut(rule *rule, backend int) verdict {
	result := off
	targets, _ := rule.off.at(r.release)
	for _, v := range targets.variants {
		if r.library.variants[v].backend != backend || r.exist[v] == off {
			continue
		}
		fired := r.fires(rule)
		switch {
		case fired == off:
		case fired == on && r.exist[v] == on:
			return on
		default:
			result = undecided
		}
	}
	return result
}
