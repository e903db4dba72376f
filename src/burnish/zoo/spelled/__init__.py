"""BERT as exporters of other frameworks spell it: the graph is written here, node by node."""
