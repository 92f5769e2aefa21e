"""Writes the other files of this folder, with networkx 3.6.1."""

import json
import pathlib

import networkx as nx

HERE = pathlib.Path(__file__).parent


def write(name, graph, **options):
    text = json.dumps(nx.node_link_data(graph, **options), indent=1)
    (HERE / f"{name}.json").write_text(text + "\n")


# Two leaves, two spines, a slow link; what the links leave out is in [fabric].
fabric = nx.Graph()
for leaf in range(2):
    for spine in range(2):
        fabric.add_edge(f"leaf {leaf}", f"spine {spine}", layer="spine", rate="10Gbps")
    for host in range(2):
        fabric.add_edge(f"host {2 * leaf + host}", f"leaf {leaf}", layer="rack")
fabric.edges["leaf 0", "spine 1"]["rate"] = "1Gbps"
fabric.edges["leaf 0", "spine 1"]["queue"] = "50pkt"
fabric.edges["leaf 0", "spine 1"]["loss"] = 0.001
write("leaf-spine", fabric)
write("leaf-spine-links", fabric, edges="links")  # networkx before 3.6
nx.write_graphml(fabric, HERE / "leaf-spine.graphml")

# Parallel links, integers as ids, racks and pods, drawing attributes that are nothing to us.
several = nx.MultiGraph(name="two parallel links")
for node, kind in enumerate(["switch", "switch", "host", "host"]):
    several.add_node(node, kind=kind, pos=[node, 0.5], weight=1.5)
several.nodes[2].update(name="source", rack=7, pod=1)
several.nodes[3].update(name="sink", rack=9, pod=2)
for rate in ["1Gbps", "2Gbps"]:
    several.add_edge(0, 1, rate=rate, delay="5us")
several.add_edge(2, 0, rate="10Gbps", delay="1us")
several.add_edge(1, 3, rate="10Gbps", delay="1us")
write("parallel", several)
for node in several:
    del several.nodes[node]["pos"]  # GraphML has no lists
nx.write_graphml(several, HERE / "parallel.graphml")

# Two directions that differ.
directed = nx.DiGraph()
directed.add_node("client", type="host")
directed.add_node("server", type="host")
directed.add_node("modem", type="switch")
directed.add_edge("client", "modem", rate="10Mbps", delay="5ms", queue="20pkt")
directed.add_edge("modem", "client", rate="100Mbps", delay="5ms", queue="64kB", mark="30kB")
directed.add_edge("server", "modem", rate="1Gbps", delay="1ms", queue="unlimited")
directed.add_edge("modem", "server", rate="1Gbps", delay="1ms", queue="100pkt")
write("directed", directed)

# A grid: tuples as ids, and hosts at the corners.
grid = nx.grid_2d_graph(3, 3)
for x, y in [(0, 0), (0, 2), (2, 0), (2, 2)]:
    grid.add_edge(f"h{x}{y}", (x, y))
write("grid", grid)
