package cvmsim

type stateStore struct{}

func openState(string, *world) (*stateStore, error) { return &stateStore{}, nil }
func (*stateStore) commit(*world) error             { return nil }
func (*stateStore) close() error                    { return nil }
func (*stateStore) replace(*world) error            { return nil }
