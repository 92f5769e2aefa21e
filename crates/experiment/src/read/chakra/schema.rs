//! The part of Chakra's schema that is read: mlcommons/chakra 1.0.0, `schema/protobuf/et_def.proto`, by its
//! numbers. Anything else in a file is skipped.

use prost::{Message, Oneof};

/// The first message of a file.
#[derive(Clone, PartialEq, Message)]
pub(super) struct GlobalMetadata {
    #[prost(string, tag = "1")]
    pub version: String,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct Node {
    #[prost(uint64, tag = "1")]
    pub id: u64,
    #[prost(string, tag = "2")]
    pub name: String,
    /// A `NodeType`.
    #[prost(int32, tag = "3")]
    pub kind: i32,
    #[prost(uint64, repeated, tag = "4")]
    pub ctrl_deps: Vec<u64>,
    #[prost(uint64, repeated, tag = "5")]
    pub data_deps: Vec<u64>,
    #[prost(uint64, tag = "7")]
    pub duration_micros: u64,
    #[prost(message, optional, tag = "8")]
    pub inputs: Option<IoInfo>,
    #[prost(message, repeated, tag = "10")]
    pub attr: Vec<Attribute>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct IoInfo {
    #[prost(string, tag = "1")]
    pub values: String,
}

/// An `AttributeProto`.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Attribute {
    #[prost(string, tag = "1")]
    pub name: String,
    #[prost(oneof = "Value", tags = "7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 28, 29")]
    pub value: Option<Value>,
}

/// A `BoolList`.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Bools {
    #[prost(bool, repeated, tag = "1")]
    pub values: Vec<bool>,
}

/// Whole numbers, whose type depends on the writer, truth values and texts.
#[derive(Clone, PartialEq, Oneof)]
pub(super) enum Value {
    #[prost(int32, tag = "7")]
    Int32(i32),
    #[prost(int64, tag = "9")]
    Int64(i64),
    #[prost(uint32, tag = "11")]
    Uint32(u32),
    #[prost(uint64, tag = "13")]
    Uint64(u64),
    #[prost(sint32, tag = "15")]
    Sint32(i32),
    #[prost(sint64, tag = "17")]
    Sint64(i64),
    #[prost(fixed32, tag = "19")]
    Fixed32(u32),
    #[prost(fixed64, tag = "21")]
    Fixed64(u64),
    #[prost(sfixed32, tag = "23")]
    Sfixed32(i32),
    #[prost(sfixed64, tag = "25")]
    Sfixed64(i64),
    #[prost(bool, tag = "27")]
    Bool(bool),
    #[prost(message, tag = "28")]
    Bools(Bools),
    #[prost(string, tag = "29")]
    Text(String),
}

impl Value {
    /// Its value as a number; a truth value is none.
    pub fn number(&self) -> Option<i128> {
        match *self {
            Self::Int32(n) | Self::Sint32(n) | Self::Sfixed32(n) => Some(n.into()),
            Self::Int64(n) | Self::Sint64(n) | Self::Sfixed64(n) => Some(n.into()),
            Self::Uint32(n) | Self::Fixed32(n) => Some(n.into()),
            Self::Uint64(n) | Self::Fixed64(n) => Some(n.into()),
            Self::Bool(_) | Self::Bools(_) | Self::Text(_) => None,
        }
    }
}

/// The names of `NodeType`, from 0.
pub(super) const NODE_TYPES: [&str; 8] = [
    "INVALID_NODE",
    "METADATA_NODE",
    "MEM_LOAD_NODE",
    "MEM_STORE_NODE",
    "COMP_NODE",
    "COMM_SEND_NODE",
    "COMM_RECV_NODE",
    "COMM_COLL_NODE",
];

/// The names of `CollectiveCommType`, from 0.
pub(super) const COLLECTIVES: [&str; 10] = [
    "ALL_REDUCE",
    "REDUCE",
    "ALL_GATHER",
    "GATHER",
    "SCATTER",
    "BROADCAST",
    "ALL_TO_ALL",
    "REDUCE_SCATTER",
    "REDUCE_SCATTER_BLOCK",
    "BARRIER",
];
