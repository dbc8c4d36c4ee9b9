package spotpools

import "context"

// WithNodes returns the REGION/NAME of the store's pools with nodes, by their UIDs. It skips
// unreadable records, which runs report.
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
