"""Work on many machines: named pieces, dispatched over the nodes of a Ray cluster.

    collector, arena, tune --Job--> Pool --socket--> bridge --Dispatcher--> nodes
                           <--bytes--

Work is cut into pieces that are functions of their own bytes (`jobs.py`), so a piece may be done
twice, or again on another node, and its result is the same. `pool.py` is what the rest of Rookery
uses; `bridge.py` is a process of its own that holds the connection to Ray; `dispatcher.py` decides
who does what, and knows nothing of Ray; `node.py` is what runs on the nodes.
"""
