//! All tests of rtflash-export in one program, a module a topic.

mod fio;
mod mqsim;
