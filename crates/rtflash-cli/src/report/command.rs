//! The command that a report repeats.

/// Options with a value that change no answer: where files go, threads, how an answer is printed.
const VALUED: [&str; 12] = [
    "--report",
    "--out",
    "--jobs",
    "--threads",
    "--color",
    "--format",
    "--trace",
    "--figures",
    "--gantt-out",
    "--checkpoint",
    "--checkpoint-every",
    "--shard",
];
/// Options without a value that the printed command omits.
const PLAIN: [&str; 2] = ["--quiet", "-q"];

/// The words that the process was called with, from the name of the program on.
pub fn of_call() -> Vec<String> {
    let words = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned());
    without(words)
}

fn without(mut words: impl Iterator<Item = String>) -> Vec<String> {
    let mut kept = vec!["rtflash".to_owned()];
    while let Some(word) = words.next() {
        let option = word.split_once('=').map_or(word.as_str(), |(option, _)| option);
        if VALUED.contains(&option) {
            if option == word {
                words.next();
            }
        } else if !PLAIN.contains(&option) {
            kept.push(word);
        }
    }
    kept
}

pub fn line(words: &[String]) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./,:=+@%".contains(c);
    let quoted = |word: &String| {
        if !word.is_empty() && word.chars().all(plain) {
            word.clone()
        } else {
            format!("'{}'", word.replace('\'', "'\\''"))
        }
    };
    words.iter().map(quoted).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changes_no_answer_is_left_out() {
        let words = "exec set.json --report a.html --jobs=2 -q --seed 7 --trace=x.json --format json";
        let kept = without(words.split(' ').map(str::to_owned));
        assert_eq!(line(&kept), "rtflash exec set.json --seed 7");
    }

    #[test]
    fn a_shell_reads_the_words_that_were_typed() {
        let words = ["exec", "a b.json", "--releases", "{\"it's\": 1}", ""].map(str::to_owned);
        assert_eq!(line(&words), r#"exec 'a b.json' --releases '{"it'\''s": 1}' ''"#);
    }
}
