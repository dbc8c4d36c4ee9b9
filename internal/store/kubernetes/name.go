package kubernetes

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// prefix distinguishes the store's objects from others in the namespace.
const prefix = "gpupool."

// maxObjectName is the limit of a DNS subdomain (RFC 1123), which the names of objects must be.
const maxObjectName = 253

// locksKind is in the place of a kind in the names of Leases. It is not a kind of document.
const locksKind = "locks"

// ambiguous matches names that cannot be written with "--" for "_" and "." for "/".
var ambiguous = regexp.MustCompile(`--|__|-_|_-|/parquet$`)

// separators are the characters of names that the names of objects cannot have.
var separators = strings.NewReplacer("/", ".", "_", "--")

// objectName returns the object name for a name of a kind. No two names have the same. A slash
// becomes a period, which names only have before an extension, and an underscore two hyphens. A
// name that is too long or ambiguous is shortened and ends in a hash. A digit before the kind
// distinguishes such names from all others, since no kind begins with one.
func objectName(kind, name string) string {
	kind = strings.ReplaceAll(kind, "_", "-")
	readable := separators.Replace(name)
	whole := prefix + kind + "." + readable
	if !ambiguous.MatchString(name) && len(whole) <= maxObjectName {
		return whole
	}
	hash := sha256.Sum256([]byte(kind + "/" + name))
	begin := prefix + "0." + kind + "."
	end := "." + hex.EncodeToString(hash[:16])
	readable = readable[:min(len(readable), maxObjectName-len(begin)-len(end))]
	return begin + strings.TrimRight(readable, ".-") + end
}

func documentName(key store.Key) string { return objectName(string(key.Kind), key.Name) }

// namedAs reports whether an object's name is one of a kind's, whole or shortened.
func namedAs(kind store.Kind, name string) bool {
	written := strings.ReplaceAll(string(kind), "_", "-") + "."
	return strings.HasPrefix(name, prefix+written) || strings.HasPrefix(name, prefix+"0."+written)
}
