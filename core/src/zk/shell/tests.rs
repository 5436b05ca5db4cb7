//! Tests of the whole shell.
