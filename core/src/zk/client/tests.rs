//! Timing rules of the client, step by step.
