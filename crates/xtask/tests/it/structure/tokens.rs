//! The paths in a source file.

use std::collections::BTreeSet;
use std::iter::Peekable;
use std::vec::IntoIter;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

/// The parts read from a source file, without items that exist only in tests.
#[derive(Debug, Default)]
pub struct Source {
    pub uses: Vec<Use>,
    /// Paths of two or more segments in the code.
    pub paths: Vec<Vec<String>>,
    /// Every word of the code.
    pub words: BTreeSet<String>,
    /// The modules in separate files that exist only in tests.
    pub test_modules: Vec<String>,
}

/// A name that `use` brings in.
#[derive(Debug, Clone)]
pub struct Use {
    pub path: Vec<String>,
    /// `*` for all names of a module.
    pub name: String,
    /// With `pub`: others find it here.
    pub exported: bool,
}

type Tokens = Peekable<IntoIter<TokenTree>>;

fn tokens(stream: TokenStream) -> Tokens {
    stream.into_iter().collect::<Vec<_>>().into_iter().peekable()
}

impl Source {
    pub fn read(text: &str) -> Self {
        let mut source = Self::default();
        source.code(text.parse().expect("the compiler has read it"));
        source
    }

    fn code(&mut self, stream: TokenStream) {
        let mut rest = tokens(stream);
        let mut exported = false;
        while let Some(token) = rest.next() {
            match token {
                TokenTree::Punct(p) if p.as_char() == '#' => {
                    let Some(TokenTree::Group(attribute)) = rest.peek() else { continue };
                    if attribute.stream().to_string().replace(' ', "") == "cfg(test)" {
                        self.skip_item(&mut rest);
                    }
                }
                TokenTree::Ident(word) if word == "pub" => {
                    exported = true;
                    if matches!(rest.peek(), Some(TokenTree::Group(g)) if g.delimiter() == Delimiter::Parenthesis)
                    {
                        rest.next();
                    }
                    continue;
                }
                TokenTree::Ident(word) if word == "use" => self.tree(&mut rest, &[], exported),
                TokenTree::Ident(word) => self.path(word.to_string(), &mut rest),
                TokenTree::Group(group) => self.code(group.stream()),
                _ => {}
            }
            exported = false;
        }
    }

    /// Skips the item after an attribute.
    fn skip_item(&mut self, rest: &mut Tokens) {
        let mut before = String::new();
        for token in rest.by_ref() {
            match token {
                TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => return,
                TokenTree::Punct(p) if p.as_char() == ';' => return,
                TokenTree::Ident(word) => {
                    if before == "mod" {
                        self.test_modules.push(word.to_string());
                    }
                    before = word.to_string();
                }
                _ => {}
            }
        }
    }

    /// A path in the code that begins with `first`.
    fn path(&mut self, first: String, rest: &mut Tokens) {
        self.words.insert(first.clone());
        let mut path = vec![first];
        while colons(rest) {
            match rest.peek() {
                Some(TokenTree::Ident(word)) => path.push(word.to_string()),
                _ => break,
            }
            rest.next();
        }
        if path.len() > 1 {
            self.paths.push(path);
        }
    }

    /// The tokens after `use PREFIX::`, up to `,` or `;`.
    fn tree(&mut self, rest: &mut Tokens, prefix: &[String], exported: bool) {
        let mut path = prefix.to_vec();
        let mut name = None;
        while let Some(token) = rest.next() {
            match token {
                TokenTree::Ident(word) if word == "as" => name = rest.next().map(|name| name.to_string()),
                TokenTree::Ident(word) => path.push(word.to_string()),
                TokenTree::Punct(p) if p.as_char() == '*' => name = Some("*".to_owned()),
                TokenTree::Group(group) => {
                    let mut inner = tokens(group.stream());
                    while inner.peek().is_some() {
                        self.tree(&mut inner, &path, exported);
                    }
                    path.clear();
                }
                TokenTree::Punct(p) if p.as_char() == ':' => {}
                _ => break,
            }
        }
        if path.last().is_some_and(|last| last == "self") && path.len() > 1 {
            path.pop();
        }
        if let Some(last) = path.last() {
            let name = name.unwrap_or_else(|| last.clone());
            self.uses.push(Use { path, name, exported });
        }
    }
}

/// Takes `::`, if it is next.
fn colons(rest: &mut Tokens) -> bool {
    let is_colon =
        |token: Option<&TokenTree>| matches!(token, Some(TokenTree::Punct(p)) if p.as_char() == ':');
    if !is_colon(rest.peek()) {
        return false;
    }
    rest.next();
    if !is_colon(rest.peek()) {
        return false;
    }
    rest.next();
    true
}
