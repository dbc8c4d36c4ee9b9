package reason

// Nodes that look like a pool's, and are ambiguous or not its own.
var (
	NodesClaimOne = two[Word, Word]("nodes_claim_one", Warning, "the nodes {nodes} both say that they are {instance}", "Remove the one that is not")
	NodeOfSeveral = two[Node, Word]("node_of_several", Warning, "node {node} has the addresses of {instances}", "Set its provider ID")
	NodeClaimed   = three[Node, Word, Word]("node_claimed", Warning, "node {node} has the address of {instance} and the provider ID of {other}",
		"If {instance} registers no Node of its own, drain and delete that Node, and restart the kubelet of {instance}, which registers again")
	NodeElsewhere = four[Node, Word, Foreign, Word]("node_elsewhere", Warning,
		"node {node} has the address of {instance} and the provider ID \"{provider_id}\", which is not a Tencent Cloud instance",
		"Drain that Node, delete the Node, and restart the kubelet of {instance} with --provider-id={scheme}:///ZONE/{instance}")
	NodeOlder = two[Node, Word]("node_older", Warning,
		"node {node} has the address of {instance} and no provider ID, and is older than the instance",
		"If {instance} does not register a Node of its own, drain that Node, delete the Node, and restart the kubelet of {instance}")
	NodeUnnamed = two[Node, Word]("node_unnamed", Warning, "node {node} has the address of {instance} and no provider ID",
		"Set one (kubelet --provider-id), or set nodes.match_address")
	NodeClaimsMore = three[Node, Word, Names]("node_claims_more", Warning,
		"node {node} is {instance} by provider ID and address, and also reports the addresses of {others}: these count as other instances", "Check its kubelet")
	NodeForeign = two[Node, Foreign]("node_foreign", Warning,
		"node {node} has one of the pool's addresses, and the provider ID \"{provider_id}\", which is not a Tencent Cloud instance: it is not the pool's", "")
)
