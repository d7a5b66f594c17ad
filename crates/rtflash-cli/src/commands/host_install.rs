//! Files that make a Linux host use a chosen setting, each with its undo.

use std::fmt::Write;
use std::path::Path;

use rtflash_host::run::{Job, Scenario};
use rtflash_host::tune::queue_files;
use rtflash_host::{Class, SchedulerSettings};

use crate::{CommandFailure, output};

/// Writes the files for a block device into a folder. Fails if no kernel has the scheduler.
pub fn write(
    folder: &Path,
    block: &str,
    scenario: &Scenario,
    settings: &SchedulerSettings,
) -> Result<(), CommandFailure> {
    let files = queue_files(settings, scenario.host.requests);
    let files =
        files.ok_or_else(|| CommandFailure(format!("no kernel has {}: nothing to install", settings.name())))?;
    output::folder(folder)?;
    let save = |name: &str, text: &str| output::save(&folder.join(name), text.as_bytes());
    save("set.sh", &set(block, &files))?;
    save("undo.sh", &undo(block))?;
    save(&format!("60-rtflash-{block}.rules"), &rule(block, &files))?;
    for (number, job) in scenario.jobs.iter().enumerate() {
        let plain: String =
            job.name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).take(40).collect();
        save(&format!("job{number}-{plain}.conf"), &drop_in(job))?;
    }
    Ok(())
}

/// A shell script that sets the queue. It keeps the former values, for [`undo`].
fn set(block: &str, files: &[(&str, String)]) -> String {
    let mut text = format!(
        "#!/bin/sh\n# Sets the queue of {block} until the next start. Undo: sh undo.sh\nset -eu\n\
         queue=${{SYSFS:-/sys}}/block/{block}/queue\nkept=${{KEPT:-/run/rtflash-{block}.before}}\n\
         if [ ! -e \"$kept\" ]; then\n  \
         {{\n    sed 's/.*\\[\\(.*\\)\\].*/scheduler \\1/' \"$queue/scheduler\"\n    \
         echo \"nr_requests $(cat \"$queue/nr_requests\")\"\n    \
         for file in \"$queue\"/iosched/*; do\n      \
         if [ -f \"$file\" ]; then echo \"iosched/${{file##*/}} $(cat \"$file\")\"; fi\n    done\n  }} > \"$kept\"\nfi\n"
    );
    for (file, value) in files {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "echo {value} > \"$queue/{file}\"");
    }
    text
}

/// A shell script that sets the queue back. A scheduler is chosen anew, so that it forgets its
/// parameters.
fn undo(block: &str) -> String {
    format!(
        "#!/bin/sh\n# Sets the queue of {block} back to what it was before set.sh.\nset -eu\n\
         queue=${{SYSFS:-/sys}}/block/{block}/queue\nkept=${{KEPT:-/run/rtflash-{block}.before}}\n\
         [ -e \"$kept\" ] || {{ echo \"nothing to undo: no $kept\" >&2; exit 1; }}\n\
         echo none > \"$queue/scheduler\"\n\
         while read -r file value; do\n  \
         # Some parameters can only be read.\n  \
         echo \"$value\" 2>/dev/null > \"$queue/$file\" || true\ndone < \"$kept\"\nrm \"$kept\"\n"
    )
}

fn rule(block: &str, files: &[(&str, String)]) -> String {
    let name = format!("60-rtflash-{block}.rules");
    let mut text = format!(
        "# Sets the queue of {block} whenever the device appears.\n\
         # Install: cp {name} /etc/udev/rules.d/ && udevadm control --reload && udevadm trigger /sys/block/{block}\n\
         # Undo: rm /etc/udev/rules.d/{name} && udevadm control --reload, then restart, or run undo.sh after set.sh\n\
         ACTION==\"add|change\", SUBSYSTEM==\"block\", KERNEL==\"{block}\""
    );
    for (file, value) in files {
        let _ = write!(text, ", ATTR{{queue/{file}}}=\"{value}\"");
    }
    text.push('\n');
    text
}

fn drop_in(job: &Job) -> String {
    let class = match job.class {
        Class::RealTime => "realtime",
        Class::BestEffort => "best-effort",
        Class::Idle => "idle",
    };
    format!(
        "# The class of the service that does `{name}`: put the service's name for SERVICE.\n\
         # Install: cp this file to /etc/systemd/system/SERVICE.service.d/rtflash.conf, then\n\
         #   systemctl daemon-reload && systemctl restart SERVICE\n\
         # Undo: rm /etc/systemd/system/SERVICE.service.d/rtflash.conf, then the same commands\n\
         [Service]\nIOSchedulingClass={class}\nIOSchedulingPriority={level}\n",
        name = crate::render::numbers::plain(&job.name),
        level = job.level,
    )
}
