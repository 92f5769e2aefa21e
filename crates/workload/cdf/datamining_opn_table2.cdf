# OPN Table 2 (Data Mining); within a class the sizes of kaist-ina/ns2-xpass@f4e38bc workloads/workload_mining.tcl (bytes)
# columns: size_bytes cumulative_probability
100 0
10000 0.78
100000 0.83
152522 0.841367521
390541 0.899672825
1000000 0.91
3223542 0.953019241
100000000 0.989820869
1000000000 1
