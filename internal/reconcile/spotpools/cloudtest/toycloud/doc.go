// Package toycloud is a cloud in memory: the example for an author who writes the
// adapter of a second cloud. It has all methods of spotpools.Cloud and passes cloudtest.
//
// Requirements of an adapter, with reasons:
//
//   - Launch is idempotent by token. A run writes the request to its journal, then calls
//     Launch, then writes the ids. It may be killed in between, and the next run repeats
//     the request. If your cloud has no client token, launch under something that it
//     accepts once only, such as a unique name that follows from the token. Do not
//     search for the token in tags: they may be late. A lock does not help either, as
//     the next run may be on another machine. (launch.go)
//   - Launch sets the tags. If a second call sets them, a kill between the two leaves an
//     instance that belongs to no pool. (launch.go)
//   - A listing may be late, and says nothing then of what it will show. Observations by
//     id must not be. A listing is complete or an error: an instance that is left out
//     counts as gone. (observe.go)
//   - Errors are typed. The class says what helps, the scope how many other launches
//     would meet the same refusal, and NothingLaunched that the call certainly had no
//     effect. If in doubt, leave NothingLaunched unset. (errors.go)
//   - Terminate may be refused for one instance. The others still terminate, and the
//     error has a method NotEnded that lists the ones that certainly do not.
//     (terminate.go)
//   - Terminate only what was observed, as it was observed: of this region, and in a
//     state that can be terminated. (terminate.go)
//   - Times are those of the API, since runs on several machines compare them.
//
// Write it in the order of the checks of cloudtest, and run them after each step: the
// account, the clock, launches, listings, terminations, tags, markets.
//
// An adapter adds what a cloud in memory does not need: credentials, a retry of calls
// that had no effect, rate limits, and pages. Package tencent has them.
//
// A second provider needs more than the port. Package spotpool has Tencent Cloud's forms of
// ids and instance types, its disk types, charge types and states, and the currencies of
// its accounts. An adapter translates into them. The provider and the command line name *tencent.Client.
// CONTRIBUTING.md lists these places, under "Clouds".
package toycloud
