//! The interfaces and addresses of a connection's subflows.

/// The addresses of a connection's paths: a host has some for each of its interfaces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Places {
    /// The interfaces at both ends, by source address and then by destination address.
    pub nics: Vec<[u32; 2]>,
    /// How many destination addresses.
    pub remotes: u16,
    /// How many addresses an interface has.
    pub numbers: u32,
}

impl Places {
    /// The numbers of the addresses of a subflow from one address to another, among those of its hosts.
    pub fn numbers(&self, local: u16, remote: u16) -> [u32; 2] {
        let remotes = usize::from(self.remotes);
        let locals = self.nics.len() / remotes;
        let place = usize::from(local) % locals * remotes + usize::from(remote) % remotes;
        let [from, to] = self.nics[place];
        // Each subflow has its own source address.
        [from * self.numbers + u32::from(local) % self.numbers, to * self.numbers]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_subflow_leaves_and_arrives_by_the_interfaces_of_its_path() {
        // Two interfaces on each side, four paths, eight addresses an interface.
        let places = Places { nics: vec![[0, 0], [1, 1], [0, 1], [1, 0]], remotes: 1, numbers: 8 };
        assert_eq!(
            (0..4).map(|local| places.numbers(local, 0)).collect::<Vec<_>>(),
            [[0, 0], [9, 8], [2, 8], [11, 0]]
        );
        // Switches decide: source and destination are chosen by themselves.
        let forwarded = Places { nics: vec![[0, 0], [0, 1], [1, 0], [1, 1]], remotes: 2, numbers: 2 };
        assert_eq!(forwarded.numbers(1, 1), [3, 2]);
        assert_eq!(forwarded.numbers(0, 1), [0, 2]);
    }
}
