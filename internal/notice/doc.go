// Package notice is the agent that runs on each node. It queries the metadata service whether
// Tencent Cloud announced the interruption of its instance, and marks its own Node. Runs decide on
// the consequences.
//
// A missing or invalid response is neither a notice nor the end of one.
package notice
