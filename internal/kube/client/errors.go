package client

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/errorclass"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// Class says what kind of failure an error is.
type Class string

// The classes of errors.
const (
	ClassConfiguration  Class = "configuration"  // what was given cannot be used
	ClassUnreachable    Class = "unreachable"    // no answer
	ClassCertificate    Class = "certificate"    // the server, or the client, is not who it should be
	ClassAuthentication Class = "authentication" // 401
	ClassAuthorization  Class = "authorization"  // 403: the role lacks a verb
	ClassRefused        Class = "refused"        // by an admission policy or webhook of the cluster
	ClassConflict       Class = "conflict"
	ClassNotFound       Class = "not_found"
	ClassTransient      Class = "transient" // the same again may do
	ClassOther          Class = "other"
)

// Error is a call that failed: what was asked of what, and why it failed.
type Error struct {
	Verb   string // as RBAC names it
	Object string // the resource first: "pods in the whole cluster", "jobs ml/train"
	Class  Class
	Err    error
}

// Because returns what could not be done, why, and what to do.
func (e *Error) Because() reason.Reason {
	verb, resource := reason.Word(e.Verb), reason.NewForeign(e.Object)
	why := reason.NewForeign(strings.TrimSuffix(e.Err.Error(), "."))
	switch e.Class {
	case ClassUnreachable:
		return reason.CallUnreachable(verb, resource, why)
	case ClassCertificate:
		return reason.CallUntrusted(verb, resource, why)
	case ClassAuthentication:
		return reason.CallUnauthenticated(verb, resource, why)
	case ClassAuthorization:
		return reason.CallForbidden(verb, resource, why, reason.Word(e.resource()))
	}
	return reason.CallFailed(verb, resource, why)
}

// Error is Because as text.
func (e *Error) Error() string { return e.Because().String() }

// Unwrap returns the API's own error.
func (e *Error) Unwrap() error { return e.Err }

// Forbidden reports whether the role of who asked lacks the right to.
func (e *Error) Forbidden() bool { return e.Class == ClassAuthorization }

// Rejected reports whether the API server takes this very request at no time: it is invalid, or
// against a policy of the cluster.
func (e *Error) Rejected() bool {
	return e.Class == ClassRefused || apierrors.IsInvalid(e.Err) || apierrors.IsBadRequest(e.Err)
}

// ErrorClass is the class by the remedy: other credentials or permissions, a retry, or another configuration
// of gpupool or of the cluster.
func (e *Error) ErrorClass() errorclass.Class {
	switch e.Class {
	case ClassAuthentication, ClassAuthorization:
		return errorclass.Authorization
	case ClassUnreachable, ClassTransient, ClassConflict:
		return errorclass.Transient
	}
	return errorclass.Configuration
}

// configurationError is a configuration that cannot be used.
type configurationError struct{ error }

func (e configurationError) Unwrap() error                { return e.error }
func (e configurationError) ErrorClass() errorclass.Class { return errorclass.Configuration }

// resource returns the resource that a role lacks a verb for.
func (e *Error) resource() string {
	resource, _, _ := strings.Cut(e.Object, " ")
	var status apierrors.APIStatus
	if errors.As(e.Err, &status) && status.Status().Details != nil {
		// The API names the resource, and leaves out that it was a subresource.
		if named := status.Status().Details.Kind; named != "" && !strings.HasPrefix(resource, named+"/") {
			resource = named
		}
	}
	return resource
}

// Wrap names the verb and the object of a failed call; nil stays nil. Errors of a
// context that ended stay recognizable.
func Wrap(verb, object string, err error) error {
	if err == nil {
		return nil
	}
	return &Error{Verb: verb, Object: object, Class: ClassOf(err), Err: err}
}

// ClassOf returns what kind of failure the error of a call is.
func ClassOf(err error) Class {
	var (
		authority x509.UnknownAuthorityError
		host      x509.HostnameError
		invalid   x509.CertificateInvalidError
		verify    *tls.CertificateVerificationError
		alert     tls.AlertError
		network   net.Error
	)
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return ClassTransient
	case apierrors.IsUnauthorized(err):
		return ClassAuthentication
	case Refused(err):
		return ClassRefused
	case apierrors.IsForbidden(err):
		return ClassAuthorization
	case apierrors.IsNotFound(err):
		return ClassNotFound
	case apierrors.IsConflict(err), apierrors.IsAlreadyExists(err):
		return ClassConflict
	case apierrors.IsTooManyRequests(err), apierrors.IsServerTimeout(err), apierrors.IsTimeout(err),
		apierrors.IsServiceUnavailable(err), apierrors.IsInternalError(err):
		return ClassTransient
	case errors.As(err, &authority), errors.As(err, &host), errors.As(err, &invalid), errors.As(err, &verify), errors.As(err, &alert):
		return ClassCertificate
	case apierrors.ReasonForError(err) != metav1.StatusReasonUnknown:
		return ClassOther
	case errors.Is(err, errDamaged), strings.Contains(err.Error(), "reading response body"): // in client-go's words, for want of a type
		return ClassTransient
	case strings.Contains(err.Error(), "getting credentials: "): // by a command; client-go has no type for it
		return ClassAuthentication
	case errors.As(err, &network):
		return ClassUnreachable
	}
	return ClassOther
}

// Refused reports whether the role allows a call, and a policy or webhook of
// the cluster does not. The API has no reason of its own for that, only words
// (k8s.io/apiserver, pkg/admission/plugin).
func Refused(err error) bool {
	return isResponse(err) && (strings.Contains(err.Error(), "admission webhook ") || strings.Contains(err.Error(), "ValidatingAdmissionPolicy '"))
}
