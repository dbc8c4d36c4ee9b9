package page

import (
	"errors"
	"net/http"
	"strings"
	"unicode"

	"github.com/gpupool/terraform-provider-gpupool/internal/serve/access"
)

// Cookie is the name of the cookie with the token of a user. Only pages accept it: the API, which
// can change something, needs a header that no other site can send. With TLS, its prefix lets browsers refuse
// one that another host of the domain sets.
func Cookie(secure bool) string {
	if secure {
		return "__Host-gpupool_token"
	}
	return "gpupool_token"
}

const (
	// cookieSeconds is how long a browser keeps a token.
	cookieSeconds = 12 * 60 * 60
	// cookieAtMost is the longest token that browsers keep: 4,096 bytes with the name.
	cookieAtMost = 4000
)

type loginForm struct{ Next, Error string }

func (s *site) askToken(w http.ResponseWriter, r *http.Request) {
	s.form(w, r, http.StatusOK, loginForm{Next: local(r.URL.Query().Get("next"))})
}

func (s *site) form(w http.ResponseWriter, r *http.Request, code int, f loginForm) {
	s.write(w, r, code, "login", frame{Title: "Sign in", Body: f})
}

func (s *site) login(w http.ResponseWriter, r *http.Request) {
	next, token := local(r.PostFormValue("next")), strings.TrimSpace(r.PostFormValue("token"))
	_, err := s.Authenticator.Authenticate(r.Context(), token)
	switch {
	case err == nil && len(token) > cookieAtMost:
		s.form(w, r, http.StatusUnprocessableEntity, loginForm{Next: next, Error: "This token is too long for a browser. Ask for another one."})
		return
	case errors.Is(err, access.ErrUnknownToken):
		s.form(w, r, http.StatusUnauthorized, loginForm{Next: next, Error: "This token is unknown."})
		return
	case err != nil:
		s.form(w, r, http.StatusServiceUnavailable, loginForm{Next: next, Error: "The token cannot be checked now. Try again in a minute."})
		return
	}
	http.SetCookie(w, s.cookie(r, token, cookieSeconds))
	http.Redirect(w, r, next, http.StatusSeeOther)
}

func (s *site) logout(w http.ResponseWriter, r *http.Request) {
	http.SetCookie(w, s.cookie(r, "", -1))
	http.Redirect(w, r, "/login", http.StatusSeeOther)
}

// secure reports whether browsers send the cookie with TLS only.
func (s *site) secure(r *http.Request) bool { return s.SecureCookies || r.TLS != nil }

// cookie is sent with links from other sites, such as a chat, and with no other request of these.
func (s *site) cookie(r *http.Request, token string, seconds int) *http.Cookie {
	return &http.Cookie{
		Name: Cookie(s.secure(r)), Value: token, Path: "/", MaxAge: seconds, HttpOnly: true, Secure: s.secure(r), SameSite: http.SameSiteLaxMode,
	}
}

// local returns a path of this server; the overview if it is another address.
func local(next string) string {
	ambiguous := func(r rune) bool { return r == '\\' || unicode.IsControl(r) } // browsers drop or replace them
	if !strings.HasPrefix(next, "/") || strings.HasPrefix(next, "//") || strings.ContainsFunc(next, ambiguous) {
		return "/"
	}
	return next
}
