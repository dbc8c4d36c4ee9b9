package access

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

// Roles of a file of tokens.
const (
	Reader    = "reader"    // may read
	Requester = "requester" // may also request
)

// allNamespaces stands for all namespaces in a file of tokens.
const allNamespaces = "*"

// Tokens are users by the SHA-256 of their tokens.
type Tokens map[[sha256.Size]byte]*User

// ParseTokens parses a file of tokens. A line has a name, the SHA-256 of the token in hex, a role and
// namespaces, separated by commas; * is all. Empty lines and those that begin with # are comments.
func ParseTokens(data []byte) (Tokens, error) {
	tokens, names := Tokens{}, map[string]bool{}
	lines := bufio.NewScanner(bytes.NewReader(data))
	for number := 1; lines.Scan(); number++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		hash, user, err := parseToken(strings.Fields(line))
		switch {
		case err != nil:
			return nil, fmt.Errorf("line %d: %w", number, err)
		case names[user.Name] || tokens[hash] != nil:
			return nil, fmt.Errorf("line %d: the user %s or its token is there twice", number, user.Name)
		}
		tokens[hash], names[user.Name] = user, true
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	if len(tokens) == 0 {
		return nil, errors.New("there is no token: add a line with NAME SHA256 reader|requester NAMESPACE,…")
	}
	return tokens, nil
}

func parseToken(fields []string) (hash [sha256.Size]byte, u *User, err error) {
	if len(fields) != 4 {
		return hash, nil, fmt.Errorf("it has %d fields: use NAME SHA256 reader|requester NAMESPACE,…", len(fields))
	}
	name, digest, role, namespaces := fields[0], fields[1], fields[2], strings.Split(fields[3], ",")
	sum, err := hex.DecodeString(digest)
	switch {
	case err != nil || len(sum) != len(hash):
		return hash, nil, fmt.Errorf("the SHA-256 of %s is invalid: use the 64 digits that sha256sum prints", name)
	case role != Reader && role != Requester:
		return hash, nil, fmt.Errorf("invalid role %q: use reader or requester", role)
	}
	for _, namespace := range namespaces {
		if problems := validation.IsDNS1123Label(namespace); namespace != allNamespaces && len(problems) > 0 {
			return hash, nil, fmt.Errorf("invalid namespace %q: %s", namespace, strings.Join(problems, "; "))
		}
	}
	copy(hash[:], sum)
	return hash, &User{Name: name, Rights: grantedRole{role == Requester, namespaces}}, nil
}

// Authenticate returns the user of a token. The lookup is by its hash, so that its time says nothing
// of the token.
func (t Tokens) Authenticate(_ context.Context, token string) (*User, error) {
	user := t[sha256.Sum256([]byte(token))]
	if user == nil || token == "" {
		return nil, ErrUnknownToken
	}
	return user, nil
}

// grantedRole is a role for namespaces.
type grantedRole struct {
	requests   bool
	namespaces []string
}

// Allow answers a question. A question about all namespaces needs all.
func (r grantedRole) Allow(_ context.Context, q Question) (bool, error) {
	if q.Verb != Get && !r.requests {
		return false, nil
	}
	return slices.Contains(r.namespaces, allNamespaces) || q.Namespace != "" && slices.Contains(r.namespaces, q.Namespace), nil
}
