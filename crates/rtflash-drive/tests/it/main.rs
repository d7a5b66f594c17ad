//! Measurements in, devices and claims out.

mod fitted;
mod readers;
mod rounds;
mod traced;
