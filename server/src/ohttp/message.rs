//! HTTP requests and responses in binary form (RFC 9292).
//!
//! Only field lines are copied, and their number is limited. A forged message therefore takes no
//! more memory than it has bytes. (The crate bhttp, against which tests compare this, stores each
//! field separately. It takes 43 MB for a message of 1 MiB of fields, and does not check padding.)

use axum::body::{Body, Bytes};
use axum::extract::Request;
use axum::http::uri::{Authority, PathAndQuery, Scheme, Uri};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};

/// Maximum number of field lines in a request, the same as in a request without encapsulation.
const MAX_FIELDS: usize = 100;

/// Responses are padded to multiples of this many bytes, so that a relay cannot tell most responses
/// apart.
const PADDING_STEP: usize = 256;

/// Response fields that are passed to the client. The remaining fields concern browsers, and a
/// browser sees the relay's fields instead.
const FORWARDED_RESPONSE_HEADERS: [HeaderName; 4] = [
    header::ALLOW,
    header::CACHE_CONTROL,
    header::CONTENT_TYPE,
    header::RETRY_AFTER,
];

/// Part of a request that violates the standard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum MalformedRequest {
    #[error("it ends early")]
    EndsEarly,
    #[error("it is not a request")]
    NotARequest,
    #[error("its method, scheme, authority or path is invalid")]
    InvalidControlData,
    #[error("the name or value of a field is invalid")]
    InvalidHeaderField,
    #[error("it has more than {MAX_FIELDS} fields")]
    TooManyFields,
    #[error("the bytes after its end are not padding")]
    InvalidPadding,
}

/// Reader of an encoded message: the bytes that have not been read yet.
struct MessageReader<'a>(&'a [u8]);

impl<'a> MessageReader<'a> {
    const fn is_at_end(&self) -> bool {
        self.0.is_empty()
    }

    fn take_bytes(&mut self, length: usize) -> Result<&'a [u8], MalformedRequest> {
        let (taken, rest) = self
            .0
            .split_at_checked(length)
            .ok_or(MalformedRequest::EndsEarly)?;
        self.0 = rest;
        Ok(taken)
    }

    /// Reads a number in 1, 2, 4 or 8 bytes. The first two bits give the length (RFC 9000, section
    /// 16).
    fn read_varint(&mut self) -> Result<u64, MalformedRequest> {
        let first = *self.0.first().ok_or(MalformedRequest::EndsEarly)?;
        let bytes = self.take_bytes(1 << (first >> 6))?;
        let number = bytes
            .iter()
            .fold(0, |all, &byte| all << 8 | u64::from(byte));
        // The two bits of the length are no part of the number.
        Ok(number & (u64::MAX >> (66 - 8 * bytes.len())))
    }

    /// Reads a length, and then returns this number of bytes.
    fn read_length_prefixed(&mut self) -> Result<&'a [u8], MalformedRequest> {
        let length =
            usize::try_from(self.read_varint()?).map_err(|_| MalformedRequest::EndsEarly)?;
        self.take_bytes(length)
    }

    /// Reads a length, and then returns this number of bytes. At the end of the message, the result
    /// is empty (RFC 9292, section 3.8).
    fn read_length_prefixed_or_end(&mut self) -> Result<&'a [u8], MalformedRequest> {
        match self.is_at_end() {
            true => Ok(&[]),
            false => self.read_length_prefixed(),
        }
    }
}

/// Framing of a message: parts of known length, or parts that end with a zero length.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Framing {
    KnownLength,
    IndeterminateLength,
}

/// Decodes a request of known or of indeterminate length.
///
/// # Errors
/// When the bytes are no request.
pub(crate) fn decode_request(bytes: &Bytes) -> Result<Request, MalformedRequest> {
    let mut reader = MessageReader(bytes);
    let framing = match reader.read_varint()? {
        0 => Framing::KnownLength,
        2 => Framing::IndeterminateLength,
        _ => return Err(MalformedRequest::NotARequest),
    };
    let method = Method::from_bytes(reader.read_length_prefixed()?)
        .map_err(|_| MalformedRequest::InvalidControlData)?;
    let uri = build_uri(
        reader.read_length_prefixed()?,
        reader.read_length_prefixed()?,
        reader.read_length_prefixed()?,
    )?;
    let headers = read_fields(&mut reader, framing)?;
    let content = read_content(&mut reader, framing, bytes)?;
    // Trailers are checked and discarded.
    read_fields(&mut reader, framing)?;
    if reader.0.iter().any(|&byte| byte != 0) {
        return Err(MalformedRequest::InvalidPadding);
    }
    let mut request = Request::new(content);
    *request.method_mut() = method;
    *request.uri_mut() = uri;
    *request.headers_mut() = headers;
    Ok(request)
}

/// Builds a request's address from its parts. If the authority is empty, the field `host` of the
/// request may name the host.
fn build_uri(scheme: &[u8], authority: &[u8], path: &[u8]) -> Result<Uri, MalformedRequest> {
    let wrong = |_| MalformedRequest::InvalidControlData;
    let scheme = Scheme::try_from(scheme).map_err(wrong)?;
    let (path, given) = (PathAndQuery::try_from(path).map_err(wrong)?, path);
    if path.as_str().as_bytes() != given {
        // The path is empty, or has a fragment, which is no part of a request.
        return Err(MalformedRequest::InvalidControlData);
    }
    if !authority.is_empty() {
        let authority = Authority::try_from(authority).map_err(wrong)?;
        let whole = Uri::builder().scheme(scheme).authority(authority);
        return whole
            .path_and_query(path)
            .build()
            .map_err(|_| MalformedRequest::InvalidControlData);
    }
    Ok(path.into())
}

/// Reads a section of field lines: the headers or the trailers of a request.
fn read_fields(
    reader: &mut MessageReader<'_>,
    framing: Framing,
) -> Result<HeaderMap, MalformedRequest> {
    let mut fields = HeaderMap::new();
    let mut add = |name: &[u8], value: &[u8]| {
        if fields.len() == MAX_FIELDS {
            return Err(MalformedRequest::TooManyFields);
        }
        let name =
            HeaderName::from_lowercase(name).map_err(|_| MalformedRequest::InvalidHeaderField)?;
        let value =
            HeaderValue::from_bytes(value).map_err(|_| MalformedRequest::InvalidHeaderField)?;
        fields.append(name, value);
        Ok(())
    };
    if framing == Framing::KnownLength {
        let mut section = MessageReader(reader.read_length_prefixed_or_end()?);
        while !section.is_at_end() {
            add(
                section.read_length_prefixed()?,
                section.read_length_prefixed()?,
            )?;
        }
        return Ok(fields);
    }
    let mut name = reader.read_length_prefixed_or_end()?;
    while !name.is_empty() {
        add(name, reader.read_length_prefixed()?)?;
        name = reader.read_length_prefixed()?;
    }
    Ok(fields)
}

fn read_content(
    reader: &mut MessageReader<'_>,
    framing: Framing,
    whole: &Bytes,
) -> Result<Body, MalformedRequest> {
    let first = reader.read_length_prefixed_or_end()?;
    if framing == Framing::KnownLength || first.is_empty() {
        return Ok(Body::from(whole.slice_ref(first)));
    }
    let mut all = first.to_vec();
    loop {
        match reader.read_length_prefixed()? {
            [] => return Ok(Body::from(all)),
            more => all.extend_from_slice(more),
        }
    }
}

/// Encodes a response, with padding.
pub(crate) fn encode_response(status: StatusCode, headers: &HeaderMap, content: &[u8]) -> Vec<u8> {
    let mut lines = Vec::new();
    let said = headers
        .iter()
        .filter(|(name, _)| FORWARDED_RESPONSE_HEADERS.contains(name));
    for (name, value) in said {
        put_length_prefixed(name.as_str().as_bytes(), &mut lines);
        put_length_prefixed(value.as_bytes(), &mut lines);
    }
    // A response of known length.
    let mut message =
        Vec::with_capacity((lines.len() + content.len() + 32).next_multiple_of(PADDING_STEP));
    message.push(1);
    append_varint(status.as_u16().into(), &mut message);
    put_length_prefixed(&lines, &mut message);
    put_length_prefixed(content, &mut message);
    // A zero length for no trailers, then padding.
    message.push(0);
    message.resize(message.len().next_multiple_of(PADDING_STEP), 0);
    message
}

/// Appends the length of bytes, then the bytes.
fn put_length_prefixed(bytes: &[u8], out: &mut Vec<u8>) {
    append_varint(bytes.len() as u64, out);
    out.extend_from_slice(bytes);
}

/// Appends a number, encoded in the fewest bytes.
fn append_varint(value: u64, out: &mut Vec<u8>) {
    match value {
        0..=0x3f => out.push(value as u8),
        0x40..=0x3fff => out.extend((value as u16 | 1 << 14).to_be_bytes()),
        0x4000..=0x3fff_ffff => out.extend((value as u32 | 2 << 30).to_be_bytes()),
        // Lengths in memory never exceed 62 bits.
        _ => out.extend((value | 3 << 62).to_be_bytes()),
    }
}
