pub mod recordings;
