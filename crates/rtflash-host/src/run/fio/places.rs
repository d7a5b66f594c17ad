//! The places of fio's files on the device.
//!
//! fio gives each job, and each clone of one, files of its own unless `filename` names them. Here
//! the files lie one after the other, in the order in which jobs name them.

use std::collections::HashMap;

use super::options::{FileAmount, NamedFault, SectionOptions, fault};
use crate::run::job::Job;

/// Room for a file of a job without `size`, which has no end: a sequential job goes on from there.
const ENDLESS: u64 = 64 << 20;

/// Bytes of a file system's block: a file begins at a multiple of them.
const BLOCK: u64 = 4_096;

/// The files of the jobs.
#[derive(Default)]
pub(super) struct FioFiles {
    /// How far the jobs go in each file, and whether one of them has an end there.
    lengths: Vec<u64>,
    ends: Vec<bool>,
    named: HashMap<String, usize>,
    /// The files of each job.
    of_jobs: Vec<Vec<usize>>,
}

impl FioFiles {
    /// One more job, whose places count from the begin of its files.
    pub(super) fn add(&mut self, names: &[String], job: &Job) {
        let end = job.from.saturating_add(job.span.unwrap_or(ENDLESS));
        let files = names.iter().map(|name| {
            let next = self.lengths.len();
            let file = *self.named.entry(name.clone()).or_insert(next);
            if file == next {
                self.lengths.push(0);
                self.ends.push(false);
            }
            self.ends[file] |= job.span.is_some();
            self.lengths[file] = self.lengths[file].max(end);
            file
        });
        let files = files.collect();
        self.of_jobs.push(files);
    }

    /// The length of the shortest of these files, if jobs above go to an end in each.
    pub(super) fn length(&self, names: &[String]) -> Option<u64> {
        let file = |name: &String| self.named.get(name).copied().filter(|&file| self.ends[file]);
        let lengths: Option<Vec<u64>> = names.iter().map(|name| Some(self.lengths[file(name)?])).collect();
        lengths?.into_iter().min()
    }

    /// Moves the jobs to where their files lie, and gives the begin of each file. Gives the first
    /// job that would end beyond 2⁶⁴ bytes.
    pub(super) fn place(&self, jobs: &mut [Job]) -> Result<Vec<(String, u64)>, usize> {
        let mut end = 0_u64;
        let begins: Vec<u64> = self
            .lengths
            .iter()
            .map(|&length| {
                let begin = end;
                end = end.saturating_add(length).checked_next_multiple_of(BLOCK).unwrap_or(u64::MAX);
                begin
            })
            .collect();
        for (position, (job, files)) in jobs.iter_mut().zip(&self.of_jobs).enumerate() {
            let longest = job.ios().map(|io| io.size).max().unwrap_or(job.size);
            let length = job.span.unwrap_or(longest);
            let from = |file: &usize| {
                let from = begins[*file].checked_add(job.from)?;
                from.checked_add(length).map(|_| from)
            };
            let all: Option<Vec<u64>> = files.iter().map(from).collect();
            let all = all.ok_or(position)?;
            let (&first, rest) = all.split_first().ok_or(position)?;
            (job.from, job.stretches) = (first, rest.to_vec());
        }
        let mut files: Vec<(String, u64)> =
            self.named.iter().map(|(name, file)| (name.clone(), begins[*file])).collect();
        files.sort_unstable_by(|one, other| (one.1, &one.0).cmp(&(other.1, &other.0)));
        Ok(files)
    }
}

/// The options of a section for its files.
pub(super) struct FileNames<'a> {
    options: &'a SectionOptions,
    section: &'a str,
    number: u64,
}

/// Files that a job can have.
const MAX_FILES: u64 = 1 << 12;

impl<'a> FileNames<'a> {
    pub(super) fn new(options: &'a SectionOptions, section: &'a str) -> Result<FileNames<'a>, NamedFault> {
        let given = options.within("nrfiles", 1, MAX_FILES)?;
        if options.get("filename").is_some_and(str::is_empty) {
            return Err(fault(
                "filename",
                "`filename` has no value",
                "a file or device, or several with colons between",
            ));
        }
        let mut names = FileNames { options, section, number: 1 };
        names.number = match names.stated() {
            Some(stated) if stated.len() as u64 > MAX_FILES => {
                return Err(fault("filename", "too many files", format!("at most {MAX_FILES}")));
            }
            // Names decide, and `nrfiles` counts for nothing beside them (`str_filename_cb` of
            // options.c).
            Some(stated) => stated.len() as u64,
            None => given.map_or(1, u64::from),
        };
        Ok(names)
    }

    /// Files of each clone.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    /// The names in `filename`: a colon stands between them, and one behind a backslash is a part
    /// of a name.
    fn stated(&self) -> Option<Vec<String>> {
        const ESCAPED: char = '\u{0}';
        let text = self.options.get("filename")?.replace("\\:", "\u{0}");
        Some(text.split(':').map(|name| name.replace(ESCAPED, ":")).collect())
    }

    /// Whether they are devices, whose length the setup states, or files that fill one.
    pub(super) fn are_devices(&self) -> bool {
        let opens_device = self.options.get("ioengine").is_some_and(|engine| engine == "libblkio");
        if opens_device || self.options.flag("fill_device") {
            return true;
        }
        let is_device = |name: &String| name.starts_with("/dev/") || name.starts_with("\\\\.\\");
        self.options.get("directory").is_none() && self.stated().is_some_and(|names| names.iter().all(is_device))
    }

    /// The files of a clone.
    pub(super) fn of(&self, clone: u64) -> Vec<String> {
        let folder = self.options.get("directory").map_or_else(String::new, |folder| format!("{folder}/"));
        if let Some(names) = self.stated() {
            return names.into_iter().zip(0..self.number).map(|(name, _)| folder.clone() + &name).collect();
        }
        let format = self.options.get("filename_format").filter(|format| !format.is_empty());
        let format = format.unwrap_or("$jobname.$jobnum.$filenum");
        let of = |file: u64| {
            let name = format.replace("$jobname", self.section).replace("$jobnum", &clone.to_string());
            folder.clone() + &name.replace("$filenum", &file.to_string())
        };
        (0..self.number).map(of).collect()
    }
}

/// The part of each of its files that a clone uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileStretch {
    pub(super) from: u64,
    /// The length of the part; `None` for no end.
    pub(super) span: Option<u64>,
    /// Bytes of all files that a job does before it ends.
    pub(super) bytes: Option<u64>,
}

/// Lengths that are known beside the options.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FileLengths {
    /// The device's.
    pub(super) device: Option<u64>,
    /// That of the files, by the jobs above.
    pub(super) written: Option<u64>,
}

/// The part of its files that a clone uses, with I/Os of `smallest` bytes at least.
pub(super) fn stretch(
    names: &FileNames<'_>,
    clone: u64,
    smallest: u64,
    there: FileLengths,
) -> Result<FileStretch, NamedFault> {
    let options = names.options;
    let filesize = options.bytes("filesize")?.filter(|&size| size > 0);
    let real = filesize.or(there.device.filter(|_| names.are_devices()));
    let is_whole = options.get("size").or(options.get("offset")).is_none();
    let real = real.or(there.written.filter(|_| is_whole));
    let of = |name: &'static str, amount: FileAmount| match (amount, real) {
        (FileAmount::Percent(_), None) => Err(fault(
            name,
            format!("`{name}` is a share of a file or device whose length is not stated"),
            "`filesize=`, or for a device `size` in the file of `--device`",
        )),
        (FileAmount::Bytes(bytes), _) => Ok(bytes),
        (share, Some(real)) => Ok(share.of(real)),
    };
    let amount = |name| Ok::<_, NamedFault>(options.amount(name)?.unwrap_or(FileAmount::Bytes(0)));
    let (begin, increment) = (amount("offset")?, amount("offset_increment")?);
    let further = of("offset_increment", increment)?.checked_mul(clone);
    let from = further.and_then(|further| of("offset", begin).ok()?.checked_add(further));
    of("offset", begin)?;
    let is_share = matches!(begin, FileAmount::Percent(1..)) || matches!(increment, FileAmount::Percent(1..));
    let align = options.bytes("offset_align")?.filter(|&align| align > 0).unwrap_or(smallest);
    let from = if is_share { from.and_then(|from| from.checked_next_multiple_of(align)) } else { from };
    let from = from.ok_or_else(|| fault("offset", "it begins beyond 2^64 bytes", "a lower `offset`"))?;
    let left = match real {
        Some(real) if from >= real => {
            return Err(fault("offset", format!("it begins at {from}, behind the end at {real}"), "a lower `offset`"));
        }
        real => real.map(|real| real - from),
    };
    let size = options.amount("size")?.filter(|size| *size != FileAmount::Bytes(0));
    let number = names.number();
    let span = match (size, left, real) {
        (Some(size @ FileAmount::Percent(_)), Some(left), Some(real)) => {
            let span = size.of(real).min(left);
            Some(span - span % smallest)
        }
        (Some(size @ FileAmount::Percent(_)), ..) => Some(of("size", size)?),
        (_, Some(left), _) if filesize.is_some() => Some(left),
        (Some(FileAmount::Bytes(bytes)), left, _) => Some(left.map_or(bytes / number, |left| left.min(bytes / number))),
        (None, left, _) => left,
    };
    if span.is_some_and(|span| span < smallest) {
        return Err(fault("size", "`size` is shorter than an I/O", "`bs` at least, in each file"));
    }
    if span.is_some_and(|span| from.checked_add(span).is_none()) {
        return Err(fault("offset", "it ends beyond 2^64 bytes", "`offset` and `size` that stay below together"));
    }
    let bytes = bytes(options, size, span.map(|span| span.saturating_mul(number)))?;
    Ok(FileStretch { from, span, bytes })
}

/// Bytes that a job does before it ends, of which `there` are in its files.
fn bytes(options: &SectionOptions, size: Option<FileAmount>, there: Option<u64>) -> Result<Option<u64>, NamedFault> {
    let bytes = match (size, there) {
        (Some(FileAmount::Bytes(bytes)), Some(there)) => Some(bytes.min(there)),
        (_, there) => there,
    };
    Ok(match options.amount("io_size")? {
        None | Some(FileAmount::Bytes(0)) => bytes,
        Some(FileAmount::Bytes(bytes)) => Some(bytes),
        Some(share) => bytes.map(|bytes| share.of(bytes)),
    })
}
