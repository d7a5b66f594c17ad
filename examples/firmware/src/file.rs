//! A file on the machine that runs this one.

use core::fmt::{self, Write};

use cortex_m_semihosting::{nr, syscall};

/// A file that is written, in large pieces.
pub struct HostFile {
    handle: usize,
    buffer: [u8; 16_384],
    filled: usize,
}

impl HostFile {
    /// A new file of this name, which ends in a zero byte.
    pub fn create(name: &'static str) -> HostFile {
        // 4: to be written.
        // SAFETY: the host reads `name.len() - 1` bytes, which are those of the name.
        let handle = unsafe { syscall!(OPEN, name.as_ptr(), 4, name.len() - 1) };
        assert!(handle != usize::MAX, "a file for the trace");
        HostFile { handle, buffer: [0; 16_384], filled: 0 }
    }

    /// Makes sure that the written text is in the file.
    pub fn flush(&mut self) {
        // SAFETY: the host reads as many bytes as have been filled.
        let left = unsafe { syscall!(WRITE, self.handle, self.buffer.as_ptr(), self.filled) };
        assert_eq!(left, 0, "room for the trace");
        self.filled = 0;
    }
}

impl Write for HostFile {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for &byte in text.as_bytes() {
            if self.filled == self.buffer.len() {
                self.flush();
            }
            self.buffer[self.filled] = byte;
            self.filled += 1;
        }
        Ok(())
    }
}

// For the macros above.
const _: usize = nr::OPEN;
