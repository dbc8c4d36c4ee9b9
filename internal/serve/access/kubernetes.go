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

// rememberedAtMost is the most tokens and answers that are kept.
const rememberedAtMost = 10_000

// Cluster authenticates by TokenReview, and authorizes by SubjectAccessReview.
type Cluster struct {
	Reviewer
	Now func() time.Time

	mu     sync.Mutex
	tokens map[[sha256.Size]byte]reviewed
}

type reviewed struct {
	user  *User // nil if the token is of none
	until time.Time
}

// tokenAtMost is the longest token that is asked about.
const tokenAtMost = 16 << 10

// Authenticate returns the user of a token.
func (c *Cluster) Authenticate(ctx context.Context, token string) (*User, error) {
	if token == "" || len(token) > tokenAtMost {
		return nil, ErrUnknownToken
	}
	hash := sha256.Sum256([]byte(token))
	c.mu.Lock()
	known, there := c.tokens[hash]
	c.mu.Unlock()
	if !there || !c.Now().Before(known.until) {
		subject, ok, err := c.ReviewToken(ctx, token)
		if err != nil {
			return nil, err
		}
		known = reviewed{until: c.Now().Add(believed)}
		if ok {
			known.user = &User{Name: subject.Name, Rights: &reviews{cluster: c, subject: subject, answers: map[Question]answered{}}}
		}
		c.keep(hash, known)
	}
	if known.user == nil {
		return nil, ErrUnknownToken
	}
	return known.user, nil
}

func (c *Cluster) keep(hash [sha256.Size]byte, r reviewed) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.tokens == nil || len(c.tokens) >= rememberedAtMost {
		c.tokens = map[[sha256.Size]byte]reviewed{}
	}
	c.tokens[hash] = r
}

// reviews are the answers about one user.
type reviews struct {
	cluster *Cluster
	subject Subject

	mu      sync.Mutex
	answers map[Question]answered
}

type answered struct {
	yes   bool
	until time.Time
}

// Allow asks the cluster, at most once in a while.
func (r *reviews) Allow(ctx context.Context, q Question) (bool, error) {
	now := r.cluster.Now()
	r.mu.Lock()
	known, there := r.answers[q]
	r.mu.Unlock()
	if there && now.Before(known.until) {
		return known.yes, nil
	}
	resource, subresource, _ := strings.Cut(q.Resource, "/")
	yes, err := r.cluster.ReviewAccess(ctx, r.subject, q.Verb, Group, resource, subresource, q.Namespace)
	if err != nil {
		return false, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.answers) >= rememberedAtMost {
		clear(r.answers)
	}
	r.answers[q] = answered{yes, now.Add(believed)}
	return yes, nil
}
