package access

import (
	"context"
	"crypto/sha256"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"
)

// Reviewer asks a cluster who a user is, and what they may do.
type Reviewer interface {
	// ReviewToken returns the user of a token; ok is false if it is of none.
	ReviewToken(ctx context.Context, token string) (u Subject, ok bool, err error)
	// ReviewAccess reports whether a user may do something. The resource is of Group, with a
	// subresource after a slash.
	ReviewAccess(ctx context.Context, u Subject, verb, group, resource, subresource, namespace string) (bool, error)
}

// Subject is a user of a cluster.
type Subject struct {
	Name   string
	UID    string
	Groups []string
	Extra  map[string][]string
}

// believed is how long an answer of the cluster is used.
const believed = 10 * time.Second

// rememberedAtMost is the most answers that are kept.
const rememberedAtMost = 10_000

// validFor is how long reviews of a token that was valid are not limited.
const validFor = 24 * time.Hour

// answers are those of the cluster, each used for a while.
type answers[K comparable, V any] struct {
	mu   sync.Mutex
	kept map[K]answer[V]
}

type answer[V any] struct {
	value V
	until time.Time
}

func (a *answers[K, V]) find(now time.Time, question K) (value V, known bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	answer, kept := a.kept[question]
	if !kept || !now.Before(answer.until) {
		return value, false
	}
	return answer.value, true
}

func (a *answers[K, V]) keep(question K, value V, until time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.kept == nil || len(a.kept) >= rememberedAtMost {
		a.kept = map[K]answer[V]{}
	}
	a.kept[question] = answer[V]{value, until}
}

func (a *answers[K, V]) forget(question K) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.kept, question)
}

// Cluster authenticates by TokenReview, and authorizes by SubjectAccessReview.
type Cluster struct {
	Reviewer
	Now func() time.Time

	users   answers[tokenHash, *User]    // of valid tokens
	unknown answers[tokenHash, struct{}] // apart from users, so that many unknown tokens do not displace them
	valid   answers[tokenHash, struct{}] // reviews of these are not limited
	flights singleflight.Group           // by the hash of the token
	limits  limits
}

type tokenHash [sha256.Size]byte

// tokenAtMost is the longest token that is asked about.
const tokenAtMost = 16 << 10

// reviewWithin is how long a TokenReview may take.
const reviewWithin = 10 * time.Second

// Authenticate returns the user of a token. Concurrent requests with one token share a TokenReview.
func (c *Cluster) Authenticate(ctx context.Context, token string) (*User, error) {
	if token == "" || len(token) > tokenAtMost {
		return nil, ErrUnknownToken
	}
	hash := tokenHash(sha256.Sum256([]byte(token)))
	if user, known := c.users.find(c.Now(), hash); known {
		return user, nil
	}
	if _, known := c.unknown.find(c.Now(), hash); known {
		return nil, ErrUnknownToken
	}
	reviewed := c.flights.DoChan(string(hash[:]), func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), reviewWithin)
		defer cancel()
		return c.review(ctx, hash, token)
	})
	select {
	case r := <-reviewed:
		user, _ := r.Val.(*User)
		return user, r.Err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// review asks the cluster about a token. Reviews of tokens that were not valid before are limited.
func (c *Cluster) review(ctx context.Context, hash tokenHash, token string) (*User, error) {
	if _, valid := c.valid.find(c.Now(), hash); !valid && !c.limits.allow(c.Now(), clientOf(ctx)) {
		return nil, ErrTooManyTokens
	}
	subject, ok, err := c.ReviewToken(ctx, token)
	if err != nil {
		return nil, err
	}
	now := c.Now()
	if !ok {
		c.valid.forget(hash)
		c.unknown.keep(hash, struct{}{}, now.Add(believed))
		return nil, ErrUnknownToken
	}
	user := &User{Name: subject.Name, Rights: &reviews{cluster: c, subject: subject}}
	c.users.keep(hash, user, now.Add(believed))
	c.valid.keep(hash, struct{}{}, now.Add(validFor))
	return user, nil
}

// reviews are the rights of one user.
type reviews struct {
	cluster *Cluster
	subject Subject
	rights  answers[Question, bool]
}

// Allow asks the cluster, at most once in a while. Errors are not kept.
func (r *reviews) Allow(ctx context.Context, q Question) (bool, error) {
	if may, known := r.rights.find(r.cluster.Now(), q); known {
		return may, nil
	}
	resource, subresource, _ := strings.Cut(q.Resource, "/")
	may, err := r.cluster.ReviewAccess(ctx, r.subject, q.Verb, Group, resource, subresource, q.Namespace)
	if err == nil {
		r.rights.keep(q, may, r.cluster.Now().Add(believed))
	}
	return may, err
}
