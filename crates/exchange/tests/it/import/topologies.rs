//! Topologies that come with csg-htsim.

pub const FAT_TREE_1024: &str =
    "# Test 3-tier FatTree that is supposed to match\tthe default auto-generated topology
Nodes 1024
Tiers 3
Podsize 64

Tier 0
Oversubscribed 1
Downlink_speed_Gbps 100
Radix_Down 8
Radix_Up 8
Downlink_Latency_ns 1000
Switch_Latency_ns 0

Tier 1
Oversubscribed 1
Downlink_speed_Gbps 100
Radix_Down 8
Radix_Up 8
Downlink_Latency_ns 1000
Switch_Latency_ns 0
Bundle 1

Tier 2
Downlink_speed_Gbps 100
Radix_Down 16
Downlink_Latency_ns 1000
Switch_Latency_ns 0
Bundle 1";

pub const LEAF_SPINE_TINY: &str =
    "Nodes 32\nTiers 2\nPodsize 32\n\nTier 0\nDownlink_speed_Gbps 100\nRadix_Down 8
Radix_Up 2\nDownlink_Latency_ns 1000\nSwitch_Latency_ns 0\nOversubscribed 4\n\nTier 1\nDownlink_speed_Gbps 100
Radix_Down 4\nDownlink_Latency_ns 1000\nSwitch_Latency_ns 0\n";

pub const ZRS: &str = "Nodes 432\nTiers 3\nPodsize 36\n\nTier 0\nDownlink_speed_Gbps 100\nRadix_Down 6\nRadix_Up 6
Downlink_Latency_ns 1000\n\nTier 1\nDownlink_speed_Gbps 100\nRadix_Down 6\nRadix_Up 6\nDownlink_Latency_ns 1000\n
Tier 2\nDownlink_speed_Gbps 100\nRadix_Down 36\nDownlink_Latency_ns 600000\nBundle 3";
