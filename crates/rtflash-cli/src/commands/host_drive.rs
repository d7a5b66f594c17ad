//! `rtflash host protocol`, `fit` and `check`: a drive of which there are measurements alone.

use std::collections::HashSet;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use rtflash_answers::{DriveCheckAnswer, DriveLimit, DriveProtocolAnswer};
use rtflash_drive::claims::{Fitted, FittedSource};
use rtflash_drive::fit;
use rtflash_drive::monitor::{Watched, script};
use rtflash_drive::protocol::Protocol;
use rtflash_drive::read::fio_json::{FioRun, LoggedJob};
use rtflash_drive::read::fio_log::job_of;
use rtflash_drive::{DriveSample, Measurement, MeasurementRefused, add_log, add_trace};

use super::host_input::{Input, NamedText};
use crate::answer::{SetAnswer, Status, Unanswered};
use crate::args::HostInputArgs;
use crate::args::drive::{HostCheckArgs, HostFitArgs, HostProtocolArgs, MeasurementArgs};
use crate::progress::Bar;
use crate::render::{host_fit, rendered};
use crate::source::InputSource;
use crate::{CommandFailure, output, report};

pub fn protocol(args: &HostProtocolArgs) -> Result<SetAnswer, Unanswered> {
    let input = args.scenario.as_ref().map(|file| Input::read(&HostInputArgs { file: file.clone(), device: None }));
    let scenario = input.transpose()?.map(|input| input.scenario(None)).transpose()?;
    let jobs = scenario.iter().flat_map(|scenario| &scenario.jobs);
    let filename = args.filename.display().to_string();
    let block = Path::new("/sys/class/block");
    let (attach, number) = (attachment(block, &args.filename), number(block, &args.filename));
    let (size, guess, tail) = (args.size, args.guess, args.tail);
    let protocol =
        Protocol { filename: &filename, size, guess, tail, attach, number: number.as_deref(), jobs: jobs.collect() };
    let total = protocol.total_seconds();
    let complaint = output::warning(&format!(
        "fio will overwrite the first {} of {filename}; it takes {} min",
        rtflash_drive::bytes(args.size),
        total.div_ceil(60)
    ));
    let answer = DriveProtocolAnswer {
        bytes: args.size,
        seconds: total,
        rounds: rtflash_drive::ROUNDS as u64,
        attach: attach.map(str::to_owned),
        job_file: protocol.job_file(),
        filename,
    };
    let text = rendered(args.format.format, &answer, || answer.job_file.clone());
    Ok(SetAnswer { text, complaint, ..SetAnswer::default() })
}

/// How Linux reaches a drive, by its entry in sysfs; `None` where that does not decide it.
fn attachment(block: &Path, drive: &Path) -> Option<&'static str> {
    let entry = block.join(drive.file_name()?);
    let subsystem = fs::canonicalize(entry.join("device/subsystem")).ok();
    match subsystem.as_deref().and_then(Path::file_name).and_then(|name| name.to_str()) {
        // USB storage, SATA and UFS are SCSI to Linux.
        Some("scsi") => Some("scsi"),
        Some("nvme" | "virtio") => Some("tags"),
        // An SD card has no `cmdq_en`.
        Some("mmc") => {
            let is_queueing = fs::read_to_string(entry.join("device/cmdq_en")).is_ok_and(|on| on.trim() == "1");
            Some(if is_queueing { "mmc-cqe" } else { "mmc" })
        }
        None if entry.join("loop").exists() => Some("tags"),
        _ => None,
    }
}

/// The major and the minor number of a drive in traces, by its entry in sysfs; of a partition those
/// of its drive.
fn number(block: &Path, drive: &Path) -> Option<String> {
    let entry = fs::canonicalize(block.join(drive.file_name()?)).ok()?;
    let entry = if entry.join("partition").exists() { entry.parent()? } else { &entry };
    fs::read_to_string(entry.join("dev")).ok().map(|number| number.trim().to_owned())
}

pub fn fit(args: &HostFitArgs) -> Result<SetAnswer, Unanswered> {
    let report = report::place(args.report.as_deref())?;
    let (measurement, sources) = read(&args.input)?;
    let refused = |refused: MeasurementRefused| Unanswered::because(&refused.0, Status::CannotTell);
    let fit = fit::fit(&measurement).map_err(refused)?.attached(&measurement, args.attach.as_deref());
    let fitted = Fitted::new(&measurement, &fit, sources);
    output::save(&args.out, rtflash_drive::written(&fit, &fitted).as_bytes())?;
    if let Some(path) = &report {
        report::write(path, &report::fit(&measurement, &fit, &fitted))?;
    }
    let text = rendered(args.format.format, &host_fit::answer(&fit, &fitted), || host_fit::fit(&fit, &fitted));
    Ok(SetAnswer { text, ..SetAnswer::default() })
}

pub fn check(args: &HostCheckArgs) -> Result<SetAnswer, Unanswered> {
    let device = NamedText::read(&args.device)?;
    let Some(fitted) = Fitted::in_text(&device.text) else {
        fail!("{} has no block `fitted`: `rtflash host fit` writes one", device.name);
    };
    if fitted.monitor.is_empty() {
        let problem =
            "no size has 1,000 commands in the fit's measurement, so there are no limits: fit to a longer one";
        return Err(Unanswered::because(problem, Status::CannotTell));
    }
    if args.script {
        let number = args.input.of.ok_or_else(|| CommandFailure("--script needs --of MAJOR:MINOR".into()))?;
        return Ok(SetAnswer { text: script(&fitted.monitor, number), ..SetAnswer::default() });
    }
    let (measurement, _) = read(&args.input)?;
    let mut watched: Vec<Watched> = fitted.monitor.into_iter().map(Watched::new).collect();
    for done in measurement.commands() {
        watched.iter_mut().for_each(|of| of.see(done));
    }
    let limits: Vec<DriveLimit> = watched.iter().map(limit).collect();
    let seen = watched.iter().any(|of| of.commands > 0);
    let answer = DriveCheckAnswer { holds: seen.then(|| watched.iter().all(Watched::holds)), limits };
    let text = rendered(args.format.format, &answer, || host_fit::check(&answer));
    Ok(SetAnswer { text, status: Status::of(answer.holds), ..SetAnswer::default() })
}

fn limit(of: &Watched) -> DriveLimit {
    DriveLimit {
        op: of.rule.op.clone(),
        size: of.rule.size,
        commands: of.commands,
        above_ns: of.rule.above_ns,
        above: of.worst as u64,
        most: of.rule.most as u64,
        longest_ns: (of.commands > 0).then_some(of.longest),
        limit_ns: of.rule.limit_ns,
        holds: (of.commands > 0).then(|| of.holds()),
    }
}

struct CountedInput<'b> {
    from: InputSource,
    bar: &'b Bar,
}

impl Read for CountedInput<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        let read = self.from.read(buffer)?;
        self.bar.inc(read as u64);
        Ok(read)
    }
}

fn read(args: &MeasurementArgs) -> Result<(Measurement, Vec<FittedSource>), Unanswered> {
    let paths = args.trace.iter().chain(&args.fio);
    let bytes = paths.filter_map(|path| fs::metadata(path).ok()).map(|metadata| metadata.len()).sum();
    let bar = Bar::new("[{bar:30}] {bytes} of {total_bytes}, {eta} left", 0, bytes);
    let (mut sample, mut sources) = (DriveSample::default(), Vec::new());
    let refused = |refused: MeasurementRefused| Unanswered::because(&refused.0, Status::Wrong);
    for path in &args.trace {
        let from = InputSource::open(path)?;
        let name = from.name.clone();
        sources.push(add_trace(&mut sample, &name, CountedInput { from, bar: &bar }, args.of).map_err(refused)?);
    }
    let mut jobs: Vec<LoggedJob> = Vec::new();
    let mut seen: HashSet<String> = HashSet::new();
    // A lone JSON is that of all logs, wherever it stands.
    let (json, logs): (Vec<&PathBuf>, Vec<&PathBuf>) = args.fio.iter().partition(|path| is_json(path));
    let in_order = if json.len() == 1 { [json, logs].concat() } else { args.fio.iter().collect() };
    for path in in_order {
        if is_json(path) {
            let text = NamedText::read(path)?;
            let named = |refused: MeasurementRefused| MeasurementRefused::because(format!("{}: {refused}", text.name));
            jobs = FioRun::read(&text.text).and_then(|run| run.jobs()).map_err(named).map_err(refused)?;
            continue;
        }
        let from = InputSource::open(path)?;
        let name = from.name.clone();
        if jobs.is_empty() {
            let problem = format!("{name}: the meaning of a log is in fio's JSON: pass `--fio RUN.json {name}`");
            return Err(Unanswered::because(&problem, Status::Wrong));
        }
        let job = job_of(&name, &jobs).map_err(refused)?;
        if !seen.insert(name.replace("_clat.", "_lat.")) {
            let problem = format!("{name}: its I/Os were read before: pass the logs with `_lat.` in their names alone");
            return Err(Unanswered::because(&problem, Status::Wrong));
        }
        sources.push(add_log(&mut sample, &name, CountedInput { from, bar: &bar }, job).map_err(refused)?);
    }
    bar.finish();
    if sources.is_empty() {
        let problem = "the JSON of fio has no times of single I/Os: pass the logs of write_lat_log= behind it";
        return Err(Unanswered::because(problem, Status::Wrong));
    }
    Ok((sample.measurement(), sources))
}

fn is_json(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("json"))
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn sysfs_states_how_a_drive_is_reached() {
        let sys = std::env::temp_dir().join(format!("rtflash-attach-{}", std::process::id()));
        let drive = |name: &str, subsystem: &str| {
            let device = sys.join("block").join(name).join("device");
            let bus = sys.join("bus").join(subsystem);
            fs::create_dir_all(&device).and_then(|()| fs::create_dir_all(&bus)).expect("folders");
            std::os::unix::fs::symlink(&bus, device.join("subsystem")).expect("a link");
            device
        };
        drive("sda", "scsi");
        drive("nvme0n1", "nvme");
        let queues = [("mmcblk0", "1\n"), ("mmcblk1", "0\n")];
        for (name, on) in queues {
            fs::write(drive(name, "mmc").join("cmdq_en"), on).expect("a file");
        }
        fs::create_dir_all(sys.join("block/loop0/loop")).expect("a folder");
        let part = sys.join("block/sda/sda1");
        fs::create_dir_all(&part).expect("a folder");
        for (folder, file, text) in [(sys.join("block/sda"), "dev", "8:0\n"), (part, "partition", "1\n")] {
            fs::write(folder.join(file), text).expect("a file");
        }
        std::os::unix::fs::symlink(sys.join("block/sda/sda1"), sys.join("block/sda1")).expect("a link");
        let numbers = ["sda", "sda1", "nvme0n1"].map(|name| number(&sys.join("block"), Path::new(name)));
        let found = ["sda", "nvme0n1", "mmcblk0", "mmcblk1", "loop0", "none"]
            .map(|name| attachment(&sys.join("block"), &Path::new("/dev").join(name)));
        fs::remove_dir_all(&sys).expect("its folders");
        assert_eq!(numbers, [Some("8:0".to_owned()), Some("8:0".to_owned()), None]);
        assert_eq!(found, [Some("scsi"), Some("tags"), Some("mmc-cqe"), Some("mmc"), Some("tags"), None]);
    }
}
