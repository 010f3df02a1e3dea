//! CalDAV (RFC 4791): stub.
