//! The hushbin collector as a library.
