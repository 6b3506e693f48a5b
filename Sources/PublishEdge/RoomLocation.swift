import MediaTypes

/// Where a room takes its publishers, as one file of the key directory tells.
///
/// The file contains `HOST:PORT`, and after a space an optional name of the worker, of at most 128 bytes. If the address or
/// the name changes, the edge closes the publisher's connection, so that its encoder connects again.
package struct RoomLocation: Sendable, Hashable {
    /// Maximum size of the file, in bytes.
    package static let longestText = 512

    /// Host name or address, without brackets.
    package let host: String
    package let port: UInt16
    /// Name of the worker; empty if the file has none.
    package let worker: String

    package init(host: String, port: UInt16, worker: String = "") {
        self.host = host
        self.port = port
        self.worker = worker
    }

    /// - Parameter text: The content of the file; space at its end is ignored.
    /// - Returns: nil for anything else than the form above, and for port 0.
    package init?(parsing text: String) {
        guard text.utf8.count <= Self.longestText else { return nil }
        let words = text.split(whereSeparator: \.isWhitespace)
        guard let address = words.first, words.count <= 2,
            case .tcp(let host, let port)? = try? ListenAddress(parsing: String(address)), port != 0
        else { return nil }
        let worker = words.count > 1 ? String(words[1]) : ""
        guard worker.utf8.count <= 128, worker.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7f }) else { return nil }
        self.init(host: host, port: port, worker: worker)
    }
}

extension RoomLocation: CustomStringConvertible {
    /// `HOST:PORT`.
    package var description: String { ListenAddress.tcp(host: self.host, port: self.port).description }
}
