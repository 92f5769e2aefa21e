use super::{Laps, Random, Reading};
use tresse_balancers::Feedback;

pub struct Bitmap {
    pub laps: Laps,
    penalties: Vec<u32>,
}

impl Bitmap {
    pub fn new(paths: u32, random: Random) -> Self {
        Self { laps: Laps::new(paths, random), penalties: vec![0; paths as usize] }
    }
}

impl Reading for Bitmap {
    fn pick(&mut self, _: u64, _: u32) -> u32 {
        let none_is_free = self.penalties.iter().all(|&penalty| penalty > 0);
        let mut passed = 0;
        loop {
            let path = self.laps.next();
            let penalty = &mut self.penalties[path as usize];
            if *penalty == 0 {
                return path;
            }
            if passed == 0 {
                *penalty -= 1;
            }
            if none_is_free {
                return path;
            }
            passed += 1;
            // Its penalty may be gone now, but it was still skipped.
        }
    }

    fn feedback(&mut self, _: u64, path: u32, what: Feedback) {
        let more = match what {
            Feedback::Good => 0,
            Feedback::Ecn => 1,
            Feedback::Trim => 4,
            Feedback::Timeout => 15,
        };
        let penalty = &mut self.penalties[path as usize];
        *penalty = (*penalty + more).min(15);
    }
}
