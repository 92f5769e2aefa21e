//! Options of switch ports beyond one queue with a threshold: `fabric.red`, `fabric.classes`,
//! `fabric.buffer`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tresse_fabric::RedConfig;
use tresse_units::{Bytes, Duration, Factor, Mark, Probability, Queue};

use crate::schema::fabric::Layered;

/// Random early detection (Floyd and Jacobson, ToN 1993).
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(
    deny_unknown_fields,
    expecting = "a table such as { min = \"5pkt\", max = \"15pkt\", probability = 0.1 }"
)]
pub struct Red {
    /// The average queue length below which no packet is signalled.
    pub min: Layered<Queue>,
    /// The average length from which on every packet is signalled; with `gentle`, from twice this length on. In the
    /// unit of `min`.
    pub max: Layered<Queue>,
    /// The probability that a packet is signalled at an average just below `max`.
    pub probability: Probability,
    /// The weight of a new length in the average is 2^-weight: 0 to 16. With 0 the current queue counts.
    #[serde(default = "classic_weight")]
    pub weight: u32,
    /// Whether above `max` the probability rises on to 1 at twice `max` instead of jumping there (Floyd 2000).
    #[serde(default)]
    pub gentle: bool,
    /// How the gaps between signals are distributed while the average stays the same. Default: uniform.
    #[serde(default)]
    pub gaps: Gaps,
}

impl Red {
    /// RED in a port, from `min` to `max`; everything else has been checked already.
    ///
    /// # Errors
    /// What is wrong with `min` and `max`.
    pub(crate) fn config(&self, min: Queue, max: Queue) -> Result<RedConfig, String> {
        let ordered = match (min, max) {
            (Queue::Packets(min), Queue::Packets(max)) | (Queue::Bytes(min), Queue::Bytes(max)) => {
                min <= max && max < 1 << 31
            }
            _ => false,
        };
        if !ordered {
            return Err(format!(
                "from {min} to {max}: both in packets or both in bytes, below 2^31, the first not above the second"
            ));
        }
        Ok(RedConfig {
            min: min.into(),
            max: max.into(),
            // Parts of 2^16 from parts of 2^32.
            probability: (self.probability.parts() >> 16) as u32,
            weight: self.weight,
            gentle: self.gentle,
            uniform: self.gaps == Gaps::Uniform,
            stream: (0, 0),
        })
    }
}

/// What a packet is marked by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum MarkAt {
    /// The queue that it finds when it arrives.
    #[default]
    Arrival,
    /// The queue that it leaves behind when its transmission begins: the mark is newer by the time that the packet
    /// has waited. Packets that are not ECN-capable are not signalled then.
    Departure,
}

/// How the gaps between RED's signals are distributed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Gaps {
    /// The gaps are uniform, as Floyd and Jacobson chose: there are twice as many signals as the probability says.
    #[default]
    Uniform,
    /// Each packet is signalled with the probability, independently of earlier ones, as in switches' WRED.
    Geometric,
}

/// 2^-9 = 0.00195; Floyd and Jacobson use 0.002.
fn classic_weight() -> u32 {
    9
}

/// A class of a switch's ports: a separate queue under deficit round robin (Shreedhar and Varghese, 1995).
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Class {
    /// How much it may send in a round; busy classes share a port's rate in proportion to their quanta. 1B to
    /// 1GB.
    pub quantum: Bytes,
    /// The limit of its queue: an arriving packet is dropped if the queue is this long. Default: `fabric.queue`.
    pub queue: Option<Layered<Queue>>,
    /// Its K. Default: as `share` says, otherwise `fabric.mark`.
    pub mark: Option<Layered<Mark>>,
    /// Makes its K follow its share of the port's rate.
    pub share: Option<Share>,
}

/// K_i = (the class's share of the rate) x RTT x lambda (vMCC eq. (1); the share as in MQ-ECN).
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table such as { rtt = \"200us\", lambda = 1 }")]
pub struct Share {
    /// The round-trip time.
    pub rtt: Duration,
    /// Lambda: 1 for a controller that halves its window, about 0.17 for DCTCP's cut.
    pub lambda: Factor,
}

/// Priority flow control (IEEE 802.1Qbb).
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table such as { xoff = \"100kB\", xon = \"80kB\" }")]
pub struct Pfc {
    /// A switch pauses the port at the other end of a link when it holds more than this many bytes that came over
    /// the link.
    pub xoff: Bytes,
    /// It ends the pause when it holds at most this many; at most `xoff`.
    pub xon: Bytes,
    /// The room of a switch beyond `xoff`, for each link; a packet that finds no room is dropped. Default: what may
    /// arrive until the pause takes effect, so that nothing is lost: rate x (the delays both ways + `reaction` +
    /// the transmission of a full packet and a frame back) + two full packets.
    pub headroom: Option<Bytes>,
    /// The time from the arrival of a pause frame until the port obeys. At most 1000s. Default: 0s.
    pub reaction: Option<Duration>,
}

/// A buffer that the ports of a switch share, with dynamic thresholds (Choudhury and Hahne, ToN 1998).
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, expecting = "a table such as { size = \"1MB\", alpha = 1 }")]
pub struct Buffer {
    /// The memory of each switch.
    pub size: Bytes,
    /// The multiple of the free memory that a queue may hold.
    pub alpha: Factor,
}
