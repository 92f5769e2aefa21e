//! Processors: what runs its tasks one after another.

use std::collections::VecDeque;

/// How a task uses the processor that it runs on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Use {
    /// Its number; below 2^30.
    pub processor: u32,
    /// Whether the task waits until the processor is idle, and occupies it.
    pub takes: bool,
    /// Whether the processor is idle again after the task: a message's sender after it was sent.
    pub gives: bool,
}

/// A task that runs on no processor.
const NONE: u32 = u32::MAX;

impl Use {
    /// The form in the column.
    fn pack(self) -> u32 {
        self.processor << 2 | u32::from(self.takes) << 1 | u32::from(self.gives)
    }

    fn unpack(packed: u32) -> Option<Self> {
        let own = Self { processor: packed >> 2, takes: packed & 2 != 0, gives: packed & 1 != 0 };
        (packed != NONE).then_some(own)
    }
}

#[derive(Debug, Clone, Default)]
struct Processor {
    busy: bool,
    /// The tasks that can begin, in this order.
    waiting: VecDeque<u32>,
}

/// The processors of a graph, and which task runs on which.
#[derive(Debug, Clone, Default)]
pub(super) struct Processors {
    all: Vec<Processor>,
    /// How each task uses one; shorter than the graph if the last ones use none.
    on: Vec<u32>,
}

impl Processors {
    /// A task runs on a processor.
    pub fn add(&mut self, task: u32, used: Use) {
        let [tasks, processors] = [task, used.processor].map(|number| number as usize + 1);
        if self.on.len() < tasks {
            self.on.resize(tasks, NONE);
        }
        if self.all.len() < processors {
            self.all.resize(processors, Processor::default());
        }
        self.on[task as usize] = used.pack();
    }

    fn used(&self, task: u32) -> Option<Use> {
        self.on.get(task as usize).copied().and_then(Use::unpack)
    }

    /// Whether the task has its processor, or needs none; otherwise it waits for it.
    pub fn take(&mut self, task: u32) -> bool {
        let Some(used) = self.used(task).filter(|used| used.takes) else { return true };
        let processor = &mut self.all[used.processor as usize];
        if processor.busy {
            processor.waiting.push_back(task);
            return false;
        }
        processor.busy = true;
        true
    }

    /// A task leaves its processor: the task that now has it, if any waited.
    pub fn give(&mut self, task: u32) -> Option<u32> {
        let used = self.used(task).filter(|used| used.gives)?;
        let processor = &mut self.all[used.processor as usize];
        let next = processor.waiting.pop_front();
        processor.busy = next.is_some();
        next
    }
}
