package kube

// Forbidden says that the role of who asked lacks the right to.
func (e *Error) Forbidden() bool { return e.Class == ClassAuthorization }
