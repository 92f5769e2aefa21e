use std::collections::VecDeque;

use super::bitmap::Bitmap;
use super::{Random, Reading};
use tresse_balancers::Feedback;

pub struct Mixed {
    bitmap: Bitmap,
    paths: u32,
    good: VecDeque<u32>,
    sent: u32,
    first_window: bool,
}

impl Mixed {
    pub fn new(paths: u32, random: Random) -> Self {
        let bitmap = Bitmap::new(paths, random);
        Self { bitmap, paths, good: VecDeque::new(), sent: 0, first_window: true }
    }
}

impl Reading for Mixed {
    fn pick(&mut self, now: u64, window: u32) -> u32 {
        self.first_window &= self.sent < window;
        self.sent += 1;
        if self.first_window {
            return self.bitmap.laps.next();
        }
        self.good.pop_front().unwrap_or_else(|| self.bitmap.pick(now, window))
    }

    fn feedback(&mut self, now: u64, path: u32, what: Feedback) {
        if what == Feedback::Good {
            self.good.push_back(path);
            if self.good.len() > self.paths as usize {
                self.good.pop_front();
            }
        }
        self.bitmap.feedback(now, path, what);
    }
}
