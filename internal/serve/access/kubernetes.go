package access

import (
	"context"
	"crypto/sha256"
	"strings"
	"sync"
	"time"
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

// answers are those of the cluster, each used for a while.
type answers[K comparable, V any] struct {
	mu   sync.Mutex
	kept map[K]answer[V]
}

type answer[V any] struct {
	value V
	until time.Time
}

// of returns the answer to a question, which it asks at most once in a while. Errors are not kept.
func (a *answers[K, V]) of(now time.Time, question K, ask func() (V, error)) (V, error) {
	a.mu.Lock()
	known, there := a.kept[question]
	a.mu.Unlock()
	if there && now.Before(known.until) {
		return known.value, nil
	}
	value, err := ask()
	if err != nil {
		return value, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.kept == nil || len(a.kept) >= rememberedAtMost {
		a.kept = map[K]answer[V]{}
	}
	a.kept[question] = answer[V]{value, now.Add(believed)}
	return value, nil
}

// Cluster authenticates by TokenReview, and authorizes by SubjectAccessReview.
type Cluster struct {
	Reviewer
	Now func() time.Time

	users answers[[sha256.Size]byte, *User] // by token; nil if it is of none
}

// tokenAtMost is the longest token that is asked about.
const tokenAtMost = 16 << 10

// Authenticate returns the user of a token.
func (c *Cluster) Authenticate(ctx context.Context, token string) (*User, error) {
	if token == "" || len(token) > tokenAtMost {
		return nil, ErrUnknownToken
	}
	user, err := c.users.of(c.Now(), sha256.Sum256([]byte(token)), func() (*User, error) {
		subject, ok, err := c.ReviewToken(ctx, token)
		if err != nil || !ok {
			return nil, err
		}
		return &User{Name: subject.Name, Rights: &reviews{cluster: c, subject: subject}}, nil
	})
	if err == nil && user == nil {
		err = ErrUnknownToken
	}
	return user, err
}

// reviews are the rights of one user.
type reviews struct {
	cluster *Cluster
	subject Subject
	rights  answers[Question, bool]
}

// Allow asks the cluster, at most once in a while.
func (r *reviews) Allow(ctx context.Context, q Question) (bool, error) {
	return r.rights.of(r.cluster.Now(), q, func() (bool, error) {
		resource, subresource, _ := strings.Cut(q.Resource, "/")
		return r.cluster.ReviewAccess(ctx, r.subject, q.Verb, Group, resource, subresource, q.Namespace)
	})
}
