package render

// paint colours words with the sixteen colours that every terminal has, as its user has set them; when off it returns them as they
// are.
type paint struct{ on bool }

func (p paint) confirmed(s string) string { return p.sgr("1;31", s) }
func (p paint) likely(s string) string    { return p.sgr("1;33", s) }
func (p paint) good(s string) string      { return p.sgr("32", s) }
func (p paint) strong(s string) string    { return p.sgr("1", s) }
func (p paint) faint(s string) string     { return p.sgr("2", s) }
func (p paint) heading(s string) string   { return p.sgr("1;4", s) }
func (p paint) gutter(s string) string    { return p.sgr("1;34", s) }
func (p paint) command(s string) string   { return p.sgr("36", s) }
func (p paint) link(s string) string      { return p.sgr("4;34", s) }
func (p paint) note(s string) string      { return p.sgr("1;36", s) }

func (p paint) sgr(code, s string) string {
	if !p.on || s == "" {
		return s
	}
	return "\x1b[" + code + "m" + s + "\x1b[0m"
}
