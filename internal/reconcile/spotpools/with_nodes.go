package spotpools

import "context"

// WithNodes are the REGION/NAME of the pools that the store declares to have nodes, by
// their uids. A record that can't be read has none: a run tells of it.
func (f *Flow) WithNodes(ctx context.Context) (map[string]string, error) {
	list, err := f.records().List(ctx)
	if err != nil {
		return nil, err
	}
	keys := map[string]string{}
	for _, l := range list {
		if d := l.Record.Declaration; l.Err == nil && d.Nodes != nil {
			keys[d.UID] = l.Key
		}
	}
	return keys, nil
}
