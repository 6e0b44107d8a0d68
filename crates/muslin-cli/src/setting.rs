//! `--set path=value`: changes one key of anything that reads and writes as TOML.
//!
//! The thing is written to a TOML value, the key is set, and the whole is read again, so every
//! key that a scene file may hold can be set, with the same checks.

use crate::failure::Failure;
use serde::Serialize;
use serde::de::DeserializeOwned;
use toml::Value;

/// A path and the value it is to hold.
#[derive(Clone, Debug)]
pub struct Setting {
    /// As given, for messages.
    pub key: String,
    /// The value as given.
    pub text: String,
    /// The value read as TOML, or the bare text.
    pub value: Value,
}

impl Setting {
    /// Reads `path=value`.
    pub fn parse(argument: &str) -> Result<Self, Failure> {
        let Some((key, text)) = argument.split_once('=') else {
            let remedy = "write a path and a value, for example cloth.0.columns=64";
            return Err(Failure::Wrong(format!("--set {argument}: {remedy}")));
        };
        let (key, text) = (key.trim().to_owned(), text.trim().to_owned());
        Ok(Self { value: value(&text), key, text })
    }

    /// The setting within a table, if the path begins with `table`: `method.x` within `method`.
    pub fn within(&self, table: &str) -> Option<&str> {
        self.key.strip_prefix(table)?.strip_prefix('.')
    }

    /// `target` with the key at `path` set.
    pub fn apply<T: Serialize + DeserializeOwned>(
        &self,
        target: &T,
        path: &str,
    ) -> Result<T, Failure> {
        let wrong =
            |remedy: String| Failure::Wrong(format!("{} = {}: {remedy}", self.key, self.text));
        let mut root = Value::try_from(target).map_err(|e| wrong(e.to_string()))?;
        put(&mut root, path, self.value.clone()).map_err(wrong)?;
        root.try_into().map_err(|e: toml::de::Error| wrong(remedy(e.message())))
    }
}

/// A TOML value, or the text itself where it is none, so that words need no quotes.
fn value(text: &str) -> Value {
    let table = toml::from_str::<toml::Table>(&format!("value = {text}"));
    match table {
        Ok(mut table) if table.len() == 1 => {
            table.remove("value").unwrap_or_else(|| Value::String(text.into()))
        }
        _ => Value::String(text.into()),
    }
}

/// Sets the value at a path; numbers index lists, missing tables are made.
fn put(root: &mut Value, path: &str, value: Value) -> Result<(), String> {
    let mut place = root;
    let mut above = String::new();
    for segment in path.split('.') {
        place = match place {
            Value::Table(table) => {
                table.entry(segment).or_insert_with(|| Value::Table(toml::Table::new()))
            }
            Value::Array(list) => {
                let length = list.len();
                let index = segment.parse::<usize>().ok().filter(|index| *index < length);
                match index {
                    Some(index) => &mut list[index],
                    None if length == 0 => return Err(format!("{above} is an empty list")),
                    None => {
                        let last = length - 1;
                        return Err(format!(
                            "{above} has {length} entries; the index must be 0 to {last}"
                        ));
                    }
                }
            }
            single => {
                let kind = single.type_str();
                return Err(format!("{above} holds a single {kind}, which has no keys"));
            }
        };
        above = if above.is_empty() { segment.into() } else { format!("{above}.{segment}") };
    }
    *place = value;
    Ok(())
}

/// Turns what serde says into what to do about it.
pub fn remedy(message: &str) -> String {
    let message = message.trim();
    let expected = message.split_once(", expected ").map(|(_, expected)| expected);
    let choices = || {
        let names: Vec<&str> = message.split('`').skip(3).step_by(2).collect();
        if names.is_empty() { "there are none".into() } else { names.join(", ") }
    };
    if message.starts_with("unknown field") {
        format!("unknown key; the keys here are {}", choices())
    } else if message.starts_with("unknown variant") {
        format!("choose one of {}", choices())
    } else if let Some(expected) = expected {
        format!("must be {}", plain(expected))
    } else {
        message.replace('\n', " ")
    }
}

/// A Rust type in words.
fn plain(expected: &str) -> &str {
    match expected {
        "f64" | "f32" => "a number",
        "u8" | "u32" | "u64" | "usize" => "a whole number, 0 or more",
        "a boolean" => "true or false",
        "a sequence" => "a list in [brackets]",
        "string or table" => "one of the names this key knows",
        _ if expected.contains("3 f64") => "a list of three numbers, for example [0, -9.81, 0]",
        _ if expected.starts_with("struct ") => "a table of keys",
        _ => expected,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use muslin::{Method, Scene};

    fn set<T: Serialize + DeserializeOwned>(target: &T, text: &str) -> Result<T, String> {
        let setting = Setting::parse(text).map_err(|e| e.to_string())?;
        setting.apply(target, &setting.key).map_err(|e| e.to_string())
    }

    fn hang() -> Scene {
        muslin::scenes::named("hang").unwrap()
    }

    #[test]
    fn whole_numbers_pass_for_floats() {
        assert_eq!(set(&hang(), "cloth.0.width=3").unwrap().cloth[0].width, 3.0);
        assert_eq!(set(&hang(), "gravity=[0,-1,0]").unwrap().gravity.y, -1.0);
        assert_eq!(set(&hang(), "gravity.1=-2").unwrap().gravity.y, -2.0);
    }

    #[test]
    fn left_out_keys_can_be_set() {
        let scene = set(&hang(), "cloth.0.fabric=silk").unwrap();
        assert_eq!(scene.cloth[0].fabric.as_deref(), Some("silk"));
        let scene = set(&hang(), "cloth.0.mesh.file=a.obj").unwrap();
        assert!(scene.cloth[0].mesh.is_some());
    }

    #[test]
    fn bare_words_are_strings() {
        let method = Method::preset("kim-2006").unwrap();
        let method = set(&method, "jacobian=rank-one").unwrap();
        assert_eq!(method.jacobian, muslin::solvers::Jacobian::RankOne);
    }

    #[test]
    fn mistakes_name_key_value_and_remedy() {
        let message = |text: &str| set(&hang(), text).unwrap_err();
        assert!(
            message("cloth.0.colums=3")
                .contains("colums = 3: unknown key; the keys here are name, columns")
        );
        assert!(message("cloth.0.columns=wide").contains("columns = wide: must be a whole number"));
        assert!(message("cloth.0.columns=-3").contains("must be a whole number"));
        assert!(message("cloth.1.columns=3").contains("cloth has 1 entries"));
        assert!(message("dt.0=3").contains("dt holds a single float"));
        assert!(message("gravity=[0,1]").contains("three numbers"), "{}", message("gravity=[0,1]"));
        assert!(message("cloth=5").contains("must be a list"));
        assert!(message("nothing").contains("path and a value"));
        let method = Method::preset("kim-2006").unwrap();
        let text = set(&method, "jacobian=smooth").unwrap_err();
        assert!(text.contains("choose one of exact, psd"), "{text}");
    }
}
