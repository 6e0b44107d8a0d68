//! The `muslin` command as a user sees it: exit codes, messages and files.

mod commands;
mod refusals;
mod reproduce;
mod support;
