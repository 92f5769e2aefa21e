# OPN Table 2 (Web Search); within a class the sizes of kaist-ina/ns2-xpass@f4e38bc workloads/workload_search.tcl (bytes)
# its four shares add up to 90 %: the missing tenth is above 1 MB, where that file has 30 %
# columns: size_bytes cumulative_probability
9000 0
9000 0.473527197
10000 0.49
18582 0.493465608
28140 0.501204469
38913 0.508943329
77468 0.519003849
100000 0.52
200000 0.585443667
1000000 0.7
2000000 0.8
5000000 0.9
10000000 0.97
30000000 1
