package access_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/serve/access"
)

func hash(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

func TestTokens(t *testing.T) {
	t.Parallel()
	tokens, err := access.ParseTokens([]byte("# users\n\nalice " + hash("a") + " reader ml,web\nops " + hash("o") + " requester *\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, token := range []string{"", "x", hash("a")} {
		if _, err := tokens.Authenticate(t.Context(), token); !errors.Is(err, access.ErrUnknownToken) {
			t.Errorf("the token %q: %v", token, err)
		}
	}
	for _, tt := range []struct {
		token, verb, namespace string
		may                    bool
	}{
		{"a", access.Get, "ml", true},
		{"a", access.Get, "research", false},
		{"a", access.Get, "", false},
		{"a", access.Create, "ml", false},
		{"o", access.Create, "ml", true},
		{"o", access.Create, "", true},
	} {
		user, err := tokens.Authenticate(t.Context(), tt.token)
		if err != nil {
			t.Fatal(err)
		}
		if may, err := user.Allows(t.Context(), tt.verb, access.StockPools, tt.namespace); may != tt.may || err != nil {
			t.Errorf("%s may %s in %q: %v, %v", user.Name, tt.verb, tt.namespace, may, err)
		}
	}
}

func TestInvalidTokens(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"", "# nothing\n", "alice", "alice abc reader ml", "alice " + hash("a") + " writer ml", "alice " + hash("a") + " reader ML",
		"alice " + hash("a") + " reader ml\nalice " + hash("b") + " reader ml", "a " + hash("a") + " reader ml\nb " + hash("a") + " reader ml",
	} {
		if _, err := access.ParseTokens([]byte(text)); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
	_, err := access.ParseTokens([]byte("alice " + hash("a") + " reader ml\n\nbob\n"))
	if err == nil || !strings.HasPrefix(err.Error(), "line 3: ") {
		t.Errorf("an invalid third line: %v", err)
	}
}

func FuzzTokens(f *testing.F) {
	f.Add([]byte("alice " + hash("a") + " reader ml,*\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		tokens, err := access.ParseTokens(text)
		if (err == nil) != (len(tokens) > 0) {
			t.Errorf("%d tokens and %v", len(tokens), err)
		}
	})
}

func TestBudgetsOfNamespaces(t *testing.T) {
	t.Parallel()
	tokens, err := access.ParseTokens([]byte("alice " + hash("a") + " reader ml,web\n"))
	if err != nil {
		t.Fatal(err)
	}
	alice, err := tokens.Authenticate(t.Context(), "a")
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		selector *budget.Selector
		sees     bool
	}{
		"one of hers":     {&budget.Selector{Namespaces: []string{"ml"}}, true},
		"both of hers":    {&budget.Selector{Namespaces: []string{"ml", "web"}}, true},
		"also another":    {&budget.Selector{Namespaces: []string{"ml", "research"}}, false},
		"all":             {&budget.Selector{MatchLabels: map[string]string{"team": "a"}}, false},
		"by their labels": {&budget.Selector{NamespaceLabels: map[string]string{"team": "a"}}, false},
		"unreadable":      {nil, false},
	} {
		if sees, err := alice.SeesBudget(t.Context(), tt.selector); sees != tt.sees || err != nil {
			t.Errorf("%s: %v, %v", name, sees, err)
		}
	}
}

// cluster answers reviews, and counts them.
type cluster struct {
	tokens, questions int
	allowed           []string
	down              bool
}

func (c *cluster) ReviewToken(_ context.Context, token string) (u access.Subject, ok bool, err error) {
	c.tokens++
	if c.down {
		return u, false, errors.New("no answer")
	}
	return access.Subject{Name: "user-" + token}, strings.HasPrefix(token, "good"), nil
}

func (c *cluster) ReviewAccess(_ context.Context, u access.Subject, verb, group, resource, subresource, namespace string) (bool, error) {
	c.questions++
	if c.down {
		return false, errors.New("no answer")
	}
	return slices.Contains(c.allowed, strings.Join([]string{u.Name, verb, group, resource, subresource, namespace}, " ")), nil
}

func TestReviews(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	c := &cluster{allowed: []string{"user-good get gpupool.io budgets  ml", "user-good create gpupool.io budgets grants "}}
	users := &access.Cluster{Reviewer: c, Now: func() time.Time { return now }}
	if _, err := users.Authenticate(t.Context(), "bad"); !errors.Is(err, access.ErrUnknownToken) {
		t.Errorf("a bad token: %v", err)
	}
	asks := func(verb, resource, namespace string) (bool, error) {
		u, err := users.Authenticate(t.Context(), "good")
		if err != nil {
			return false, err
		}
		return u.Allows(t.Context(), verb, resource, namespace)
	}
	for range 3 {
		for resource, want := range map[string]bool{access.Budgets: true, access.StockPools: false} {
			if may, err := asks(access.Get, resource, "ml"); may != want || err != nil {
				t.Errorf("%s: %v, %v", resource, may, err)
			}
		}
	}
	if may, err := asks(access.Create, access.Grants, ""); !may || err != nil {
		t.Errorf("a grant: %v, %v", may, err)
	}
	if c.tokens != 2 || c.questions != 5 {
		t.Errorf("the cluster was asked %d and %d times", c.tokens, c.questions)
	}
	now = now.Add(10 * time.Second)
	c.allowed = nil
	if may, err := asks(access.Get, access.Budgets, "ml"); may || err != nil {
		t.Errorf("after ten seconds, what was revoked: %v, %v", may, err)
	}
	now, c.down = now.Add(10*time.Second), true
	if may, err := asks(access.Get, access.Budgets, "ml"); may || err == nil {
		t.Errorf("without an answer: %v, %v", may, err)
	}
}

// TestLongTokensAreNotReviewed since no API server has them.
func TestLongTokensAreNotReviewed(t *testing.T) {
	t.Parallel()
	c := &cluster{}
	users := &access.Cluster{Reviewer: c, Now: time.Now}
	for _, extra := range []int{0, 1} {
		_, err := users.Authenticate(t.Context(), strings.Repeat("x", 16<<10+extra))
		if !errors.Is(err, access.ErrUnknownToken) || c.tokens != 1 {
			t.Errorf("a token of 16 KiB and %d bytes: %v, and %d reviews", extra, err, c.tokens)
		}
	}
}

// from returns the context of a request from an address.
func from(t *testing.T, address string) context.Context {
	t.Helper()
	return access.WithClient(t.Context(), address)
}

// TestRandomTokens sends more unknown tokens than any limit. Those with valid tokens are not locked out.
func TestRandomTokens(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	c := &cluster{}
	users := &access.Cluster{Reviewer: c, Now: func() time.Time { return now }}
	valid := func(client, token string) {
		t.Helper()
		if u, err := users.Authenticate(from(t, client), token); err != nil || u.Name != "user-"+token {
			t.Errorf("the valid token %s from %s: %v", token, client, err)
		}
	}
	attack := func(client string, tokens int) {
		t.Helper()
		for n := range tokens {
			_, err := users.Authenticate(from(t, client), fmt.Sprint("bad", client, n, now))
			if !errors.Is(err, access.ErrUnknownToken) && !errors.Is(err, access.ErrTooManyTokens) {
				t.Fatal(err)
			}
		}
	}
	valid("192.0.2.1:1", "good-1")
	before := c.tokens
	attack("192.0.2.1:2", 20_000)
	if n := c.tokens - before; n > 30 {
		t.Errorf("20,000 random tokens of one client took %d reviews", n)
	}
	before = c.tokens
	valid("192.0.2.1:3", "good-1")
	if c.tokens != before {
		t.Error("random tokens displaced a valid one")
	}
	valid("192.0.2.2:1", "good-2")
	valid("[2001:db8:0:1::1]:1", "good-3")
	now = now.Add(11 * time.Second)
	attack("192.0.2.1:2", 1000)
	for n := range 1000 {
		attack(fmt.Sprintf("[2001:db8:0:2::%x]:1", n), 10)
		attack(fmt.Sprintf("198.51.%d.%d:1", n/250, n%250), 1)
	}
	if n := c.tokens - before; n > 300 {
		t.Errorf("random tokens of 2,000 addresses took %d reviews", n)
	}
	for _, token := range []string{"good-1", "good-2", "good-3"} {
		valid("192.0.2.1:4", token)
	}
	now = now.Add(10 * time.Second)
	valid("192.0.2.3:1", "good-4")
}

func TestAnUnknownTokenIsReviewedOnceInAWhile(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	c := &cluster{}
	users := &access.Cluster{Reviewer: c, Now: func() time.Time { return now }}
	for range 100 {
		if _, err := users.Authenticate(t.Context(), "bad"); !errors.Is(err, access.ErrUnknownToken) {
			t.Fatal(err)
		}
	}
	if c.tokens != 1 {
		t.Errorf("100 requests with one unknown token took %d reviews", c.tokens)
	}
	now = now.Add(10 * time.Second)
	if _, err := users.Authenticate(t.Context(), "bad"); !errors.Is(err, access.ErrUnknownToken) || c.tokens != 2 {
		t.Errorf("after ten seconds: %v with %d reviews", err, c.tokens)
	}
}

// slow answers when it is released.
type slow struct {
	cluster
	release chan struct{}
}

func (s *slow) ReviewToken(ctx context.Context, token string) (access.Subject, bool, error) {
	select {
	case <-s.release:
		return s.cluster.ReviewToken(ctx, token)
	case <-ctx.Done():
		return access.Subject{}, false, ctx.Err()
	}
}

// TestConcurrentRequestsShareAReview also cancels the first request, which the others must survive.
func TestConcurrentRequestsShareAReview(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := &slow{release: make(chan struct{})}
		users := &access.Cluster{Reviewer: c, Now: time.Now}
		ctx, cancel := context.WithCancel(t.Context())
		first, others := make(chan error), make(chan error)
		go func() { _, err := users.Authenticate(ctx, "good"); first <- err }()
		synctest.Wait()
		for range 50 {
			go func() { _, err := users.Authenticate(t.Context(), "good"); others <- err }()
		}
		synctest.Wait()
		cancel()
		if err := <-first; !errors.Is(err, context.Canceled) {
			t.Errorf("the canceled request: %v", err)
		}
		close(c.release)
		for range 50 {
			if err := <-others; err != nil {
				t.Error(err)
			}
		}
		if c.tokens != 1 {
			t.Errorf("%d reviews", c.tokens)
		}
	})
}
