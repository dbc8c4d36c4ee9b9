// Package notice is the agent that runs on each node: it asks the metadata service of
// its instance whether the cloud takes the instance back, and has its own Node say so,
// and nothing else. What follows from that is decided by runs.
//
// No answer, or one that can't be read, is neither a notice nor the end of one.
package notice
