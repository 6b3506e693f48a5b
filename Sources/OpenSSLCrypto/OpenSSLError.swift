internal import COpenSSL
internal import MediaTypes

extension MediaError {
    /// The oldest error that OpenSSL has recorded on this thread. Clears the thread's errors.
    static func openSSL(_ what: String, at place: String) -> MediaError {
        MediaError(
            .internal, "\(what): \(OpenSSLError.take() ?? "no reason given")", at: place,
            fix: "check the installation of OpenSSL (libssl3) and the memory limit")
    }
}

/// The errors that OpenSSL records for each thread.
enum OpenSSLError {
    /// The text of the oldest error, such as `sslv3 alert handshake failure`. Clears the thread's errors.
    ///
    /// - Returns: `nil` if there is none.
    static func take() -> String? {
        unsafe withUnsafeTemporaryAllocation(of: CChar.self, capacity: 256) { text in
            // Writes at most 256 bytes including the zero at the end.
            guard let base = text.baseAddress, unsafe copenssl_take_error(base, text.count) == 1 else { return nil }
            return unsafe String(cString: base)
        }
    }
}
