package cvmsim

// serviceVersions are the services of the endpoint and their API versions.
var serviceVersions = map[string]string{"cvm": "2017-03-12", "tag": "2018-08-13", "sts": "2018-08-13"}

// action is one operation of the API. Names are unique over the services.
type action struct {
	name, service, version string
	rate                   float64 // calls a second
	regional               bool    // needs a region
	unsigned               bool    // may be called with Authorization: SKIP
	// prepare gives the parameters their types and returns what runs them.
	prepare func(params map[string]any) (prepared, *apiError)
}

// prepared is a call that is ready to run.
type prepared struct {
	params any
	run    func(w *world, c *call) (any, *apiError)
}

// operation makes an action of a function over typed parameters.
func operation[P, R any](service, name string, rate float64, run func(*world, *call, *P) (*R, *apiError)) *action {
	return &action{
		name: name, service: service, version: serviceVersions[service], rate: rate, regional: service == "cvm",
		prepare: func(tree map[string]any) (prepared, *apiError) {
			params := new(P)
			if err := bind(tree, params); err != nil {
				return prepared{}, parameterError(err)
			}
			return prepared{params: params, run: func(w *world, c *call) (any, *apiError) {
				answer, failure := run(w, c, params)
				if failure != nil {
					return nil, failure
				}
				return answer, nil
			}}, nil
		},
	}
}

// withoutSignature marks an action that may come unsigned.
func (a *action) withoutSignature() *action { a.unsigned = true; return a }

// actions are all operations by name, with the rates of the API documents
// 213/568, 213/33237 and 213/33254; where those have none, the rate of the
// nearest kin.
var actions = byName(
	operation("cvm", "RunInstances", 10, runInstances),
	operation("cvm", "DescribeInstances", 40, describeInstances),
	operation("cvm", "TerminateInstances", 10, terminateInstances),
	operation("cvm", "DescribeZoneInstanceConfigInfos", 40, describeZoneInstanceConfigInfos),
	operation("cvm", "DescribeAccountQuota", 20, describeAccountQuota),
	operation("tag", "TagResources", 20, tagResources),
	operation("tag", "UnTagResources", 20, unTagResources),
	operation("sts", "GetCallerIdentity", 20, getCallerIdentity),
)

func byName(all ...*action) map[string]*action {
	table := make(map[string]*action, len(all))
	for _, a := range all {
		table[a.name] = a
	}
	return table
}
