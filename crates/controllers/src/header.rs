//! The comment at the start of a C file: the equations and the deviations, in words.

/// The first comment of `text` that is not a licence, without the stars; empty if code comes first.
pub fn header(text: &str) -> String {
    let mut rest = text.trim_start();
    while let Some((comment, after)) = rest.strip_prefix("/*").and_then(|r| r.split_once("*/")) {
        if !comment.contains("SPDX-License-Identifier") {
            return without_stars(comment);
        }
        rest = after.trim_start();
    }
    String::new()
}

fn without_stars(comment: &str) -> String {
    let lines = comment.lines().map(|line| {
        let line = line.trim();
        let line = line.strip_prefix('*').unwrap_or(line);
        line.strip_prefix(' ').unwrap_or(line).trim_end()
    });
    lines.collect::<Vec<_>>().join("\n").trim_matches('\n').to_owned()
}

#[cfg(test)]
mod tests {
    use super::header;

    #[test]
    fn the_licence_and_the_stars_are_left_out() {
        let text = "/* SPDX-License-Identifier: MIT */\n\
                    /*\n * One.\n *\n *   w += 1/w   x * y\n */\nint a; /* b */\n";
        assert_eq!(header(text), "One.\n\n  w += 1/w   x * y");
        assert_eq!(header("/* One line. */\n#include \"controller.h\"\n"), "One line.");
    }

    #[test]
    fn a_comment_after_the_first_code_is_no_header() {
        assert_eq!(header("#include \"controller.h\"\n/* A hook. */\n"), "");
        assert_eq!(header("/* SPDX-License-Identifier: MIT */\nint a;\n"), "");
        assert_eq!(header("/* it never ends"), "");
    }
}
