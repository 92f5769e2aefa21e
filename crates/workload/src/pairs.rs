//! Which pairs of hosts may exchange data.

use tresse_units::Stream;

/// Pairs of a sender and a receiver, drawn uniformly among the allowed ones: two different hosts, if
/// requested in different racks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pairs {
    from: Vec<u32>,
    to: Vec<u32>,
    /// The rack of each host, if sender and receiver must be in different ones.
    racks: Option<Vec<u32>>,
}

impl Pairs {
    /// Any two of the hosts 0, 1, … below `hosts`.
    pub fn any(hosts: u32) -> Self {
        Self::between((0..hosts).collect(), (0..hosts).collect())
    }

    /// A sender from one list and a receiver from another; a host may be in both.
    pub fn between(from: Vec<u32>, to: Vec<u32>) -> Self {
        Self { from, to, racks: None }
    }

    /// Only pairs in different racks; `racks` has the rack of every host.
    #[must_use]
    pub fn inter_rack(self, racks: &[u32]) -> Self {
        Self { racks: Some(racks.to_vec()), ..self }
    }

    /// Whether there is a pair at all.
    ///
    /// # Errors
    /// What is wrong, in words for the user.
    pub fn check(&self) -> Result<(), String> {
        let (Some(&first), Some(_)) = (self.from.first(), self.to.first()) else {
            return Err("there is no host that sends, or none that receives".to_owned());
        };
        // There is a pair if any host differs from the first sender, or is in another rack: this host may
        // then send or receive.
        let all = |is: &dyn Fn(u32) -> bool| self.from.iter().chain(&self.to).all(|&host| is(host));
        if all(&|host| host == first) {
            return Err("a flow needs two different hosts".to_owned());
        }
        match &self.racks {
            Some(racks) if all(&|host| racks[host as usize] == racks[first as usize]) => {
                Err("senders and receivers are all in one rack: there is no pair of different racks"
                    .to_owned())
            }
            _ => Ok(()),
        }
    }

    /// A sender and a receiver; never ends if there is no pair.
    pub fn draw(&self, stream: &mut Stream) -> (u32, u32) {
        let mut one = |hosts: &[u32]| hosts[stream.below(hosts.len() as u64) as usize];
        loop {
            let (from, to) = (one(&self.from), one(&self.to));
            if self.allows(from, to) {
                return (from, to);
            }
        }
    }

    fn allows(&self, from: u32, to: u32) -> bool {
        let apart = |racks: &Vec<u32>| racks[from as usize] != racks[to as usize];
        from != to && self.racks.as_ref().is_none_or(apart)
    }
}
