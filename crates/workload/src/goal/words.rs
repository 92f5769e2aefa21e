//! The words of a GOAL trace.

/// A word of a line, and its column.
pub(super) type Word<'a> = (usize, &'a str);

/// The words of a line without its comments; `comment` says whether it begins, and ends, within one. Braces
/// and colons are separate words.
pub(super) fn words<'a>(line: &'a str, comment: &mut bool) -> Vec<Word<'a>> {
    let mut words = Vec::new();
    let mut begin = None;
    let mut at = 0;
    let bytes = line.as_bytes();
    while at < bytes.len() {
        let two = &bytes[at..bytes.len().min(at + 2)];
        let (skip, alone) = match (*comment, two) {
            (true, b"*/") => {
                *comment = false;
                (2, false)
            }
            (true, _) => (1, false),
            (false, b"//") => (bytes.len() - at, false),
            (false, b"/*") => {
                *comment = true;
                (2, false)
            }
            (false, [b'{' | b'}' | b':', ..]) => (1, true),
            (false, [c, ..]) if c.is_ascii_whitespace() => (1, false),
            _ => {
                begin.get_or_insert(at);
                at += 1;
                continue;
            }
        };
        if let Some(begin) = begin.take() {
            words.push((begin + 1, &line[begin..at]));
        }
        if alone {
            words.push((at + 1, &line[at..at + 1]));
        }
        at += skip;
    }
    words.extend(begin.map(|begin| (begin + 1, &line[begin..])));
    words
}
