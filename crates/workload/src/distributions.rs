//! The built-in flow-size distributions: files from other projects, with their origin.

use crate::distribution::Distribution;

/// A built-in distribution.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BuiltIn {
    /// Its name in files.
    pub name: &'static str,
    /// What it describes, in one line.
    pub title: &'static str,
    /// The repository, its revision and the file in it.
    pub origin: &'static str,
    /// Other remarks about it.
    pub note: &'static str,
    /// The file.
    pub text: &'static str,
}

impl BuiltIn {
    /// The distribution itself.
    pub fn distribution(&self) -> Distribution {
        Distribution::parse(self.text, u64::MAX).expect("the tests read every built-in file")
    }
}

macro_rules! built_in {
    ($name:literal, $file:literal, $title:literal, $origin:literal, $note:literal) => {
        BuiltIn {
            name: $name,
            title: $title,
            origin: $origin,
            note: $note,
            text: include_str!(concat!("../cdf/", $file, ".cdf")),
        }
    };
}

const ALL: &[BuiltIn] = &[
    built_in!(
        "websearch-hpcc",
        "websearch_hpcc",
        "Web search (the DCTCP paper's), from the HPCC simulator",
        "alibaba-edu/High-Precision-Congestion-Control@9f4be2a traffic_gen/WebSearch_distribution.txt",
        "the DCTCP paper's table (Alizadeh et al., SIGCOMM 2010), in round numbers"
    ),
    built_in!(
        "websearch-expresspass",
        "websearch_expresspass",
        "Web search (the DCTCP paper's), from ExpressPass",
        "kaist-ina/ns2-xpass@f4e38bc workloads/workload_search.tcl",
        "by the authors of OPN's reference [20]; 15 % are up to 10 kB, not 49 % as printed in OPN Table 2"
    ),
    built_in!(
        "datamining-expresspass",
        "datamining_expresspass",
        "Data mining (VL2's), from ExpressPass",
        "kaist-ina/ns2-xpass@f4e38bc workloads/workload_mining.tcl",
        "by the authors of OPN's reference [20]; 1 % of the flows carry 73 % of the bytes"
    ),
    built_in!(
        "datamining-pfabric-pkts",
        "datamining_pfabric_pkts",
        "Data mining (VL2's), from pFabric",
        "HKUST-SING/TrafficGenerator@c08f400 conf/CDF_vl2.txt",
        "pFabric's ns-2 table, which counts packets of 1460 bytes"
    ),
    built_in!(
        "cachefollower-expresspass",
        "cachefollower_expresspass",
        "Cache follower (Facebook's), from ExpressPass",
        "kaist-ina/ns2-xpass@f4e38bc workloads/workload_cachefollower.tcl",
        "by the authors of OPN's reference [20]"
    ),
    built_in!(
        "webserver-expresspass",
        "webserver_expresspass",
        "Web server (Facebook's), from ExpressPass",
        "kaist-ina/ns2-xpass@f4e38bc workloads/workload_webserver.tcl",
        "by the authors of OPN's reference [20]; no flow is above 500 kB"
    ),
    built_in!(
        "datamining-opn-table2",
        "datamining_opn_table2",
        "Data mining, with the shares of OPN Table 2",
        "OPN Table 2 (Data Mining); within a class the sizes of kaist-ina/ns2-xpass@f4e38bc workloads/workload_mining.tcl",
        "78 / 5 / 8 / 9 %"
    ),
    built_in!(
        "websearch-opn-table2",
        "websearch_opn_table2",
        "Web search, with the shares of OPN Table 2",
        "OPN Table 2 (Web Search); within a class the sizes of kaist-ina/ns2-xpass@f4e38bc workloads/workload_search.tcl",
        "49 / 3 / 18 / 30 %: the table has 20 above 1 MB, adds up to 90, and is completed there, where the file has 30"
    ),
    built_in!(
        "cachefollower-opn-table2",
        "cachefollower_opn_table2",
        "Cache follower, with the shares of OPN Table 2",
        "OPN Table 2 (Cache Follower); within a class the sizes of kaist-ina/ns2-xpass@f4e38bc workloads/workload_cachefollower.tcl",
        "50 / 3 / 18 / 29 %"
    ),
    built_in!(
        "webserver-opn-table2",
        "webserver_opn_table2",
        "Web server, with the shares of OPN Table 2",
        "OPN Table 2 (Web Server); within a class the sizes of kaist-ina/ns2-xpass@f4e38bc workloads/workload_webserver.tcl",
        "63 / 18 / 19 / 0 %"
    ),
    built_in!(
        "hadoop-hpcc",
        "hadoop_hpcc",
        "Hadoop (Facebook's), from the HPCC simulator",
        "alibaba-edu/High-Precision-Congestion-Control@9f4be2a traffic_gen/FbHdp_distribution.txt",
        "agrees with the one from Homa"
    ),
    built_in!(
        "hadoop-homa-all",
        "hadoop_homa_all",
        "Hadoop (Facebook's, all traffic), from Homa",
        "PlatformLab/HomaSimulation@ab09ecb sizeDistributions/Facebook_HadoopDist_All.txt",
        "\"All\" of Roy et al., SIGCOMM 2015"
    ),
    built_in!(
        "alistorage2019-hpcc",
        "alistorage2019_hpcc",
        "Storage (Alibaba's, 2019), from the HPCC simulator",
        "alibaba-edu/High-Precision-Congestion-Control@9f4be2a traffic_gen/AliStorage2019.txt",
        "no flow is above 2 MB"
    ),
    built_in!(
        "googlerpc2008-hpcc",
        "googlerpc2008_hpcc",
        "Remote procedure calls (Google's, 2008), from the HPCC simulator",
        "alibaba-edu/High-Precision-Congestion-Control@9f4be2a traffic_gen/GoogleRPC2008.txt",
        "half of the messages are below 260 bytes"
    ),
];

/// Every built-in distribution.
pub fn all() -> &'static [BuiltIn] {
    ALL
}

/// The built-in distribution of this name.
pub fn find(name: &str) -> Option<&'static BuiltIn> {
    ALL.iter().find(|d| d.name == name)
}
