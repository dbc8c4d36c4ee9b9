package node

import (
	"errors"
	"regexp"
	"time"
)

// BootstrapToken is the token of one launch. Its instances authenticate with it until they have a
// certificate of their own.
type BootstrapToken struct {
	ID     string // public, and part of the name of its Secret
	Secret string `json:"-"` // keep it secret
	// Groups are those of the user that authenticates with the token.
	Groups []string
	// ExpiresAt is until when it is valid, by the cluster's clock.
	ExpiresAt time.Time
	// Pool and PoolUID are of the pool for whose instances it is.
	Pool, PoolUID string
}

// String names the token without its secret.
func (t BootstrapToken) String() string { return "bootstrap token " + t.ID }

// GoString is String.
func (t BootstrapToken) GoString() string { return t.String() }

// bootstrapGroupForm is the format of a group of bootstrap tokens
// (k8s.io/cluster-bootstrap, token/api).
var bootstrapGroupForm = regexp.MustCompile(`\Asystem:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]\z`)

// BootstrapGroup reports whether Kubernetes takes a text for a group of bootstrap tokens.
func BootstrapGroup(group string) bool { return bootstrapGroupForm.MatchString(group) }

// ErrTokenExists says that there is a token of that id already.
var ErrTokenExists = errors.New("there is a bootstrap token of this id already")
