package web

import (
	"crypto/subtle"
	"net"
	"net/http"
	"strings"
)

// callerOf is who sent a request. Behind a proxy all are one caller.
func callerOf(r *http.Request) string {
	host, _, err := net.SplitHostPort(r.RemoteAddr)
	if err != nil {
		return r.RemoteAddr
	}
	return host
}

// hasToken tells whether a request brings a token. Nobody has the empty one.
func hasToken(r *http.Request, token string) bool {
	given := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	return token != "" && subtle.ConstantTimeCompare([]byte(given), []byte(token)) == 1
}

// guarded lets those ask for a diagnosis who may, and not too often.
func (s *Server) guarded(handler http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case s.DiagnoseToken == "" && !s.Local:
			http.Error(w, "off: others than this machine can reach this address, so TRIAGE_DIAGNOSE_TOKEN has to be set", http.StatusForbidden)
		case s.DiagnoseToken != "" && !hasToken(r, s.DiagnoseToken):
			http.Error(w, "not for you: send Authorization: Bearer with the token in TRIAGE_DIAGNOSE_TOKEN", http.StatusUnauthorized)
		case s.Callers.Wait(callerOf(r)) > 0:
			w.Header().Set("Retry-After", "60")
			http.Error(w, "too many requests: try again in a minute", http.StatusTooManyRequests)
		default:
			handler(w, r)
		}
	})
}

// budgeted charges for a request's body, which has to be read as a whole before its signature can be checked.
func (s *Server) budgeted(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := s.Bodies.Reader(r.Body)
		defer body.Close()
		r.Body = body
		handler.ServeHTTP(w, r)
	})
}
